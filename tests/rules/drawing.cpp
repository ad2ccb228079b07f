#include "rules/drawing.h"

#include <algorithm>
#include <numeric>

#include "crescent/device/lowered_ops.h"
#include "crescent/ops/ops.h"

namespace crescent::rules {

using passes::Term;

namespace {

bool is_comparison(int kind) {
  const auto binary = static_cast<BinaryKind>(kind);
  return binary >= BinaryKind::equal && binary <= BinaryKind::greater_equal;
}

DType draw_dtype(Dice& dice) {
  return dice.one_of({DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int8,
                      DType::int16, DType::int32, DType::int64, DType::uint8, DType::boolean});
}

std::vector<int> draw_axes(Dice& dice, int rank) {
  std::vector<int> axes;
  for (int axis = 0; axis < rank; ++axis) {
    if (dice.happens(50)) axes.push_back(axis);
  }
  return axes;
}

std::vector<int> draw_order(Dice& dice, int rank) {
  std::vector<int> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  // An axis order in which the last two axes (matrices) are exchanged.
  if (rank >= 2 && dice.happens(40)) {
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return axes;
  }
  for (size_t i = axes.size(); i > 1; --i)
    std::swap(axes[i - 1], axes[static_cast<size_t>(dice.below(static_cast<int64_t>(i)))]);
  return axes;
}

/// A random shape with the same number of elements.
Shape regrouped(Dice& dice, const Shape& shape) {
  if (dice.happens(20)) return shape;
  std::vector<int64_t> dims;
  int64_t remaining = shape.size();
  for (int64_t factor : {2, 3, 4, 5}) {
    if (remaining > 0 && remaining % factor == 0 && dice.happens(50))
      dims.push_back(factor), remaining /= factor;
  }
  dims.push_back(remaining);
  if (dice.happens(40)) dims.insert(dims.begin() + dice.below(int64_t(dims.size()) + 1), 1);
  return Shape(dims);
}

OpPtr reshape_op(Dice& dice, const Shape& x) {
  auto op = std::make_shared<Reshape>();
  op->shape = regrouped(dice, x);
  return op;
}

OpPtr broadcast_op(Dice& dice, const Shape& x) {
  std::vector<int64_t> dims;
  for (int axis = 0; axis < x.rank(); ++axis)
    dims.push_back(x[axis] == 1 && dice.happens(60) ? dice.between(1, 4) : x[axis]);
  if (dice.happens(40)) dims.insert(dims.begin(), dice.between(1, 3));
  auto op = std::make_shared<BroadcastTo>();
  op->shape = Shape(dims);
  return op;
}

OpPtr slice_op(Dice& dice, const Shape& x) {
  auto op = std::make_shared<Slice>();
  const bool is_whole = dice.happens(30);
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t start = is_whole || x[axis] == 0 ? 0 : dice.below(x[axis]);
    const int64_t stride = is_whole ? 1 : dice.between(1, 2), remaining = x[axis] - start;
    const int64_t max_size = (remaining + stride - 1) / stride;
    op->start.push_back(start), op->stride.push_back(stride);
    op->size.push_back(is_whole ? x[axis] : dice.between(max_size > 0 ? 1 : 0, max_size));
  }
  return op;
}

OpPtr pad_op(Dice& dice, const Shape& x) {
  auto op = std::make_shared<Pad>();
  const bool is_empty = dice.happens(40);
  for (int axis = 0; axis < x.rank(); ++axis) {
    op->before.push_back(is_empty ? 0 : dice.below(2)), op->after.push_back(0);
    op->inner.push_back(is_empty ? 0 : dice.below(2));
  }
  return op;
}

OpPtr reduce_op(Dice& dice, const Shape& x, int kind) {
  auto op = std::make_shared<Reduce>();
  op->kind = kind >= 0 ? static_cast<ReduceKind>(kind)
                       : dice.one_of({ReduceKind::sum, ReduceKind::mean, ReduceKind::max,
                                      ReduceKind::min, ReduceKind::prod});
  op->axes = draw_axes(dice, x.rank());
  if (dice.happens(40) && x.rank() > 0) {  // reduces all axes except the channels
    op->axes.resize(static_cast<size_t>(x.rank() - 1));
    std::iota(op->axes.begin(), op->axes.end(), 0);
  } else if (dice.happens(40) && x.rank() > 0) {
    op->axes = {x.rank() - 1};
  }
  op->keepdims = dice.happens(60);
  return op;
}

/// An op that moves or sums elements of one operand.
OpPtr movement_op(Dice& dice, const Term& term, const Shape& x, DType dtype) {
  if (term.op == Reshape::kName) return reshape_op(dice, x);
  if (term.op == BroadcastTo::kName) return broadcast_op(dice, x);
  if (term.op == Slice::kName) return slice_op(dice, x);
  if (term.op == Pad::kName) return pad_op(dice, x);
  if (term.op == Reduce::kName) return reduce_op(dice, x, term.kind);
  if (term.op == StopGradient::kName) return std::make_shared<StopGradient>();
  if (term.op == Transpose::kName) {
    auto op = std::make_shared<Transpose>();
    op->axes = draw_order(dice, x.rank());
    return op;
  }
  if (term.op == Reverse::kName) {
    auto op = std::make_shared<Reverse>();
    op->axes = draw_axes(dice, x.rank());
    return op;
  }
  if (term.op == Cast::kName) {
    auto op = std::make_shared<Cast>();
    op->dtype = dtype;
    return op;
  }
  if (term.op == Softmax::kName) {
    auto op = std::make_shared<Softmax>();
    op->axis = dice.happens(80) || x.rank() == 0 ? -1 : static_cast<int>(dice.below(x.rank()));
    return op;
  }
  if (term.op == Concat::kName) {
    auto op = std::make_shared<Concat>();
    op->axis = static_cast<int>(dice.below(std::max(x.rank(), 1)));
    return op;
  }
  fail("the tests of rules draw no ", term.op);
}

}  // namespace

