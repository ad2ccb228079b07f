// Tensors and variables in Lua: positions, slices, operators, making and reading them.
#include "tensors/tensors.h"

#include <cmath>

#include "crescent/tensor/strings.h"
#include "tensors/ops.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

/// A position counted from 1, or from the end when negative, as one counted from 0; -1 when it is
/// outside.
int64_t place_of(int64_t position, int64_t count) {
  const int64_t place = position > 0 ? position - 1 : position + count;
  return position == 0 || place < 0 || place >= count ? -1 : place;
}

void push_element(lua_State* L, const Tensor& tensor, int64_t place) {
  const Tensor one = tensor.view_rows(place, 1).view(Shape{});
  push_numbers(L, one);
}

/// One row of the leading axis; an op where somebody may be recording.
Tensor row_of(const Tensor& tensor, int64_t place) {
  const Shape rest = tensor.shape().slice(1, tensor.rank());
  if (!tensor.is_abstract() && !Recording::possible()) return tensor.view_rows(place, 1).view(rest);
  return ops::squeeze(ops::slice_axis(tensor, 0, place, place + 1), 0);
}

/// t[i]: a row, or a number when the tensor has one axis. One past the end is nil, so that ipairs()
/// ends.
int index_tensor(lua_State* L) {
  const Tensor tensor = to_tensor(L, 1);
  if (is_plain_table(L, 2))
    fail("t[...] takes one position: write t[1][2] for several axes, t:slice({1, 2}, {3, 4}) for ",
         "positions 1 to 3 of the first axis and 2 to 4 of the second");
  if (lua_type(L, 2) != LUA_TNUMBER) {
    const Type* type = type_of(L, 1);
    std::vector<std::string> names = type->property_names();
    for (std::string& name : type->method_names()) names.push_back(std::move(name));
    const std::string name = text_of(L, 2);
    fail(type->name(), ": no attribute '", name, "'", did_you_mean(name, names));
  }
  if (tensor.rank() == 0) fail("a scalar has no positions: use t:item()");
  const int64_t position = Read<int64_t>::from(L, 2), count = tensor.dim(0);
  if (position == count + 1) return lua_pushnil(L), 1;
  const int64_t place = count >= 0 ? place_of(position, count) : position > 0 ? position - 1 : -1;
  if (place < 0)
    fail("position ", position, " is outside of shape ", tensor.shape(),
         "; positions count from 1");
  if (tensor.rank() == 1 && !tensor.is_abstract()) return push_element(L, tensor, place), 1;
  return push(L, row_of(tensor, place)), 1;
}

[[noreturn]] void fail_outside(int64_t first, int64_t last, const Tensor& tensor, int axis) {
  fail("slice: positions ", first, " to ", last, " are outside of axis ", axis, " of shape ",
       tensor.shape(), "; positions count from 1 and both ends are included");
}

struct Range {
  int64_t first, last;  // [first, last) from 0
};

/// Positions from 1, both inclusive, negative ones from the end.
Range range_of(int64_t first, int64_t last, const Tensor& tensor, int axis) {
  const int64_t count = tensor.dim(axis);
  const int64_t from = first > 0 ? first - 1 : first + count,
                to = last >= 0 ? last : last + count + 1;
  if (first == 0 || from < 0 || to > count || from > to) fail_outside(first, last, tensor, axis);
  return {from, to};
}

/// Of an axis whose length is not known yet, as in the graph of a model: how long the part is,
/// where both ends are counted from the same one.
Tensor slice_unknown(const Tensor& tensor, int axis, int64_t first, int64_t last) {
  if (first == 1 && last == -1) return tensor;
  const bool known = (first > 0) == (last > 0);
  if (first == 0 || last == 0 || (known && last < first - 1))
    fail_outside(first, last, tensor, axis);
  Shape shape = tensor.shape();
  shape.set(axis, known ? last - first + 1 : -1);
  return Tensor::abstract({tensor.dtype(), shape});
}

