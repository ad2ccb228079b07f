// A table of records about layers, which are stored outside of the layer objects.
#pragma once
#include <mutex>
#include <unordered_map>

namespace crescent {

class Layer;

/// A map from layers to records. Several threads may use a table. It must never be destroyed,
/// because static objects may still hold layers when the process exits.
template <class Record>
class LayerTable {
 public:
  /// Returns the record of the layer; an empty one if it has none.
  Record find(const Layer& layer) {
    const std::lock_guard lock(mutex_);
    const auto entry = records_.find(&layer);
    return entry == records_.end() ? Record() : entry->second;
  }
  void set(const Layer& layer, Record record) {
    const std::lock_guard lock(mutex_);
    records_[&layer] = std::move(record);
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return records_.empty();
  }
  void forget(const Layer& layer) {
    const std::lock_guard lock(mutex_);
    records_.erase(&layer);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const Layer*, Record> records_;
};

}  // namespace crescent
