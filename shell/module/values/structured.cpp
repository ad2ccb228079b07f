#include "values/structured.h"

#include "lua/class_table.h"
#include "lua/stack.h"
#include "values/callable.h"
#include "values/convert.h"

namespace crescent::lua {
namespace {

bool is_missing(lua_State* L, int index) {
  return lua_islightuserdata(L, index) || (lua_isboolean(L, index) && !lua_toboolean(L, index));
}

/// Whether the value is a tensor, a symbol or a table with names, or is a table that contains one
/// at any depth.
bool holds_parts(lua_State* L, int index, int depth = 0) {
  if (!is_plain_table(L, index)) return is_tensor_like(L, index) || to_handle<Symbol>(L, index);
  if (depth > kMaxTableDepth) fail_too_deep();
  if (is_keywords(L, index)) return true;
  index = lua_absindex(L, index);
  reserve(L, 4);
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
  for (lua_Integer i = 1; i <= length; ++i) {
    lua_rawgeti(L, index, i);
    const bool has_part = holds_parts(L, -1, depth + 1);
    lua_pop(L, 1);
    if (has_part) return true;
  }
  return false;
}

Value table_of_parts(lua_State* L, int index, int depth);

Value part_at(lua_State* L, int index, int depth = 0) {
  if (lua_isnil(L, index) || is_missing(L, index)) return {};
  if (const Symbol* symbol = to_handle<Symbol>(L, index)) return boxed(*symbol);
  if (is_plain_table(L, index) && holds_parts(L, index)) return table_of_parts(L, index, depth);
  return boxed(to_tensor(L, index));
}

Value table_of_parts(lua_State* L, int index, int depth) {
  if (depth > kMaxTableDepth) fail_too_deep();
  index = lua_absindex(L, index);
  reserve(L, 6);
  if (!is_keywords(L, index)) {
    List list;
    const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
    for (lua_Integer i = 1; i <= length; ++i) {
      lua_rawgeti(L, index, i);
      list.push_back(part_at(L, -1, depth + 1));
      lua_pop(L, 1);
    }
    return list;
  }
  Dict dict;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      fail("expected tensors by position or by name, got both in one table");
    dict.set(text_of(L, -2), part_at(L, -1, depth + 1));
  }
  return dict;
}

}  // namespace

bool holds_tables_of_tensors(lua_State* L, int index) {
  if (!is_plain_table(L, index)) return false;
  StackRestorer restorer(L);
  index = lua_absindex(L, index);
  reserve(L, 4);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
    if (is_plain_table(L, -1) && holds_parts(L, -1)) return true;
  return false;
}

namespace {

bool has_null_tensors_within(lua_State* L, int index, int depth) {
  if (!is_plain_table(L, index)) return false;
  if (depth > kMaxTableDepth) fail_too_deep();
  StackRestorer restorer(L);
  index = lua_absindex(L, index);
  reserve(L, 4);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_islightuserdata(L, -1)) return true;
    const bool has_parts = is_plain_table(L, -1) && holds_parts(L, -1);
    if (has_parts && has_null_tensors_within(L, -1, depth + 1)) return true;
  }
  return false;
}

}  // namespace

bool has_null_tensors(lua_State* L, int index) { return has_null_tensors_within(L, index, 0); }

bool is_nested(lua_State* L, int index) {
  return is_keywords(L, index) || holds_tables_of_tensors(L, index);
}

Value nested_at(lua_State* L, int index) { return part_at(L, lua_absindex(L, index)); }

bool holds_tensors(const Value& nested) {
  const List leaves = leaves_of(nested);
  return std::all_of(leaves.begin(), leaves.end(), [](const Value& leaf) {
    return leaf.is_null() || leaf.object_as<BoxedTensor>();
  });
}

Tensors tensors_of(const Value& nested) {
  Tensors tensors;
  for (const Value& leaf : leaves_of(nested)) {
    if (leaf.is_null()) continue;
    const auto tensor = leaf.object_as<BoxedTensor>();
    if (!tensor) fail("expected tensors, got ", leaf);
    tensors.push_back(tensor->tensor);
  }
  return tensors;
}

std::vector<Symbol> symbols_of(const Value& nested) {
  std::vector<Symbol> symbols;
  for (const Value& leaf : leaves_of(nested)) {
    if (leaf.is_null()) continue;
    const auto symbol = leaf.object_as<BoxedSymbol>();
    if (!symbol) fail("expected symbols, got ", leaf);
    symbols.push_back(symbol->symbol);
  }
  return symbols;
}

Value without_list_of_one(Value nested) {
  if (!nested.is_list() || nested.as_list().size() != 1) return nested;
  Value item = nested.as_list().front();
  return item.is_list() || item.is_dict() ? nested : item;
}

}  // namespace crescent::lua
