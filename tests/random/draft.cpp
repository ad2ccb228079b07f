#include "random/draft.h"

#include <algorithm>

#include "crescent/ops/ops.h"

namespace crescent::random_programs {
namespace {

/// Lengths around powers of two, by which kernels and passes choose algorithms.
constexpr int64_t kShort[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};
constexpr int64_t kLong[] = {100,  127,  128,  129,  255,   256,   257,   300,   511,
                             513,  1000, 1023, 1024, 1025,  2047,  2048,  2049,  2051,
                             4095, 4096, 4097, 8192, 16385, 32769, 65535, 65536, 65537};

constexpr DType kFloats[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16};
constexpr DType kIntegers[] = {DType::int32, DType::int64, DType::int8, DType::uint8, DType::int16};

bool has_number_dtype(const TensorSpec& spec) { return spec.dtype != DType::boolean; }
bool has_floating_dtype(const TensorSpec& spec) { return is_floating(spec.dtype); }

bool can_broadcast(const Shape& a, const Shape& b) {
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i)
    if (a[-i] != b[-i] && a[-i] != 1 && b[-i] != 1) return false;
  return true;
}

Dict range(int64_t start, int64_t stop, int64_t step) {
  Dict item{{"start", start}};
  if (stop >= 0) item.set("stop", stop);
  if (step != 1) item.set("step", step);
  return item;
}

/// A range of an axis of n elements: everything, a single element, or a part, with a step or in
/// reverse.
Value random_range(Choices& choices, int64_t n) {
  const int64_t kind = choices.below(6);
  if (kind == 0 || n == 0) return range(0, -1, 1);
  const int64_t count = kind == 1 ? 1 : 1 + choices.below(n);
  if (kind == 5) {  // the range in reverse
    const int64_t step = 1 + choices.below(3), start = n - 1 - choices.below((n + 1) / 2);
    return range(start, -1, -step);
  }
  const int64_t start = choices.below(n - count + 1);
  const int64_t step = kind == 4 ? 2 + choices.below(3) : 1;
  return range(start, start + count, step);
}

}  // namespace

Draft::Draft(Choices& choices_, int64_t max_elements)
    : choices(choices_), max_elements_(max_elements) {
  for (int i = 0; i < 4; ++i) {
    const bool is_long = choices.one_in(max_elements > 2000 ? 4 : 12);
    axis_lengths_.push_back(is_long ? choices.one_of(kLong) : choices.one_of(kShort));
    axis_lengths_.back() = std::min(axis_lengths_.back(), max_elements);
  }
  if (choices.one_in(2)) floating_dtype_ = choices.one_of(kFloats);
}

Draft::Draft(Draft& enclosing, Tensors locals)
    : choices(enclosing.choices),
      abstract_tensors_(std::move(locals)),
      axis_lengths_(enclosing.axis_lengths_),
      max_elements_(enclosing.max_elements_),
      floating_dtype_(enclosing.floating_dtype_) {
  for (const Tensor& local : abstract_tensors_) specs_.push_back(local.spec());
}

int64_t Draft::axis_length() {
  return choices.one_in(4) ? std::min(choices.one_of(kShort), max_elements_)
                           : choices.one_of(axis_lengths_);
}

Shape Draft::shape_of_rank(int rank) {
  Shape shape;
  int64_t size = 1;
  for (int i = 0; i < rank; ++i) {
    int64_t n = axis_length();
    while (n > 1 && size * n > max_elements_) n = (n + 1) / 2;
    shape.append(n);
    size *= n;
  }
  return shape;
}

DType Draft::floating_dtype() {
  return choices.one_in(8) ? choices.one_of(kFloats) : floating_dtype_;
}

int Draft::input(const TensorSpec& spec) {
  Node node;
  node.spec = spec;
  node.distribution = static_cast<ValueDistribution>(choices.below(kDistributions));
  node.is_variable = choices.one_in(4);
  return add(node, {Tensor::abstract(spec)});
}

int Draft::value_or_view(int value) {
  for (int i = 0; i < 2 && choices.one_in(4); ++i) {
    try {
      value = view_of(value);
    } catch (const Error&) {
      return value;
    }
  }
  return value;
}

int Draft::operand(const Accepts& accepts, const std::function<TensorSpec()>& make) {
  for (int try_count = 0; try_count < 3 && value_count() > 0; ++try_count) {
    if (choices.one_in(6)) break;
    const int steps_back =
        static_cast<int>(choices.below(std::min(value_count(), try_count == 0 ? 3 : 12)));
    const int value = value_count() - 1 - steps_back;
    if (accepts(spec(value)) && !is_internal(value)) return value;
  }
  return input(make());
}

int Draft::numeric_value() {
  return value_or_view(operand(has_number_dtype, [this] {
    const int rank = static_cast<int>(choices.below(5));
    const DType dtype = choices.one_in(5) ? choices.one_of(kIntegers) : floating_dtype();
    return TensorSpec{dtype, shape_of_rank(rank)};
  }));
}

int Draft::floating_value(int min_rank) {
  const auto accepts = [&](const TensorSpec& s) {
    return has_floating_dtype(s) && s.shape.rank() >= min_rank;
  };
  const int value = operand(accepts, [&] {
    const int rank = min_rank + static_cast<int>(choices.below(std::max(1, 4 - min_rank)));
    const DType dtype = floating_dtype();
    return TensorSpec{dtype, shape_of_rank(rank)};
  });
  const int viewed_value = value_or_view(value);
  return shape(viewed_value).rank() >= min_rank ? viewed_value : value;
}

