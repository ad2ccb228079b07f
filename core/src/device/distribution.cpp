#include "crescent/program/distribution.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <initializer_list>

#include "program/recording/lockstep.h"
#include "system/replay_task.h"

namespace crescent {
namespace {

/// The greatest number in these environment variables; 1 if none of them is set.
int greatest_number_in(std::initializer_list<const char*> names) {
  int greatest_number = 1;
  for (const char* name : names)
    if (const char* text = std::getenv(name))
      greatest_number = std::max(greatest_number, std::atoi(text));
  return greatest_number;
}

bool names_communicator() {
  const char* name = std::getenv("CRESCENT_COMMUNICATOR");
  return name && *name;
}

std::atomic<Distribution>& distribution_in_use() {
  static std::atomic<Distribution> current_distribution{
      processes_launched() > 1 && !names_communicator() ? Distribution::data_parallel
                                                        : Distribution::none};
  return current_distribution;
}

}  // namespace

Distribution distribution() { return distribution_in_use(); }
void set_distribution(Distribution distribution) { distribution_in_use() = distribution; }

namespace {

std::atomic<bool> inference_is_shared{false}, data_are_sharded{true};

}  // namespace

bool shares_inference() { return inference_is_shared; }
void set_shares_inference(bool is_on) { inference_is_shared = is_on; }

bool shards_data() { return data_are_sharded; }
void set_shards_data(bool is_on) { data_are_sharded = is_on; }

DataPart data_part() {
  if (distribution() == Distribution::data_parallel && shards_data()) return {};
  const auto group = communicator();
  return {group->rank(), group->size()};
}

ShardRange own_shards(int64_t count) {
  if (distribution() == Distribution::none) return {0, count};
  const auto group = communicator();
  return shards_of(count, group->rank(), group->size());
}

bool in_logical_shard() { return Lockstep::current() != nullptr; }

/// SLURM_STEP_NUM_TASKS is set only for processes that srun started. SLURM_NTASKS is set in a batch
/// script too, which runs as one process.
int processes_launched() {
  return greatest_number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
}

int processes_launched_here() {
  return greatest_number_in(
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_TASKS_PER_NODE"});
}

bool is_reporting_process() {
  if (replay_task()) return false;
  return distribution() == Distribution::none || communicator()->rank() == 0;
}

}  // namespace crescent
