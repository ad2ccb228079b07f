// Models made of layers and symbols: what the classes Model and Sequential do when they are called.
#pragma once
#include "crescent/model.h"
#include "values/read.h"

namespace crescent::lua {

/// One layer of a Sequential; what cr.Input gave stands for its InputLayer.
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
/// Model{inputs=, outputs=, name=} and Sequential{...}: class table, arguments.
int make_functional(lua_State* L);
int make_sequential(lua_State* L);

}  // namespace crescent::lua
