// Hyperparameters: the numbers, texts and switches that a search over models chooses.
//
//   Hyperparameter rate = Hyperparameter::real("rate", 1e-4, 1e-1, {.sampling = Sampling::log});
//   rate.at(0.5);                                    // 0.00316..., half of the way
//   rate.position(Value(1e-4));                      // 0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crescent/base/value.h"

namespace crescent {

/// How values between two bounds are spread: evenly, evenly in their logarithm, or evenly in the
/// logarithm of the distance from the upper bound.
enum class Sampling : uint8_t { linear, log, reverse_log };
CRESCENT_API const char* name_of(Sampling sampling);
CRESCENT_API Sampling sampling_named(std::string_view name);

/// A condition of a hyperparameter: it exists where its parent has one of these values.
struct Condition {
  std::string parent;
  List values;
};

/// The definition of a hyperparameter: its name, its values, and the conditions under which it
/// exists.
struct CRESCENT_API Hyperparameter {
  enum class Kind : uint8_t { fixed, boolean, choice, integer, real };
  struct Spread {
    double step = 0;  ///< 0: none; with logarithmic sampling the factor between values
    Sampling sampling = Sampling::linear;
    Value default_value = {};  ///< null: the least value
  };

  // Each fails, naming the hyperparameter, for bounds or steps that leave no values, and for a
  // default that is none of the values.
  static Hyperparameter fixed(std::string name, Value value);
  static Hyperparameter boolean(std::string name, bool default_value = false);
  /// `ordered`: whether neighbouring values are alike; by default when all of them are numbers.
  static Hyperparameter choice(std::string name, List values, std::optional<bool> ordered = {},
                               Value default_value = {});
  /// The integers from `low` to `high`, both included.
  static Hyperparameter integer(std::string name, int64_t low, int64_t high, Spread spread);
  static Hyperparameter integer(std::string name, int64_t low, int64_t high);
  /// The numbers from `low` to `high`, both included.
  static Hyperparameter real(std::string name, double low, double high, Spread spread);
  static Hyperparameter real(std::string name, double low, double high);

  std::string name;
  Kind kind = Kind::fixed;
  double low = 0, high = 0, step = 0;
  Sampling sampling = Sampling::linear;
  List values;  ///< of a fixed one, a boolean and a choice
  bool ordered = false;
  Value default_value;
  std::vector<Condition> conditions;

  /// The name with the conditions: "units[model=mlp]". It tells hyperparameters of one name in
  /// different branches apart.
  std::string key() const;
  /// How many values there are; nullopt for numbers without a step.
  std::optional<int64_t> count() const;
  /// A grid over the values: all of them in order, and of numbers without a step some that are
  /// spread over them. `grid_index` is the index of a value of the grid; -1 for other values.
  int64_t grid_size() const;
  Value grid_value(int64_t index) const;
  int64_t grid_index(const Value& value) const;
  /// The value at a position from 0 to below 1.
  Value at(double position) const;
  /// The position of a value: the middle of those that lead to it; 0 for a value that it has not.
  double position(const Value& value) const;
  bool has(const Value& value) const;
  /// Whether distances between positions mean nothing: a choice without order, a boolean.
  bool is_categorical() const;
  bool operator==(const Hyperparameter& other) const;

  Dict to_dict() const;
  static Hyperparameter from_dict(const Dict& dict);
  /// "Int, 32 to 512, step 32"
  std::string text() const;
};

}  // namespace crescent
