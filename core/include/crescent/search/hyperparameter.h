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

/// The scale on which a number is drawn evenly between its bounds: the number itself, its
/// logarithm, or the logarithm of low + high - number.
enum class Sampling : uint8_t { linear, log, reverse_log };
CRESCENT_API const char* name_of(Sampling sampling);
CRESCENT_API Sampling sampling_named(std::string_view name);

/// A condition of a hyperparameter. The hyperparameter exists only if the hyperparameter `parent`
/// has one of the values.
struct Condition {
  std::string parent;
  List values;
};

/// The definition of a hyperparameter: its name, its values, and the conditions under which it
/// exists.
struct CRESCENT_API Hyperparameter {
  enum class Kind : uint8_t { fixed, boolean, choice, integer, real };
  /// The distribution of the values of a number between its bounds.
  struct Spread {
    /// The difference of successive values, or with logarithmic sampling their ratio; 0: no step.
    double step = 0;
    Sampling sampling = Sampling::linear;
    Value default_value = {};  ///< null: the lowest value
  };

  // These functions fail with an error that names the hyperparameter if its bounds and step leave
  // no values, or if the default is not one of its values.
  static Hyperparameter fixed(std::string name, Value value);
  static Hyperparameter boolean(std::string name, bool default_value = false);
  /// `ordered` says whether neighbouring values are similar; by default it is true if all values
  /// are numbers.
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
  List values;  ///< the values of the kinds fixed, boolean and choice
  bool ordered = false;
  Value default_value;
  std::vector<Condition> conditions;

  /// The name with the conditions, such as "units[model=mlp]". It distinguishes hyperparameters of
  /// the same name that exist under different conditions.
  std::string key() const;
  /// The number of values; nullopt for real numbers without a step.
  std::optional<int64_t> count() const;
  /// A grid over the values: all values in their order or, for numbers without a step, some numbers
  /// that are spread between the bounds. grid_index() returns the index of a value in the grid, or
  /// -1 if the grid does not contain it.
  int64_t grid_size() const;
  Value grid_value(int64_t index) const;
  int64_t grid_index(const Value& value) const;
  /// Returns the value at a position from 0 to below 1; each value of a list has an equal part of
  /// the positions.
  Value at(double position) const;
  /// The inverse of at(): the middle of the positions of a value. For a value that the
  /// hyperparameter does not have, returns the position of its first value or of the nearest
  /// number.
  double position(const Value& value) const;
  bool has(const Value& value) const;
  /// Whether distances between positions have no meaning, as for a boolean or a choice without
  /// order.
  bool is_categorical() const;
  bool operator==(const Hyperparameter& other) const;

  Dict to_dict() const;
  static Hyperparameter from_dict(const Dict& dict);
  /// The definition as text, such as "Int, 32 to 512, step 32".
  std::string text() const;
};

}  // namespace crescent
