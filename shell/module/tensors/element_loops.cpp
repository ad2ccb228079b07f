#include "tensors/element_loops.h"

#include "crescent/program/element_writing.h"
#include "tensors/indexing.h"
#include "values/function.h"

namespace crescent::lua {
namespace {

Tensor element_of(const Tensor& tensor, int64_t i) {
  const size_t offset = tensor.offset() + static_cast<size_t>(i) * size_of(tensor.dtype());
  return Tensor::on(tensor.storage(), offset, {tensor.dtype(), {}});
}

/// The iterator over elements. Its upvalues are the tensor and the number of elements that it has
/// returned.
class NextElement final : public Callable {
 public:
  NextElement() : Callable("next element", {}, "") {}
  int call(lua_State* L) const override {
    const Tensor& tensor = *to_handle<Tensor>(L, lua_upvalueindex(2));
    const lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));
    if (i >= tensor.size()) return lua_pushnil(L), 1;
    lua_pushinteger(L, i + 1);
    lua_replace(L, lua_upvalueindex(3));
    return push_numbers(L, element_of(tensor, i)), 1;
  }
};

/// Implements t:elements(). If the tensor is in another memory, iterates over a copy in the host's
/// memory.
OnStack elements(const Tensor& source) {
  static const NextElement next_element;
  lua_State* L = current();
  const Tensor tensor = source.to(nullptr);
  push_handle(L, tensor);
  lua_pushinteger(L, 0);
  push_closure(L, next_element, 2);
  return {};
}

/// The iterator over rows: called with (tensor, i), it returns (i + 1, tensor[i + 1]).
int next_row(lua_State* L) {
  const int64_t next = to_integer(L, 2) + 1;
  lua_settop(L, 1);
  lua_pushinteger(L, next);
  index_tensor(L);
  return lua_isnil(L, -1) ? 1 : 2;
}

/// The metamethod __pairs: iterates over rows, as ipairs(t) does.
int pairs_of_rows(lua_State* L) {
  static const CallablePtr next = raw("next row", next_row, {"tensor", "position"});
  if (to_tensor(L, 1).rank() == 0) fail("a scalar has no rows: use t:item()");
  push_callable(L, *next);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

/// Implements t:map(f). If t has a floating-point dtype and f returns numbers, or t has integers
/// and f returns integers, the result has the dtype of t; otherwise it has the dtype that a tensor
/// made of the results would have.
Tensor map_elements(const Tensor& source, Any function, std::optional<DType> dtype) {
  lua_State* L = current();
  if (is_followed(source))
    fail("map: a function of numbers has no gradient and is no part of a program: ",
         "use cr.ops.vectorize or cr.ops.map");
  const Tensor tensor = source.to(nullptr);
  if (tensor.size() == 0) return ops::zeros(tensor.shape(), dtype.value_or(tensor.dtype()));
  reserve(L, 4);
  lua_createtable(L, static_cast<int>(tensor.size()), 0);
  const int results_index = lua_gettop(L);
  bool are_integers = is_integer(tensor.dtype());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    lua_pushvalue(L, function.index);
    push_numbers(L, element_of(tensor, i));
    protected_call(L, 1, 1);
    if (lua_isnil(L, -1)) fail_expected(L, -1, "a value from the function of map");
    are_integers = are_integers && lua_isinteger(L, -1);
    lua_rawseti(L, results_index, i + 1);
  }
  lua_rawgeti(L, results_index, 1);
  const bool keeps_dtype = are_integers || (is_floating(tensor.dtype()) && lua_isnumber(L, -1));
  if (!dtype && keeps_dtype) dtype = tensor.dtype();
  return ops::reshape(to_tensor(L, results_index, dtype), tensor.shape());
}

}  // namespace

void add_element_loops(HandleType& type) {
  type.method("elements -> a function that gives them", &elements, {},
              "Iterates over all elements as numbers: for x in t:elements() do ... end; pairs(t) "
              "and ipairs(t) iterate over the rows.")
      .method("map", &map_elements, {"function: a function", "dtype=nil"},
              "A tensor of the results of a Lua function for each element: t:map(function(x) "
              "return x > 0 and x or 0 end). By default numbers keep a floating-point dtype of t, "
              "integers one of integers, and other numbers become float32; booleans become bool.");
  type.meta("__pairs", raw("pairs", pairs_of_rows));
}

}  // namespace crescent::lua
