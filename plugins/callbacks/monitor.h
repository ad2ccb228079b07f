// The monitored value of callbacks: the direction in which it improves, and its best value.
#pragma once
#include "crescent/model/callback.h"
#include "crescent/model/model.h"

namespace crescent {

struct Monitor {
  std::string name = "val_loss";
  std::string mode = "auto";  ///< "auto", "min" or "max": whether lower or higher values are better
  double min_delta = 0;
  std::optional<double> best = std::nullopt;
  /// Whether lower or higher values are better; set by find_direction().
  Direction improvement = Direction::unknown;

  /// Sets the direction of improvement from `mode`, or for "auto" from the monitored metric of the
  /// model. Fails, naming the callback `callback`, if that metric has no direction.
  void find_direction(const Model& model, const std::string& callback);
  /// Whether the value is better than the best one so far; false for NaN and infinity.
  bool improves(double value) const;
  bool improves_on(double value, double reference) const;
  Value best_value() const { return best ? Value(*best) : Value(); }
  /// Sets the best value from a saved state, in which null means that there is none yet.
  void set_best(const Value& value) {
    best = value.is_null() ? std::nullopt : std::optional(value.as_float());
  }
};

/// The monitored value in the logs. If the logs lack it, warns, with a list of the values that they
/// have, and returns nullopt. The warning begins with `callback_title`, such as "Early stopping".
std::optional<double> monitored_value(const Monitor& monitor, const Logs& logs,
                                      const std::string& callback_title);

}  // namespace crescent
