#include "memory/arenas.h"

#include <algorithm>

namespace crescent::cpu {

Arenas::Arena* Arenas::take() {
  if (Arena* arena = latest_.exchange(nullptr, std::memory_order_acquire)) return arena;
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return all_.emplace_back(std::make_unique<Arena>()).get();
  Arena* arena = idle_.back();
  idle_.pop_back();
  return arena;
}

void Arenas::give_back(Arena* arena) {
  Arena* before = latest_.exchange(arena, std::memory_order_acq_rel);
  if (!before) return;
  const std::lock_guard lock(mutex_);
  idle_.push_back(before);
}

void Arenas::clear() {
  const std::lock_guard lock(mutex_);
  if (Arena* arena = latest_.exchange(nullptr, std::memory_order_acquire)) idle_.push_back(arena);
  std::erase_if(all_, [&](const auto& arena) {
    return std::find(idle_.begin(), idle_.end(), arena.get()) != idle_.end();
  });
  idle_.clear();
}

Arenas::Lease::Lease(Arenas& arenas, size_t bytes) : arenas_(arenas) {
  if (bytes == 0) return;
  arena_ = arenas_.take();
  try {
    memory_ = arena_->at_least(bytes);
  } catch (...) {
    arenas_.give_back(arena_);
    throw;
  }
}

Arenas::Lease::~Lease() {
  if (arena_) arenas_.give_back(arena_);
}

}  // namespace crescent::cpu
