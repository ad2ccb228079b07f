#include "keras/weights/cudnn_weights.h"

#include "crescent/ops/ops.h"

namespace crescent::keras {
namespace {

/// Converts a kernel (rows, gates * units) of cuDNN, in which the block of each gate has the values
/// of a transposed matrix (units, rows).
template <int Gates>
Tensor kernel_of(const Tensor& saved_kernel) {
  Tensor kernel = ops::cast(saved_kernel, DType::float32), result(kernel.spec());
  int64_t rows = kernel.dim(0), units = kernel.dim(1) / Gates, width = kernel.dim(1);
  const float* source = kernel.data<float>();
  float* target = result.mutable_data<float>();
  for (int64_t gate_start = 0; gate_start < width; gate_start += units)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < units; ++column) {
        int64_t position = column * rows + row;
        target[row * width + gate_start + column] =
            source[position / units * width + gate_start + position % units];
      }
  return result;
}

/// Adds the two biases that cuDNN has for LSTM, since the layer LSTM has one bias.
Tensor sum_of_halves(const Tensor& bias) {
  int64_t half = bias.dim(0) / 2;
  return ops::add(bias.view_rows(0, half), bias.view_rows(half, half));
}

/// The two biases of cuDNN as rows, as GRU with reset_after stores them.
Tensor two_rows(const Tensor& bias) { return bias.view({2, bias.dim(0) / 2}); }

struct CudnnLayout {
  Match::Convert kernel, bias;
};
constexpr CudnnLayout kLstm{kernel_of<4>, sum_of_halves};
constexpr CudnnLayout kGru{kernel_of<3>, two_rows};

/// The layout of cuDNN if the saved bias has it, for a layer whose bias has the shape
/// `weight_shape`; null if the saved bias has the layout of LSTM and GRU, or an unknown one.
const CudnnLayout* layout_of(const Shape& weight_shape, const Shape& saved_shape) {
  if (saved_shape.rank() != 1) return nullptr;
  if (weight_shape.rank() == 1 && saved_shape[0] == 2 * weight_shape[0]) return &kLstm;
  return weight_shape.rank() == 2 && weight_shape[0] == 2 && saved_shape[0] == 2 * weight_shape[1]
             ? &kGru
             : nullptr;
}

}  // namespace

void convert_cudnn(Matches& matches, std::vector<TensorSpec>& saved_specs) {
  for (size_t i = 2; i < matches.size(); ++i) {
    if (matches[i].variable.name() != "bias" ||
        matches[i - 1].variable.name() != "recurrent_kernel")
      continue;
    const CudnnLayout* layout = layout_of(matches[i].variable.shape(), saved_specs[i].shape);
    if (!layout) continue;
    matches[i - 2].convert = matches[i - 1].convert = layout->kernel;
    matches[i].convert = layout->bias;
    saved_specs[i].shape = matches[i].variable.shape();
  }
}

}  // namespace crescent::keras
