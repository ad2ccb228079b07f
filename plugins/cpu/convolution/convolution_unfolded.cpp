// Convolutions as matrix products, for those that oneDNN does not support: the windows of the image
// are unfolded into rows (im2col), one block of output pixels at a time. The work is divided among
// a fixed number of lanes, so that results do not depend on the number of threads.
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
      : p_(r), gemm_(gemm<T>(r.options)), name_(gemm_name<T>(r.options)) {
    in_channels_per_group_ = p_.in_channels / p_.groups,
    out_channels_per_group_ = p_.out_channels / p_.groups;
    row_ = p_.taps() * in_channels_per_group_;
    block_ = std::clamp<int64_t>(kBlockValues / std::max<int64_t>(row_, 1), 8, 256);
    blocks_ = (p_.out_pixels() + block_ - 1) / block_;
    const int64_t items = p_.pass == ConvPass::backward_data ? p_.batch : p_.batch * blocks_;
    lanes_ = std::clamp<int64_t>(items, 1, kLanes);
    if (p_.pass == ConvPass::backward_kernel) {
      lanes_ = std::clamp<int64_t>(kMaxUnfoldedPartials / std::max<int64_t>(p_.kernel_size(), 1), 1,
                                   lanes_);
    }
  }

  void run(const Arguments& a) const override {
    switch (p_.pass) {
      case ConvPass::forward:
        return run_forward(a);
      case ConvPass::backward_data:
        return backward_data(a);
      case ConvPass::backward_kernel:
        return backward_kernel(a);
    }
  }
  std::string name() const override { return std::string("unfolded, ") + name_; }
  size_t scratch_bytes() const override { return lanes_ * lane_values() * sizeof(T); }
  double flops() const override { return p_.flops(); }

 private:
  struct Block {
    int64_t image, first, count;  ///< output pixels [first, first + count) of the image
  };

  int64_t lane_values() const {
    return block_ * row_ + (p_.pass == ConvPass::backward_kernel ? p_.kernel_size() : 0);
  }
  T* unfolded(const Arguments& a, int64_t lane) const {
    return reinterpret_cast<T*>(a.scratch) + lane * lane_values();
  }
  T* partial(const Arguments& a, int64_t lane) const { return unfolded(a, lane) + block_ * row_; }
  int64_t in_size() const { return p_.in_pixels() * p_.in_channels; }
  int64_t out_size() const { return p_.out_pixels() * p_.out_channels; }

  /// Calls f(block, lane) for all blocks of all images. Each lane has a fixed range of the blocks
  /// and goes through them in order.
  template <class F>
  void each_block(const Arguments& a, F&& f) const {
    const int64_t items = p_.batch * blocks_;
    a.threads.parallel(lanes_, [&](int64_t lane, int) {
      for (int64_t i = items * lane / lanes_; i < items * (lane + 1) / lanes_; ++i)
        f(block_at(i / blocks_, i % blocks_), lane);
    });
  }
  Block block_at(int64_t image, int64_t i) const {
    return {image, i * block_, std::min(block_, p_.out_pixels() - i * block_)};
  }

  /// Calls f(tap, pixel of the image) for the taps of output pixel `pixel` that are inside of the
  /// image.
  template <class F>
  void each_tap(int64_t pixel, F&& f) const {
    const auto& [d, h, w] = p_.axes;
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
    std::memset(rows, 0, b.count * row_ * sizeof(T));
    for (int64_t i = 0; i < b.count; ++i, rows += row_) {
      each_tap(b.first + i, [&](int64_t tap, int64_t pixel) {
        std::copy_n(image + pixel * p_.in_channels + group * in_channels_per_group_,
                    in_channels_per_group_, rows + tap * in_channels_per_group_);
      });
    }
  }
  void fold(const T* rows, int64_t group, const Block& b, T* image) const {
    for (int64_t i = 0; i < b.count; ++i, rows += row_) {
      each_tap(b.first + i, [&](int64_t tap, int64_t pixel) {
        T* to = image + pixel * p_.in_channels + group * in_channels_per_group_;
        for (int64_t c = 0; c < in_channels_per_group_; ++c)
          to[c] += rows[tap * in_channels_per_group_ + c];
      });
    }
  }

  void run_forward(const Arguments& a) const {
    const T* bias = p_.has_bias ? a.in<T>(2) : nullptr;
    each_block(a, [&](const Block& b, int64_t lane) {
      T* y = a.out<T>(0) + b.image * out_size() + b.first * p_.out_channels;
      for (int64_t g = 0; g < p_.groups; ++g) {
        unfold(a.in<T>(0) + b.image * in_size(), g, b, unfolded(a, lane));
        gemm_({false, false, b.count, out_channels_per_group_, row_, unfolded(a, lane), row_,
               a.in<T>(1) + g * out_channels_per_group_, p_.out_channels, 0,
               y + g * out_channels_per_group_, p_.out_channels});
      }
      finish(y, b.count, p_.out_channels, p_.out_channels, bias, p_.activation);
    });
  }

  void backward_data(const Arguments& a) const {
    a.threads.parallel(lanes_, [&](int64_t lane, int) {
      for (int64_t i = p_.batch * lane / lanes_; i < p_.batch * (lane + 1) / lanes_; ++i)
        compute_image_gradient(a, i, lane);
    });
  }
  void compute_image_gradient(const Arguments& a, int64_t image, int64_t lane) const {
    T* dx = a.out<T>(0) + image * in_size();
    std::fill_n(dx, in_size(), T{0});
    for (int64_t i = 0; i < blocks_; ++i) {
      const Block b = block_at(image, i);
      const T* dy = a.in<T>(0) + image * out_size() + b.first * p_.out_channels;
      for (int64_t g = 0; g < p_.groups; ++g) {
        gemm_({false, true, b.count, row_, out_channels_per_group_,
               dy + g * out_channels_per_group_, p_.out_channels,
               a.in<T>(1) + g * out_channels_per_group_, p_.out_channels, 0, unfolded(a, lane),
               row_});
        fold(unfolded(a, lane), g, b, dx);
      }
    }
  }

  void backward_kernel(const Arguments& a) const {
    for (int64_t lane = 0; lane < lanes_; ++lane)
      std::fill_n(partial(a, lane), p_.kernel_size(), T{0});
    each_block(a, [&](const Block& b, int64_t lane) {
      const T* dy = a.in<T>(1) + b.image * out_size() + b.first * p_.out_channels;
      for (int64_t g = 0; g < p_.groups; ++g) {
        unfold(a.in<T>(0) + b.image * in_size(), g, b, unfolded(a, lane));
        gemm_({true, false, row_, out_channels_per_group_, b.count, unfolded(a, lane), row_,
               dy + g * out_channels_per_group_, p_.out_channels, 1,
               partial(a, lane) + g * out_channels_per_group_, p_.out_channels});
      }
    });
    a.threads.blocks(p_.kernel_size(), 4096, [&](int64_t begin, int64_t end) {
      std::copy(partial(a, 0) + begin, partial(a, 0) + end, a.out<T>(0) + begin);
      for (int64_t i = 1; i < lanes_; ++i)
        accumulate(a.out<T>(0) + begin, partial(a, i) + begin, end - begin);
    });
  }

  ConvPlan p_;
  Gemm<T> gemm_;
  const char* name_;
  int64_t in_channels_per_group_, out_channels_per_group_, row_, block_, blocks_, lanes_;
};

}  // namespace

std::unique_ptr<Kernel> make_unfolded_convolution(const Request& r) {
  const ConvPlan p(r);
  if (!fits_blas(p.taps() * p.in_channels) || !fits_blas(p.out_channels)) return nullptr;
  return make_typed<UnfoldedConvolution>(r, p.dtype);
}

}  // namespace crescent::cpu
