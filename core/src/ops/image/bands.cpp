#include "ops/image/bands.h"

#include "ops/functions/array_ops.h"

namespace crescent {
namespace {

/// Transposes a band matrix: the result lists, for each input element, the results that it
/// contributes to and the weights.
Band transpose_band(const BandedMatmul& op) {
  const std::vector<int32_t>& first = op.first;
  const std::vector<double>& weights = op.weights;
  const int64_t from = op.from, taps = op.taps();
  const auto to = static_cast<int64_t>(first.size());
  std::vector<int64_t> low(static_cast<size_t>(from), to), high(static_cast<size_t>(from), 0);
  for (int64_t j = 0; j < to; ++j)
    for (int64_t t = 0; t < taps; ++t) {
      const auto i = static_cast<size_t>(first[static_cast<size_t>(j)] + t);
      low[i] = std::min(low[i], j), high[i] = j + 1;
    }
  int64_t max_taps = 1;
  for (size_t i = 0; i < low.size(); ++i) max_taps = std::max(max_taps, high[i] - low[i]);
  Band result{to, std::vector<int32_t>(low.size()),
              std::vector<double>(low.size() * static_cast<size_t>(max_taps))};
  for (size_t i = 0; i < low.size(); ++i)
    result.first[i] = static_cast<int32_t>(std::min(low[i], to - max_taps));
  for (int64_t j = 0; j < to; ++j)
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
  const auto to = static_cast<int64_t>(first.size());
  std::vector<double> matrix(static_cast<size_t>(from * to));
  for (int64_t j = 0; j < to; ++j)
    for (int64_t t = 0; t < taps(); ++t)
      matrix[static_cast<size_t>((first[static_cast<size_t>(j)] + t) * to + j)] =
          weights[static_cast<size_t>(j * taps() + t)];
  const int last_axis = in[0].rank() - 1;
  const Tensor dense_matrix = ops::cast(Tensor::from(matrix, {from, to}), in[0].dtype());
  return {ops::swap_axes(ops::matmul(ops::swap_axes(in[0], axis, last_axis), dense_matrix), axis,
                         last_axis)};
}
Tensors BandedMatmul::vjp(const Vjp& v) const {
  return {times_band(v.gradients[0], transpose_band(*this), axis)};
}

Band Band::trimmed() const {
  const auto is_nonzero = [&](size_t j, int64_t t) {
    return weights[j * static_cast<size_t>(taps()) + static_cast<size_t>(t)] != 0;
  };
  std::vector<int64_t> low(first.size(), 0);
  int64_t max_taps = 1;
  for (size_t j = 0; j < first.size(); ++j) {
    int64_t high = taps();
    while (low[j] + 1 < high && !is_nonzero(j, low[j])) ++low[j];
    while (high > low[j] + 1 && !is_nonzero(j, high - 1)) --high;
    max_taps = std::max(max_taps, high - low[j]);
  }
  Band result{from, {}, {}};
  for (size_t j = 0; j < first.size(); ++j) {
    const int64_t begin = std::min(low[j], taps() - max_taps);
    result.first.push_back(first[j] + static_cast<int32_t>(begin));
    const auto own_weights = weights.begin() + static_cast<int64_t>(j) * taps() + begin;
    result.weights.insert(result.weights.end(), own_weights, own_weights + max_taps);
  }
  return result;
}

Tensor times_band(const Tensor& x, const Band& band, int axis) {
  BandedMatmul op;
  op.axis = x.shape().axis(axis);
  op.from = band.from, op.first = band.first, op.weights = band.weights;
  return ops::cast(apply1(op, {without_halves(x)}), x.dtype());
}

}  // namespace crescent
