// Convolutions as matrix products, for those that oneDNN does not support: the windows of the image
// are unfolded into rows (im2col), one block of output pixels at a time. The work is divided into a
// fixed number of independent parts, called lanes, so that results do not depend on the number of
// threads.
#include <algorithm>
#include <cstring>

#include "convolution/convolution.h"
#include "kernel/typed.h"
#include "matmul/blas.h"
#include "matmul/matmul.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kLanes = 16;
/// Approximate number of unfolded values of a block.
constexpr int64_t kBlockValues = 1 << 16;
/// Largest number of values of all partial gradients of the kernel together.
constexpr int64_t kMaxUnfoldedPartials = 8 << 20;

template <class T>
class UnfoldedConvolution final : public Kernel {
 public:
  explicit UnfoldedConvolution(const Request& r)
      : plan_(r), gemm_(gemm<T>(r.options)), name_(gemm_name<T>(r.options)) {
    in_channels_per_group_ = plan_.in_channels / plan_.groups,
    out_channels_per_group_ = plan_.out_channels / plan_.groups;
    row_values_ = plan_.taps() * in_channels_per_group_;
    block_pixels_ = std::clamp<int64_t>(kBlockValues / std::max<int64_t>(row_values_, 1), 8, 256);
    blocks_per_image_ = (plan_.out_pixels() + block_pixels_ - 1) / block_pixels_;
    const int64_t item_count =
        plan_.pass == ConvPass::backward_data ? plan_.batch : plan_.batch * blocks_per_image_;
    lane_count_ = std::clamp<int64_t>(item_count, 1, kLanes);
    if (plan_.pass == ConvPass::backward_kernel) {
      lane_count_ = std::clamp<int64_t>(
          kMaxUnfoldedPartials / std::max<int64_t>(plan_.kernel_size(), 1), 1, lane_count_);
    }
  }

  void run(const Arguments& a) const override {
    switch (plan_.pass) {
      case ConvPass::forward:
        return run_forward(a);
      case ConvPass::backward_data:
        return backward_data(a);
      case ConvPass::backward_kernel:
        return backward_kernel(a);
    }
  }
  std::string name() const override { return std::string("unfolded, ") + name_; }
  size_t scratch_bytes() const override { return lane_count_ * lane_values() * sizeof(T); }
  double flops() const override { return plan_.flops(); }

 private:
  struct Block {
    int64_t image, first, count;  ///< output pixels [first, first + count) of the image
  };

  int64_t lane_values() const {
    return block_pixels_ * row_values_ +
           (plan_.pass == ConvPass::backward_kernel ? plan_.kernel_size() : 0);
  }
  T* unfolded(const Arguments& a, int64_t lane) const {
    return reinterpret_cast<T*>(a.scratch) + lane * lane_values();
  }
  T* partial_gradient(const Arguments& a, int64_t lane) const {
    return unfolded(a, lane) + block_pixels_ * row_values_;
  }
  int64_t in_size() const { return plan_.in_pixels() * plan_.in_channels; }
  int64_t out_size() const { return plan_.out_pixels() * plan_.out_channels; }

  /// Calls f(block, lane) for all blocks of all images. Each lane has a fixed range of the blocks
  /// and goes through them in order.
  template <class F>
  void for_each_block(const Arguments& a, F&& f) const {
    const int64_t item_count = plan_.batch * blocks_per_image_;
    a.threads.parallel(lane_count_, [&](int64_t lane, int) {
      for (int64_t i = item_count * lane / lane_count_; i < item_count * (lane + 1) / lane_count_;
           ++i)
        f(block_at(i / blocks_per_image_, i % blocks_per_image_), lane);
    });
  }
  Block block_at(int64_t image, int64_t i) const {
    return {image, i * block_pixels_,
            std::min(block_pixels_, plan_.out_pixels() - i * block_pixels_)};
  }

