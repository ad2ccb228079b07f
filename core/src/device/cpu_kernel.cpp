#include "crescent/device/cpu_kernel.h"

namespace crescent {

CpuThreads::~CpuThreads() = default;

CpuKernel::CpuKernel() = default;
CpuKernel::~CpuKernel() = default;

std::string CpuKernel::name() const { return info() ? info()->plugin : class_name(); }

}  // namespace crescent
