#include "values/collector.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "crescent/tensor/tensor.h"

namespace crescent::lua {
namespace {

constexpr int64_t kMinGrowth = 8 << 20;
/// Young objects are collected when the memory of tensors has grown by this number of bytes, a
/// fraction of the smallest cache of common processors.
constexpr int64_t kYoungGrowth = 256 << 10;

// The key in the Lua registry of the limit of the heap in bytes, which is stored only for a
// generational collector.
const char heap_key = 0;

// The bytes of the living tensors that were allocated since watch_tensor_memory was called.
std::atomic<int64_t> living_bytes{0};
std::atomic<int64_t> collection_limit{kMinGrowth};
std::atomic<int64_t> young_limit{std::numeric_limits<int64_t>::max()};
// whether this thread is collecting now; finalizers also call collect()
thread_local bool is_collecting = false;
void (*prepare_collection)(lua_State*) = nullptr;

int64_t heap_bytes(lua_State* L) { return int64_t{1024} * lua_gc(L, LUA_GCCOUNT); }

void set_heap_limit(lua_State* L) {
  lua_pushinteger(L, 2 * heap_bytes(L));
  lua_rawsetp(L, LUA_REGISTRYINDEX, &heap_key);
}

/// The limit of the heap in bytes; 0 for a collector that is not generational.
int64_t heap_limit(lua_State* L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &heap_key);
  const int64_t bytes = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return bytes;
}

void collect_everything(lua_State* L) {
  lua_gc(L, LUA_GCCOLLECT);
  const int64_t surviving_bytes = living_bytes.load(std::memory_order_relaxed);
  collection_limit.store(
      surviving_bytes + std::max({kMinGrowth, surviving_bytes / 2, heap_bytes(L)}),
      std::memory_order_relaxed);
}

}  // namespace

void watch_tensor_memory(void (*prepare)(lua_State*)) {
  prepare_collection = prepare;
  set_allocation_observer(
      [](int64_t bytes) { living_bytes.fetch_add(bytes, std::memory_order_relaxed); });
}

/// Stores the mode of the collector, which lua_gc returns only when a mode is set.
void watch_collector(lua_State* L) {
  if (lua_gc(L, LUA_GCGEN, 0, 0) == LUA_GCINC) {
    lua_gc(L, LUA_GCINC, 0, 0, 0);
    return;
  }
  set_heap_limit(L);
  int64_t never = std::numeric_limits<int64_t>::max();
  young_limit.compare_exchange_strong(never, kYoungGrowth);
}

bool collection_is_due() {
  const int64_t bytes = living_bytes.load(std::memory_order_relaxed);
  return (bytes > young_limit.load(std::memory_order_relaxed) ||
          bytes > collection_limit.load(std::memory_order_relaxed)) &&
         !is_collecting;
}

void collect(lua_State* L) {
  const auto is_too_much = [] {
    return living_bytes.load(std::memory_order_relaxed) >
           collection_limit.load(std::memory_order_relaxed);
  };
  const int64_t max_heap = heap_limit(L);
  const bool is_generational = max_heap > 0;
  if (!is_generational && !is_too_much()) return;
  is_collecting = true;
  prepare_collection(L);
  if (is_generational) lua_gc(L, LUA_GCSTEP, 0);
  // Collects all objects if the heap is full, because an explicit step collects no old objects and
  // delays automatic collections.
  const bool is_heap_full = is_generational && heap_bytes(L) > max_heap;
  if (is_too_much() || is_heap_full) {
    collect_everything(L);
    if (is_generational) set_heap_limit(L);
  }
  is_collecting = false;
  if (is_generational)
    young_limit.store(living_bytes.load(std::memory_order_relaxed) + kYoungGrowth,
                      std::memory_order_relaxed);
}

}  // namespace crescent::lua
