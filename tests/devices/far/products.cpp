// Matrix products, convolutions and pooling in float32 and float64, with sums in double.
#include <algorithm>
#include <limits>

#include "kernels.h"

namespace crescent::far {
namespace {

/// Returns the kernel f(T) for float32 and float64, and no kernel for other dtypes.
template <class F>
Kernel kernel_for_reals(const Request& r, F f) {
  const DType dtype = r.out[0].dtype;
  for (const TensorSpec& in : r.in)
    if (in.dtype != dtype) return {};
  if (dtype == DType::float32) return f(float{});
  return dtype == DType::float64 ? f(double{}) : Kernel();
}

template <class T>
const T* input(const std::byte* from) {
  return reinterpret_cast<const T*>(from);
}
template <class T>
T* output(std::byte* to) {
  return reinterpret_cast<T*>(to);
}

/// y (m, n) = a . b, where each operand may be transposed.
struct Product {
  int64_t m, n, k, a_row, a_column, b_row, b_column;
  template <class T>
  void run(const T* a, const T* b, T* y) const {
    std::vector<double> row(static_cast<size_t>(n));
    for (int64_t i = 0; i < m; ++i) {
      std::fill(row.begin(), row.end(), 0);
      for (int64_t p = 0; p < k; ++p) {
        const double factor = a[i * a_row + p * a_column];
        const T* from = b + p * b_row;
        for (int64_t j = 0; j < n; ++j) row[static_cast<size_t>(j)] += factor * from[j * b_column];
      }
      std::copy(row.begin(), row.end(), y + i * n);
    }
  }
};

Kernel matmul(const Matmul& op, const Request& r) {
  if (r.in.size() != 2) return {};
  const Shape &a = r.in[0].shape, &b = r.in[1].shape, &y = r.out[0].shape;
  Product product{y[-2], y[-1], a[op.transpose_a ? -2 : -1], a[-1], 1, b[-1], 1};
  if (op.transpose_a) std::swap(product.a_row, product.a_column);
  if (op.transpose_b) std::swap(product.b_row, product.b_column);
  const Shape batch = y.slice(0, y.rank() - 2);
  const std::array strides{strides_of(a.slice(0, a.rank() - 2), batch),
                           strides_of(b.slice(0, b.rank() - 2), batch)};
  const int64_t a_size = a[-2] * a[-1], b_size = b[-2] * b[-1];
  return kernel_for_reals(r, [&]<class T>(T) -> Kernel {
    return [=](const std::byte* const* x, std::byte* const* out) {
      for_each_element(batch, strides, [&](int64_t i, const auto& at) {
        product.run(input<T>(x[0]) + at[0] * a_size, input<T>(x[1]) + at[1] * b_size,
                    output<T>(out[0]) + i * product.m * product.n);
      });
    };
  });
}

/// A sliding window over 1 to 3 axes; missing axes are added with size 1.
struct Windows {
  struct Axis {
    int64_t in = 1, out = 1, window = 1, stride = 1, dilation = 1, pad = 0;
  };
  std::array<Axis, 3> axes;
  int64_t batch;

  Windows(const ConvSpec& spec, const Shape& in, const Shape& out, const auto& window)
      : batch(in[0]) {
    const size_t spatial_axis_count = spec.strides.size();
    for (size_t i = 0; i < spatial_axis_count; ++i) {
      const int axis = static_cast<int>(i);
      axes[3 - spatial_axis_count + i] = {
          in[axis + 1],    out[axis + 1],    *(window.begin() + axis),
          spec.strides[i], spec.dilation[i], spec.pad_before[i]};
    }
  }

  /// Calls f(input position, window position, output position) wherever the input position is
  /// inside the input.
  template <class F>
  void each_tap(F f) const {
    const auto& [d, h, w] = axes;
    const int64_t output_count = d.out * h.out * w.out, tap_count = d.window * h.window * w.window;
    for (int64_t output_index = 0; output_index < batch * output_count; ++output_index) {
      for (int64_t tap = 0; tap < tap_count; ++tap) {
        const int64_t z =
            at(d, output_index % output_count / (h.out * w.out), tap / (h.window * w.window));
        const int64_t y = at(h, output_index / w.out % h.out, tap / w.window % h.window);
        const int64_t x = at(w, output_index % w.out, tap % w.window);
        if (z < 0 || y < 0 || x < 0) continue;
        f(((output_index / output_count * d.in + z) * h.in + y) * w.in + x, tap, output_index);
      }
    }
  }

