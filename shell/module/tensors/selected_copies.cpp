#include "tensors/selected_copies.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace crescent::lua {
namespace {

/// Where the elements of a copy are from. A record ends when no tensor has the storage any more.
struct CopyRecord {
  std::weak_ptr<Storage> storage, source_storage;
  size_t offset, source_offset;
  TensorSpec spec, source_spec;
  Selectors selectors;
};

/// The records of copies that were not freed yet, by the addresses of their storage.
class CopyRecords {
 public:
  void add(const Storage* storage, CopyRecord record) {
    const std::lock_guard lock(mutex_);
    if (records_.size() >= sweep_size_) {
      std::erase_if(records_, [](const auto& entry) { return entry.second.storage.expired(); });
      sweep_size_ = std::max<size_t>(64, 2 * records_.size());
    }
    records_.insert_or_assign(storage, std::move(record));
  }
  std::optional<CopyRecord> find(const std::shared_ptr<Storage>& storage) const {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(storage.get());
    if (found == records_.end() || found->second.storage.lock() != storage) return std::nullopt;
    return found->second;
  }
  static CopyRecords& instance() {
    static CopyRecords records;
    return records;
  }

 private:
  mutable std::mutex mutex_;
  std::map<const Storage*, CopyRecord> records_;
  size_t sweep_size_ = 64;  ///< the number of records at which those that ended are removed
};

}  // namespace

void record_copy(const Tensor& copy, const Tensor& source, const Selectors& selectors) {
  CopyRecords::instance().add(copy.storage().get(),
                              {copy.storage(), source.storage(), copy.offset(), source.offset(),
                               copy.spec(), source.spec(), selectors});
}

std::optional<SelectedCopy> selected_copy(const Tensor& tensor) {
  const auto record = CopyRecords::instance().find(tensor.storage());
  if (!record) return std::nullopt;
  std::shared_ptr<Storage> source_storage = record->source_storage.lock();
  if (!source_storage) return std::nullopt;
  return SelectedCopy{
      Tensor::on(tensor.storage(), record->offset, record->spec),
      Tensor::on(std::move(source_storage), record->source_offset, record->source_spec),
      record->selectors};
}

}  // namespace crescent::lua
