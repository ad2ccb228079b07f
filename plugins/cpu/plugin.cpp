#include "crescent/plugin.h"

#include "executor/device.h"

CRESCENT_PLUGIN("cpu", "0.2.0") { registry.add<crescent::cpu::CpuDevice>("cpu"); }
