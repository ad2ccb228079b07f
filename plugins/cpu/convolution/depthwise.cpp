// Depthwise convolutions row by row. A loop that only normalizes mostly waits for memory, while a
// loop that convolves cached rows does not use memory at all. So the two loops alternate row by row
// and prefetch the rows that are read next, which keeps memory busy all the time.
#include "convolution/depthwise.h"

#include <algorithm>

#include "convolution/convolution.h"

namespace crescent::cpu {

bool has_row_loops(const ConvSpec& spec, const TensorSpec& x, const TensorSpec& kernel,
                   const TensorSpec& y) {
  const Shape &in = x.shape, &out = y.shape, &window = kernel.shape;
  if (x.dtype != DType::float32 || in.rank() != 4 || spec.groups != in[3] || out[3] != in[3] ||
      window[0] != 3 || window[1] != 3 || spec.strides[0] != spec.strides[1])
    return false;
  for (int i = 0; i < 2; ++i) {
    const auto axis = static_cast<size_t>(i);
    const int64_t step = spec.strides[axis], pad_before = spec.pad_before[axis];
    if (step > 2 || spec.dilation[axis] != 1 || pad_before > 1 || (step == 1 && pad_before == 0) ||
        spec.pad_after[axis] > 1 || out[i + 1] != pieces(in[i + 1], step))
      return false;
  }
  return true;
}

namespace {

/// A ring buffer of the rows of an image that were computed last, as many as a window has rows.
class RowRingBuffer {
 public:
  /// Rows have `columns` pixels, with one pixel of zeros at each end.
  RowRingBuffer(float* memory, int64_t columns, int64_t channels)
      : first_row_(memory + channels), stride_((columns + 2) * channels) {
    for (int64_t i = 0; i < kWindowRows; ++i) {
      std::fill_n((*this)[i] - channels, channels, 0.0f);
      std::fill_n((*this)[i] + columns * channels, channels, 0.0f);
    }
  }
  static int64_t values(int64_t columns, int64_t channels) {
    return kWindowRows * (columns + 2) * channels;
  }
  float* operator[](int64_t i) const { return first_row_ + i % kWindowRows * stride_; }

 private:
  static constexpr int64_t kWindowRows = 3;
  float* first_row_;
  int64_t stride_;
};

/// The base of the forward and the backward kernel: the geometry, and memory for rows.
class DepthwiseKernel : public Kernel {
 public:
  DepthwiseKernel(const ConvSpec& spec, const Shape& x, const Shape& y)
      : batch_(x[0]),
        rows_(x[1]),
        columns_(x[2]),
        out_rows_(y[1]),
        out_columns_(y[2]),
        channels_(x[3]),
        stride_(spec.strides[0]),
        pad_top_(spec.pad_before[0]),
        pad_left_(spec.pad_before[1]) {}
  std::string name() const override { return "highway by rows"; }

 protected:
  int64_t row_values() const { return columns_ * channels_; }  ///< values per row
  int64_t out_row_values() const { return out_columns_ * channels_; }
  int64_t zero_row_values() const { return (columns_ + 2) * channels_; }
  double window_flops() const {
    return 18.0 * static_cast<double>(batch_ * out_rows_ * out_row_values());
  }
  DepthwiseRowArguments row_arguments(int64_t columns, const float* kernel,
                                      const float* prefetched_row,
                                      const float* second_prefetched_row = nullptr) const {
    return {columns, channels_,      static_cast<int>(stride_), static_cast<int>(pad_left_),
            kernel,  prefetched_row, second_prefetched_row};
  }

  /// Normalizes the rows of an image from row `normalized_rows` up to the last row that the windows
  /// of output row `out` cover.
  void normalize(const float* x, const ChannelNormalization& normal, int64_t out,
                 int64_t& normalized_rows, const RowRingBuffer& to) const {
    for (const int64_t end = std::min(rows_, out * stride_ - pad_top_ + 3); normalized_rows < end;
         ++normalized_rows)
      loops_.normalize(x + normalized_rows * row_values(), normal, columns_, channels_,
                       to[normalized_rows]);
  }
  /// Row i of the buffer, or a row of zeros if i is outside of the image with `count` rows.
  const float* row_or_zeros(const RowRingBuffer& rows, int64_t i, int64_t count,
                            const float* zeros) const {
    return i >= 0 && i < count ? rows[i] : zeros + channels_;
  }
  /// Calls f with the rows that the windows of output row `out` cover.
  template <class F>
  void with_window(const RowRingBuffer& rows, int64_t out, const float* zeros, F&& f) const {
    const int64_t top_row = out * stride_ - pad_top_;
    f({row_or_zeros(rows, top_row, rows_, zeros), row_or_zeros(rows, top_row + 1, rows_, zeros),
       row_or_zeros(rows, top_row + 2, rows_, zeros)});
  }

  int64_t batch_, rows_, columns_, out_rows_, out_columns_, channels_, stride_, pad_top_, pad_left_;
  DepthwiseLoops loops_ = depthwise_loops();
};

class DepthwiseForwardKernel final : public DepthwiseKernel {
 public:
  DepthwiseForwardKernel(const DepthwiseForward& op, const Request& r)
      : DepthwiseKernel(op.spec, r.inputs[0].shape, r.outputs[0].shape), has_relu_(op.relu) {}
  double flops() const override { return window_flops(); }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(zero_row_values() + RowRingBuffer::values(columns_, channels_)) *
           sizeof(float);
  }

