#include "monitor.h"

#include <cmath>

namespace crescent {

bool Monitor::larger_is_better() const {
  if (mode != "auto") return mode == "max";
  if (name.ends_with("loss")) return false;
  for (const char* part :
       {"acc", "auc", "precision", "recall", "f1", "fbeta", "fmeasure", "r2_score", "io_u", "iou",
        "sensitivity", "specificity", "correlation", "cosine_similarity"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

bool Monitor::improves(double value) const {
  if (!std::isfinite(value)) return false;
  return !best || improves_on(value, *best);
}

bool Monitor::improves_on(double value, double reference) const {
  return larger_is_better() ? value - min_delta > reference : value + min_delta < reference;
}

std::optional<double> monitored(const Monitor& monitor, const Logs& logs, const std::string& what) {
  if (logs.contains(monitor.name)) return logs.at(monitor.name);
  const std::vector<std::string> names = logs.names();
  warn(what, " conditioned on metric `", monitor.name,
       "` which is not available. Available metrics are: ", join(names, ","));
  return std::nullopt;
}

}  // namespace crescent
