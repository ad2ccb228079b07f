#include "monitor.h"

#include <cmath>

namespace crescent {

namespace {

/// The names of losses and metrics for which the model knows whether higher or lower is better,
/// each also with the prefix "val_".
std::vector<std::string> names_with_direction(const Model& model) {
  std::vector<std::string> names;
  for (const std::string& name : model.metrics_names())
    if (model.direction_of(name) != Direction::unknown)
      for (const char* prefix : {"", "val_"}) names.push_back(prefix + name);
  return names;
}

}  // namespace

void Monitor::find_direction(const Model& model, const std::string& callback) {
  if (improvement != Direction::unknown) return;
  improvement = mode == "min"   ? Direction::down
                : mode == "max" ? Direction::up
                                : model.direction_of(name);
  if (improvement != Direction::unknown) return;
  const std::vector<std::string> names = names_with_direction(model);
  fail(callback, ": monitor = '", name,
       "': it is not known whether that gets better by rising or by ",
       "falling; pass mode = \"max\" or mode = \"min\"", did_you_mean(name, names),
       "; it is known of: ", join(names));
}

bool Monitor::improves(double value) const {
  if (!std::isfinite(value)) return false;
  return !best || improves_on(value, *best);
}

bool Monitor::improves_on(double value, double reference) const {
  return improvement == Direction::up ? value - min_delta > reference
                                      : value + min_delta < reference;
}

std::optional<double> monitored_value(const Monitor& monitor, const Logs& logs,
                                      const std::string& callback_title) {
  if (logs.contains(monitor.name)) return logs.at(monitor.name);
  const std::vector<std::string> names = logs.names();
  warn(callback_title, " conditioned on metric `", monitor.name,
       "` which is not available. Available metrics are: ", join(names, ","));
  return std::nullopt;
}

}  // namespace crescent
