// The state that all handles of a Tensor share. Programs and tapes identify a tensor by the address
// of this record.
#pragma once
#include <atomic>

#include "crescent/tensor/tensor.h"

namespace crescent {

struct TensorRecord {
  TensorSpec spec{};
  std::shared_ptr<Storage> storage{};  ///< null for abstract tensors
  size_t offset = 0;
  Tensor mask{};
  Tensor value{};                            ///< set by with_mask: the tensor without mask
  Tensor aliased{};                          ///< set by alias: the original tensor
  std::weak_ptr<const TensorRecord> self{};  ///< counts the handles to this record
};

/// The record of `t`, which must not be empty.
inline const TensorRecord& record_of(const Tensor& t) {
  return *static_cast<const TensorRecord*>(t.id());
}

/// If with_mask() made `t`, returns the tensor without the mask on which with_mask() was called;
/// otherwise `t` itself.
inline const Tensor& value_of(const Tensor& t) {
  const TensorRecord& record = record_of(t);
  return record.value ? record.value : t;
}
/// Identifies the value of the tensor: a tensor has the same value_id() with and without its mask.
inline const void* value_id(const Tensor& t) { return value_of(t).id(); }

/// The device memory that holds the values of `t`, which must not be abstract; null for host
/// memory.
inline Memory* memory_of(const Tensor& t) { return record_of(t).storage->memory(); }

/// Whether there is only one handle to the record.
inline bool is_unshared(const TensorRecord& record) {
  if (record.self.use_count() != 1) return false;
  // The fence makes visible what other threads wrote before they released their handles.
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

/// Whether no other handle shares the tensor or its memory.
inline bool is_unshared(const Tensor& t) {
  const TensorRecord& record = record_of(t);
  return record.storage.use_count() == 1 && is_unshared(record);
}
/// Makes `view` a view of another part of its storage, without an allocation. Returns false and
/// changes nothing if the storage or the spec is another one, or if other handles share the view.
inline bool move_view(Tensor& view, const std::shared_ptr<Storage>& storage, size_t offset,
                      const TensorSpec& spec) {
  if (!view) return false;
  auto& record = const_cast<TensorRecord&>(record_of(view));
  if (record.storage != storage || record.spec != spec || !is_unshared(record)) return false;
  record.offset = offset;
  return true;
}
/// Returns a new tensor with the memory of `t`, which tapes and traces do not recognize as `t`.
inline Tensor untracked_alias(const Tensor& t) {
  return Tensor::on(t.storage(), t.offset(), t.spec());
}

}  // namespace crescent
