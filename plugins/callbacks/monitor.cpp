#include "monitor.h"

#include <cmath>

namespace crescent {

namespace {

/// The names of losses and metrics for which the model knows whether higher or lower is better,
/// each also with the prefix "val_".
std::vector<std::string> known_names(const Model& model) {
  std::vector<std::string> names;
  for (const std::string& name : model.metrics_names())
    if (model.direction_of(name) != Direction::unknown)
      for (const char* data : {"", "val_"}) names.push_back(data + name);
  return names;
}

}  // namespace

void Monitor::look_up(const Model& model, const std::string& who) {
  if (better != Direction::unknown) return;
  better = mode == "min"   ? Direction::down
           : mode == "max" ? Direction::up
                           : model.direction_of(name);
  if (better != Direction::unknown) return;
  const std::vector<std::string> names = known_names(model);
  fail(who, ": monitor = '", name, "': it is not known whether that gets better by rising or by ",
       "falling; pass mode = \"max\" or mode = \"min\"", did_you_mean(name, names),
       "; it is known of: ", join(names));
}

bool Monitor::improves(double value) const {
  if (!std::isfinite(value)) return false;
  return !best || improves_on(value, *best);
}

bool Monitor::improves_on(double value, double reference) const {
  return better == Direction::up ? value - min_delta > reference : value + min_delta < reference;
}

std::optional<double> monitored(const Monitor& monitor, const Logs& logs, const std::string& what) {
  if (logs.contains(monitor.name)) return logs.at(monitor.name);
  const std::vector<std::string> names = logs.names();
  warn(what, " conditioned on metric `", monitor.name,
       "` which is not available. Available metrics are: ", join(names, ","));
  return std::nullopt;
}

}  // namespace crescent
