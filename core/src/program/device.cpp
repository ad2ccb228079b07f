#include "crescent/device.h"

namespace crescent {

Executable::~Executable() = default;
size_t Executable::bytes() const { return arena_bytes(); }
Device::~Device() = default;

/// Never destroyed: executables in static objects may go after it would.
Device& device() {
  static auto* device = new std::shared_ptr<Device>(make<Device>("cpu"));
  return **device;
}

}  // namespace crescent
