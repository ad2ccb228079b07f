// Tensors and symbols nested in tables, as calls of layers take and give them (structure.h).
#pragma once
#include <algorithm>

#include "crescent/model/model.h"
#include "values/push.h"

namespace crescent::lua {

/// What stands at `index`, nested in lists and dictionaries: symbols boxed as they are, everything
/// else but cr.null and false, which are null, as boxed tensors. Tables of numbers are tensors.
Value nested_at(lua_State* L, int index);
/// A table with names, or one that holds tables of tensors: not one of numbers or tensors alone.
bool is_nested(lua_State* L, int index);
/// One that holds tables of tensors.
bool is_deep_table(lua_State* L, int index);
/// A table in which cr.null stands for a tensor.
bool lacks_parts(lua_State* L, int index);
/// Whether all that it holds are tensors.
bool holds_tensors(const Value& nested);
/// The tensors in it, or the symbols; fails where there are both.
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
    lua_Integer place = 0;
    for (const Value& item : structure.as_list()) {
      push_nested<T>(L, item, next);
      lua_rawseti(L, -2, ++place);
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

/// Items nested like that; what is not there is nil. Where nothing is nested, or of another number,
/// one item is itself, several are a list.
template <class T>
void push_nested(lua_State* L, const Value& structure, const std::vector<T>& items) {
  if (structure.is_null() || tensor_count(structure) != items.size())
    return push(L, OneOrMore<T>{items});
  auto next = items.begin();
  detail::push_nested<T>(L, structure, next);
}

/// {x} stands for x where a layer is called.
Value without_list_of_one(Value nested);

}  // namespace crescent::lua
