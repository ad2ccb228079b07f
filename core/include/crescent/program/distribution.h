// Distribution: how fit uses the processes of the communicator. Without one, each process trains on
// data of its own; with data parallelism all processes are given the same data, each computes its
// share of every batch, and the numbers are those of one process with the whole batch.
#pragma once
#include "crescent/program/communicator.h"

namespace crescent {

enum class Distribution : uint8_t { none, data_parallel };

/// Data parallelism from the start in a program that a launcher of MPI started as one of several
/// processes and that no CRESCENT_COMMUNICATOR is set for; else none.
CRESCENT_API Distribution distribution();
/// Sets it for training runs that begin after the call.
CRESCENT_API void set_distribution(Distribution distribution);
/// How many processes mpirun or srun started this program as; 1 without them.
CRESCENT_API int processes_launched();
/// How many of these are on this machine, where the launcher says so; else 1.
CRESCENT_API int processes_launched_here();
/// Whether this process writes and shows what is the same in all of them: it is the one of rank 0,
/// or trains on data of its own.
CRESCENT_API bool speaks_for_all();

}  // namespace crescent
