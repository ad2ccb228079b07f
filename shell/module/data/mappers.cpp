#include "data/mappers.h"

#include <array>

#include "crescent/ops/random.h"
#include "crescent/tensor/strings.h"
#include "lua/handle.h"
#include "values/convert.h"
#include "workers/worker_state.h"

namespace crescent::lua {
namespace {

/// Calls the function in the state of the script.
Mapper script_mapper(const Ref& function) {
  return [function](Element element) {
    lua_State* L = current();
    const Height height(L);
    const int first = lua_gettop(L) + 1;
    reserve(L, 4);
    function.push(L);
    const int parts = push_element(L, element);
    protected_call(L, parts, LUA_MULTRET);
    if (lua_gettop(L) < first) fail("the function returned nothing");
    return element_from(L, first);
  };
}

/// Draws of an element are its own, whatever was drawn before.
void draw_anew(Layer& layer) {
  const int64_t draw = global_random().seed();
  for (Layer* each : layer.flatten_layers())
    for (const SeedGenerator& seeds : each->seed_generators()) {
      const int64_t seed = seeds.state().value().data<int64_t>()[0];
      seeds.state().assign(Tensor::from(std::vector<int64_t>{seed, draw}, {2}));
    }
}

/// A text alone is a tensor too; a list of tensors is several inputs.
Tensors inputs_of(const Value& part) {
  if (part.is_string()) return {string_tensor(std::array{part.as_string()}, {})};
  const bool several =
      part.is_list() && !part.as_list().empty() && part.as_list().front().is_object();
  if (!several) return {Codec<Tensor>::decode(part)};
  Tensors inputs;
  for (const Value& input : part.as_list()) inputs.push_back(Codec<Tensor>::decode(input));
  return inputs;
}

/// Calls the layer on the first part; the others stay.
Mapper layer_mapper(const LayerPtr& layer, std::optional<bool> training) {
  return [layer, training](Element element) {
    if (element.empty()) fail("expected an element with a part for the layer");
    draw_anew(*layer);
    const Tensors inputs = inputs_of(element[0]);
    CallOptions options;
    options.training = training;
    List outputs;
    for (const Tensor& output : (*layer)(inputs, options))
      outputs.push_back(std::make_shared<BoxedTensor>(output));
    element[0] = outputs.size() == 1 ? outputs.front() : Value(outputs);
    return element;
  };
}

}  // namespace

Mapping mapping_at(lua_State* L, int index, int64_t workers, std::optional<bool> training,
                   const char* name) {
  Mapping mapping;
  mapping.workers = workers;
  mapping.name = name;
  if (LayerPtr layer = object_as<Layer>(L, index)) {
    if (workers > 0)
      fail(name,
           ": a layer computes with all threads of the device and takes no workers; "
           "prefetch after it works ahead");
    mapping.on_own_thread = holds_lua_classes(*layer);
    mapping.make = [mapper = layer_mapper(layer, training)] { return mapper; };
    return mapping;
  }
  if (!lua_isfunction(L, index)) fail_expected(L, index, "a function or a layer");
  if (training) fail(name, ": 'training' is for layers; the first argument is a function");
  if (workers <= 0) {
    mapping.on_own_thread = true;
    mapping.make = [mapper = script_mapper(Ref(L, index))] { return mapper; };
    return mapping;
  }
  auto function = std::make_shared<const Copied>(L, index, "the function");
  mapping.make = [function]() -> Mapper {
    auto state = std::make_shared<WorkerState>(function);
    return [state](Element element) { return state->call(element); };
  };
  return mapping;
}

}  // namespace crescent::lua
