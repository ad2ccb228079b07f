#include "tensors/selected_copies.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "crescent/program/element_writing.h"
#include "tensors/indexing.h"

namespace crescent::lua {
namespace {

/// A copy and where its elements are from. Storage that no tensor has any more ends the record.
struct SelectedCopy {
  std::weak_ptr<Storage> storage, source_storage;
  size_t offset, source_offset;
  TensorSpec spec, source_spec;
  Selectors selectors;
};

/// The copies that were read and not freed yet, by the addresses of their storage.
class SelectedCopies {
 public:
  void add(const Storage* storage, SelectedCopy copy) {
    const std::lock_guard lock(mutex_);
    if (copies_.size() >= sweep_size_) {
      std::erase_if(copies_, [](const auto& entry) { return entry.second.storage.expired(); });
      sweep_size_ = std::max<size_t>(64, 2 * copies_.size());
    }
    copies_.insert_or_assign(storage, std::move(copy));
  }
  std::optional<SelectedCopy> find(const std::shared_ptr<Storage>& storage) const {
    const std::lock_guard lock(mutex_);
    const auto found = copies_.find(storage.get());
    if (found == copies_.end() || found->second.storage.lock() != storage) return std::nullopt;
    return found->second;
  }
  static SelectedCopies& instance() {
    static SelectedCopies copies;
    return copies;
  }

 private:
  mutable std::mutex mutex_;
  std::map<const Storage*, SelectedCopy> copies_;
  size_t sweep_size_ = 64;  ///< the number of copies at which those that were freed are removed
};

/// A copy with the tensor that it was read from.
struct CopyAndSource {
  Tensor copy, source;
  Selectors selectors;
};

std::optional<CopyAndSource> copy_of(const Tensor& tensor) {
  const auto record = SelectedCopies::instance().find(tensor.storage());
  if (!record) return std::nullopt;
  std::shared_ptr<Storage> source_storage = record->source_storage.lock();
  if (!source_storage) return std::nullopt;
  return CopyAndSource{
      Tensor::on(tensor.storage(), record->offset, record->spec),
      Tensor::on(std::move(source_storage), record->source_offset, record->source_spec),
      record->selectors};
}

}  // namespace

void record_copy(const Tensor& copy, const Tensor& source, const Selectors& selectors) {
  SelectedCopies::instance().add(copy.storage().get(),
                                 {copy.storage(), source.storage(), copy.offset(), source.offset(),
                                  copy.spec(), source.spec(), selectors});
}

void refresh_copy(const Tensor& tensor) {
  const auto found = copy_of(tensor);
  if (!found) return;
  expect_writable(found->source);
  refresh_copy(found->source);
  const int64_t start = 0;
  write_elements(found->copy, {&start, 1}, found->copy.size(),
                 read_elements(found->source, found->selectors));
}

void write_copy_back(const Tensor& tensor) {
  const auto found = copy_of(tensor);
  if (!found) return;
  write_selected(found->source, found->selectors, found->copy);
  write_copy_back(found->source);
}

}  // namespace crescent::lua
