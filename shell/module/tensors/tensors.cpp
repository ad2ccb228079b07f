// The types of tensors and variables in Lua: positions, slices, operators, and functions that make
// and read tensors.
#include "tensors/tensors.h"

#include <cmath>

#include "crescent/layer/weight_rules.h"
#include "crescent/ops/creation.h"
#include "crescent/program/element_writing.h"
#include "crescent/tensor/strings.h"
#include "tensors/element_loops.h"
#include "tensors/indexing.h"
#include "tensors/ops.h"
#include "tensors/selectors.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

using OptionalDType = std::optional<DType>;

/// The slice of an axis whose length is unknown, as in the graph of a model. The length of the
/// result is known if both ends count from the same end of the axis.
Tensor slice_unknown(const Tensor& tensor, int axis, int64_t first, int64_t last) {
  if (first == 1 && last == -1) return tensor;
  const bool is_known_length = (first > 0) == (last > 0);
  if (first == 0 || last == 0 || (is_known_length && last < first - 1))
    fail("slice: positions ", first, " to ", last, " are outside of axis ", axis, " of shape ",
         tensor.shape(), "; positions count from 1 and both ends are included");
  Shape shape = tensor.shape();
  shape.set(axis, is_known_length ? last - first + 1 : -1);
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
    const AxisRange range = range_of(first[axis], to, 1, tensor.shape(), axis);
    if (range.count == tensor.dim(axis)) continue;
    result = axis == 0 && !is_followed(tensor)
                 ? result.view_rows(range.first, range.count)
                 : ops::slice_axis(result, axis, range.first, range.first + range.count);
  }
  return result;
}

/// Calls a method that takes a table or tensor of numbers, such as x:reshape({2, 3}); also accepts
/// the numbers as separate arguments: x:reshape(2, 3). `read_numbers` reads the table or tensor.
template <class ReadNumbers, class F>
int with_numbers_as_table(lua_State* L, ReadNumbers read_numbers, F f) {
  const Tensor tensor = to_tensor(L, 1);
  std::vector<int64_t> numbers;
  if (lua_gettop(L) == 2 && (is_plain_table(L, 2) || is_tensor_like(L, 2)))
    numbers = read_numbers(L, 2);
  else
    for (int i = 2; i <= lua_gettop(L); ++i) numbers.push_back(Read<int64_t>::from(L, i));
  return push(L, f(tensor, numbers)), 1;
}

std::vector<int64_t> sizes_at(lua_State* L, int index) {
  const Shape shape = to_shape(L, index);
  return {shape.begin(), shape.end()};
}

int reshape(lua_State* L) {
  return with_numbers_as_table(L, sizes_at, [](const Tensor& x, const std::vector<int64_t>& dims) {
    return ops::reshape(x, Shape(dims));
  });
}

