#include "values/convert.h"

#include <algorithm>
#include <cmath>

#include "lua/class_table.h"
#include "lua/handle.h"
#include "lua/lists.h"

namespace crescent::lua {

void check_list(lua_State* L, int index) {
  index = lua_absindex(L, index);
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const bool is_integer = lua_isinteger(L, -2);
    if (is_integer && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= length) continue;
    if (is_integer)
      fail("expected a list of ", length, ", got something at ", text_of(L, -2), " too");
    fail("expected a list, got a table with the name '", text_of(L, -2), "'");
  }
}

namespace {

// the key that marks the metatable of empty dictionaries, which distinguishes them from empty lists
const char dict_key = 0;

bool is_marked_dict(lua_State* L, int index) { return has_metatable(L, index, &dict_key); }

void mark_dict(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &dict_key) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &dict_key);
  }
  lua_setmetatable(L, -2);
}

Value value_at(lua_State* L, int index, int depth);

/// The number of items n if the keys of the table are 1..n, else -1.
int64_t list_length(lua_State* L, int index) {
  int64_t count = 0;
  const auto length = static_cast<int64_t>(lua_rawlen(L, index));
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const bool is_position =
        lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= length;
    if (!is_position) return lua_pop(L, 2), -1;
    ++count;
  }
  return count == length ? count : -1;
}

List list_at(lua_State* L, int index, int64_t length, int depth) {
  List list;
  for (int64_t i = 1; i <= length; ++i) {
    lua_rawgeti(L, index, i);
    list.push_back(value_at(L, lua_gettop(L), depth + 1));
    lua_pop(L, 1);
  }
  return list;
}

/// The dictionary of a table, sorted by name because a Lua table has no order.
Dict dict_at(lua_State* L, int index, int depth) {
  std::vector<DictEntry> entries;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const int type = lua_type(L, -2);
    if (type != LUA_TSTRING && type != LUA_TNUMBER)
      fail("expected a name or a number as key, got ", describe(L, -2));
    entries.push_back({text_of(L, -2), value_at(L, lua_gettop(L), depth + 1)});
  }
  std::sort(entries.begin(), entries.end(),
            [](const DictEntry& a, const DictEntry& b) { return a.key < b.key; });
  return Dict::from(std::move(entries));
}

Value table_at(lua_State* L, int index, int depth) {
  if (auto info = class_of_table(L, index)) return info->name;
  if (is_class(L, index))
    fail("expected an object or a class, got a base class: derive one with subclass(name)");
  if (depth > kMaxTableDepth) fail_too_deep();
  reserve(L, 8);
  if (is_marked_dict(L, index)) return dict_at(L, index, depth);
  const int64_t length = list_length(L, index);
  return length >= 0 ? Value(list_at(L, index, length, depth)) : Value(dict_at(L, index, depth));
}

Value userdata_at(lua_State* L, int index) {
  if (auto* tensor = to_handle<Tensor>(L, index))
    return Value(std::make_shared<BoxedTensor>(*tensor));
  if (auto* variable = to_handle<Variable>(L, index))
    return Value(std::make_shared<BoxedVariable>(*variable));
  if (auto* symbol = to_handle<Symbol>(L, index))
    return Value(std::make_shared<BoxedSymbol>(*symbol));
  if (auto* info = to_handle<ClassPtr>(L, index)) return (*info)->name;
  if (Object* object = to_object(L, index)) return Value(object->shared_from_this());
  fail("expected a value, got ", describe(L, index));
}

Value value_at(lua_State* L, int index, int depth) {
  switch (lua_type(L, index)) {
    case LUA_TNONE:
    case LUA_TNIL:
    case LUA_TLIGHTUSERDATA:
      return {};
    case LUA_TBOOLEAN:
      return static_cast<bool>(lua_toboolean(L, index));
    case LUA_TNUMBER:
      return lua_isinteger(L, index) ? Value(static_cast<int64_t>(lua_tointeger(L, index)))
                                     : Value(lua_tonumber(L, index));
    case LUA_TSTRING:
      return text_of(L, index);
    case LUA_TTABLE:
      return table_at(L, lua_absindex(L, index), depth);
    case LUA_TFUNCTION:
      return Value(std::make_shared<LuaFunction>(Ref(L, index)));
    case LUA_TUSERDATA:
      return userdata_at(L, index);
    default:
      fail("expected a value, got ", describe(L, index));
  }
}

