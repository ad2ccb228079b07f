// Distribution: how fit uses the processes of the communicator. With Distribution::none, each
// process trains on data of its own. With data parallelism, all processes are given the same data,
// and each computes its share of every batch; the results are those of one process that computes
// whole batches.
#pragma once
#include "crescent/program/communicator.h"

namespace crescent {

/// Whether processes share the batches of a training run.
enum class Distribution : uint8_t { none, data_parallel };

/// The distribution in use. Initially data_parallel in a program that a launcher of MPI started as
/// one of several processes, unless CRESCENT_COMMUNICATOR is set; else none.
CRESCENT_API Distribution distribution();
/// Sets the distribution of training runs that begin after the call.
CRESCENT_API void set_distribution(Distribution distribution);
/// Whether the processes share the batches of evaluate and predict too; initially they do not. If
/// they do, all processes must call these functions.
CRESCENT_API bool shares_inference();
CRESCENT_API void set_shares_inference(bool on);
/// Whether all processes that share batches are given the same data, of which each takes its share
/// of every batch; initially true. Otherwise each process is given its own part of every batch, and
/// the sizes of batches are summed over the processes.
CRESCENT_API bool shards_data();
CRESCENT_API void set_shards_data(bool on);
/// The part of the data that a process generates: number `index`, from 0, of `count` parts.
struct DataPart {
  int index = 0, count = 1;
};
/// The part that this process generates: all of the data if the processes share the same data
/// (data_parallel and shards_data()), otherwise the part with the number of its rank.
CRESCENT_API DataPart data_part();
/// The logical shards [first, last). A batch is divided into logical shards by rows (shard_ops.h).
struct ShardRange {
  int64_t first = 0, last = 0;
};
/// Of `count` logical shards, the range that this process computes: a part of them if processes
/// share batches, otherwise all.
CRESCENT_API ShardRange own_shards(int64_t count);
/// Of `count` logical shards, the range that process `rank` of `size` processes computes.
inline ShardRange shards_of(int64_t count, int rank, int size) {
  return {count * rank / size, count * (rank + 1) / size};
}
/// Whether a layer is being called on one of the logical shards of a batch (shard_ops.h). Then
/// ops::all_reduce reduces over the shards of the batch.
CRESCENT_API bool in_logical_shard();
/// The number of processes of this program that mpirun or srun started; 1 without a launcher.
CRESCENT_API int processes_launched();
/// The number of the processes of processes_launched() that run on this machine, if the launcher
/// tells it, else 1.
CRESCENT_API int processes_launched_here();
/// Whether this process writes files and shows progress that would be the same in all processes.
/// True for rank 0, and for every process that trains on data of its own; false in a process in
/// which `crescent replay` computes a step again.
CRESCENT_API bool is_reporting_process();

}  // namespace crescent
