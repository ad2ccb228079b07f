// Facts about the machine and the libraries, which `crescent info` prints.
#include <hwy/targets.h>

#include <fstream>
#include <string>

#include "executor/device.h"
#include "libraries/onednn_functions.h"
#include "matmul/blas.h"

namespace crescent::cpu {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

/// The best instruction set that this machine supports and loops were compiled for.
std::string instruction_set() {
  int64_t usable_targets = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(usable_targets & -usable_targets);
}

std::string onednn_version() {
  if (!onednn_library().is_available()) return "missing";
  const dnnl_version_t* v = dnnl_version();
  return concat(v->major, ".", v->minor, ".", v->patch);
}

const char* onednn_instruction_set() {
  if (!onednn_library().is_available()) return "none";
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
      return "SSE4.1";
    case dnnl::cpu_isa::avx:
      return "AVX";
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    case dnnl::cpu_isa::avx2_vnni:
      return "AVX2 VNNI";
    case dnnl::cpu_isa::avx512_core:
      return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "AVX-512 VNNI";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "AVX-512 bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "AMX";
    default:
      return "other";
  }
}

}  // namespace

Dict CpuDevice::information() const {
  const BlasLibrary& blas = blas_library();
  return {{"processor", processor_name()},
          {"threads", threads()},
          {"loops", Dict{{"library", "Highway"}, {"instruction_set", instruction_set()}}},
          {"onednn", Dict{{"version", onednn_version()},
                          {"instruction_set", onednn_instruction_set()},
                          {"enabled", options_.onednn}}},
          {"blas", Dict{{"path", blas.path},
                        {"parallel", blas.parallel},
                        {"core", blas.core},
                        {"build", blas.build}}},
          {"deterministic", options_.deterministic}};
}

}  // namespace crescent::cpu
