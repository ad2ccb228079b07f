// Shared by callbacks that watch one value: which way is better, and whether it got better.
#pragma once
#include "crescent/model/callback.h"
#include "crescent/model/model.h"

namespace crescent {

struct Monitor {
  std::string name = "val_loss";
  std::string mode = "auto";  ///< auto, min, max
  double min_delta = 0;
  std::optional<double> best;
  Direction better = Direction::unknown;  ///< known once look_up() has been called

  /// Asks the mode, and for "auto" the model what its metric says. Fails where nobody knows, in the
  /// name of the callback `who`.
  void look_up(const Model& model, const std::string& who);
  /// On the best value so far. NaN and infinity never do.
  bool improves(double value) const;
  bool improves_on(double value, double reference) const;
  Value best_value() const { return best ? Value(*best) : Value(); }
  /// Of a state; null leaves none.
  void set_best(const Value& value) {
    best = value.is_null() ? std::nullopt : std::optional(value.as_float());
  }
};

/// The watched value, or nothing with a warning that lists what is there ("Early stopping
/// conditioned on metric ...").
std::optional<double> monitored(const Monitor& monitor, const Logs& logs, const std::string& what);

}  // namespace crescent