Program Drawing::program(const Term& term) {
  program_.outputs = {value(term, common_.dtype)};
  return std::move(program_);
}

int Drawing::value(const Term& term, DType dtype) {
  switch (term.type) {
    case Term::Type::number:
      return number(term.number, dtype);
    case Term::Type::letter:
      return letter(term.letter, dtype);
    default:
      return call(term, dtype);
  }
}

Shape Drawing::broadcastable_shape(const Shape& shape) {
  if (dice_.happens(40)) return shape;
  std::vector<int64_t> dims;
  for (int axis = dice_.happens(70) ? 0 : static_cast<int>(dice_.below(shape.rank() + 1));
       axis < shape.rank(); ++axis)
    dims.push_back(shape[axis]);
  const bool changes_last_axis_only = dice_.happens(40);  // whether to broadcast the last axis only
  for (size_t i = 0; i < dims.size(); ++i) {
    if (changes_last_axis_only ? i + 1 == dims.size() : dice_.happens(25)) dims[i] = 1;
  }
  return Shape(dims);
}

int Drawing::letter(char name, DType dtype) {
  if (auto existing = letters_.find(name); existing != letters_.end()) return existing->second;
  const bool is_product =
      common_.may_have_products && (name == 'x' || name == 'z') && dice_.happens(80);
  int value = 0;
  if (passes::is_number_letter(name))
    value = number(dice_.one_of({0.0, 1.0, -1.0, 2.0, 4.0, 8.0, 0.5, 0.125, -2.0, 3.0, 100.0,
                                 4096.0, 16384.0, 0x1p-14, 0x1p-20}),
                   dtype);
  else if (is_product && is_floating(dtype))
    value = product(dtype);
  else if (common_.may_have_products)  // one number per channel, or per element
    value = input(dice_.happens(50) ? Shape{common_.shape[-1]} : common_.shape, dtype);
  else
    value = input(broadcastable_shape(common_.shape), dtype);
  return letters_[name] = value;
}

