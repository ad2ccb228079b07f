#include "crescent/search/hyperparameter.h"

#include <algorithm>
#include <cmath>

namespace crescent {
namespace {

constexpr const char* kSamplings[] = {"linear", "log", "reverse_log"};
constexpr const char* kKinds[] = {"Fixed", "Boolean", "Choice", "Int", "Float"};
constexpr int64_t kMaxGridSize = 10;  // largest number of grid values of a range without a step
// the tolerance for rounding errors: as a fraction of a step when steps in a range are counted, and
// relative to the largest magnitude when values are compared
constexpr double kRelativeTolerance = 1e-9;

bool is_logarithmic(const Hyperparameter& p) { return p.sampling != Sampling::linear; }

/// The largest number of steps from the lower bound that do not exceed the upper bound.
int64_t max_step_count(const Hyperparameter& p) {
  const double step_count =
      is_logarithmic(p) ? std::log(p.high / p.low) / std::log(p.step) : (p.high - p.low) / p.step;
  return static_cast<int64_t>(std::floor(step_count + kRelativeTolerance));
}

/// The value after `index` steps from the lower bound, in the order of values.
double value_after_steps(const Hyperparameter& p, int64_t index) {
  if (!is_logarithmic(p)) return std::min(p.high, p.low + static_cast<double>(index) * p.step);
  const bool is_reversed = p.sampling == Sampling::reverse_log;
  const int64_t step_count = is_reversed ? max_step_count(p) - index : index;
  const double scaled_value = p.low * std::pow(p.step, static_cast<double>(step_count));
  return std::clamp(is_reversed ? p.high + p.low - scaled_value : scaled_value, p.low, p.high);
}

/// The number of steps, with a fraction, from the first value to x.
double step_position_of(const Hyperparameter& p, double x) {
  if (!is_logarithmic(p)) return (x - p.low) / p.step;
  if (p.sampling == Sampling::log) return std::log(x / p.low) / std::log(p.step);
  return static_cast<double>(max_step_count(p)) -
         std::log((p.high + p.low - x) / p.low) / std::log(p.step);
}

/// The number that lies between `low` and `high` at this fraction of the way, on the scale of the
/// sampling.
double interpolate(double low, double high, Sampling sampling, double fraction) {
  switch (sampling) {
    case Sampling::log:
      return low * std::pow(high / low, fraction);
    case Sampling::reverse_log:
      return high + low - low * std::pow(high / low, 1 - fraction);
    default:
      return low + (high - low) * fraction;
  }
}

double fraction_of(double low, double high, Sampling sampling, double x) {
  if (high <= low) return 0;
  switch (sampling) {
    case Sampling::log:
      return std::log(x / low) / std::log(high / low);
    case Sampling::reverse_log:
      return 1 - std::log((high + low - x) / low) / std::log(high / low);
    default:
      return (x - low) / (high - low);
  }
}

Value number_value(const Hyperparameter& p, double x) {
  if (p.kind == Hyperparameter::Kind::integer) return static_cast<int64_t>(std::llround(x));
  return x;
}

/// Whether the hyperparameter has a list of values, as fixed values, booleans and choices have;
/// else it has a range.
bool is_listed(const Hyperparameter& p) {
  return p.kind != Hyperparameter::Kind::integer && p.kind != Hyperparameter::Kind::real;
}

/// Whether the values are integers without a step. These are sampled logarithmically: a real number
/// is drawn and rounded down.
bool is_floored(const Hyperparameter& p) {
  return p.kind == Hyperparameter::Kind::integer && p.step == 0;
}

void check_bounds(const Hyperparameter& p) {
  if (!std::isfinite(p.low) || !std::isfinite(p.high))
    fail(p.name, ": expected finite bounds, got ", p.low, " and ", p.high);
  if (p.low > p.high)
    fail(p.name, ": expected min_value <= max_value, got ", p.low, " and ", p.high);
  if (!(p.step >= 0) || !std::isfinite(p.step))
    fail(p.name, ": expected a positive step, got ", p.step);
  if (is_logarithmic(p) && p.low <= 0)
    fail(p.name, ": sampling '", name_of(p.sampling), "' needs min_value > 0, got ", p.low);
  if (is_logarithmic(p) && p.step != 0 && p.step <= 1)
    fail(p.name, ": with sampling '", name_of(p.sampling), "' the step is a factor; expected more ",
         "than 1, got ", p.step);
}

Hyperparameter with_checked_default(Hyperparameter p) {
  if (p.name.empty()) fail("a hyperparameter needs a name");
  if (p.default_value.is_null()) p.default_value = p.at(0);
  if (p.kind == Hyperparameter::Kind::real && p.default_value.is_int())
    p.default_value = p.default_value.as_float();
  if (!p.has(p.default_value))
    fail(p.name, ": the default ", p.default_value, " is none of its values: ", p.text());
  return p;
}

Hyperparameter numeric_hyperparameter(std::string name, Hyperparameter::Kind kind, double low,
                                      double high, Hyperparameter::Spread spread) {
  Hyperparameter p;
  p.name = std::move(name), p.kind = kind;
  p.low = low, p.high = high, p.step = spread.step, p.sampling = spread.sampling;
  p.default_value = std::move(spread.default_value);
  check_bounds(p);
  if (kind == Hyperparameter::Kind::integer && p.step == 0 && !is_logarithmic(p)) p.step = 1;
  return with_checked_default(std::move(p));
}

/// The index of an equal value in a list; -1 if there is none. Numbers of different types may be
/// equal.
int64_t index_in(const List& values, const Value& value) {
  for (size_t i = 0; i < values.size(); ++i) {
    const bool are_numbers = values[i].is_number() && value.is_number();
    if (are_numbers ? values[i].as_float() == value.as_float() : values[i] == value)
      return static_cast<int64_t>(i);
  }
  return -1;
}

/// At most kMaxGridSize values spread over a range without a step, in ascending order.
List spread_values(const Hyperparameter& p) {
  if (p.low == p.high) return {number_value(p, p.low)};
  List values;
  for (int64_t i = 0; i < kMaxGridSize; ++i) {
    const double fraction = static_cast<double>(i) / (kMaxGridSize - 1);
    Value value = number_value(
        p, std::clamp(interpolate(p.low, p.high, p.sampling, fraction), p.low, p.high));
    if (values.empty() || !(values.back() == value)) values.push_back(std::move(value));
  }
  return values;
}

List list_of_conditions(const std::vector<Condition>& conditions) {
  List rows;
  for (const Condition& c : conditions) rows.push_back(List{c.parent, c.values});
  return rows;
}

}  // namespace

const char* name_of(Sampling sampling) { return kSamplings[static_cast<int>(sampling)]; }

Sampling sampling_named(std::string_view name) {
  for (int i = 0; i < 3; ++i)
    if (name == kSamplings[i]) return static_cast<Sampling>(i);
  const std::vector<std::string> sampling_names(std::begin(kSamplings), std::end(kSamplings));
  fail("sampling: expected one of ", join(sampling_names), ", got '", name, "'",
       did_you_mean(name, sampling_names));
}

Hyperparameter Hyperparameter::fixed(std::string name, Value value) {
  Hyperparameter p;
  p.name = std::move(name), p.values = {value}, p.default_value = value;
  if (value.is_null() || value.is_list() || value.is_dict() || value.is_object())
    fail(p.name, ": expected a number, a text or a boolean, got ", value);
  return with_checked_default(std::move(p));
}

Hyperparameter Hyperparameter::boolean(std::string name, bool default_value) {
  Hyperparameter p;
  p.name = std::move(name), p.kind = Kind::boolean;
  p.values = {false, true}, p.default_value = default_value;
  return with_checked_default(std::move(p));
}

Hyperparameter Hyperparameter::choice(std::string name, List values, std::optional<bool> ordered,
                                      Value default_value) {
  Hyperparameter p;
  p.name = std::move(name), p.kind = Kind::choice, p.values = std::move(values);
  if (p.values.empty()) fail(p.name, ": expected at least one value");
  bool are_all_numbers = true;
  for (size_t i = 0; i < p.values.size(); ++i) {
    const Value& value = p.values[i];
    if (!value.is_number() && !value.is_string() && !value.is_bool())
      fail(p.name, ": expected numbers, texts or booleans, got ", value);
    if (value.is_float() && !std::isfinite(value.as_float()))
      fail(p.name, ": expected finite numbers, got ", value);
    if (index_in(p.values, value) != static_cast<int64_t>(i))
      fail(p.name, ": the value ", value, " stands twice");
    are_all_numbers = are_all_numbers && value.is_number();
  }
  p.ordered = ordered.value_or(are_all_numbers);
  p.default_value = std::move(default_value);
  return with_checked_default(std::move(p));
}

Hyperparameter Hyperparameter::integer(std::string name, int64_t low, int64_t high, Spread spread) {
  constexpr int64_t kMaxMagnitude = int64_t{1} << 53;
  if (low < -kMaxMagnitude || high > kMaxMagnitude) fail(name, ": expected bounds within 2^53");
  if (spread.sampling == Sampling::linear && spread.step != std::floor(spread.step))
    fail(name, ": expected a whole step, got ", spread.step);
  return numeric_hyperparameter(std::move(name), Kind::integer, static_cast<double>(low),
                                static_cast<double>(high), std::move(spread));
}
Hyperparameter Hyperparameter::integer(std::string name, int64_t low, int64_t high) {
  return integer(std::move(name), low, high, Spread{});
}

Hyperparameter Hyperparameter::real(std::string name, double low, double high, Spread spread) {
  return numeric_hyperparameter(std::move(name), Kind::real, low, high, std::move(spread));
}
Hyperparameter Hyperparameter::real(std::string name, double low, double high) {
  return real(std::move(name), low, high, Spread{});
}

std::string Hyperparameter::key() const {
  if (conditions.empty()) return name;
  std::string text = name + "[";
  for (const Condition& condition : conditions) {
    text += (&condition == conditions.data() ? "" : ", ") + condition.parent + "=";
    for (size_t i = 0; i < condition.values.size(); ++i) {
      const Value& value = condition.values[i];
      text += (i == 0 ? "" : "|") + (value.is_string() ? value.as_string() : to_text(value));
    }
  }
  return text + "]";
}

std::optional<int64_t> Hyperparameter::count() const {
  if (is_listed(*this)) return static_cast<int64_t>(values.size());
  if (step > 0) return max_step_count(*this) + 1;
  if (is_floored(*this)) return static_cast<int64_t>(high - low) + 1;
  return low == high ? std::optional<int64_t>(1) : std::nullopt;
}

int64_t Hyperparameter::grid_size() const {
  const auto value_count = is_floored(*this) ? std::nullopt : count();
  return value_count ? *value_count : static_cast<int64_t>(spread_values(*this).size());
}

Value Hyperparameter::grid_value(int64_t index) const {
  if (is_listed(*this)) return values.at(static_cast<size_t>(index));
  if (step > 0) return number_value(*this, value_after_steps(*this, index));
  return spread_values(*this).at(static_cast<size_t>(index));
}

int64_t Hyperparameter::grid_index(const Value& value) const {
  if (is_listed(*this)) return index_in(values, value);
  if (step == 0) return index_in(spread_values(*this), value);
  return has(value) ? static_cast<int64_t>(position(value) * static_cast<double>(*count())) : -1;
}

Value Hyperparameter::at(double position) const {
  if (is_listed(*this) || step > 0) {
    const int64_t last_index = *count() - 1;
    const auto index =
        std::min(last_index, static_cast<int64_t>(position * static_cast<double>(*count())));
    return is_listed(*this) ? values[static_cast<size_t>(index)]
                            : number_value(*this, value_after_steps(*this, index));
  }
  if (is_floored(*this))
    return static_cast<int64_t>(
        std::clamp(std::floor(interpolate(low, high + 1, sampling, position)), low, high));
  return std::clamp(interpolate(low, high, sampling, position), low, high);
}

double Hyperparameter::position(const Value& value) const {
  if (is_listed(*this)) {
    const int64_t index = std::max<int64_t>(0, index_in(values, value));
    return (static_cast<double>(index) + 0.5) / static_cast<double>(values.size());
  }
  if (!value.is_number()) return 0;
  const double x = std::clamp(value.as_float(), low, high);
  if (step > 0) {
    return (std::round(step_position_of(*this, x)) + 0.5) /
           static_cast<double>(max_step_count(*this) + 1);
  }
  if (is_floored(*this)) return fraction_of(low, high + 1, sampling, x + 0.5);
  return fraction_of(low, high, sampling, x);
}

bool Hyperparameter::has(const Value& value) const {
  if (is_listed(*this)) return index_in(values, value) >= 0;
  if (!value.is_number()) return false;
  const double x = value.as_float();
  if (kind == Kind::integer && x != std::floor(x)) return false;
  if (!(x >= low && x <= high)) return false;
  if (step == 0) return true;
  const double nearest_value = at(position(value)).as_float();
  return std::abs(nearest_value - x) <=
         kRelativeTolerance * std::max({std::abs(x), std::abs(low), std::abs(high)});
}

bool Hyperparameter::is_categorical() const {
  return kind == Kind::boolean || (kind == Kind::choice && !ordered);
}

bool Hyperparameter::operator==(const Hyperparameter& other) const {
  return to_dict() == other.to_dict();
}

Dict Hyperparameter::to_dict() const {
  Dict dict{{"name", name}, {"kind", kKinds[static_cast<int>(kind)]}};
  if (is_listed(*this)) {
    dict.set("values", values);
    if (kind == Kind::choice) dict.set("ordered", ordered);
  } else {
    dict.set("min_value", number_value(*this, low));
    dict.set("max_value", number_value(*this, high));
    if (step > 0) dict.set("step", step);
    dict.set("sampling", name_of(sampling));
  }
  dict.set("default", default_value);
  if (!conditions.empty()) dict.set("conditions", list_of_conditions(conditions));
  return dict;
}

Hyperparameter Hyperparameter::from_dict(const Dict& dict) {
  Hyperparameter p;
  p.name = dict.at("name").as_string();
  const std::string& kind = dict.at("kind").as_string();
  const auto* known_kind = std::find(std::begin(kKinds), std::end(kKinds), kind);
  if (known_kind == std::end(kKinds)) fail("a hyperparameter of the unknown kind '", kind, "'");
  p.kind = static_cast<Kind>(known_kind - kKinds);
  if (const Value* values = dict.find("values")) p.values = values->as_list();
  if (const Value* is_ordered = dict.find("ordered")) p.ordered = is_ordered->as_bool();
  if (const Value* min_value = dict.find("min_value")) p.low = min_value->as_float();
  if (const Value* max_value = dict.find("max_value")) p.high = max_value->as_float();
  if (const Value* step = dict.find("step")) p.step = step->as_float();
  if (const Value* sampling = dict.find("sampling"))
    p.sampling = sampling_named(sampling->as_string());
  p.default_value = dict.at("default");
  if (const Value* conditions_value = dict.find("conditions"))
    for (const Value& row : conditions_value->as_list())
      p.conditions.push_back({row.as_list().at(0).as_string(), row.as_list().at(1).as_list()});
  if (!is_listed(p)) check_bounds(p);
  return with_checked_default(std::move(p));
}

std::string Hyperparameter::text() const {
  std::string text = kKinds[static_cast<int>(kind)];
  if (is_listed(*this)) {
    std::vector<std::string> words;
    for (const Value& value : values)
      words.push_back(value.is_string() ? value.as_string() : to_text(value));
    return concat(text, ", ", join(words));
  }
  text += concat(", ", number_value(*this, low), " to ", number_value(*this, high));
  if (step > 0 && !(kind == Kind::integer && step == 1)) text += concat(", step ", step);
  if (is_logarithmic(*this)) text += concat(", ", name_of(sampling));
  return text;
}

}  // namespace crescent
