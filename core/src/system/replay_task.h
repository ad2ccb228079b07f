// The task that `crescent replay` passes to the program that it starts, in the environment variable
// CRESCENT_REPLAY.
#pragma once
#include <cstdint>
#include <string>

namespace crescent {

inline constexpr const char* kReplayVariable = "CRESCENT_REPLAY";
/// The class of callback that records a run and replays it.
inline constexpr const char* kReplayRecorder = "ReplayRecorder";

/// A recorded step that this process is to compute again.
struct ReplayTask {
  std::string folder;     ///< the folder of the record
  int64_t step;           ///< the number of the step, from 1
  int64_t run;            ///< the number of its run among the recorded runs of the program, from 1
  int result_descriptor;  ///< the descriptor to which the process writes its ReplayVerdict as JSON
};

/// The task of this process; null if the process replays nothing.
const ReplayTask* replay_task();
/// The text of the environment variable for a task.
std::string text_of(const ReplayTask& task);

}  // namespace crescent