int Drawing::call(const Term& term, DType dtype) {
  if (term.op == PoolBackward::kName) return pooling(term, dtype);
  if (term.takes_any) return any_operands(term, dtype);
  if (term.op == Unary::kName || term.op == Binary::kName || term.op == Select::kName)
    return elementwise(term, dtype);
  return movement(term, dtype);
}

int Drawing::elementwise(const Term& term, DType dtype) {
  const bool compares = term.op == Binary::kName && is_comparison(term.kind);
  const DType inner_dtype = compares ? common_.dtype : dtype;
  std::vector<int> operands(term.operands.size());
  // Operands that determine the shapes of other operands (the gradient of a pooling) are drawn
  // first.
  for (size_t o = operands.size(); o-- > 0;) {
    const bool is_condition = term.op == Select::kName && o == 0;
    operands[o] = value(term.operands[o], is_condition ? DType::boolean : inner_dtype);
  }
  if (term.is_commutative && dice_.happens(50)) std::swap(operands[0], operands[1]);
  if (term.op == Select::kName) return add(Select{}, operands);
  if (term.op == Unary::kName) {
    Unary op;
    op.kind = static_cast<UnaryKind>(term.kind);
    return add(op, operands);
  }
  Binary op;
  op.kind = static_cast<BinaryKind>(term.kind);
  return add(op, operands);
}

int Drawing::movement(const Term& term, DType dtype) {
  if (term.op == Matmul::kName) return product(dtype, false);
  if (term.op == "gather") {
    const int x = value(term.operands[0], dtype);
    Gather op;
    if (shape(x).rank() == 0) fail("a scalar has no rows");
    op.axis = static_cast<int>(dice_.below(shape(x).rank()));
    const int rows = input({dice_.between(1, 3)}, DType::int32);
    letters_[term.operands[1].letter] = rows;
    return add(op, {x, rows});
  }
  if (term.op == "scatter_add") {
    const int rows = input({dice_.between(1, 3)}, DType::int32);
    ScatterAdd op;
    op.size = dice_.between(4, 6);
    return add(op, {rows, input({shape(rows)[0], dice_.between(1, 5)}, dtype)});
  }
  DType inner_dtype = dtype;
  if (term.op == Cast::kName && dice_.happens(80))
    inner_dtype =
        common_.may_have_products && dice_.happens(50) ? DType::float32 : draw_dtype(dice_);
  const int x = value(term.operands[0], inner_dtype);
  OpPtr op = movement_op(dice_, term, shape(x), dtype);
  // If two Reverse ops follow each other, half of the second ones get the axes of the first one, so
  // that the two cancel each other.
  const Program::Instruction* last = program_.code.empty() ? nullptr : &program_.code.back();
  const bool is_twice = last && last->outputs[0] == x && last->op->name() == op->name();
  if (is_twice && op->name() == Reverse::kName && dice_.happens(50)) op = last->op;
  return add(op, {x});
}

/// The gradient of a pooling; the pooled image is an existing value or a new one.
int Drawing::pooling(const Term& term, DType dtype) {
  const bool is_max = term.operands.size() == 2;
  Pool forward;
  forward.max = is_max;
  const Shape image{dice_.between(1, 2), dice_.between(3, 6), dice_.between(3, 6),
                    dice_.between(1, 3)};
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t window = dice_.between(1, 3);
    forward.window.push_back(window);
    forward.spec.strides.push_back(dice_.between(1, 3));
    forward.spec.dilation.push_back(1);
    forward.spec.pad_before.push_back(dice_.below(window));
    forward.spec.pad_after.push_back(dice_.below(window));
  }
  const int x = input(image, dtype);
  letters_['x'] = x;
  const TensorSpec specs[] = {{dtype, image}};
  const int g = letters_['g'] = input(forward.infer(specs)[0].shape, dtype);
  PoolBackward op;
  op.max = is_max, op.window = forward.window, op.spec = forward.spec, op.input = image;
  return is_max ? add(op, {x, g}) : add(op, {g});
}

