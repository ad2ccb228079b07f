// Lua values <-> Value, tensors, lists. Tables with positions 1..n are lists, tables with names are
// dicts, integers stay integers; cr.null (a light userdata) is a null inside a list.
#pragma once
#include <lua.hpp>

#include "crescent/base/value.h"
#include "crescent/layer/layer.h"
#include "lua/state.h"

namespace crescent::lua {

/// A Lua function as an option; at() it becomes what the option wants: a loss, an activation, ...
class LuaFunction final : public Object {
 public:
  explicit LuaFunction(Ref function) : function(std::move(function)) {}
  std::string class_name() const override { return "function"; }
  Ref function;
};

[[noreturn]] inline void fail_expected(lua_State* L, int index, std::string_view what) {
  fail("expected ", what, ", got ", describe(L, index));
}

/// A table that is neither a handle nor a class made with subclass().
bool is_plain_table(lua_State* L, int index);
/// Fails when a table has more than the items 1..n, which those who read a list would leave out.
void check_list(lua_State* L, int index);

Value to_value(lua_State* L, int index);
void push_value(lua_State* L, const Value& value);
/// A table with names as a Dict; an empty table is an empty one, nil too.
Dict to_dict(lua_State* L, int index);

/// A tensor, a variable, a number, a boolean or nested tables of them. Fractions and integers alike
/// become float32 unless `dtype` says otherwise; a number alone stays an integer (int32) when it is
/// one.
Tensor to_tensor(lua_State* L, int index, std::optional<DType> dtype = {});
bool is_tensor_like(lua_State* L, int index);  ///< a tensor or a variable
/// One tensor or a table of them.
Tensors to_tensors(lua_State* L, int index);
bool is_symbolic(lua_State* L, int index);  ///< a symbol, or a table of them, nested in any way
int64_t to_integer(lua_State* L, int index);
double to_number(lua_State* L, int index);
/// A number or a table of numbers.
std::vector<int64_t> to_integers(lua_State* L, int index);
std::vector<double> to_numbers(lua_State* L, int index);
Shape to_shape(lua_State* L, int index);
/// Of a tensor to make: a table that has the size of every axis. Inside a trace -1 is a size not
/// known yet.
Shape to_new_shape(lua_State* L, int index);

void push_string(lua_State* L, std::string_view text);
void push_shape(lua_State* L, const Shape& shape);
/// Nested tables of numbers (or booleans); a number for a scalar.
void push_numbers(lua_State* L, const Tensor& tensor);

}  // namespace crescent::lua
