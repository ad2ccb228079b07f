#include "library/writing_csv.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "crescent/ops/ops.h"
#include "crescent/system/file.h"
#include "crescent/tensor/strings.h"

namespace crescent::lua {
namespace {

/// The shortest text that is read back as the same number of type T; NaN is written without a sign.
template <class T>
std::string number_text(T value) {
  if (value != value) return "nan";
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// The text of a field, in quotes if it would not be read as one field without them.
std::string quoted(std::string_view text, char separator) {
  const bool needs_no_quotes =
      text.find_first_of("\"\n\r") == text.npos && text.find(separator) == text.npos;
  if (needs_no_quotes) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + '"';
}

/// The elements of a tensor as texts of fields.
class FieldTexts {
 public:
  FieldTexts(const Tensor& tensor, char separator) : separator_(separator) {
    const DType dtype = tensor.dtype();
    if (dtype == DType::complex64)
      fail("write_csv: expected numbers or strings, got ", tensor.spec());
    const DType text_dtype = is_integer(dtype) || dtype == DType::boolean        ? DType::int64
                             : dtype == DType::float64 || dtype == DType::string ? dtype
                                                                                 : DType::float32;
    tensor_ = ops::cast(tensor, text_dtype).to(nullptr);
  }
  std::string at(int64_t i) const {
    if (tensor_.dtype() == DType::int64) return number_text(tensor_.data<int64_t>()[i]);
    if (tensor_.dtype() == DType::float64) return number_text(tensor_.data<double>()[i]);
    if (tensor_.dtype() == DType::float32) return number_text(tensor_.data<float>()[i]);
    return quoted(text_of(tensor_.data<StringId>()[i]), separator_);
  }

 private:
  Tensor tensor_;
  char separator_;
};

char checked_separator(const std::string& separator) {
  const unsigned char character = separator.size() == 1 ? separator[0] : '\0';
  if (std::isalnum(character) || (std::iscntrl(character) && character != '\t') ||
      std::string_view(".+-\"").find(separator) != std::string_view::npos)
    fail(
        "write_csv: expected as separator one character that no number and no end of a line has, "
        "as ',', ';' or a tab, got '",
        separator, "'");
  return separator[0];
}

/// The lines of a table with `column_count` columns. field(row, column) returns the text of a
/// field.
template <class F>
std::string lines(int64_t row_count, int64_t column_count, const std::vector<std::string>& names,
                  char separator, const F& field) {
  std::string text;
  const auto add_field = [&](const std::string& field_text, int64_t column) {
    text += field_text;
    text += column + 1 < column_count ? separator : '\n';
  };
  for (size_t i = 0; i < names.size(); ++i)
    add_field(quoted(names[i], separator), static_cast<int64_t>(i));
  for (int64_t row = 0; row < row_count; ++row)
    for (int64_t column = 0; column < column_count; ++column) add_field(field(row, column), column);
  return text;
}

const Tensor& column_named(const NamedTensors& table, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [column_name, tensor] : table) {
    if (column_name == name) return tensor;
    names.push_back(column_name);
  }
  fail("write_csv: there is no column '", name, "'", did_you_mean(name, names));
}

}  // namespace

void write_matrix(const std::string& path, const Tensor& values,
                  const std::vector<std::string>& columns, const std::string& separator) {
  if (values.rank() != 1 && values.rank() != 2)
    fail("write_csv: expected a tensor of one or two axes, got shape ", values.shape());
  const int64_t width = values.rank() == 1 ? 1 : values.dim(1);
  if (!columns.empty() && static_cast<int64_t>(columns.size()) != width)
    fail("write_csv: got ", columns.size(), " names for ", width, " columns");
  const char delimiter = checked_separator(separator);
  const FieldTexts fields(values, delimiter);
  replace_file(path,
               lines(values.dim(0), width, columns, delimiter,
                     [&](int64_t row, int64_t column) { return fields.at(row * width + column); }));
}

void write_table(const std::string& path, const NamedTensors& table,
                 std::vector<std::string> columns, const std::string& separator) {
  const char delimiter = checked_separator(separator);
  if (columns.empty())
    for (const auto& [name, tensor] : table) columns.push_back(name);
  std::vector<FieldTexts> fields;
  int64_t row_count = 0;
  for (const std::string& name : columns) {
    const Tensor& column = column_named(table, name);
    if (column.rank() != 1 || (!fields.empty() && column.dim(0) != row_count))
      fail("write_csv: expected columns of one axis and as many rows, got shape ", column.shape(),
           " for '", name, "'");
    row_count = column.dim(0);
    fields.emplace_back(column, delimiter);
  }
  replace_file(path, lines(row_count, static_cast<int64_t>(columns.size()), columns, delimiter,
                           [&](int64_t row, int64_t column) {
                             return fields[static_cast<size_t>(column)].at(row);
                           }));
}

}  // namespace crescent::lua
