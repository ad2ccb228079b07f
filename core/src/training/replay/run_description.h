// Describes how a run was started and computed; the record of the run contains the description.
#pragma once
#include "training/run_state.h"

namespace crescent {

/// The path of the program of this process.
std::string program_path();
/// The conditions on which the exact results of a step depend, by name: the version of Crescent,
/// the device and the properties that the device reports.
Dict conditions();
/// Describes how the program was started and under which conditions the run computes. `run_number`
/// is the number of the run among the recorded runs of the process.
Dict run_description(const TrainingRun::State& run, int64_t run_number, int64_t record_freq);

}  // namespace crescent
