#include "classes/building.h"

#include "crescent/layer/operation.h"
#include "values/callable.h"

namespace crescent::lua {
namespace {
ModelPtr functional(Any, const ModelEndpoints& inputs, const ModelEndpoints& outputs,
                    std::optional<std::string> name, bool trainable) {
  return Functional::make(inputs.symbols, outputs.symbols, name.value_or(""), trainable,
                          {inputs.structure, outputs.structure});
}
}  // namespace

/// Applies an activation to a symbol as a layer. As in files of Keras, an activation with options
/// becomes the layer ReLU or the operation of the same name.
Symbol activate(const std::shared_ptr<Activation>& activation, const Symbol& x) {
  const ClassPtr& info = activation->info();
  const Dict options = activation->get_config();  // the options that differ from their defaults
  const bool is_builtin_with_options = info && info->origin != "Lua" && !options.empty();
  if (is_builtin_with_options && registry().find(Operation::kKind, info->name) &&
      info->name != "relu") {
    Dict arguments{{"x", std::make_shared<BoxedSymbol>(x)}};
    for (const Field& option : info->schema.fields)
      arguments.set(option.name,
                    options.contains(option.name) ? options.at(option.name) : option.default_value);
    return (*get<Operation>(Value(info->name)))(arguments).object_as<BoxedSymbol>()->symbol;
  }
  const LayerPtr layer = is_builtin_with_options && info->name == "relu"
                             ? make<Layer>("ReLU", options)
                             : make<Layer>("Activation", {{"activation", Value(activation)}});
  return (*layer)(std::vector<Symbol>{x}).front();
}

int make_functional(lua_State* L) {
  static const CallablePtr make =
      bound("Model", &functional, {"class", "inputs", "outputs", "name=nil", "trainable=true"});
  return make->call(L);
}

/// Implements Sequential{layer, layer, name=...}, Sequential({layer, ...}, {name=...}) and
/// Sequential().
int make_sequential(lua_State* L) {
  static const CallablePtr make =
      bound("Sequential -> a model",
            [](const std::vector<StackedLayer>& stack, std::optional<std::string> name) {
              std::vector<LayerPtr> layers;
              for (const StackedLayer& item : stack) layers.push_back(item.layer);
              return Sequential::make(layers, name.value_or(""));
            },
            {"layers: a list of layers=nil", "name: a string=nil"});
  lua_remove(L, 1);
  if (lua_gettop(L) > 1 && object_as<Layer>(L, 1) && object_as<Layer>(L, 2))
    fail("Sequential: expected a table of layers, got several layers: Sequential { layer, layer }");
  if (lua_gettop(L) == 0 || lua_isnil(L, 1) ||
      (lua_gettop(L) == 1 && is_keywords(L, 1) && lua_rawlen(L, 1) == 0)) {
    lua_newtable(L);
    lua_insert(L, 1);
  }
  return make->call(L);
}

}  // namespace crescent::lua
