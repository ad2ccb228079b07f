// Conversion between Lua values and Value, tensors and lists. Tables with keys 1..n are lists,
// tables with names are dictionaries, integers stay integers; cr.null (a light userdata) is a null
// in a list.
#pragma once
#include <lua.hpp>

#include "crescent/base/value.h"
#include "crescent/layer/layer.h"
#include "lua/state.h"

namespace crescent::lua {

/// A Lua function as an option, which becomes an object of the option's kind: a loss, an
/// activation, ...
class LuaFunction final : public Object {
 public:
  explicit LuaFunction(Ref function) : function(std::move(function)) {}
  std::string class_name() const override { return "function"; }
  Ref function;
};

[[noreturn]] inline void fail_expected(lua_State* L, int index, std::string_view what) {
  fail("expected ", what, ", got ", describe(L, index));
}

/// Whether the value is a table that is neither a handle nor a class made by subclass().
bool is_plain_table(lua_State* L, int index);
/// Pushes a number. NaN loses its sign, so that it is printed as "nan".
void push_float(lua_State* L, double number);
/// Fails for a table with keys other than 1..n, which a list would lose.
void check_list(lua_State* L, int index);

Value to_value(lua_State* L, int index);
void push_value(lua_State* L, const Value& value);
/// The Dict of a table with names; empty for an empty table and nil.
Dict to_dict(lua_State* L, int index);

/// The tensor of a tensor, a variable, a number, a boolean or nested tables of them. Numbers become
/// float32 unless `dtype` is given, but a single integer becomes int32. Tensors in
/// a table are stacked.
Tensor to_tensor(lua_State* L, int index, std::optional<DType> dtype = {});
bool is_tensor_like(lua_State* L, int index);  ///< whether it is a tensor or a variable
/// The tensors of a tensor or a table of tensors.
Tensors to_tensors(lua_State* L, int index);
bool is_symbolic(lua_State* L, int index);  ///< whether it is a symbol or a nested table of symbols
int64_t to_integer(lua_State* L, int index);
double to_number(lua_State* L, int index);
/// The integers of a number or a table of numbers.
std::vector<int64_t> to_integers(lua_State* L, int index);
std::vector<double> to_numbers(lua_State* L, int index);
Shape to_shape(lua_State* L, int index);
/// The shape of a new tensor, from a table with the size of every axis. While a program is traced,
/// -1 is an unknown size.
Shape to_new_shape(lua_State* L, int index);

void push_string(lua_State* L, std::string_view text);
void push_shape(lua_State* L, const Shape& shape);
/// Pushes the values of a tensor as nested tables of numbers or booleans; a number for a scalar.
void push_numbers(lua_State* L, const Tensor& tensor);

}  // namespace crescent::lua
