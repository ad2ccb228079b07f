#include "columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "crescent/ops/ops.h"
#include "crescent/tensor/strings.h"

namespace crescent::tables {
namespace {

constexpr const char* kTypeNames[] = {"float32", "float64", "int32", "int64", "bool", "string"};

FieldType field_type_named(const std::string& name, const std::string& column) {
  std::vector<std::string> names(std::begin(kTypeNames), std::end(kTypeNames));
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    fail("types: column '", column, "' cannot be ", name, did_you_mean(name, names), "; expected ",
         join(names));
  return static_cast<FieldType>(found - names.begin());
}

template <class T>
std::optional<T> number_in(const std::string& text) {
  const char *first = text.data() + text.starts_with('+'), *last = text.data() + text.size();
  T value{};
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

std::optional<bool> boolean_in(const std::string& text) {
  for (const char* word : {"true", "True", "TRUE", "1"})
    if (text == word) return true;
  for (const char* word : {"false", "False", "FALSE", "0"})
    if (text == word) return false;
  return std::nullopt;
}

/// The narrowest type that can hold the text of a field.
FieldType narrowest_type(const std::string& field) {
  if (number_in<int32_t>(field)) return FieldType::int32;
  if (number_in<int64_t>(field)) return FieldType::int64;
  return number_in<double>(field) ? FieldType::float32 : FieldType::string;
}

FieldType wider_type(FieldType a, FieldType b) {
  if (a == b) return a;
  if (a == FieldType::string || b == FieldType::string) return FieldType::string;
  const bool are_integers = a != FieldType::float32 && b != FieldType::float32;
  return are_integers ? FieldType::int64 : FieldType::float32;
}

std::optional<Value> parse_field(FieldType type, const std::string& field) {
  const auto value = [](const auto& number) {
    return number ? std::optional<Value>(*number) : std::nullopt;
  };
  switch (type) {
    case FieldType::float32:
    case FieldType::float64:
      return value(number_in<double>(field));
    case FieldType::int32:
      return value(number_in<int32_t>(field));
    case FieldType::int64:
      return value(number_in<int64_t>(field));
    case FieldType::boolean:
      return value(boolean_in(field));
    case FieldType::string:
      return Value(field);
  }
  return std::nullopt;
}

DType dtype_of(FieldType type) { return dtype_named(name_of(type)); }

void check_column_names(const Dict& values_by_column, const char* option,
                        const std::vector<std::string>& names) {
  for (const DictEntry& entry : values_by_column)
    if (std::find(names.begin(), names.end(), entry.key) == names.end())
      fail(option, ": no column '", entry.key, "'", did_you_mean(entry.key, names), "; there are ",
           join(names));
}

}  // namespace

void TableOptions::describe(Schema<TableOptions>& s) {
  s.field("separator", &TableOptions::separator, "The character between columns.")
      .field("header", &TableOptions::header,
             "The first row has names; when not given, it has unless names are given.")
      .field("names", &TableOptions::names, "Of all columns, in the order of the file.")
      .field("columns", &TableOptions::columns, "Names of those that are wanted; all by default.")
      .field("types", &TableOptions::types,
             "By name: float32, float64, int32, int64, bool, string; the others are seen from the "
             "values.")
      .field("defaults", &TableOptions::defaults, "By name: what stands for missing values.")
      .field("na_values", &TableOptions::na_values, "Texts that stand for missing values.")
      .field("label", &TableOptions::label, "Name of the column that a model is to tell.")
      .field("quote", &TableOptions::quote, "The character around fields; empty: none.");
}

Columns::Columns(const std::string& path, const TableOptions& options, const Record& first_record)
    : options_(options) {
  const bool has_header = options.header.value_or(options.names.empty());
  std::vector<std::string> names = options.names;
  if (names.empty() && has_header) names = first_record;
  for (size_t i = names.size(); options.names.empty() && i < first_record.size(); ++i)
    names.push_back(concat("column_", i + 1));
  if (names.size() != first_record.size())
    fail("'", path, "': expected names of ", first_record.size(), " columns, got ", names.size(),
         ": ", join(names));
  for (size_t i = 0; i < names.size(); ++i)
    if (std::find(names.begin(), names.begin() + static_cast<int64_t>(i), names[i]) !=
        names.begin() + static_cast<int64_t>(i))
      fail("'", path, "': two columns are called '", names[i], "'");
  check_column_names(options.types, "types", names);
  check_column_names(options.defaults, "defaults", names);
  std::vector<std::string> column_names = options.columns.empty() ? names : options.columns;
  if (!options.label.empty() &&
      std::find(column_names.begin(), column_names.end(), options.label) == column_names.end())
    column_names.push_back(options.label);
  for (const std::string& name : column_names) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      fail("'", path, "': no column '", name, "'", did_you_mean(name, names), "; there are ",
           join(names));
    Column column{name, static_cast<size_t>(found - names.begin()), {}, {}};
    const Value *type = options.types.find(name), *fallback = options.defaults.find(name);
    if (type) column.type = field_type_named(type->as_string(), name);
    if (fallback) column.fallback = *fallback;
    columns_.push_back(std::move(column));
    statistics_.emplace_back();
  }
}

bool Columns::is_missing(const std::string& field) const {
  return std::find(options_.na_values.begin(), options_.na_values.end(), field) !=
         options_.na_values.end();
}

void Columns::widen_types(const Record& record) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string& field = record[columns_[i].index];
    ColumnStatistics& statistics = statistics_[i];
    if (is_missing(field))
      statistics.has_missing = true;
    else
      statistics.widest = statistics.widest ? wider_type(*statistics.widest, narrowest_type(field))
                                            : narrowest_type(field);
  }
}

