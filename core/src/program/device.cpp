#include "crescent/device.h"

namespace crescent {

Executable::~Executable() = default;
Device::~Device() = default;

/// Never destroyed: executables in static objects may go after it would.
Device& device() {
  static auto* device = new std::shared_ptr<Device>(make<Device>("cpu"));
  return **device;
}

Device& host_device() { return device(); }

}  // namespace crescent
