// Nested tables of tensors and symbols, as arguments and results of calls of layers (structure.h).
#pragma once
#include <algorithm>

#include "crescent/model/model.h"
#include "values/push.h"

namespace crescent::lua {

/// Converts the value at `index` to nested lists and dictionaries of boxed symbols and tensors;
/// cr.null and false become null, tables of numbers become tensors.
Value nested_at(lua_State* L, int index);
/// Whether the value is a table with names, or a table that contains tables of tensors, rather than
/// only numbers or tensors.
bool is_nested(lua_State* L, int index);
/// Whether the table contains tables of tensors or symbols, or tables with names.
bool holds_tables_of_tensors(lua_State* L, int index);
/// Whether the table has cr.null in place of a tensor.
bool has_null_tensors(lua_State* L, int index);
/// Whether the structure contains only tensors.
bool holds_tensors(const Value& nested);
/// The tensors, or the symbols, in the structure; fails if it contains both.
Tensors tensors_of(const Value& nested);
std::vector<Symbol> symbols_of(const Value& nested);

inline Value boxed(const Tensor& tensor) { return Value(std::make_shared<BoxedTensor>(tensor)); }
inline Value boxed(const Symbol& symbol) { return Value(std::make_shared<BoxedSymbol>(symbol)); }

namespace detail {
template <class T>
void push_nested(lua_State* L, const Value& structure,
                 typename std::vector<T>::const_iterator& next) {
  reserve(L, 4);
  if (structure.is_list()) {
    lua_newtable(L);
    lua_Integer key = 0;
    for (const Value& item : structure.as_list()) {
      push_nested<T>(L, item, next);
      lua_rawseti(L, -2, ++key);
    }
  } else if (structure.is_dict()) {
    std::vector<std::string> names = structure.as_dict().keys();
    std::sort(names.begin(), names.end());
    lua_newtable(L);
    for (const std::string& name : names) {
      push_nested<T>(L, structure.as_dict().at(name), next);
      lua_setfield(L, -2, name.c_str());
    }
  } else {
    structure.is_null() ? lua_pushnil(L) : push(L, *next++);
  }
}
}  // namespace detail

/// Pushes the items nested as `structure` says, with nil for missing ones. If the structure is null
/// or has another number of items, pushes a single item itself and several items as a list.
template <class T>
void push_nested(lua_State* L, const Value& structure, const std::vector<T>& items) {
  if (structure.is_null() || tensor_count(structure) != items.size())
    return push(L, OneOrMore<T>{items});
  auto next = items.begin();
  detail::push_nested<T>(L, structure, next);
}

/// Returns x for a list {x} of one item, since a layer may be called with a list of one input;
/// returns other values unchanged.
Value without_list_of_one(Value nested);

}  // namespace crescent::lua
