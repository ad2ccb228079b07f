// What a Tensor points to. Within core, programs and tapes tell tensors apart by it.
#pragma once
#include <atomic>

#include "crescent/tensor/tensor.h"

namespace crescent {

struct TensorRecord {
  TensorSpec spec{};
  std::shared_ptr<Storage> storage{};  ///< null for abstract tensors
  size_t offset = 0;
  Tensor mask{};
  Tensor value{};    ///< with_mask: the tensor whose value this is (one without mask)
  Tensor aliased{};  ///< alias: the tensor of another identity with the same value
  std::weak_ptr<const TensorRecord> self{};  ///< so that it can be told how many have it
};

/// `t` is a tensor.
inline const TensorRecord& record_of(const Tensor& t) {
  return *static_cast<const TensorRecord*>(t.id());
}

/// The tensor that stands for the value of `t`: itself, or what a mask was attached to.
inline const Tensor& value_of(const Tensor& t) {
  const TensorRecord& record = record_of(t);
  return record.value ? record.value : t;
}
/// Identity of the value: the same with and without a mask.
inline const void* value_id(const Tensor& t) { return value_of(t).id(); }

/// Of a tensor with values: whose memory they are in.
inline Memory* memory_of(const Tensor& t) { return record_of(t).storage->memory(); }

/// Nobody else has this handle.
inline bool is_unshared(const TensorRecord& record) {
  if (record.self.use_count() != 1) return false;
  // What other threads did before they let go.
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

/// Nobody else has this tensor or its memory.
inline bool is_unshared(const Tensor& t) {
  const TensorRecord& record = record_of(t);
  return record.storage.use_count() == 1 && is_unshared(record);
}
/// Moves a view to another place of its memory. False when it is of another memory or kind, or
/// somebody else has it.
inline bool move_view(Tensor& view, const std::shared_ptr<Storage>& storage, size_t offset,
                      const TensorSpec& spec) {
  if (!view) return false;
  auto& record = const_cast<TensorRecord&>(record_of(view));
  if (record.storage != storage || record.spec != spec || !is_unshared(record)) return false;
  record.offset = offset;
  return true;
}
/// A new tensor on the same memory, of no known origin.
inline Tensor fresh(const Tensor& t) { return Tensor::on(t.storage(), t.offset(), t.spec()); }

}  // namespace crescent
