// The monitored value of callbacks: the direction in which it improves, and its best value.
#pragma once
#include "crescent/model/callback.h"
#include "crescent/model/model.h"

namespace crescent {

struct Monitor {
  std::string name = "val_loss";
  std::string mode = "auto";  ///< auto, min, max
  double min_delta = 0;
  std::optional<double> best = std::nullopt;
  Direction better = Direction::unknown;  ///< set by look_up()

  /// Sets the direction from the mode, or for "auto" from the metric of the model. Fails, with the
  /// name `who` of the callback, if the metric has none.
  void look_up(const Model& model, const std::string& who);
  /// Whether the value is better than the best one so far; false for NaN and infinity.
  bool improves(double value) const;
  bool improves_on(double value, double reference) const;
  Value best_value() const { return best ? Value(*best) : Value(); }
  /// Sets the best value from a state; null: none.
  void set_best(const Value& value) {
    best = value.is_null() ? std::nullopt : std::optional(value.as_float());
  }
};

/// The monitored value; nullopt, with a warning that lists the available ones ("Early stopping
/// conditioned on metric ..."), if the logs lack it.
std::optional<double> monitored(const Monitor& monitor, const Logs& logs, const std::string& what);

}  // namespace crescent