Tensor slice(const Tensor& tensor, const std::vector<int64_t>& first,
             const std::vector<int64_t>& last) {
  if (first.size() != last.size() && !last.empty())
    fail("slice: expected as many last positions as first ones");
  if (first.empty() || static_cast<int>(first.size()) > tensor.rank())
    fail("slice: got ", first.size(), " positions for shape ", tensor.shape());
  Tensor result = tensor;
  for (int axis = 0; axis < static_cast<int>(first.size()); ++axis) {
    const int64_t to = last.empty() ? -1 : last[axis];
    if (tensor.dim(axis) < 0) {
      result = slice_unknown(result, axis, first[axis], to);
      continue;
    }
    const Range range = range_of(first[axis], to, tensor, axis);
    if (range.first == 0 && range.last == tensor.dim(axis)) continue;
    const bool view = axis == 0 && !tensor.is_abstract() && !Recording::possible();
    result = view ? result.view_rows(range.first, range.last - range.first)
                  : ops::slice_axis(result, axis, range.first, range.last);
  }
  return result;
}

/// `x:max()` reduces, `x:transpose(1, 0)` and `x:reshape(2, 3)` take numbers as well as a table.
template <class F>
int with_numbers_as_table(lua_State* L, F f) {
  const Tensor tensor = to_tensor(L, 1);
  std::vector<int64_t> numbers;
  if (lua_gettop(L) == 2 && is_plain_table(L, 2))
    numbers = to_integers(L, 2);
  else
    for (int i = 2; i <= lua_gettop(L); ++i) numbers.push_back(Read<int64_t>::from(L, i));
  return push(L, f(tensor, numbers)), 1;
}

int reshape(lua_State* L) {
  return with_numbers_as_table(L, [](const Tensor& x, const std::vector<int64_t>& dims) {
    return ops::reshape(x, Shape(dims));
  });
}

int transpose(lua_State* L) {
  return with_numbers_as_table(L, [](const Tensor& x, const std::vector<int64_t>& axes) {
    return ops::transpose(x, std::vector<int>(axes.begin(), axes.end()));
  });
}

std::string text_of_tensor(const Tensor& tensor) {
  if (tensor.is_abstract())
    return concat("<tensor shape=", tensor.shape(), " dtype=", tensor.dtype(), ">");
  return to_text(tensor);
}
std::string text_of_variable(const Variable& v) {
  return concat("<variable '", printable(v.path()), "' shape=", v.shape(), " dtype=", v.dtype(),
                ">\n", to_text(v.value()));
}

/// From memory at once; reading a file can be stopped.
Tensor clone(const Tensor& tensor) {
  if (tensor.in_memory()) return tensor.clone();
  Interruptible interruptible;
  return tensor.clone();
}

OnStack totable(const Tensor& tensor) { return push_numbers(current(), tensor), OnStack{}; }
OnStack item(const Tensor& tensor) {
  if (tensor.size() != 1)
    fail("item: expected a tensor of one element, got shape ", tensor.shape());
  return push_numbers(current(), tensor.view(Shape{})), OnStack{};
}
int64_t length(const Tensor& tensor) { return tensor.rank() ? tensor.dim(0) : 0; }
bool same(const Tensor& a, const Tensor& b) { return a.id() == b.id(); }

int same_values(lua_State* L) {
  auto *a = to_handle<Variable>(L, 1), *b = to_handle<Variable>(L, 2);
  return lua_pushboolean(L, a && b && *a == *b), 1;
}

/// Lua makes true or false of whatever a comparison gives, and asks for a > b as b < a.
int refuse_tensor_comparison(lua_State*) {
  fail("comparisons in Lua cannot give a tensor: use cr.ops.less(a, b), less_equal, greater or ",
       "greater_equal, or compare numbers (t:item(), t[1])");
}
int refuse_concatenation(lua_State*) {
  fail("a tensor is no text: use tostring(t), or t:item() for its only element");
}