  /// Calls f(tap, pixel of the image) for the taps of output pixel `pixel` that are inside of the
  /// image.
  template <class F>
  void for_each_tap(int64_t pixel, F&& f) const {
    const auto& [d, h, w] = plan_.axes;
    const int64_t z0 = pixel / (h.out * w.out) * d.stride - d.pad_before;
    const int64_t y0 = pixel / w.out % h.out * h.stride - h.pad_before,
                  x0 = pixel % w.out * w.stride - w.pad_before;
    for (int64_t i = 0, tap = 0; i < d.kernel; ++i) {
      const int64_t z = z0 + i * d.dilation;
      for (int64_t j = 0; j < h.kernel; ++j) {
        const int64_t y = y0 + j * h.dilation;
        for (int64_t q = 0; q < w.kernel; ++q, ++tap) {
          const int64_t x = x0 + q * w.dilation;
          if (z >= 0 && z < d.in && y >= 0 && y < h.in && x >= 0 && x < w.in)
            f(tap, (z * h.in + y) * w.in + x);
        }
      }
    }
  }
  void unfold(const T* image, int64_t group, const Block& b, T* rows) const {
    std::memset(rows, 0, b.count * row_values_ * sizeof(T));
    for (int64_t i = 0; i < b.count; ++i, rows += row_values_) {
      for_each_tap(b.first + i, [&](int64_t tap, int64_t pixel) {
        std::copy_n(image + pixel * plan_.in_channels + group * in_channels_per_group_,
                    in_channels_per_group_, rows + tap * in_channels_per_group_);
      });
    }
  }
  void fold(const T* rows, int64_t group, const Block& b, T* image) const {
    for (int64_t i = 0; i < b.count; ++i, rows += row_values_) {
      for_each_tap(b.first + i, [&](int64_t tap, int64_t pixel) {
        T* to = image + pixel * plan_.in_channels + group * in_channels_per_group_;
        for (int64_t c = 0; c < in_channels_per_group_; ++c)
          to[c] += rows[tap * in_channels_per_group_ + c];
      });
    }
  }

  void run_forward(const Arguments& a) const {
    const T* bias = plan_.has_bias ? a.in<T>(2) : nullptr;
    for_each_block(a, [&](const Block& b, int64_t lane) {
      T* y = a.out<T>(0) + b.image * out_size() + b.first * plan_.out_channels;
      for (int64_t g = 0; g < plan_.groups; ++g) {
        unfold(a.in<T>(0) + b.image * in_size(), g, b, unfolded(a, lane));
        gemm_({false, false, b.count, out_channels_per_group_, row_values_, unfolded(a, lane),
               row_values_, a.in<T>(1) + g * out_channels_per_group_, plan_.out_channels, 0,
               y + g * out_channels_per_group_, plan_.out_channels});
      }
      finish(y, b.count, plan_.out_channels, plan_.out_channels, bias, plan_.activation);
    });
  }

  void backward_data(const Arguments& a) const {
    a.threads.parallel(lane_count_, [&](int64_t lane, int) {
      for (int64_t i = plan_.batch * lane / lane_count_; i < plan_.batch * (lane + 1) / lane_count_;
           ++i)
        compute_image_gradient(a, i, lane);
    });
  }
  void compute_image_gradient(const Arguments& a, int64_t image, int64_t lane) const {
    T* dx = a.out<T>(0) + image * in_size();
    std::fill_n(dx, in_size(), T{0});
    for (int64_t i = 0; i < blocks_per_image_; ++i) {
      const Block b = block_at(image, i);
      const T* dy = a.in<T>(0) + image * out_size() + b.first * plan_.out_channels;
      for (int64_t g = 0; g < plan_.groups; ++g) {
        gemm_({false, true, b.count, row_values_, out_channels_per_group_,
               dy + g * out_channels_per_group_, plan_.out_channels,
               a.in<T>(1) + g * out_channels_per_group_, plan_.out_channels, 0, unfolded(a, lane),
               row_values_});
        fold(unfolded(a, lane), g, b, dx);
      }
    }
  }

  void backward_kernel(const Arguments& a) const {
    for (int64_t lane = 0; lane < lane_count_; ++lane)
      std::fill_n(partial_gradient(a, lane), plan_.kernel_size(), T{0});
    for_each_block(a, [&](const Block& b, int64_t lane) {
      const T* dy = a.in<T>(1) + b.image * out_size() + b.first * plan_.out_channels;
      for (int64_t g = 0; g < plan_.groups; ++g) {
        unfold(a.in<T>(0) + b.image * in_size(), g, b, unfolded(a, lane));
        gemm_({true, false, row_values_, out_channels_per_group_, b.count, unfolded(a, lane),
               row_values_, dy + g * out_channels_per_group_, plan_.out_channels, 1,
               partial_gradient(a, lane) + g * out_channels_per_group_, plan_.out_channels});
      }
    });
    a.threads.blocks(plan_.kernel_size(), 4096, [&](int64_t begin, int64_t end) {
      std::copy(partial_gradient(a, 0) + begin, partial_gradient(a, 0) + end, a.out<T>(0) + begin);
      for (int64_t i = 1; i < lane_count_; ++i)
        accumulate(a.out<T>(0) + begin, partial_gradient(a, i) + begin, end - begin);
    });
  }

  ConvPlan plan_;
  Gemm<T> gemm_;
  const char* name_;
  int64_t in_channels_per_group_, out_channels_per_group_, row_values_, block_pixels_,
      blocks_per_image_, lane_count_;
};

}  // namespace

std::unique_ptr<Kernel> make_unfolded_convolution(const Request& r) {
  const ConvPlan p(r);
  if (!fits_blas(p.taps() * p.in_channels) || !fits_blas(p.out_channels)) return nullptr;
  return make_typed<UnfoldedConvolution>(r, p.dtype);
}

}  // namespace crescent::cpu