/// Whether users read the item by its position in a list: layers, metrics, weights, sizes, shapes.
bool is_read_by_position(const Value& item) {
  if (item.is_list()) return !item.as_list().empty() && is_read_by_position(item.as_list().front());
  return item.object_as<Configurable>() || item.object_as<BoxedVariable>() || item.is_int();
}

/// Pushes a list. Nulls become cr.null, so that the list has no holes.
void push_list(lua_State* L, const List& list) {
  lua_createtable(L, static_cast<int>(list.size()), 0);
  lua_Integer i = 0;
  for (const Value& item : list) {
    item.is_null() ? lua_pushlightuserdata(L, nullptr) : push_value(L, item);
    lua_rawseti(L, -2, ++i);
  }
  if (!list.empty() && is_read_by_position(list.front())) mark_list(L);
}

/// Pushes a dictionary without its nulls; an empty one gets a metatable that distinguishes it from
/// a list.
void push_dict(lua_State* L, const Dict& dict) {
  lua_newtable(L);
  bool is_empty = true;
  for (const DictEntry& entry : dict) {
    if (entry.value.is_null()) continue;
    is_empty = false;
    push_string(L, entry.key);
    push_value(L, entry.value);
    lua_rawset(L, -3);
  }
  if (is_empty) mark_dict(L);
}

}  // namespace

void push_float(lua_State* L, double number) {
  lua_pushnumber(L, std::isnan(number) ? std::abs(number) : number);
}

bool is_plain_table(lua_State* L, int index) {
  return lua_type(L, index) == LUA_TTABLE && !is_class(L, index);
}

Value to_value(lua_State* L, int index) { return value_at(L, index, 0); }

void push_value(lua_State* L, const Value& value) {
  reserve(L, 4);
  switch (value.kind()) {
    case Value::Kind::null:
      return lua_pushnil(L);
    case Value::Kind::boolean:
      return lua_pushboolean(L, value.as_bool());
    case Value::Kind::integer:
      return lua_pushinteger(L, value.as_int());
    case Value::Kind::real:
      return push_float(L, value.as_float());
    case Value::Kind::string:
      return push_string(L, value.as_string());
    case Value::Kind::list:
      return push_list(L, value.as_list());
    case Value::Kind::dict:
      return push_dict(L, value.as_dict());
    case Value::Kind::object:
      if (auto boxed = value.object_as<BoxedVariable>()) return push_handle(L, boxed->variable);
      if (auto boxed = value.object_as<BoxedTensor>()) return push_handle(L, boxed->tensor);
      if (auto boxed = value.object_as<BoxedSymbol>()) return push_handle(L, boxed->symbol);
      if (auto function = value.object_as<LuaFunction>()) return function->function.push(L);
      return push_object(L, value.as_object());
  }
}

Dict to_dict(lua_State* L, int index) {
  if (lua_isnoneornil(L, index)) return {};
  if (!is_plain_table(L, index)) fail_expected(L, index, "a table with names");
  Value value = to_value(L, index);
  if (value.is_dict()) return std::move(value.as_dict());
  if (value.as_list().empty()) return {};
  reserve(L, 8);
  return dict_at(L, lua_absindex(L, index), 0);
}

namespace {

/// Searches a value for symbols. A limit on the depth ends the search in a table that contains
/// itself.
class SymbolSearch {
 public:
  explicit SymbolSearch(lua_State* L) : L_(L) {}
  bool contains_symbol(int index, int depth = 0) {
    if (to_handle<Symbol>(L_, index)) return true;
    is_too_deep_ = is_too_deep_ || depth > kMaxTableDepth;
    if (!is_plain_table(L_, index) || is_too_deep_) return false;
    StackRestorer restorer(L_);
    index = lua_absindex(L_, index);
    reserve(L_, 4);
    for (lua_pushnil(L_); lua_next(L_, index); lua_pop(L_, 1)) {
      if (contains_symbol(-1, depth + 1)) return true;
      if (is_too_deep_ || !is_plain_table(L_, -1)) return false;
    }
    return false;
  }

 private:
  lua_State* L_;
  bool is_too_deep_ = false;
};

}  // namespace

bool is_symbolic(lua_State* L, int index) { return SymbolSearch(L).contains_symbol(index); }

void push_string(lua_State* L, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
}

}  // namespace crescent::lua
