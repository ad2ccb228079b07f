#include "instances/roots.h"

#include <unordered_set>

#include "instances/instance.h"
#include "instances/ownership.h"

namespace crescent::lua {
namespace {

// the key in the Lua registry of the table {address of object = handle} of roots
const char roots_key = 0;
// The key in the Lua registry of the metatable of sentinels: values without references, whose
// finalizer therefore runs in each cycle of the garbage collector.
const char sentinel_key = 0;
thread_local bool are_roots_outdated = false;

bool is_instance(Object* object) {
  auto* instance = dynamic_cast<Instance*>(object);
  return instance && !instance->is_function();
}

bool has_user_value(lua_State* L, int index, int number) {
  const bool has_table = lua_getiuservalue(L, index, number) == LUA_TTABLE;
  lua_pop(L, 1);
  return has_table;
}

/// Appends the handles of the instances that `object` owns, at any depth, to the table on top of
/// the stack; `handles_index` is the stack index of the table of all handles.
void list_instances(lua_State* L, int handles_index, Object* object,
                    std::unordered_set<Object*>& seen_objects) {
  Ownership::for_each_owned(object, [&](Object* owned_object) {
    if (!seen_objects.insert(owned_object).second) return;
    if (is_instance(owned_object) && lua_rawgetp(L, handles_index, owned_object) == LUA_TUSERDATA)
      lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
    else if (is_instance(owned_object))
      lua_pop(L, 1);
    list_instances(L, handles_index, owned_object, seen_objects);
  });
}

/// Stops the garbage collector while code holds objects by their address only.
class CollectorPause {
 public:
  explicit CollectorPause(lua_State* L) : L_(L), was_running_(lua_gc(L, LUA_GCISRUNNING) == 1) {
    if (was_running_) lua_gc(L_, LUA_GCSTOP);
  }
  ~CollectorPause() {
    if (was_running_) lua_gc(L_, LUA_GCRESTART);
  }
  CollectorPause(const CollectorPause&) = delete;

 private:
  lua_State* L_;
  bool was_running_;
};

/// Computes a new table of roots. Before a root is removed, its handle is stored in the user values
/// of its owners' handles.
void replace_roots(lua_State* L) {
  const StackRestorer restorer(L);
  const CollectorPause pause(L);
  reserve(L, 10);
  push_handles(L);
  const int handles_index = lua_gettop(L);
  const Ownership ownership(L);
  lua_newtable(L);
  for (Object* object : ownership.handles()) {
    lua_rawgetp(L, handles_index, object);
    reference_owned_instances(L, *object);
    if (is_instance(object) && ownership.is_owned_by_cpp(object))
      lua_rawsetp(L, -2, object);
    else
      lua_pop(L, 1);
  }
  lua_rawsetp(L, LUA_REGISTRYINDEX, &roots_key);
}

void push_sentinel(lua_State* L) {
  lua_newuserdatauv(L, 0, 0);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &sentinel_key);
  lua_setmetatable(L, -2);
}

/// The finalizer of a sentinel, which runs in every cycle of the garbage collector, since nothing
/// refers to the sentinel. It updates the roots and makes a new sentinel.
extern "C" int end_of_cycle(lua_State* L) {
  update_roots(L);
  push_sentinel(L);
  return 0;
}

}  // namespace

void make_root(lua_State* L, int index, Object& object) {
  if (!has_user_value(L, index, kClass) && !has_user_value(L, index, kOwnedInstances)) return;
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &roots_key);
  lua_pushvalue(L, index);
  lua_rawsetp(L, -2, &object);
  lua_pop(L, 1);
  are_roots_outdated = true;
}

void reference_owned_instances(lua_State* L, Object& object) {
  auto* layer = dynamic_cast<Layer*>(&object);
  if (!layer || (layer->sublayers().empty() && layer->metrics().empty())) return;
  std::unordered_set<Object*> seen_objects;
  push_handles(L);
  lua_newtable(L);
  list_instances(L, lua_gettop(L) - 1, &object, seen_objects);
  lua_remove(L, -2);
  if (lua_rawlen(L, -1) == 0) {
    lua_pop(L, 1);
    lua_pushnil(L);
  }
  lua_setiuservalue(L, -2, kOwnedInstances);
}

void mark_roots_outdated() { are_roots_outdated = true; }

/// Updates the roots. Errors are ignored, because they only delay the release of objects.
void update_roots(lua_State* L) {
  if (!std::exchange(are_roots_outdated, false)) return;
  try {
    replace_roots(L);
  } catch (const std::exception&) {
    are_roots_outdated = true;
  }
}

void watch_cycles(lua_State* L) {
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &roots_key);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, end_of_cycle);
  lua_setfield(L, -2, "__gc");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &sentinel_key);
  push_sentinel(L);
  lua_pop(L, 1);
}

}  // namespace crescent::lua
