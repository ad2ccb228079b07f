// Construction of models from layers and symbols, by calls of the classes Model and Sequential.
#pragma once
#include "crescent/model/model.h"
#include "values/callable.h"
#include "values/read.h"
#include "values/structured.h"

namespace crescent::lua {

/// A layer of a Sequential, read from the Lua stack; for a symbol made by cr.Input, the InputLayer
/// that made it.
struct StackedLayer {
  LayerPtr layer;
};
template <>
struct Read<StackedLayer> : ReadBase<StackedLayer> {
  static StackedLayer from(lua_State* L, int index) {
    const Symbol* symbol = to_handle<Symbol>(L, index);
    if (symbol && symbol->node()->inputs.empty()) return {symbol->layer()};
    return {Read<LayerPtr>::from(L, index)};
  }
};
/// The inputs or outputs of a model: a list of symbols, and the nested structure in which they were
/// given.
struct ModelEndpoints {
  std::vector<Symbol> symbols;
  Value structure;
};
template <>
struct Read<ModelEndpoints> : ReadBase<ModelEndpoints> {
  static constexpr bool is_list = true, takes_names = true;
  static ModelEndpoints from(lua_State* L, int index) {
    const Value nested = nested_at(L, index);
    return {symbols_of(nested), structure_of(nested)};
  }
};

/// Applies an activation to a symbol as a layer; returns the result.
Symbol activate(const std::shared_ptr<Activation>& activation, const Symbol& x);

/// Implement the constructors Model{inputs=, outputs=, name=} and Sequential{...}; the Lua stack
/// has the class table and the arguments.
int make_functional(lua_State* L);
int make_sequential(lua_State* L);

}  // namespace crescent::lua
