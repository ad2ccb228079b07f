#include "program/recording/storage_hold.h"

#include <map>
#include <mutex>

namespace crescent {
namespace {

/// Counts the StorageHolds of each storage. The weak pointers keep the addresses of storages, which
/// are the keys, from being reused.
class Holds {
 public:
  void add(const std::weak_ptr<Storage>& storage) {
    const std::lock_guard lock(mutex_);
    ++counts_[storage];
  }
  void remove(const std::weak_ptr<Storage>& storage) {
    const std::lock_guard lock(mutex_);
    const auto count_entry = counts_.find(storage);
    if (--count_entry->second == 0) counts_.erase(count_entry);
  }
  bool has(const std::weak_ptr<const Storage>& storage) const {
    const std::lock_guard lock(mutex_);
    return counts_.contains(storage);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::weak_ptr<const Storage>, int, std::owner_less<>> counts_;
};

/// The object is never destroyed, because static objects may still hold variables when the process
/// exits.
Holds& holds() {
  static auto* holds = new Holds;
  return *holds;
}

}  // namespace

StorageHold::StorageHold(const std::shared_ptr<Storage>& storage) : storage_(storage) {
  holds().add(storage_);
}

StorageHold::~StorageHold() {
  const bool is_empty = !storage_.owner_before(std::weak_ptr<Storage>()) &&
                        !std::weak_ptr<Storage>().owner_before(storage_);
  if (!is_empty) holds().remove(storage_);
}

bool is_held(const std::shared_ptr<Storage>& storage) { return holds().has(storage); }

}  // namespace crescent
