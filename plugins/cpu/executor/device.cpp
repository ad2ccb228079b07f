#include "executor/device.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "crescent/program/distribution.h"
#include "executor/executable.h"

namespace crescent::cpu {
namespace {

/// The CPU quota of the container in cores (cgroup v2, then v1); 0 for no limit.
int granted_cores() {
  double quota = 0, period = 0;
  std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
  if (!(quota_file >> quota >> period)) {
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota;
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? static_cast<int>(std::ceil(quota / period)) : 0;
}

/// The number of cores that this process gets of `cores` cores, which are divided evenly if a
/// launcher started several processes on this machine.
int cores_of_process(int cores) { return std::max(cores / processes_launched_here(), 1); }

/// The number of cores that the affinity mask and the quota let this process use. If a launcher
/// started several processes and did not give them different cores by the mask, the cores are
/// divided evenly.
int available_cores() {
  cpu_set_t set;
  const int allowed_cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const int online_cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int cores =
      std::min(allowed_cores, cores_of_process(std::max(online_cores, allowed_cores)));
  const int quota = granted_cores();
  return quota > 0 ? std::min(cores_of_process(quota), cores) : cores;
}

bool is_set_to(const char* variable, const char* value) {
  const char* text = std::getenv(variable);
  return text && std::strcmp(text, value) == 0;
}

}  // namespace

void CpuDevice::describe(Schema<CpuDevice>& s) {
  s.doc("Runs programs on the cores of this machine.")
      .field("threads", &CpuDevice::threads_, "How many compute; 0: all cores.")
      .field("deterministic", &CpuDevice::deterministic_,
             "Makes whole runs give the same bits for any number of threads and processes.")
      .field("overlap", &CpuDevice::overlap_,
             "Lets a thread of its own exchange sums between processes while a step computes.");
}

CpuDevice::CpuDevice() : pool_(available_cores()) {
  options_.onednn = !is_set_to("CRESCENT_ONEDNN", "0");
  deterministic_ = options_.deterministic = is_set_to("CRESCENT_DETERMINISTIC", "1");
}

bool CpuDevice::supports(const Op& op, std::span<const TensorSpec> inputs,
                         std::span<const TensorSpec> outputs) const {
  return op.name() == Scan::kName || has_kernel({op, inputs, outputs, options_});
}

std::unique_ptr<Executable> CpuDevice::compile(const Program& program) {
  auto executable = std::make_unique<CpuExecutable>(program, options_, pool_, arenas_, cache_,
                                                    overlap_ ? &exchange_thread_ : nullptr);
  clear_kernel_cache();
  return executable;
}

void CpuDevice::configured() {
  set_threads(threads_);
  options_.deterministic = deterministic_;
}

void CpuDevice::set_threads(int64_t count) {
  constexpr int64_t kMaxThreads = 4096;
  if (count < 0 || count > kMaxThreads)
    fail("threads: expected a number from 0 (all cores) to ", kMaxThreads, ", got ", count);
  const int thread_count = count == 0 ? available_cores() : static_cast<int>(count);
  if (thread_count != threads()) pool_.resize(thread_count);
}

}  // namespace crescent::cpu
