// Sums of products.
#include <algorithm>

#include "crescent/registry/registration.h"
#include "families.h"
#include "kernels/distances.h"

namespace crescent::operations {
namespace {

/// Of booleans whether any pair is true.
Tensor product(const Tensor& x, const Tensor& y) {
  const Tensor result = ops::matmul(x, y);
  return x.dtype() == DType::boolean ? ops::cast(result, DType::boolean) : result;
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  const auto [x, y] = promoted(a, b);
  return product(x, y);
}

/// The axes of each that are summed over, moved to where a matrix product sums.
Tensor contract(const Tensor& a, const Tensor& b, std::vector<int> of_a, std::vector<int> of_b) {
  const auto [x, y] = promoted(a, b);
  if (of_a.size() != of_b.size())
    fail("tensordot: expected as many axes of one as of the other, got ", of_a.size(), " and ",
         of_b.size());
  for (int& axis : of_a) axis = axis_of(x, axis);
  for (int& axis : of_b) axis = axis_of(y, axis);
  const auto others = [](const Tensor& t, const std::vector<int>& axes) {
    std::vector<int> rest;
    for (int i = 0; i < t.rank(); ++i)
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) rest.push_back(i);
    return rest;
  };
  const std::vector<int> kept_a = others(x, of_a), kept_b = others(y, of_b);
  Shape rows, columns;
  int64_t summed = 1;
  for (int axis : kept_a) rows.append(x.dim(axis));
  for (int axis : kept_b) columns.append(y.dim(axis));
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (x.dim(of_a[i]) != y.dim(of_b[i]))
      fail("tensordot: axis ", of_a[i], " of shape ", x.shape(), " and axis ", of_b[i],
           " of shape ", y.shape(), " differ");
    summed *= x.dim(of_a[i]);
  }
  std::vector<int> order_a = kept_a, order_b = of_b;
  order_a.insert(order_a.end(), of_a.begin(), of_a.end());
  order_b.insert(order_b.end(), kept_b.begin(), kept_b.end());
  const auto size = [](const Shape& shape) { return shape.is_known() ? shape.size() : -1; };
  const Tensor left = ops::reshape(ops::transpose(x, order_a), {size(rows), summed});
  const Tensor right = ops::reshape(ops::transpose(y, order_b), {summed, size(columns)});
  return ops::cast(ops::reshape(ops::matmul(left, right), rows.concat(columns)), x.dtype());
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Value& axes) {
  if (axes.is_int()) {
    if (axes.as_int() < 0 || axes.as_int() > std::min(a.rank(), b.rank()))
      fail("tensordot: cannot sum over ", axes, " axes of shapes ", a.shape(), " and ", b.shape());
    const auto count = static_cast<int>(axes.as_int());
    std::vector<int> of_a, of_b;
    for (int i = 0; i < count; ++i) {
      of_a.push_back(a.rank() - count + i);
      of_b.push_back(i);
    }
    return contract(a, b, of_a, of_b);
  }
  if (!axes.is_list() || axes.as_list().size() != 2)
    fail("tensordot: axes must be a number or two lists of axes, got ", axes);
  using Axes = std::vector<int>;
  return contract(a, b, Codec<Axes>::decode(axes.as_list()[0]),
                  Codec<Axes>::decode(axes.as_list()[1]));
}

Tensor dot(const Operand& a, const Operand& b) {
  const Tensor x = tensor_of(a), y = tensor_of(b);
  if (x.rank() == 0 || y.rank() == 0) return ops::multiply(x, y);
  return contract(x, y, {-1}, {y.rank() == 1 ? 0 : y.rank() - 2});
}

Tensor inner(const Operand& a, const Operand& b) {
  const Tensor x = tensor_of(a), y = tensor_of(b);
  if (x.rank() == 0 || y.rank() == 0) return ops::multiply(x, y);
  return contract(x, y, {-1}, {-1});
}

Tensor outer(const Tensor& a, const Tensor& b) {
  const Tensor product = ops::multiply(ops::reshape(a, {-1, 1}), ops::reshape(b, {1, -1}));
  return ops::cast(product, promote(a.dtype(), b.dtype()));
}

Tensor vdot(const Tensor& a, const Tensor& b) {
  const Tensor sum = ops::sum(ops::multiply(ops::reshape(a, {-1}), ops::reshape(b, {-1})));
  return ops::cast(sum, promote(a.dtype(), b.dtype()));
}

