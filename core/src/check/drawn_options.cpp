#include "check/drawn_options.h"

#include <algorithm>

namespace crescent::check {
namespace {

/// A size that fits into usual inputs, and is larger than every index of usual integer inputs.
constexpr int64_t kSize = 4;
constexpr double kNumber = 0.5;
constexpr const char* kFileName = "drawn.keras";

struct NamedClass {
  const char *kind, *name;
};
constexpr NamedClass kNamedClasses[] = {
    {"activation", "tanh"},         {"initializer", "glorot_uniform"}, {"regularizer", "l2"},
    {"loss", "mean_squared_error"}, {"metric", "mean_squared_error"},  {"optimizer", "sgd"}};

double within_bounds(double value, const Field& field) {
  return std::min(std::max(value, field.min.value_or(value)), field.max.value_or(value));
}

Value size_for(const Field& field) {
  return static_cast<int64_t>(within_bounds(static_cast<double>(kSize), field));
}

/// A value for the option; null if its type is not one of those that values are known for.
Value value_for(const Field& field) {
  if (!field.choices.empty()) return field.choices.front();
  for (const NamedClass& each : kNamedClasses)
    if (field.kind == each.kind) return each.name;
  const std::string_view type = field.type;
  if (type.starts_with("an integer") || type.starts_with("anything")) return size_for(field);
  if (type.starts_with("a number")) return within_bounds(kNumber, field);
  if (type.starts_with("a boolean")) return true;
  if (type.starts_with("one of '")) return std::string(type.substr(8, type.find('\'', 8) - 8));
  if (type.starts_with("a string")) return kFileName;
  return {};
}

}  // namespace

Dict draw_options(const SchemaData& schema, const Dict& given) {
  Dict drawn;
  for (const Field& field : schema.fields) {
    if (!field.required || given.contains(field.name)) continue;
    if (Value value = value_for(field); !value.is_null()) drawn.set(field.name, std::move(value));
  }
  return drawn;
}

}  // namespace crescent::check