 private:
  static int64_t at(const Axis& axis, int64_t out, int64_t tap) {
    const int64_t in = out * axis.stride - axis.pad + tap * axis.dilation;
    return in < axis.in ? in : -1;
  }
};

/// The channels of a convolution: each group of outputs reads its group of inputs.
struct Channels {
  Channels(const ConvSpec& spec, const Shape& kernel)
      : in(kernel[-2]), out(kernel[-1]), groups(spec.groups) {}
  int64_t in, out, groups;  ///< in: input channels of a group; out: output channels of all groups
  /// Calls f(input channel, offset in the kernel, output channel) for all pairs in the same group.
  template <class F>
  void for_each_pair(int64_t tap, F f) const {
    const int64_t outputs_of_group = out / groups;
    for (int64_t g = 0; g < groups; ++g) {
      for (int64_t i = 0; i < in; ++i) {
        for (int64_t o = g * outputs_of_group; o < (g + 1) * outputs_of_group; ++o)
          f(g * in + i, (tap * in + i) * out + o, o);
      }
    }
  }
};

/// A kernel that runs add(sums, inputs...), where `sums` has the size of the result and starts with
/// zeros.
template <class T, class Add>
Kernel summing_kernel(const Request& r, Add add) {
  return [=, size = r.out[0].shape.size()](const std::byte* const* x, std::byte* const* y) {
    std::vector<double> sums(static_cast<size_t>(size));
    add(sums.data(), input<T>(x[0]), input<T>(x[1]));
    std::copy(sums.begin(), sums.end(), output<T>(y[0]));
  };
}

Kernel conv(const Conv& op, const Request& r) {
  if (r.in.size() != 2 || r.out.size() != 1) return {};
  const Windows windows(op.spec, r.in[0].shape, r.out[0].shape, r.in[1].shape);
  const Channels channels(op.spec, r.in[1].shape);
  return kernel_for_reals(r, [&]<class T>(T) {
    return summing_kernel<T>(r, [=](double* y, const T* x, const T* kernel) {
      windows.each_tap([&](int64_t in, int64_t tap, int64_t out) {
        const T* from = x + in * channels.in * channels.groups;
        double* to = y + out * channels.out;
        channels.for_each_pair(tap, [&](int64_t i, int64_t k, int64_t o) {
          to[o] += static_cast<double>(from[i]) * kernel[k];
        });
      });
    });
  });
}

Kernel conv_backward_data(const ConvBackwardData& op, const Request& r) {
  if (r.in.size() != 2) return {};
  const Windows windows(op.spec, r.out[0].shape, r.in[0].shape, r.in[1].shape);
  const Channels channels(op.spec, r.in[1].shape);
  return kernel_for_reals(r, [&]<class T>(T) {
    return summing_kernel<T>(r, [=](double* dx, const T* dy, const T* kernel) {
      windows.each_tap([&](int64_t in, int64_t tap, int64_t out) {
        double* to = dx + in * channels.in * channels.groups;
        const T* from = dy + out * channels.out;
        channels.for_each_pair(tap, [&](int64_t i, int64_t k, int64_t o) {
          to[i] += static_cast<double>(from[o]) * kernel[k];
        });
      });
    });
  });
}

Kernel conv_backward_kernel(const ConvBackwardKernel& op, const Request& r) {
  const Shape& kernel = r.out[0].shape;
  const Windows windows(op.spec, r.in[0].shape, r.in[1].shape, kernel);
  const Channels channels(op.spec, kernel);
  return kernel_for_reals(r, [&]<class T>(T) {
    return summing_kernel<T>(r, [=](double* dk, const T* x, const T* dy) {
      windows.each_tap([&](int64_t in, int64_t tap, int64_t out) {
        const T* from = x + in * channels.in * channels.groups;
        const T* to = dy + out * channels.out;
        channels.for_each_pair(tap, [&](int64_t i, int64_t k, int64_t o) {
          dk[k] += static_cast<double>(from[i]) * to[o];
        });
      });
    });
  });
}

/// The number of input elements inside each window.
std::vector<double> elements_in_windows(const Windows& windows, int64_t window_count) {
  std::vector<double> counts(static_cast<size_t>(window_count));
  windows.each_tap([&](int64_t, int64_t, int64_t out) { ++counts[static_cast<size_t>(out)]; });
  return counts;
}

/// For each channel and output position, the index of the maximal input element in the window: the
/// first maximum, or the first NaN.
template <class T>
std::vector<int64_t> argmax_indices(const Windows& windows, const T* x, int64_t size,
                                    int64_t channels) {
  std::vector<int64_t> best(static_cast<size_t>(size), -1);
  windows.each_tap([&](int64_t in, int64_t, int64_t out) {
    for (int64_t c = 0; c < channels; ++c) {
      int64_t& argmax = best[static_cast<size_t>(out * channels + c)];
      const T value = x[in * channels + c];
      if (argmax < 0 || value > x[argmax] || (value != value && x[argmax] == x[argmax]))
        argmax = in * channels + c;
    }
  });
  return best;
}

Kernel pool(const Pool& op, const Request& r) {
  if (r.out.size() != 1) return {};
  const Windows windows(op.spec, r.in[0].shape, r.out[0].shape, op.window);
  const int64_t size = r.out[0].shape.size(), channels = r.in[0].shape[-1];
  return kernel_for_reals(r, [&]<class T>(T) -> Kernel {
    return [=, max = op.max](const std::byte* const* in, std::byte* const* out) {
      const T* x = input<T>(in[0]);
      T* y = output<T>(out[0]);
      if (max) {
        const auto best = argmax_indices(windows, x, size, channels);
        for (int64_t i = 0; i < size; ++i) y[i] = x[best[static_cast<size_t>(i)]];
        return;
      }
      const auto counts = elements_in_windows(windows, size / channels);
      std::vector<double> sums(static_cast<size_t>(size));
      windows.each_tap([&](int64_t from, int64_t, int64_t to) {
        for (int64_t c = 0; c < channels; ++c)
          sums[static_cast<size_t>(to * channels + c)] += x[from * channels + c];
      });
      for (int64_t i = 0; i < size; ++i)
        y[i] = static_cast<T>(sums[static_cast<size_t>(i)] /
                              counts[static_cast<size_t>(i / channels)]);
    };
  });
}

Kernel pool_backward(const PoolBackward& op, const Request& r) {
  const TensorSpec& dy_spec = r.in.back();
  const Windows windows(op.spec, r.out[0].shape, dy_spec.shape, op.window);
  const int64_t size = dy_spec.shape.size(), channels = dy_spec.shape[-1];
  return kernel_for_reals(r, [&]<class T>(T) -> Kernel {
    return [=, max = op.max, result = r.out[0].shape.size()](const std::byte* const* in,
                                                             std::byte* const* out) {
      std::vector<double> sums(static_cast<size_t>(result));
      const T* dy = input<T>(in[max ? 1 : 0]);
      if (max) {
        const auto best = argmax_indices(windows, input<T>(in[0]), size, channels);
        for (int64_t i = 0; i < size; ++i)
          sums[static_cast<size_t>(best[static_cast<size_t>(i)])] += dy[i];
      } else {
        const auto counts = elements_in_windows(windows, size / channels);
        windows.each_tap([&](int64_t to, int64_t, int64_t from) {
          for (int64_t c = 0; c < channels; ++c)
            sums[static_cast<size_t>(to * channels + c)] +=
                dy[from * channels + c] / counts[static_cast<size_t>(from)];
        });
      }
      std::copy(sums.begin(), sums.end(), output<T>(out[0]));
    };
  });
}

}  // namespace

Kernel product_kernel(const Request& r) {
  if (auto* op = as<Matmul>(r.op)) return matmul(*op, r);
  if (auto* op = as<Conv>(r.op)) return conv(*op, r);
  if (auto* op = as<ConvBackwardData>(r.op)) return conv_backward_data(*op, r);
  if (auto* op = as<ConvBackwardKernel>(r.op)) return conv_backward_kernel(*op, r);
  if (auto* op = as<Pool>(r.op)) return pool(*op, r);
  if (auto* op = as<PoolBackward>(r.op)) return pool_backward(*op, r);
  return {};
}

}  // namespace crescent::far
