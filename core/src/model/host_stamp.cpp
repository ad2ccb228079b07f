#include "crescent/plugin.h"
#include "registry/core_classes.h"

namespace crescent {

HostStamp host_stamp() { return {CRESCENT_TOOLCHAIN, plugin_layout()}; }

}  // namespace crescent
