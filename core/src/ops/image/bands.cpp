#include "ops/image/bands.h"

#include "ops/functions/array_ops.h"

namespace crescent {
namespace {

/// Returns the transpose of a band matrix. For each input element, it has a range of results, which
/// contains all results that depend on the element, and the weights of the element in them.
Band transpose_band(const BandedMatmul& op) {
  const std::vector<int32_t>& first = op.first;
  const std::vector<double>& weights = op.weights;
  const int64_t source_size = op.from, taps = op.taps();
  const auto result_size = static_cast<int64_t>(first.size());
  std::vector<int64_t> first_result(static_cast<size_t>(source_size), result_size),
      result_end(static_cast<size_t>(source_size), 0);
  for (int64_t j = 0; j < result_size; ++j)
    for (int64_t t = 0; t < taps; ++t) {
      const auto i = static_cast<size_t>(first[static_cast<size_t>(j)] + t);
      first_result[i] = std::min(first_result[i], j), result_end[i] = j + 1;
    }
  int64_t max_taps = 1;
  for (size_t i = 0; i < first_result.size(); ++i)
    max_taps = std::max(max_taps, result_end[i] - first_result[i]);
  Band result{result_size, std::vector<int32_t>(first_result.size()),
              std::vector<double>(first_result.size() * static_cast<size_t>(max_taps))};
  for (size_t i = 0; i < first_result.size(); ++i)
    result.first[i] = static_cast<int32_t>(std::min(first_result[i], result_size - max_taps));
  for (int64_t j = 0; j < result_size; ++j)
    for (int64_t t = 0; t < taps; ++t) {
      const auto i = static_cast<size_t>(first[static_cast<size_t>(j)] + t);
      const auto flat_index = static_cast<int64_t>(i) * max_taps + j - result.first[i];
      result.weights[static_cast<size_t>(flat_index)] += weights[static_cast<size_t>(j * taps + t)];
    }
  return result;
}

}  // namespace

TensorSpecs BandedMatmul::infer(std::span<const TensorSpec> in) const {
  Shape shape = in[0].shape;
  shape.set(axis, static_cast<int64_t>(first.size()));
  return {{in[0].dtype, shape}};
}
/// Multiplies by the full matrix, for devices that have no kernel for banded matrices.
Tensors BandedMatmul::decompose(std::span<const Tensor> in) const {
  const auto result_size = static_cast<int64_t>(first.size());
  std::vector<double> matrix(static_cast<size_t>(from * result_size));
  for (int64_t j = 0; j < result_size; ++j)
    for (int64_t t = 0; t < taps(); ++t)
      matrix[static_cast<size_t>((first[static_cast<size_t>(j)] + t) * result_size + j)] =
          weights[static_cast<size_t>(j * taps() + t)];
  const int last_axis = in[0].rank() - 1;
  const Tensor dense_matrix = ops::cast(Tensor::from(matrix, {from, result_size}), in[0].dtype());
  return {ops::swap_axes(ops::matmul(ops::swap_axes(in[0], axis, last_axis), dense_matrix), axis,
                         last_axis)};
}
Tensors BandedMatmul::vjp(const Vjp& v) const {
  return {multiplied_by_band(v.gradients[0], transpose_band(*this), axis)};
}

Band Band::trimmed() const {
  const auto is_nonzero = [&](size_t j, int64_t t) {
    return weights[j * static_cast<size_t>(taps()) + static_cast<size_t>(t)] != 0;
  };
  std::vector<int64_t> first_tap(first.size(), 0);
  int64_t max_taps = 1;
  for (size_t j = 0; j < first.size(); ++j) {
    int64_t tap_end = taps();
    while (first_tap[j] + 1 < tap_end && !is_nonzero(j, first_tap[j])) ++first_tap[j];
    while (tap_end > first_tap[j] + 1 && !is_nonzero(j, tap_end - 1)) --tap_end;
    max_taps = std::max(max_taps, tap_end - first_tap[j]);
  }
  Band result{from, {}, {}};
  for (size_t j = 0; j < first.size(); ++j) {
    const int64_t first_kept_tap = std::min(first_tap[j], taps() - max_taps);
    result.first.push_back(first[j] + static_cast<int32_t>(first_kept_tap));
    const auto row_weights = weights.begin() + static_cast<int64_t>(j) * taps() + first_kept_tap;
    result.weights.insert(result.weights.end(), row_weights, row_weights + max_taps);
  }
  return result;
}

Tensor multiplied_by_band(const Tensor& x, const Band& band, int axis) {
  BandedMatmul op;
  op.axis = x.shape().axis(axis);
  op.from = band.from, op.first = band.first, op.weights = band.weights;
  return ops::cast(apply1(op, {without_halves(x)}), x.dtype());
}

}  // namespace crescent
