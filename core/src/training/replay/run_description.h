// What a record tells of the run, beside its steps.
#pragma once
#include "training/run_state.h"

namespace crescent {

/// The path of the program of this process.
std::string program_path();
/// What may change the bits of a step, by name: the version, the device and what it tells of
/// itself.
Dict conditions();
/// How the program was started and under which conditions the run computes; `number` counts the
/// recorded runs of the process.
Dict run_description(const TrainingRun::State& run, int64_t number, int64_t record_freq);

}  // namespace crescent
