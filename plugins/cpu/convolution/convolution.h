// The geometry of a convolution over three spatial axes, which all convolution kernels use.
#pragma once
#include <array>

#include "kernel/kernel.h"

namespace crescent::cpu {

enum class ConvPass { forward, backward_data, backward_kernel };

/// The geometry of a convolution. The images x are (batch, in..., in_channels), the images y
/// (batch, out..., out_channels), and kernels are (kernel..., in_channels/groups, out_channels).
/// `in` refers to x in every pass, also when the gradient of x is computed. A convolution with
/// fewer than three spatial axes gets leading axes of size 1.
struct ConvPlan {
  struct Axis {
    int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad_before = 0, pad_after = 0;
  };

  explicit ConvPlan(const Request& request);

  ConvPass pass;
  DType dtype;
  int spatial_rank;  ///< number of spatial axes of the op
  std::array<Axis, 3> axes;
  int64_t batch, groups, in_channels, out_channels;
  bool has_bias = false;            ///< whether a bias is added
  bool has_residual = false;        ///< whether another tensor is added
  bool has_moments = false;         ///< whether the sums for the mean and variance are results
  bool is_relu_masked = false;      ///< whether the result is multiplied by the mask of a relu
  bool is_pooled = false;           ///< whether max pooling over 2x2 windows follows (op ConvPool)
  bool has_argmax_indices = false;  ///< whether the indices of the pooled maxima are results, too
  ActivationKind activation = ActivationKind::none;

  int64_t in_pixels() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t out_pixels() const { return axes[0].out * axes[1].out * axes[2].out; }
  int64_t taps() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
  int64_t kernel_size() const { return taps() * in_channels / groups * out_channels; }
  bool empty() const { return batch * in_pixels() * out_pixels() * kernel_size() == 0; }
  double flops() const {
    return 2.0 * static_cast<double>(batch * out_pixels()) * static_cast<double>(kernel_size());
  }
};

/// Makes a kernel for 3x3 windows, if Winograd's algorithm is faster.
std::unique_ptr<Kernel> make_winograd_convolution(const Request& request);
/// Makes a kernel for 3x3 windows followed by max pooling, by Winograd's algorithm.
std::unique_ptr<Kernel> make_winograd_pooled_convolution(const Request& request);
/// Makes a kernel for 1x1 windows, which computes matrix products.
std::unique_ptr<Kernel> make_pointwise_convolution(const Request& request);
/// Makes a kernel for bfloat16 that uses AMX tiles.
std::unique_ptr<Kernel> make_amx_convolution(const Request& request);
/// Makes a kernel that calls oneDNN, for requests for which oneDNN has fast code.
std::unique_ptr<Kernel> make_onednn_convolution(const Request& request);
/// Makes a kernel that computes matrix products of unfolded windows (im2col), for any request.
std::unique_ptr<Kernel> make_unfolded_convolution(const Request& request);
/// Makes a kernel for the op Int8Conv on float32 that multiplies bytes.
std::unique_ptr<Kernel> make_byte_convolution(const Request& request);
/// Makes a kernel for the gradient of an image, multiplied by the mask of a relu.
std::unique_ptr<Kernel> make_relu_masked_convolution(const Request& request);
/// Makes a kernel for a depthwise convolution, fused with the normalization of its input.
std::unique_ptr<Kernel> make_depthwise_forward(const Request& request);
/// Makes a kernel for the gradients of the op DepthwiseForward.
std::unique_ptr<Kernel> make_depthwise_backward(const Request& request);

}  // namespace crescent::cpu