/// Sets the types of columns. A column of integers with missing values becomes float32, because
/// integers cannot express missing values.
void Columns::set_types() {
  for (size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    if (column.type) continue;
    column.type = statistics_[i].widest.value_or(FieldType::string);
    const bool is_integer = column.type == FieldType::int32 || column.type == FieldType::int64;
    if (is_integer && statistics_[i].has_missing && !column.fallback)
      column.type = FieldType::float32;
  }
}

Value Columns::value(const Column& column, const Record& record, const std::string& path,
                     int64_t line) const {
  const std::string& field = record[column.index];
  const FieldType type = *column.type;
  if (is_missing(field)) {
    if (column.fallback) return *column.fallback;
    if (type == FieldType::float32 || type == FieldType::float64) return NAN;
    if (type == FieldType::string) return "";
    fail("'", path, "' line ", line, ", column '", column.name, "': the value is missing, and ",
         name_of(type), " has no way to say so; give a default for the column");
  }
  if (std::optional<Value> value = parse_field(type, field)) return *std::move(value);
  fail("'", path, "' line ", line, ", column '", column.name, "': expected ", name_of(type),
       ", got '", field, "'");
}

const char* name_of(FieldType type) { return kTypeNames[static_cast<size_t>(type)]; }

Value column_values(FieldType type, const std::vector<Value>& values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  const auto boxed = [](Tensor tensor) { return Value(std::make_shared<BoxedTensor>(tensor)); };
  if (type == FieldType::string) {
    std::vector<std::string> texts;
    for (const Value& value : values) texts.push_back(value.as_string());
    return boxed(string_tensor(texts, shape));
  }
  if (type == FieldType::int64) {
    std::vector<int64_t> numbers;
    for (const Value& value : values) numbers.push_back(value.as_int());
    return boxed(Tensor::from(numbers, shape));
  }
  std::vector<double> numbers;
  for (const Value& value : values)
    numbers.push_back(value.is_bool() ? value.as_bool() : value.as_float());
  return boxed(ops::cast(Tensor::from(numbers, shape), dtype_of(type)));
}

Value single_value(FieldType type, const Value& value) {
  if (type == FieldType::float32) return value.as_float();
  if (type == FieldType::int32 || type == FieldType::boolean || type == FieldType::string)
    return value;
  Tensor tensor = column_values(type, {value}).object_as<BoxedTensor>()->tensor;
  return std::make_shared<BoxedTensor>(tensor.view({}));
}

}  // namespace crescent::tables