int Draft::integer_value() {
  const auto accepts = [](const TensorSpec& s) { return is_integer(s.dtype); };
  return value_or_view(operand(accepts, [this] {
    const DType dtype = choices.one_of(kIntegers);
    return TensorSpec{dtype, shape_of_rank(static_cast<int>(choices.below(4)))};
  }));
}

int Draft::boolean_value() {
  const auto accepts = [](const TensorSpec& s) { return s.dtype == DType::boolean; };
  return value_or_view(operand(accepts, [this] {
    return TensorSpec{DType::boolean, shape_of_rank(static_cast<int>(choices.below(4)))};
  }));
}

int Draft::same_shape(int value) {
  const TensorSpec wanted_spec = spec(value);
  return operand([&](const TensorSpec& s) { return s == wanted_spec; },
                 [&] { return wanted_spec; });
}

int Draft::broadcasting_value(int value) {
  const TensorSpec other_spec = spec(value);
  const bool accepts_any_dtype = choices.one_in(8);
  const auto accepts = [&](const TensorSpec& s) {
    return has_number_dtype(s) && (accepts_any_dtype || s.dtype == other_spec.dtype) &&
           can_broadcast(s.shape, other_spec.shape);
  };
  return operand(accepts, [&] {
    Shape shape;
    const int rank = other_spec.shape.rank(), first = static_cast<int>(choices.below(rank + 1));
    const int first_axis = choices.one_in(2) ? first : 0;
    for (int i = first_axis; i < rank; ++i)
      shape.append(choices.one_in(4) ? 1 : other_spec.shape[i]);
    return TensorSpec{accepts_any_dtype ? floating_dtype() : other_spec.dtype, shape};
  });
}

int Draft::positive_value() {
  const int x = call("abs", {{"x", floating_value()}});
  return call("add", {{"x1", x}, {"x2", Value(0.5)}});
}

int Draft::value_below_1() {
  const int x = call("tanh", {{"x", floating_value()}});
  return call("multiply", {{"x1", x}, {"x2", Value(0.875)}});
}

int Draft::axis(int value) {
  const int rank = shape(value).rank();
  if (rank == 0) fail("no axis");
  const int axis = static_cast<int>(choices.below(rank));
  return choices.one_in(2) ? axis - rank : axis;
}

int Draft::view_of(int value) {
  const Shape x = shape(value);
  const int rank = x.rank();
  switch (choices.below(7)) {
    case 0:
    case 1: {
      if (rank == 0) return value;
      List key;
      for (int i = 0; i < rank; ++i) key.push_back(random_range(choices, x[i]));
      return call("get_item", {{"x", value}, {"key", Value(key)}});
    }
    case 2: {
      List axes;
      for (int i = 0; i < rank; ++i) axes.insert(axes.begin() + choices.below(i + 1), Value(i));
      return call("transpose", {{"x", value}, {"axes", Value(axes)}});
    }
    case 3:
      return call("flip", {{"x", value}, {"axis", Value(axis(value))}});
    case 4:
      return call("expand_dims", {{"x", value}, {"axis", Value(choices.below(rank + 1))}});
    case 5: {
      Shape broadcast_shape = x;
      for (int i = 0; i < rank; ++i)
        if (x[i] == 1) broadcast_shape.set(i, axis_length());
      if (rank < 4 && choices.one_in(2))
        broadcast_shape = Shape{axis_length()}.concat(broadcast_shape);
      if (broadcast_shape.size() > max_elements_) fail("too large");
      return call(
          "broadcast_to",
          {{"x", value}, {"shape", Value(List(broadcast_shape.begin(), broadcast_shape.end()))}});
    }
    default: {
      if (rank == 0) return value;
      const int64_t at = choices.below(rank);
      const int64_t n = x[static_cast<int>(at)], factor = n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : n;
      List dims(x.begin(), x.end());
      dims[static_cast<size_t>(at)] = Value(n / std::max<int64_t>(factor, 1));
      dims.insert(dims.begin() + at + 1, Value(factor));
      if (choices.one_in(2)) dims = List{-1};
      return call("reshape", {{"x", value}, {"newshape", Value(dims)}});
    }
  }
}

int Draft::damped_value(int value) {
  if (!is_floating(dtype(value))) return value;
  return choices.one_in(2) ? call("multiply", {{"x1", value}, {"x2", Value(0.125)}})
                           : call("tanh", {{"x", value}});
}

int Draft::call(const std::string& function, std::vector<Argument> arguments, size_t result) {
  Node node;
  node.function = function;
  node.arguments = std::move(arguments);
  node.result = result;
  const Tensors results = random_programs::call(node, abstract_tensors_);
  return add(std::move(node), results);
}

int Draft::scan(Node node, size_t result) {
  node.function = "scan";
  node.result = result;
  const Tensors results = random_programs::call(node, abstract_tensors_);
  return add(std::move(node), results);
}

bool Draft::is_internal(int value) const {
  // In the body of a scan the numbers of values are not indices of the recipe's nodes, and all
  // values may be operands.
  const auto node_index = static_cast<size_t>(value) - (specs_.size() - recipe.nodes.size());
  return node_index < recipe.nodes.size() && recipe.nodes[node_index].is_internal;
}

int Draft::mark_internal(int value) {
  recipe.nodes[static_cast<size_t>(value)].is_internal = true;
  return value;
}

int Draft::add(Node node, const Tensors& results) {
  const Tensor& result = results.at(node.result);
  if (!result.shape().is_known() || result.shape().size() > max_elements_) fail("too large");
  if (result.shape().size() == 0) fail("empty");
  node.spec = result.spec();
  recipe.nodes.push_back(std::move(node));
  abstract_tensors_.push_back(Tensor::abstract(result.spec()));
  specs_.push_back(result.spec());
  return value_count() - 1;
}

}  // namespace crescent::random_programs