void add_operators(Type& type) {
  using ops::Operand;
  for (const char* name : {"__lt", "__le"}) type.meta(name, raw(name, refuse_tensor_comparison));
  type.meta("__concat", raw("..", refuse_concatenation));
  type.meta("__add", operator_for("add", bound("+", &ops::add, {"a", "b"})))
      .meta("__sub", operator_for("subtract", bound("-", &ops::subtract, {"a", "b"})))
      .meta("__mul", operator_for("multiply", bound("*", &ops::multiply, {"a", "b"})))
      .meta("__div", operator_for("divide", bound("/", &ops::divide, {"a", "b"})))
      .meta("__mod", operator_for("mod", bound("%", &ops::mod, {"a", "b"})))
      .meta("__pow", operator_for("power", bound("^", &ops::power, {"a", "b"})))
      .meta("__idiv", operator_for("floor_divide", bound("//", &ops::floor_divide, {"a", "b"})))
      .meta("__unm",
            bound("-", [](const Tensor& x, Any) { return ops::negative(x); }, {"x", "again=nil"}))
      .meta("__len",
            bound("#", [](const Tensor& x, Any) { return length(x); }, {"x", "again=nil"}));
}

void add_common(Type& type) {
  type.property(
          "shape", [](const Tensor& t) { return t.shape(); }, "Its sizes.")
      .property(
          "dtype", [](const Tensor& t) { return t.dtype(); }, "Of its elements.")
      .property(
          "rank", [](const Tensor& t) { return t.rank(); }, "How many axes it has.")
      .property(
          "ndim", [](const Tensor& t) { return t.rank(); }, "How many axes it has.")
      .property(
          "size", [](const Tensor& t) { return t.size(); }, "How many elements it has.")
      .property(
          "nbytes", [](const Tensor& t) { return t.bytes(); }, "How many bytes its elements take.")
      .property(
          "T", [](const Tensor& t) { return ops::transpose(t); },
          "With the axes the other way round.");
  type.method("totable -> a number or nested tables", &totable, {},
              "Nested tables of numbers; a number for a scalar.")
      .method("item -> a number", &item, {}, "The value of a tensor of one element.")
      .method("slice", &slice, {"first", "last=nil"},
              "Positions first to last along the first axis, or tables of positions along several; "
              "both ends included.")
      .raw_method("reshape -> a tensor", reshape, {"shape: a shape"},
                  "The same values in another shape; -1 is worked out.")
      .raw_method("transpose -> a tensor", transpose, {"axes: a list of axes=nil"},
                  "Axes in another order; reversed when none are given.");
  add_operators(type);
  type.missing(raw("index", index_tensor));
}

// ---- making tensors

OnStack make_tensor(Any values, std::optional<DType> dtype) {
  lua_State* L = current();
  if (lua_type(L, values.index) == LUA_TSTRING && dtype.value_or(DType::string) == DType::string) {
    const std::string text = text_of(L, values.index);
    return push(L, string_tensor({&text, 1}, {})), OnStack{};
  }
  const bool plain_number = lua_type(L, values.index) == LUA_TNUMBER;
  return push(L, to_tensor(L, values.index, plain_number && !dtype ? DType::float32 : dtype)),
         OnStack{};
}

Tensor arange(double start, std::optional<double> stop, double step, std::optional<DType> dtype) {
  if (!stop) stop = start, start = 0;
  if (step == 0) fail("arange: the step must not be 0");
  const bool whole =
      std::floor(start) == start && std::floor(step) == step && std::floor(*stop) == *stop;
  const double count = std::max(0.0, std::ceil((*stop - start) / step));
  if (!(count < 1e18)) fail("arange: ", count, " elements are too many");
  Tensor elements(Shape{static_cast<int64_t>(count)}, DType::float64);
  double* values = elements.mutable_data<double>();
  for (int64_t i = 0; i < elements.size(); ++i) values[i] = start + step * static_cast<double>(i);
  return ops::cast(elements, dtype.value_or(whole ? DType::int32 : DType::float32));
}

