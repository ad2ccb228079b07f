#include "values/collector.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "crescent/tensor.h"

namespace crescent::lua {
namespace {

constexpr int64_t kFloor = 8 << 20;
/// Growth after which what is new is looked through: a part of the smallest caches that hold
/// arrays.
constexpr int64_t kNew = 256 << 10;

const char generational_key = 0;  // registry: whether new objects can be collected by themselves

std::atomic<int64_t> live{0};  // bytes in tensors since the watch began
std::atomic<int64_t> limit{kFloor};
std::atomic<int64_t> limit_of_new{std::numeric_limits<int64_t>::max()};
thread_local bool collecting = false;  // finalizers run shims too
void (*prepare_collection)(lua_State*) = nullptr;

bool is_generational(lua_State* L) {
  const bool is = lua_rawgetp(L, LUA_REGISTRYINDEX, &generational_key) == LUA_TBOOLEAN;
  lua_pop(L, 1);
  return is;
}

void collect_everything(lua_State* L) {
  lua_gc(L, LUA_GCCOLLECT);
  const int64_t left = live.load(std::memory_order_relaxed);
  const int64_t heap = int64_t{1024} * lua_gc(L, LUA_GCCOUNT);
  limit.store(left + std::max({kFloor, left / 2, heap}), std::memory_order_relaxed);
}

}  // namespace

void watch_tensor_memory(void (*prepare)(lua_State*)) {
  prepare_collection = prepare;
  set_allocation_observer([](int64_t bytes) { live.fetch_add(bytes, std::memory_order_relaxed); });
}

/// Lua tells it only to those who change it.
void watch_collector(lua_State* L) {
  if (lua_gc(L, LUA_GCGEN, 0, 0) == LUA_GCINC) {
    lua_gc(L, LUA_GCINC, 0, 0, 0);
    return;
  }
  lua_pushboolean(L, true);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &generational_key);
  int64_t never = std::numeric_limits<int64_t>::max();
  limit_of_new.compare_exchange_strong(never, kNew);
}

bool collection_is_due() {
  const int64_t bytes = live.load(std::memory_order_relaxed);
  return (bytes > limit_of_new.load(std::memory_order_relaxed) ||
          bytes > limit.load(std::memory_order_relaxed)) &&
         !collecting;
}

void collect(lua_State* L) {
  const auto is_too_much = [] {
    return live.load(std::memory_order_relaxed) > limit.load(std::memory_order_relaxed);
  };
  const bool generational = is_generational(L);
  if (!generational && !is_too_much()) return;
  collecting = true;
  prepare_collection(L);
  if (generational) lua_gc(L, LUA_GCSTEP, 0);
  if (is_too_much()) collect_everything(L);
  collecting = false;
  if (generational)
    limit_of_new.store(live.load(std::memory_order_relaxed) + kNew, std::memory_order_relaxed);
}

}  // namespace crescent::lua