int Drawing::any_operands(const Term& term, DType dtype) {
  auto random_operand = [&](DType of) {
    int x = input(broadcastable_shape(common_.shape), of);
    if (dice_.happens(30)) x = number(1.5, of);
    if (!dice_.happens(60)) return x;
    BroadcastTo op;
    op.shape = common_.shape;
    return add(op, {x});
  };
  if (term.op == Unary::kName) {
    Unary op;
    op.kind = static_cast<UnaryKind>(dice_.below(kUnaryCount));
    return add(op, {random_operand(dtype)});
  }
  if (term.op == Binary::kName) {
    Binary op;
    op.kind = static_cast<BinaryKind>(dice_.below(kBinaryCount));
    return add(op, {random_operand(dtype), random_operand(dtype)});
  }
  if (term.op == Select::kName)
    return add(Select{},
               {random_operand(DType::boolean), random_operand(dtype), random_operand(dtype)});
  if (term.op == Cast::kName) {
    Cast op;
    op.dtype = dtype;
    return add(op, {random_operand(draw_dtype(dice_))});
  }
  if (term.op == BatchNormBackward::kName) return batch_norm_backward(dtype);
  if (term.op == ConvBackwardData::kName) {
    ConvBackwardData op;
    op.spec.strides = op.spec.dilation = {1, 1};
    op.spec.pad_before = op.spec.pad_after = {1, 1};
    op.input = {dice_.between(1, 2), dice_.between(2, 6), dice_.between(2, 6), dice_.between(1, 4)};
    const int64_t filters = dice_.between(1, 4);
    const Shape dy{op.input[0], op.input[1], op.input[2], filters};
    letters_['y'] = input(op.input, dtype);
    return add(op, {input(dy, dtype), input({3, 3, op.input[3], filters}, dtype)});
  }
  if (term.op == WithPostOps::kName) return with_post_ops(dtype);
  fail("the tests of rules draw no ", term.op, "(...)");
}

int Drawing::batch_norm_backward(DType dtype) {
  const Shape image{dice_.between(1, 4), dice_.between(2, 5), dice_.between(1, 4)};
  const Shape channels{image[-1]};
  const int x = input(image, dtype);
  const int moments = add(BatchMoments{}, {x});
  return add(BatchNormBackward{},
             {x, input(channels, dtype), moments, moments + 1, input(image, dtype)});
}

/// A matrix product with the common shape of the program, or a convolution; sometimes rounded or
/// with a bias.
int Drawing::product(DType dtype, bool may_have_more) {
  const Shape result_shape = common_.shape;
  if (result_shape.rank() < 2) fail("a product has two axes");
  const bool is_rounded = may_have_more && dtype == DType::float32 && dice_.happens(30);
  const DType inner_dtype = is_rounded ? DType::bfloat16 : dtype;
  auto operand = [&](int64_t rows, int64_t columns, bool is_weight) {
    std::vector<int64_t> dims{rows, columns};
    const bool is_batched = result_shape.rank() > 2 && !is_weight;
    if (is_batched)
      for (int axis = result_shape.rank() - 3; axis >= 0; --axis)
        dims.insert(dims.begin(), result_shape[axis]);
    const bool is_transposed = dice_.happens(40);
    if (is_transposed) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    const bool is_rounded_input = inner_dtype == DType::bfloat16 && dice_.happens(70);
    int x = input(Shape(dims), is_rounded_input ? DType::float32 : inner_dtype);
    if (is_rounded_input) {
      Cast op;
      op.dtype = inner_dtype;
      x = add(op, {x});
    }
    if (!is_transposed) return x;
    Transpose op;
    op.axes.resize(dims.size());
    std::iota(op.axes.begin(), op.axes.end(), 0);
    std::swap(op.axes[dims.size() - 1], op.axes[dims.size() - 2]);
    return add(op, {x});
  };
  int y = 0;
  if (may_have_more && result_shape.rank() > 2 && dice_.happens(40)) {
    y = convolution(inner_dtype);
  } else {
    const int64_t depth = dice_.between(1, 5);
    const int a = operand(result_shape[-2], depth, false);
    y = add(Matmul{}, {a, operand(depth, result_shape[-1], dice_.happens(70))});
  }
  if (may_have_more && dice_.happens(30)) y = with_bias(y, inner_dtype);
  if (!is_rounded) return y;
  Cast op;
  op.dtype = dtype;
  y = add(op, {y});
  return dice_.happens(50) ? with_bias(y, dtype) : y;
}