Tensor kron(const Tensor& a, const Tensor& b) {
  const int rank = std::max(a.rank(), b.rank());
  const auto lifted = [&](Tensor x) {
    while (x.rank() < rank) x = ops::expand_dims(x, 0);
    return x;
  };
  const Tensor x = lifted(a), y = lifted(b);
  Shape of_x, of_y, result;
  for (int i = 0; i < rank; ++i) {
    of_x.append(x.dim(i)), of_x.append(1);
    of_y.append(1), of_y.append(y.dim(i));
    result.append(x.dim(i) * y.dim(i));
  }
  return ops::reshape(ops::multiply(ops::reshape(x, of_x), ops::reshape(y, of_y)), result);
}

/// Of vectors of two or three numbers along axes; two of two give a number.
Tensor cross(const Tensor& a, const Tensor& b, int axisa, int axisb, int axisc,
             std::optional<int64_t> axis) {
  if (axis) axisa = axisb = axisc = static_cast<int>(*axis);
  const auto [x, y] = promoted(a, b);
  const auto parts = [](const Tensor& t, int along) {
    const int64_t n = t.dim(along);
    if (n != 2 && n != 3)
      fail("cross: expected two or three along axis ", along, ", got shape ", t.shape());
    Tensors rows;
    for (const Tensor& row : ops::split(t, std::vector<int64_t>(static_cast<size_t>(n), 1), along))
      rows.push_back(ops::squeeze(row, along));
    return rows;
  };
  Tensors u = parts(x, axis_of(x, axisa)), v = parts(y, axis_of(y, axisb));
  const Tensor z = u[0] * v[1] - u[1] * v[0];
  if (u.size() == 2 && v.size() == 2) return z;
  if (u.size() == 2) u.push_back(ops::zeros_like(u[0]));
  if (v.size() == 2) v.push_back(ops::zeros_like(v[0]));
  return ops::stack(Tensors{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], z}, axisc);
}

Tensor correlate(const Tensor& a, const Tensor& b, const std::string& mode) {
  auto [x, y] = promoted(a, b);
  if (x.rank() != 1 || y.rank() != 1)
    fail("correlate: expected one axis each, got shapes ", x.shape(), " and ", y.shape());
  x = wide_floating(x), y = wide_floating(y);
  const bool swapped = x.dim(0) < y.dim(0);
  if (swapped) std::swap(x, y);
  const int64_t m = y.dim(0);
  int64_t before = 0, after = 0;
  if (mode == "full")
    before = after = m - 1;
  else if (mode == "same")
    before = m / 2, after = m - 1 - before;
  else if (mode != "valid")
    fail("correlate: mode must be 'valid', 'same' or 'full', got '", mode, "'");
  const Tensor padded = ops::reshape(ops::pad(x, {before}, {after}), {1, -1, 1});
  const Tensor result =
      ops::reshape(ops::conv(padded, ops::reshape(y, {m, 1, 1}), {1}, ops::Padding::valid), {-1});
  return swapped ? ops::flip(result, {0}) : result;
}

Tensor corrcoef(const Tensor& given) {
  const Tensor x = wide_floating(given), rows = x.rank() == 1 ? ops::expand_dims(x, 0) : x;
  const Tensor centered = rows - ops::mean(rows, {1}, true);
  const Tensor covariance = ops::matmul(centered, centered, false, true);
  const int64_t n = covariance.dim(0);
  const Tensor variance = ops::sum(covariance * ops::eye(n, n, x.dtype()), {1});
  const Tensor scale = ops::sqrt(variance);
  const Tensor r = covariance / ops::expand_dims(scale, 1) / ops::expand_dims(scale, 0);
  return n == 1 ? ops::reshape(r, {}) : ops::clip(r, -1, 1);
}

/// Distances of each row of x from each of y.
Tensor cdist(const Tensor& a, const Tensor& b) {
  const auto [x, y] = promoted(a, b);
  return distances(floating(x), floating(y));
}

// ---- einsum of any number of operands, with letters that one has twice

/// The diagonal of axes with the same letter, until no letter is there twice.
void take_diagonals(std::string& letters, Tensor& x) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t again = letters.find(letters[i], i + 1);
    if (letters[i] == '.' || again == std::string::npos) continue;
    if (letters.find('.') != std::string::npos)
      fail("einsum: a letter twice beside '...' is not supported, got '", letters, "'");
    x = diagonal(x, 0, static_cast<int>(i), static_cast<int>(again));
    letters += letters[i];
    letters.erase(again, 1);
    letters.erase(i--, 1);
  }
}

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

