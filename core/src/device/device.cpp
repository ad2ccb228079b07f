// The devices of the process, and which of them is in use.
#include "crescent/program/device.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "crescent/device/row_error.h"
#include "registry/loader/class_of_plugin.h"

namespace crescent {

Executable::~Executable() = default;
size_t Executable::bytes() const { return arena_bytes(); }
bool Executable::watch(Watcher) { return false; }
Device::~Device() = default;
RowError::~RowError() = default;

namespace {

std::atomic<Device*> device_in_use{nullptr};

/// The devices of the process. The object is never destroyed, because static objects may still hold
/// tensors and executables when the process exits.
class Devices {
 public:
  static Devices& instance() {
    static auto* devices = new Devices;
    return *devices;
  }

  Device& get(std::string_view name, const Dict& options) {
    const std::string class_name = class_or_plugin(Device::kKind, name)->name;
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Device>& device = devices_[class_name];
    if (!device)
      device = make<Device>(class_name, options);
    else
      device->configure(options);
    return *device;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Device>> devices_;
};

Device& initial_device() try {
  const char* name = std::getenv("CRESCENT_DEVICE");
  return set_device(name && *name ? name : "cpu");
} catch (Error& error) {
  if (std::getenv("CRESCENT_DEVICE")) error.add_context("CRESCENT_DEVICE: ");
  throw;
}

}  // namespace

Device& device() {
  Device* device = device_in_use.load(std::memory_order_acquire);
  return device ? *device : initial_device();
}

bool is_deterministic() {
  const Dict options = device().get_config();
  const Value* option = options.find("deterministic");
  return option && option->as_bool();
}

Device& set_device(std::string_view name, const Dict& options) {
  Device& device = Devices::instance().get(name, options);
  device_in_use.store(&device, std::memory_order_release);
  return device;
}

Device& host_device() {
  static Device& host = Devices::instance().get("cpu", {});
  return host;
}

}  // namespace crescent
