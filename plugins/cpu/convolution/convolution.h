// What the convolution kernels share: the geometry of one request over three spatial axes.
#pragma once
#include <array>

#include "kernel/kernel.h"

namespace crescent::cpu {

enum class ConvPass { forward, backward_data, backward_kernel };

/// Images are (batch, in..., in_channels) and (batch, out..., out_channels), kernels (kernel...,
/// in_channels/groups, out_channels). `in` is always the side of x, whichever pass it is. Absent
/// axes stand in front with size 1.
struct ConvPlan {
  struct Axis {
    int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  };

  explicit ConvPlan(const Request& request);

  ConvPass pass;
  DType dtype;
  int spatial;  ///< axes really there
  std::array<Axis, 3> axes;
  int64_t batch, groups, in_channels, out_channels;
  bool bias = false, residual = false, moments = false, gated = false;
  bool pooled = false, argmax_indices = false;  ///< forward: as of ConvPool with windows of 2x2
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

std::unique_ptr<Kernel> make_winograd_convolution(
    const Request& request);  // 3x3, where that is faster
std::unique_ptr<Kernel> make_winograd_pooled_convolution(
    const Request& request);  // the same, then max pooling
std::unique_ptr<Kernel> make_pointwise_convolution(
    const Request& request);  // 1x1, as products of matrices
std::unique_ptr<Kernel> make_amx_convolution(
    const Request& request);  // bfloat16, where there are tiles
std::unique_ptr<Kernel> make_onednn_convolution(
    const Request& request);  // where oneDNN has fast code
std::unique_ptr<Kernel> make_unfolded_convolution(
    const Request& request);  // everything, as products of matrices
std::unique_ptr<Kernel> make_gated_convolution(
    const Request& request);  // any backward data, then its gate
std::unique_ptr<Kernel> make_depthwise_forward(
    const Request& request);  // of what is normalized on the way
std::unique_ptr<Kernel> make_depthwise_backward(const Request& request);  // and its gradients

}  // namespace crescent::cpu