int Drawing::with_bias(int value, DType dtype) {
  Binary op;
  op.kind = BinaryKind::add;
  return add(op, {value, input({shape(value)[-1]}, dtype)});
}

int Drawing::convolution(DType dtype) {
  const Shape result_shape = common_.shape;
  const auto axes = static_cast<size_t>(result_shape.rank() - 2);
  Conv op;
  op.spec.strides.assign(axes, 1), op.spec.dilation.assign(axes, 1);
  const int64_t width = dice_.one_of({1, 3});
  op.spec.pad_before.assign(axes, width / 2), op.spec.pad_after.assign(axes, width / 2);
  std::vector<int64_t> image, kernel(axes, width);
  for (int axis = 0; axis + 1 < result_shape.rank(); ++axis) image.push_back(result_shape[axis]);
  const int64_t channels = dice_.between(1, 3);
  image.push_back(channels), kernel.push_back(channels), kernel.push_back(result_shape[-1]);
  return add(op, {input(Shape(image), dtype), input(Shape(kernel), dtype)});
}

int Drawing::with_post_ops(DType dtype) {
  const int y = product(dtype, false);
  const Program::Instruction matmul = program_.code.back();
  program_.code.pop_back();
  WithPostOps op;
  op.op = matmul.op;
  std::vector<int> inputs = matmul.inputs;
  if (dice_.happens(50)) {
    op.post.push_back(PostOp::bias);
    inputs.push_back(input({shape(y)[-1]}, dtype));
  }
  if (dice_.happens(50)) {
    op.post.push_back(PostOp::add);
    inputs.push_back(input(shape(y), dtype));
  }
  if (dice_.happens(50)) op.post.push_back(PostOp::relu);
  return add(std::move(op), inputs);
}

int Drawing::input(const Shape& shape, DType dtype) {
  program_.inputs.push_back(program_.add_value({dtype, shape}));
  return program_.inputs.back();
}

int Drawing::number(double number, DType dtype) {
  Fill op;
  op.shape = dice_.happens(50) ? Shape{} : broadcastable_shape(common_.shape);
  op.dtype = dtype, op.value = dtype == DType::boolean ? number != 0 : number;
  if (is_integer(dtype) && number != static_cast<double>(static_cast<int64_t>(number)))
    op.value = 1;
  if (dtype == DType::uint8) op.value = std::clamp(op.value, 0.0, 255.0);
  if (dtype == DType::int8) op.value = std::clamp(op.value, -128.0, 127.0);
  if (op.value != number && dtype != DType::boolean) op.value = 0;
  return add(op, {});
}

int Drawing::add(OpPtr op, std::vector<int> inputs) {
  const TensorSpecs results = op->infer(program_.specs_of(inputs));
  std::vector<int> outputs;
  for (const TensorSpec& spec : results) outputs.push_back(program_.add_value(spec));
  program_.code.push_back({std::move(op), std::move(inputs), outputs, 0});
  return outputs[0];
}

}  // namespace crescent::rules
