#include "data/mappers.h"

#include "crescent/layer/layer.h"
#include "lua/handle.h"
#include "values/convert.h"
#include "workers/worker_state.h"

namespace crescent::lua {
namespace {

/// A mapper that calls the Lua function in the Lua state of the script, not in that of a worker
/// thread.
Mapper script_mapper(const Ref& function) {
  return [function](Element element) {
    lua_State* L = current();
    const StackRestorer restorer(L);
    const int first_result = lua_gettop(L) + 1;
    reserve(L, 4);
    function.push(L);
    const int part_count = push_element(L, element);
    protected_call(L, part_count, LUA_MULTRET);
    if (lua_gettop(L) < first_result) fail("the function returned nothing");
    return element_from(L, first_result);
  };
}

}  // namespace

Mapping mapping_at(lua_State* L, int index, int64_t worker_count, std::optional<bool> training,
                   const char* name) {
  if (LayerPtr layer = object_as<Layer>(L, index)) {
    if (worker_count > 0)
      fail(name,
           ": a layer computes with all threads of the device and takes no workers; "
           "prefetch after it works ahead");
    Mapping mapping = layer_mapping(layer, training);
    mapping.workers = worker_count;
    mapping.on_own_thread = holds_lua_classes(*layer);
    mapping.name = name;
    return mapping;
  }
  if (!lua_isfunction(L, index)) fail_expected(L, index, "a function or a layer");
  if (training) fail(name, ": 'training' is for layers; the first argument is a function");
  Mapping mapping;
  mapping.workers = worker_count;
  mapping.name = name;
  if (worker_count <= 0) {
    mapping.on_own_thread = true;
    mapping.make = [mapper = script_mapper(Ref(L, index))] { return mapper; };
    return mapping;
  }
  auto function = std::make_shared<const CopiedValue>(L, index, "the function");
  mapping.make = [function]() -> Mapper {
    auto state = std::make_shared<WorkerState>(function);
    return [state](Element element) { return state->call(element); };
  };
  return mapping;
}

}  // namespace crescent::lua