Tensor linspace(double start, double stop, int64_t num) {
  if (num < 1) fail("linspace: expected at least one element, got ", num);
  Tensor elements(Shape{num}, DType::float32);
  float* values = elements.mutable_data<float>();
  for (int64_t i = 0; i < num; ++i)
    values[i] = static_cast<float>(num == 1 ? start
                                            : start + (stop - start) * static_cast<double>(i) /
                                                          static_cast<double>(num - 1));
  return elements;
}

Variable make_variable(const Tensor& initial, std::optional<std::string> name, bool trainable,
                       std::optional<DType> dtype) {
  Variable::Options options;
  options.name = name.value_or("variable");
  options.trainable = trainable;
  return Variable(dtype ? ops::cast(initial, *dtype) : initial, options);
}

}  // namespace

const Type& tensor_type() {
  static const Type type = [] {
    Type type("tensor", &operation_methods());
    add_common(type);
    type.property(
        "mask", [](const Tensor& t) { return t.mask(); },
        "Which parts count, where a layer gave it.");
    type.method("numpy -> a number or nested tables", &totable, {}, "The same as totable.")
        .method("clone", &clone, {}, "A copy with memory of its own.");
    type.meta("__tostring", bound("tostring", &text_of_tensor, {"tensor"}))
        .meta("__eq", bound("==", &same, {"a", "b"}));
    return type;
  }();
  return type;
}

const Type& variable_type() {
  static const Type type = [] {
    Type type("variable", &operation_methods());
    add_common(type);
    type.property("name", &Variable::name, "What its owner calls it.")
        .property("path", &Variable::path, "Its name behind that of the layer it belongs to.")
        .property(
            "value", [](Variable& v) { return v.value(); }, "The tensor that it holds.")
        .property(
            "trainable", [](Variable& v) { return v.trainable(); },
            [](Variable& v, bool on) { v.set_trainable(on); }, "Whether training changes it.")
        .property(
            "regularizer", [](Variable& v) { return v.regularizer(); }, "The penalty on it.")
        .property(
            "constraint", [](Variable& v) { return v.constraint(); },
            "What each update ends with.");
    type.method("assign", &Variable::assign, {"value"}, "Sets the value; the shape must fit.")
        .method("assign_add", &Variable::assign_add, {"delta"}, "Adds to the value.")
        .method("assign_sub", &Variable::assign_sub, {"delta"}, "Subtracts from the value.");
    type.meta("__tostring", bound("tostring", &text_of_variable, {"variable"}))
        .meta("__eq", raw("==", same_values));
    return type;
  }();
  return type;
}

const std::vector<CallablePtr>& tensor_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> all;
    auto add = [&](CallablePtr f) { all.push_back(std::move(f)); };
    add(bound("tensor -> a tensor", &make_tensor,
              {"values: a number, a list or a tensor", "dtype=nil"},
              "A tensor from a number or nested tables; float32 unless told."));
    add(bound(
        "zeros", [](const NewShape& shape, DType dtype) { return ops::zeros(shape, dtype); },
        {"shape", "dtype=float32"}, "A tensor of zeros."));
    add(bound(
        "ones", [](const NewShape& shape, DType dtype) { return ops::ones(shape, dtype); },
        {"shape", "dtype=float32"}, "A tensor of ones."));
    add(bound(
        "full",
        [](const NewShape& shape, double value, DType dtype) {
          return ops::full(shape, value, dtype);
        },
        {"shape", "value", "dtype=float32"}, "A tensor of one value."));
    add(bound("arange", &arange, {"start", "stop=nil", "step=1", "dtype=nil"},
              "start, start+step, ... below stop."));
    add(bound("linspace", &linspace, {"start", "stop", "num=50"},
              "num values from start to stop."));
    add(bound(
        "eye",
        [](int64_t n, std::optional<int64_t> m, DType dtype) {
          return ops::eye(n, m.value_or(n), dtype);
        },
        {"n", "m=nil", "dtype=float32"}, "Ones on the diagonal."));
    add(bound("Variable", &make_variable, {"initial", "name=nil", "trainable=true", "dtype=nil"},
              "State that outlives a step; gradients are taken with respect to it."));
    return all;
  }();
  return functions;
}

}  // namespace crescent::lua
