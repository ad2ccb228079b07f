#include "check/drawn_options.h"

#include <algorithm>

#include "crescent/registry/registry.h"

namespace crescent::check {
namespace {

/// A size that fits into usual inputs, and is larger than every index of usual integer inputs.
constexpr int64_t kDefaultSize = 4;
constexpr double kDefaultNumber = 0.5;
constexpr const char* kFileName = "drawn.keras";

struct NamedClass {
  const char *kind, *name;
};
constexpr NamedClass kNamedClasses[] = {
    {"activation", "tanh"},         {"initializer", "glorot_uniform"}, {"regularizer", "l2"},
    {"loss", "mean_squared_error"}, {"metric", "mean_squared_error"},  {"optimizer", "sgd"}};

double clamped_to_bounds(double value, const Field& field) {
  return std::min(std::max(value, field.min.value_or(value)), field.max.value_or(value));
}

Value size_for(const Field& field) {
  return static_cast<int64_t>(clamped_to_bounds(static_cast<double>(kDefaultSize), field));
}

Dict layer_config(const char* class_name) {
  return Dict{{"class_name", class_name}, {"config", Dict{{"units", kDefaultSize}}}};
}

/// The values that options of any type are tried with.
std::vector<Value> values_of_any_type() {
  const Value dense = layer_config("Dense"), cell = layer_config("SimpleRNNCell");
  return {kDefaultSize, kDefaultNumber, dense, cell, layer_config("SimpleRNN"),
          List{dense},  List{cell}};
}

/// A value for the option: `value_of_any_type` if the option may have any type; null if no value of
/// its type is known.
Value value_for(const Field& field, const Value& value_of_any_type) {
  if (!field.choices.empty()) return field.choices.front();
  for (const NamedClass& named_class : kNamedClasses)
    if (field.kind == named_class.kind) return named_class.name;
  const std::string_view type = field.type;
  if (type.starts_with("an integer")) return size_for(field);
  if (type.starts_with("anything")) return value_of_any_type;
  if (type.starts_with("a number")) return clamped_to_bounds(kDefaultNumber, field);
  if (type.starts_with("a boolean")) return true;
  if (type.starts_with("one of '")) return std::string(type.substr(8, type.find('\'', 8) - 8));
  if (type.starts_with("a string")) return kFileName;
  return {};
}

Dict draw_missing_options(const SchemaData& schema, const Dict& option_values,
                          const Value& value_of_any_type) {
  Dict drawn_options;
  for (const Field& field : schema.fields) {
    if (!field.required || option_values.contains(field.name)) continue;
    if (Value value = value_for(field, value_of_any_type); !value.is_null())
      drawn_options.set(field.name, std::move(value));
  }
  return drawn_options;
}

bool can_make(const std::string& kind, const std::string& class_name, Dict options,
              const Dict& drawn_options) try {
  for (const DictEntry& entry : drawn_options) options.set(entry.key, entry.value);
  make_object(kind, class_name, options);
  return true;
} catch (const Error&) {
  return false;
}

}  // namespace

Dict draw_options(const std::string& kind, const std::string& class_name,
                  const Dict& option_values) {
  const SchemaData& schema = registry().get(kind, class_name)->schema;
  const std::vector<Value> values = values_of_any_type();
  const Dict drawn_options = draw_missing_options(schema, option_values, values.front());
  if (drawn_options.size() == 0 ||
      drawn_options == draw_missing_options(schema, option_values, Value()))
    return drawn_options;
  for (const Value& value_of_any_type : values)
    if (Dict accepted = draw_missing_options(schema, option_values, value_of_any_type);
        can_make(kind, class_name, option_values, accepted))
      return accepted;
  return drawn_options;
}

}  // namespace crescent::check
