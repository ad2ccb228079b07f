#include "system/replay_task.h"

#include <cstdlib>
#include <optional>

#include "crescent/base/value.h"

namespace crescent {
namespace {

std::optional<ReplayTask> task_in_environment() {
  const char* text = std::getenv(kReplayVariable);
  if (!text) return std::nullopt;
  const Value value = parse_json(text);
  const Dict& task = value.as_dict();
  return ReplayTask{task.at("folder").as_string(), task.at("step").as_int(),
                    task.at("run").as_int(), static_cast<int>(task.at("answer").as_int())};
}

}  // namespace

const ReplayTask* replay_task() {
  static const std::optional<ReplayTask> task = task_in_environment();
  return task ? &*task : nullptr;
}

std::string text_of(const ReplayTask& task) {
  return to_json(Dict{{"folder", task.folder},
                      {"step", task.step},
                      {"run", task.run},
                      {"answer", task.result_descriptor}});
}

}  // namespace crescent
