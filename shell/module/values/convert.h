// Conversion between Lua values and Value, tensors and lists. Tables with keys 1..n are lists,
// tables with names are dictionaries, integers stay integers; cr.null (a light userdata) is a null
// in a list.
#pragma once
#include <lua.hpp>

#include "crescent/base/value.h"
#include "crescent/layer/layer.h"
#include "lua/state.h"

namespace crescent::lua {

/// The number of levels of nested tables that are converted.
constexpr int kMaxTableDepth = 64;
[[noreturn]] inline void fail_too_deep() {
  fail("a table contains itself or is nested more than ", kMaxTableDepth, " deep");
}

/// A Lua function given as an option. It is later replaced by an object of the option's kind, such
/// as a loss or an activation.
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
/// Fails for a table with keys other than 1..n, because converting it to a list would lose them.
void check_list(lua_State* L, int index);

Value to_value(lua_State* L, int index);
void push_value(lua_State* L, const Value& value);
/// Converts a table with names to a Dict; an empty table and nil give an empty Dict.
Dict to_dict(lua_State* L, int index);

/// Converts a tensor, a variable, a number, a boolean or nested tables of them to a tensor. Numbers
/// become float32 unless `dtype` is given, but a single integer becomes int32. Tensors in a table
/// are stacked.
Tensor to_tensor(lua_State* L, int index, std::optional<DType> dtype = {});
bool is_tensor_like(lua_State* L, int index);  ///< whether the value is a tensor or a variable
/// Converts a tensor or a table of tensors to a list of tensors.
Tensors to_tensors(lua_State* L, int index);
bool is_symbolic(lua_State* L, int index);  ///< whether the value is a symbol or a nested table of
                                            ///< symbols
int64_t to_integer(lua_State* L, int index);
double to_number(lua_State* L, int index);
/// Converts an integer or a table of integers to a list.
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
