#include "crescent/ops/arguments.h"

namespace crescent::ops {

Tensor tensor_of(const Operand& x) {
  return x.tensor ? x.tensor : Tensor::scalar(x.number, result_dtype(x, x));
}

std::pair<Tensor, Tensor> promoted(const Operand& a, const Operand& b) {
  const DType dtype = result_dtype(a, b);
  return {cast(tensor_of(a), dtype), cast(tensor_of(b), dtype)};
}

Tensors promoted(std::span<const Tensor> tensors) {
  if (tensors.empty()) fail("expected at least one tensor");
  DType dtype = tensors.front().dtype();
  for (const Tensor& x : tensors) dtype = promote(dtype, x.dtype());
  Tensors result;
  for (const Tensor& x : tensors) result.push_back(cast(x, dtype));
  return result;
}

std::vector<int64_t> for_each_axis(const char* what, const std::vector<int64_t>& values,
                                   size_t count) {
  if (values.size() == 1) return std::vector<int64_t>(count, values.front());
  if (values.size() != count)
    fail("expected one ", what, " or ", count, " of them, got ", values.size());
  return values;
}

std::vector<int> axes_of(const Tensor& x, const Axes& axes) {
  std::vector<int> result;
  for (int i = 0; axes.empty() && i < x.rank(); ++i) result.push_back(i);
  for (int axis : axes) result.push_back(axis_of(x, axis));
  return result;
}

std::pair<Tensor, int> flat_without(const Tensor& x, std::optional<int64_t> axis) {
  if (axis) return {x, axis_of(x, *axis)};
  return {reshape(x, {-1}), 0};
}

Tensor positions(int64_t count, int axis, int rank, DType dtype) {
  Shape shape(std::vector<int64_t>(rank, 1));
  shape.set(axis, count);
  return reshape(arange(count, dtype), shape);
}

int64_t checked_count(const char* name, int64_t num) {
  if (num < 0) fail(name, ": expected a number of elements of at least 0, got ", num);
  if (num > int64_t{1} << 30) fail(name, ": ", num, " elements are too many");
  return num;
}

}  // namespace crescent::ops
