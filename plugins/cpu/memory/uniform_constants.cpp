#include "memory/uniform_constants.h"

#include <algorithm>
#include <cstring>

namespace crescent::cpu {

std::shared_ptr<Storage> UniformConstants::filled_storage(const Entry& entry, size_t bytes) {
  auto storage = Storage::allocate(bytes, false);
  for (size_t offset = 0; offset < bytes; offset += entry.size)
    std::memcpy(storage->host() + offset, entry.number.data(), entry.size);
  return storage;
}

Tensor UniformConstants::shared(const Tensor& constant) {
  constexpr size_t kMaxUnsharedBytes = size_t{16} << 10;
  const size_t bytes = constant.bytes(), size = size_of(constant.dtype());
  if (bytes <= kMaxUnsharedBytes) return constant;
  const auto* first = static_cast<const std::byte*>(constant.raw());
  if (std::memcmp(first, first + size, bytes - size) != 0) return constant;

  Entry new_entry{{}, size, {}};
  std::memcpy(new_entry.number.data(), first, size);
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) { return entry.memory.expired(); });
  size_t largest_bytes = 0;
  for (Entry& entry : entries_) {
    if (entry.size != size || entry.number != new_entry.number) continue;
    const auto memory = entry.memory.lock();
    if (memory && memory->bytes() >= bytes) return Tensor::on(memory, 0, constant.spec());
    largest_bytes = std::max(largest_bytes, memory ? memory->bytes() : 0);
  }
  // The new memory has 1.5 times the size of the largest one for this number, so that it rarely has
  // to grow, and so that all smaller ones together take less than twice its size.
  const auto memory =
      filled_storage(new_entry, std::max(bytes, (largest_bytes + largest_bytes / 2) / size * size));
  new_entry.memory = memory;
  entries_.push_back(new_entry);
  return Tensor::on(memory, 0, constant.spec());
}

}  // namespace crescent::cpu
