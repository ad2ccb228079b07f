// Models made of layers and symbols: what the classes Model and Sequential do when they are called.
#pragma once
#include "crescent/model.h"
#include "values/callable.h"
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
/// Inputs or outputs of a model: a symbol, a list of them, or a table of symbols by name.
struct Ends {
  std::vector<Symbol> symbols;
  std::vector<std::string> keys;  ///< of the symbols; none: by position
};
template <>
struct Read<Ends> : ReadBase<Ends> {
  static constexpr bool is_list = true, takes_names = true;
  static Ends from(lua_State* L, int index) {
    if (!is_keywords(L, index)) return {Read<std::vector<Symbol>>::from(L, index), {}};
    Ends ends;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
      if (lua_type(L, -2) != LUA_TSTRING)
        fail("expected symbols by position or by name, got both in one table");
      ends.keys.push_back(text_of(L, -2));
      ends.symbols.push_back(Read<Symbol>::from(L, lua_gettop(L)));
    }
    return ends;
  }
};

/// An activation of a symbol: what the layer that applies it gives.
Symbol activate(const std::shared_ptr<Activation>& activation, const Symbol& x);

/// Model{inputs=, outputs=, name=} and Sequential{...}: class table, arguments.
int make_functional(lua_State* L);
int make_sequential(lua_State* L);

}  // namespace crescent::lua