  void run(const Arguments& a) const override {
    auto* zeros = reinterpret_cast<float*>(a.scratch);
    std::fill_n(zeros, zero_row_values(), 0.0f);
    const RowRingBuffer rows(zeros + zero_row_values(), columns_, channels_);
    const ChannelNormalization normal{a.in<float>(1), a.in<float>(2), a.in<float>(3),
                                      a.in<float>(4), has_relu_};
    float* y = a.out<float>(0);
    for (int64_t n = 0; n < batch_; ++n) {
      const float* x = a.in<float>(0) + n * rows_ * row_values();
      int64_t normalized_rows = 0;
      for (int64_t i = 0; i < out_rows_; ++i, y += out_row_values()) {
        normalize(x, normal, i, normalized_rows, rows);
        with_window(rows, i, zeros, [&](WindowRows window) {
          const float* prefetched_row = x + (normalized_rows + stride_) * row_values();
          loops_.forward(row_arguments(out_columns_, a.in<float>(5), prefetched_row), window, y);
        });
      }
    }
  }

 private:
  bool has_relu_;
};

class DepthwiseBackwardKernel final : public DepthwiseKernel {
 public:
  DepthwiseBackwardKernel(const DepthwiseBackward& op, const Request& r)
      : DepthwiseKernel(op.spec, r.inputs[6].shape, r.inputs[0].shape) {}
  double flops() const override { return 2 * window_flops(); }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(zero_row_values() + RowRingBuffer::values(columns_, channels_) +
                               RowRingBuffer::values(out_columns_, channels_)) *
           sizeof(float);
  }

  void run(const Arguments& a) const override {
    auto* zeros = reinterpret_cast<float*>(a.scratch);
    std::fill_n(zeros, zero_row_values(), 0.0f);
    std::fill_n(a.out<float>(0), 9 * channels_, 0.0f);
    for (int sum : {2, 3}) std::fill_n(a.out<float>(sum), channels_, 0.0f);
    float* memory = zeros + zero_row_values();
    const RowRingBuffer normal(memory, columns_, channels_),
        dy(memory + RowRingBuffer::values(columns_, channels_), out_columns_, channels_);
    for (int64_t n = 0; n < batch_; ++n) run_image(a, n, normal, dy, zeros);
  }

 private:
  void run_image(const Arguments& a, int64_t n, const RowRingBuffer& normal,
                 const RowRingBuffer& dy, const float* zeros) const {
    const ChannelNormalizationGradient normalization_after{a.in<float>(2), a.in<float>(3),
                                                           a.in<float>(4), a.in<float>(5)};
    const ChannelNormalization normalization_before{a.in<float>(7), a.in<float>(8), a.in<float>(9),
                                                    a.in<float>(10), true};
    const int64_t first = n * rows_ * row_values(), out_first = n * out_rows_ * out_row_values();
    // the numbers of rows of x that have been normalized, and of rows of dx that have been computed
    int64_t normalized_rows = 0, computed_rows = 0;
    for (int64_t i = 0; i < out_rows_; ++i) {
      const float *y = a.in<float>(0) + out_first + i * out_row_values(),
                  *dnormal = a.in<float>(1) + out_first + i * out_row_values();
      loops_.output_gradient(y, dnormal, normalization_after, out_columns_, channels_, dy[i]);
      normalize(a.in<float>(6) + first, normalization_before, i, normalized_rows, normal);
      with_window(normal, i, zeros, [&](WindowRows window) {
        const int64_t distance = 2 * out_row_values();
        loops_.kernel_gradient(
            row_arguments(out_columns_, nullptr, y + distance, dnormal + distance), window, dy[i],
            a.out<float>(0));
      });
      const int64_t end = i + 1 == out_rows_ ? rows_ : (i + 1) * stride_ - pad_top_;
      for (; computed_rows < end; ++computed_rows)
        compute_data_row(a, first + computed_rows * row_values(), computed_rows, normal, dy, zeros);
    }
  }
  /// Computes row i of dx once all rows of dy are available whose windows cover row i.
  void compute_data_row(const Arguments& a, int64_t offset, int64_t i, const RowRingBuffer& normal,
                        const RowRingBuffer& dy, const float* zeros) const {
    auto output_row = [&](int64_t rows_below) {
      const int64_t out = i + pad_top_ - rows_below;
      return out % stride_ == 0 ? row_or_zeros(dy, out / stride_, out_rows_, zeros) : nullptr;
    };
    const float* x = a.in<float>(6) + offset;
    loops_.data_gradient(row_arguments(columns_, a.in<float>(11), x + 4 * row_values()),
                         {output_row(0), output_row(1), output_row(2)}, normal[i], x,
                         a.in<float>(7), a.out<float>(1) + offset, a.out<float>(2),
                         a.out<float>(3));
  }
};

}  // namespace

std::unique_ptr<Kernel> make_depthwise_forward(const Request& r) {
  return std::make_unique<DepthwiseForwardKernel>(static_cast<const DepthwiseForward&>(r.op), r);
}
std::unique_ptr<Kernel> make_depthwise_backward(const Request& r) {
  return std::make_unique<DepthwiseBackwardKernel>(static_cast<const DepthwiseBackward&>(r.op), r);
}

}  // namespace crescent::cpu