Equation equation_of(const std::string& subscripts, size_t operands) {
  std::string text;
  for (char c : subscripts)
    if (c != ' ') text += c;
  const size_t arrow = text.find("->");
  Equation equation;
  std::string left = text.substr(0, arrow);
  for (size_t comma; (comma = left.find(',')) != std::string::npos; left.erase(0, comma + 1))
    equation.inputs.push_back(left.substr(0, comma));
  equation.inputs.push_back(left);
  if (equation.inputs.size() != operands)
    fail("einsum: '", subscripts, "' is for ", equation.inputs.size(), " operands, got ", operands);
  if (arrow != std::string::npos) {
    equation.output = text.substr(arrow + 2);
    return equation;
  }
  // Without an arrow: letters that are there once, in alphabetical order.
  std::string all;
  for (const std::string& input : equation.inputs) all += input;
  if (all.find("...") != std::string::npos) equation.output = "...";
  std::sort(all.begin(), all.end());
  for (char c : all)
    if (c != '.' && std::count(all.begin(), all.end(), c) == 1) equation.output += c;
  return equation;
}

Tensor einsum(const std::string& subscripts, const Tensors& given) {
  Tensors operands = promoted(given);
  Equation equation = equation_of(subscripts, operands.size());
  auto& inputs = equation.inputs;
  for (size_t i = 0; i < operands.size(); ++i) take_diagonals(inputs[i], operands[i]);
  while (operands.size() > 2) {
    // The first two together, with the letters that somebody still needs.
    std::string needed = equation.output, kept;
    for (size_t i = 2; i < inputs.size(); ++i) needed += inputs[i];
    for (char c : inputs[0] + inputs[1])
      if (c == '.')
        fail("einsum: '...' with more than two operands is not supported");
      else if (needed.find(c) != std::string::npos && kept.find(c) == std::string::npos)
        kept += c;
    operands[1] =
        ops::einsum(inputs[0] + "," + inputs[1] + "->" + kept, Tensors{operands[0], operands[1]});
    inputs[1] = kept;
    inputs.erase(inputs.begin());
    operands.erase(operands.begin());
  }
  std::string text = inputs.front();
  if (inputs.size() > 1) text += "," + inputs[1];
  const Tensor result = ops::einsum(text + "->" + equation.output, operands);
  const bool keeps_dtype = given.size() == 1 && given.front().dtype() != DType::int8;
  return keeps_dtype ? ops::cast(result, given.front().dtype()) : result;
}

}  // namespace

CRESCENT_REGISTER(products) {
  Operations(registry, "keras.src.ops.numpy")
      .add("Matmul", "matmul(x1, x2)", &matmul,
           "The product of matrices; axes before the last two are broadcast.")
      .add("Dot", "dot(x1, x2)", &dot,
           "The sum of products over the last axis of x1 and the last but one of x2.")
      .add("Inner", "inner(x1, x2)", &inner, "The sum of products over the last axes of both.")
      .add("Outer", "outer(x1, x2)", &outer, "The products of all elements of x1 with all of x2.")
      .add("Vdot", "vdot(x1, x2)", &vdot,
           "The sum of the products of all elements, of x1 conjugated.")
      .add("Tensordot", "tensordot(x1, x2, axes=2)", &tensordot,
           "The sum of products over some axes of both.")
      .add("Kron", "kron(x1, x2)", &kron, "Each element of x1 times all of x2.")
      .add("Cross", "cross(x1, x2, axisa=-1, axisb=-1, axisc=-1, axis=None)", &cross,
           "The vector products along an axis.")
      .add("Einsum", "einsum(subscripts, *operands)", &einsum,
           "The sum of products that the subscripts say: \"ij,jk->ik\".")
      .add("Correlate", "correlate(x1, x2, mode='valid')", &correlate,
           "The sums of products of two sequences at all distances.")
      .add("Corrcoef", "corrcoef(x)", &corrcoef, "The correlations of the rows.");
  Operations(registry, "keras.src.ops.math")
      .add("CDist", "cdist(x, y)", &cdist, "Distances of each row of x from each of y.");
}

}  // namespace crescent::operations