int transpose(lua_State* L) {
  return with_numbers_as_table(
      L, to_integers, [](const Tensor& x, const std::vector<int64_t>& axes) {
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

/// Copies a tensor. If its values are in a file, the user can interrupt the copying.
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

/// Fails for a < b: Lua converts the result of a comparison to a boolean, so it cannot be a tensor.
int refuse_tensor_comparison(lua_State*) {
  fail("comparisons in Lua cannot give a tensor: use cr.ops.less(a, b), less_equal, greater, ",
       "greater_equal, equal or not_equal, or compare numbers (t:item(), t[1])");
}

/// The metamethod __eq: true if both are the same tensor or variable. Fails for two different
/// tensors, because an elementwise result would be converted to a boolean.
int compare_equal(lua_State* L) {
  auto *a = to_handle<Tensor>(L, 1), *b = to_handle<Tensor>(L, 2);
  auto *v = to_handle<Variable>(L, 1), *w = to_handle<Variable>(L, 2);
  if ((a && b && a->id() == b->id()) || (v && w)) return lua_pushboolean(L, a || *v == *w), 1;
  if (is_tensor_like(L, 1) && is_tensor_like(L, 2)) return refuse_tensor_comparison(L);
  return lua_pushboolean(L, false), 1;
}

int refuse_concatenation(lua_State*) {
  fail("a tensor is no text: use tostring(t), or t:item() for its only element");
}

void add_operators(HandleType& type) {
  using ops::Operand;
  for (const char* name : {"__lt", "__le"}) type.meta(name, raw(name, refuse_tensor_comparison));
  type.meta("__eq", raw("==", compare_equal));
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

void add_common_members(HandleType& type) {
  type.property(
          "shape", [](const Tensor& t) { return t.shape(); }, "The shape.")
      .property(
          "dtype", [](const Tensor& t) { return t.dtype(); }, "Dtype of the elements.")
      .property(
          "rank", [](const Tensor& t) { return t.rank(); }, "Number of axes.")
      .property(
          "ndim", [](const Tensor& t) { return t.rank(); }, "Number of axes.")
      .property(
          "size", [](const Tensor& t) { return t.size(); }, "Number of elements.")
      .property(
          "nbytes", [](const Tensor& t) { return t.bytes(); }, "Size of the elements in bytes.")
      .property(
          "T", [](const Tensor& t) { return ops::transpose(t); },
          "The transpose: the axes in reverse order.");
  type.method("totable -> a number or nested tables", &totable, {},
              "The values as nested tables; a number for a scalar.")
      .method("item -> a number", &item, {},
              "The value of a tensor with one element, as a Lua value.")
      .method("slice", &slice, {"first", "last=nil"},
              "The elements from first to last along the first axis, or by tables of positions "
              "along several axes; positions count from 1, negative ones from the end, and both "
              "ends are included. t[{ {1, 3}, {}, 2 }] combines ranges and positions; cr.ops.slice "
              "counts from 0, as Keras.")
      .raw_method("reshape -> a tensor", reshape, {"shape: a shape"},
                  "The same values in another shape; one size of -1 is computed from the others.")
      .raw_method("transpose -> a tensor", transpose, {"axes: a list of axes=nil"},
                  "Permutes the axes; reverses their order when none are given.");
  add_operators(type);
  add_tensor_indexing(type);
  add_element_loops(type);
}

// ---- making tensors

OnStack make_tensor(Any values, std::optional<DType> dtype) {
  lua_State* L = current();
  if (lua_type(L, values.index) == LUA_TSTRING && dtype.value_or(DType::string) == DType::string) {
    const std::string text = text_of(L, values.index);
    return push(L, string_tensor({&text, 1}, {})), OnStack{};
  }
  const bool is_plain_number = lua_type(L, values.index) == LUA_TNUMBER;
  return push(L, to_tensor(L, values.index, is_plain_number && !dtype ? floatx() : dtype)),
         OnStack{};
}

Tensor arange(double start, std::optional<double> stop, double step, std::optional<DType> dtype) {
  if (!stop) stop = start, start = 0;
  if (step == 0) fail("arange: the step must not be 0");
  const bool are_integers =
      std::floor(start) == start && std::floor(step) == step && std::floor(*stop) == *stop;
  const double count = std::max(0.0, std::ceil((*stop - start) / step));
  if (!(count < 1e18)) fail("arange: ", count, " elements are too many");
  Tensor elements(Shape{static_cast<int64_t>(count)}, DType::float64);
  double* values = elements.mutable_data<double>();
  for (int64_t i = 0; i < elements.size(); ++i) values[i] = start + step * static_cast<double>(i);
  return ops::cast(elements, dtype.value_or(are_integers ? DType::int32 : floatx()));
}

Tensor linspace(double start, double stop, int64_t num) {
  if (num < 1) fail("linspace: expected at least one element, got ", num);
  return ops::linspace(start, stop, num, true, floatx());
}

/// Assigns to a variable and returns its new value.
template <auto Assign>
Tensor value_after(Variable& v, const Tensor& operand) {
  (v.*Assign)(operand);
  return v.value();
}

/// Makes a variable with its own memory, so that later assignments to elements of `initial` do not
/// change it, nor the other way round.
Variable make_variable(const Tensor& initial, std::optional<std::string> name, bool trainable,
                       std::optional<DType> dtype) {
  Variable::Options options;
  options.name = name.value_or("variable");
  options.trainable = trainable;
  const Tensor value = dtype ? ops::cast(initial, *dtype) : initial;
  return Variable(value.is_abstract() ? value : value.clone(), options);
}

}  // namespace

const HandleType& tensor_type() {
  static const HandleType type = [] {
    HandleType type("tensor", {operation_methods, find_operation_method});
    add_common_members(type);
    type.property(
        "mask", [](const Tensor& t) { return t.mask(); },
        "The mask that a layer attached: which steps are valid.");
    type.method("numpy -> a number or nested tables", &totable, {}, "The same as totable.")
        .method("clone", &clone, {}, "A copy with its own memory.");
    type.meta("__tostring", bound("tostring", &text_of_tensor, {"tensor"}));
    return type;
  }();
  return type;
}

const HandleType& variable_type() {
  static const HandleType type = [] {
    HandleType type("variable", {operation_methods, find_operation_method});
    add_common_members(type);
    type.property("name", &Variable::name, "The name of the variable within its layer.")
        .property("path", &Variable::path, "The name preceded by the path of the layer.")
        .property(
            "value", [](Variable& v) { return v.value(); }, "The current value as a tensor.")
        .property(
            "trainable", [](Variable& v) { return v.trainable(); },
            [](Variable& v, bool trainable) { v.set_trainable(trainable); },
            "Whether training updates the variable.")
        .property(
            "regularizer", [](Variable& v) { return v.regularizer(); },
            [](Variable& v, const Value& regularizer) {
              v.set_regularizer(
                  get<Regularizer>(regularizer == Value(false) ? Value() : regularizer));
            },
            "The penalty that is added to the loss.")
        .property(
            "constraint", [](Variable& v) { return v.constraint(); },
            [](Variable& v, const Value& constraint) {
              v.set_constraint(get<Constraint>(constraint == Value(false) ? Value() : constraint));
            },
            "The projection that follows each update.");
    type.method("assign", &value_after<&Variable::assign>, {"value"},
                "Assigns a value of the same shape, and returns it.")
        .method("assign_add", &value_after<&Variable::assign_add>, {"delta"},
                "Adds a value of the same shape; returns the sum.")
        .method("assign_sub", &value_after<&Variable::assign_sub>, {"delta"},
                "Subtracts a value of the same shape; returns the difference.")
        .method("numpy -> a number or nested tables", &totable, {}, "The same as totable.");
    type.meta("__tostring", bound("tostring", &text_of_variable, {"variable"}));
    return type;
  }();
  return type;
}

const std::vector<CallablePtr>& tensor_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    auto add = [&](CallablePtr f) { callables.push_back(std::move(f)); };
    add(bound("tensor -> a tensor", &make_tensor,
              {"values: a number, a list or a tensor", "dtype=nil"},
              "A tensor from a number or nested tables, of the dtype cr.config.floatx() unless one "
              "is given. Tensors "
              "in a table are stacked: cr.tensor{v, v} has v as two rows."));
    add(bound(
        "zeros",
        [](const NewShape& shape, OptionalDType dtype) {
          return ops::zeros(shape, dtype.value_or(floatx()));
        },
        {"shape", "dtype=nil"}, "A tensor of zeros."));
    add(bound(
        "ones",
        [](const NewShape& shape, OptionalDType dtype) {
          return ops::ones(shape, dtype.value_or(floatx()));
        },
        {"shape", "dtype=nil"}, "A tensor of ones."));
    add(bound(
        "full",
        [](const NewShape& shape, double value, OptionalDType dtype) {
          return ops::full(shape, value, dtype.value_or(floatx()));
        },
        {"shape", "value", "dtype=nil"}, "A tensor filled with one value."));
    add(bound("arange", &arange, {"start", "stop=nil", "step=1", "dtype=nil"},
              "The numbers start, start + step, ... below stop."));
    add(bound("linspace", &linspace, {"start", "stop", "num=50"},
              "num evenly spaced values from start to stop."));
    add(bound(
        "eye",
        [](int64_t n, std::optional<int64_t> m, OptionalDType dtype) {
          return ops::eye(n, m, 0, dtype);
        },
        {"n", "m=nil", "dtype=nil"}, "A matrix with ones on the diagonal."));
    add(bound("Variable", &make_variable, {"initial", "name=nil", "trainable=true", "dtype=nil"},
              "A tensor that outlives a step and can be assigned; gradients are taken with respect "
              "to variables."));
    return callables;
  }();
  return functions;
}

}  // namespace crescent::lua
