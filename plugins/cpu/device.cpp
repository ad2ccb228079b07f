#include "device.h"

#include <sched.h>

#include <cstdlib>
#include <cstring>

#include "executable.h"

namespace crescent::cpu {
namespace {

/// Cores that this process may use.
int available_cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

bool switched_off(const char* variable) {
  const char* text = std::getenv(variable);
  return text && std::strcmp(text, "0") == 0;
}

}  // namespace

void CpuDevice::describe(Schema<CpuDevice>& s) { s.doc("Runs programs on the cores of this machine."); }

CpuDevice::CpuDevice() : pool_(available_cores()) { options_.onednn = !switched_off("CRESCENT_ONEDNN"); }

std::unique_ptr<Executable> CpuDevice::compile(const Program& program) {
  return std::make_unique<CpuExecutable>(program, options_, pool_);
}

void CpuDevice::set_threads(int count) {
  if (count < 0) fail("threads: expected a number >= 0 (0 = all cores), got ", count);
  pool_.resize(count == 0 ? available_cores() : count);
}

}  // namespace crescent::cpu
