#include "values/collector.h"

#include <algorithm>
#include <atomic>

#include "crescent/tensor.h"

namespace crescent::lua {
namespace {

constexpr int64_t kFloor = 8 << 20;

std::atomic<int64_t> live{0};  // bytes in tensors since the watch began
std::atomic<int64_t> limit{kFloor};
thread_local bool collecting = false;  // finalizers run shims too
void (*prepare_collection)(lua_State*) = nullptr;

}  // namespace

void watch_tensor_memory(void (*prepare)(lua_State*)) {
  prepare_collection = prepare;
  set_allocation_observer([](int64_t bytes) { live.fetch_add(bytes, std::memory_order_relaxed); });
}

bool collection_is_due() {
  return live.load(std::memory_order_relaxed) > limit.load(std::memory_order_relaxed) &&
         !collecting;
}

void collect(lua_State* L) {
  collecting = true;
  prepare_collection(L);
  lua_gc(L, LUA_GCCOLLECT);
  collecting = false;
  const int64_t left = live.load(std::memory_order_relaxed);
  const int64_t heap = int64_t{1024} * lua_gc(L, LUA_GCCOUNT);
  limit.store(left + std::max({kFloor, left / 2, heap}), std::memory_order_relaxed);
}

}  // namespace crescent::lua
