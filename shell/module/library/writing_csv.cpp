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
  const bool plain = text.find_first_of("\"\n\r") == text.npos && text.find(separator) == text.npos;
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

/// The elements of a tensor as texts of fields.
class FieldTexts {
 public:
  FieldTexts(const Tensor& given, char separator) : separator_(separator) {
    const DType dtype = given.dtype();
    if (dtype == DType::complex64)
      fail("write_csv: expected numbers or strings, got ", given.spec());
    const DType wide = is_integer(dtype) || dtype == DType::boolean        ? DType::int64
                       : dtype == DType::float64 || dtype == DType::string ? dtype
                                                                           : DType::float32;
    tensor_ = ops::cast(given, wide).to(nullptr);
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
  const unsigned char mark = separator.size() == 1 ? separator[0] : '\0';
  if (std::isalnum(mark) || (std::iscntrl(mark) && mark != '\t') ||
      std::string_view(".+-\"").find(separator) != std::string_view::npos)
    fail(
        "write_csv: expected as separator one character that no number and no end of a line has, "
        "as ',', ';' or a tab, got '",
        separator, "'");
  return separator[0];
}

/// The lines of a table with `columns` columns. field(row, column) returns the text of a field.
template <class F>
std::string lines(int64_t rows, int64_t columns, const std::vector<std::string>& names,
                  char separator, const F& field) {
  std::string text;
  const auto add = [&](const std::string& one, int64_t column) {
    text += one;
    text += column + 1 < columns ? separator : '\n';
  };
  for (size_t i = 0; i < names.size(); ++i)
    add(quoted(names[i], separator), static_cast<int64_t>(i));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) add(field(row, column), column);
  return text;
}

const Tensor& column_named(const NamedTensors& table, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [other, tensor] : table) {
    if (other == name) return tensor;
    known.push_back(other);
  }
  fail("write_csv: there is no column '", name, "'", did_you_mean(name, known));
}

}  // namespace

void write_matrix(const std::string& path, const Tensor& values,
                  const std::vector<std::string>& columns, const std::string& separator) {
  if (values.rank() != 1 && values.rank() != 2)
    fail("write_csv: expected a tensor of one or two axes, got shape ", values.shape());
  const int64_t width = values.rank() == 1 ? 1 : values.dim(1);
  if (!columns.empty() && static_cast<int64_t>(columns.size()) != width)
    fail("write_csv: got ", columns.size(), " names for ", width, " columns");
  const char mark = checked_separator(separator);
  const FieldTexts fields(values, mark);
  replace_file(path, lines(values.dim(0), width, columns, mark, [&](int64_t row, int64_t column) {
                 return fields.at(row * width + column);
               }));
}

void write_table(const std::string& path, const NamedTensors& table,
                 std::vector<std::string> columns, const std::string& separator) {
  const char mark = checked_separator(separator);
  if (columns.empty())
    for (const auto& [name, tensor] : table) columns.push_back(name);
  std::vector<FieldTexts> fields;
  int64_t rows = 0;
  for (const std::string& name : columns) {
    const Tensor& column = column_named(table, name);
    if (column.rank() != 1 || (!fields.empty() && column.dim(0) != rows))
      fail("write_csv: expected columns of one axis and as many rows, got shape ", column.shape(),
           " for '", name, "'");
    rows = column.dim(0);
    fields.emplace_back(column, mark);
  }
  replace_file(path, lines(rows, static_cast<int64_t>(columns.size()), columns, mark,
                           [&](int64_t row, int64_t column) {
                             return fields[static_cast<size_t>(column)].at(row);
                           }));
}

}  // namespace crescent::lua
