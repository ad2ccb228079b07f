// 3x3 convolutions by Winograd's F(4x4, 3x3): one thread takes a block of tiles through the input
// transform, the products and the output transform, in memory that fits its cache. If there are
// only few tiles, or a few more and a large kernel, all tiles form one block, and the threads share
// each step.
#include <algorithm>

#include "convolution/convolution.h"
#include "convolution/winograd.h"
#include "matmul/matmul.h"
#include "normalization/normalization.h"
#include "threads/thread_scratch.h"
#include "threads/work_trace.h"

namespace crescent::cpu {
namespace {

using namespace winograd;

constexpr int64_t kBlockBytes = 1 << 19;  ///< bytes of a block's transformed input and output
/// Fewest tiles per block, so that each read of the kernel serves many tiles.
constexpr int64_t kMinBlockTiles = 48;
/// If there are fewer blocks than kMinBlocks, the blocks are made smaller, but not smaller than
/// kMinSmallBlockTiles tiles.
constexpr int64_t kMinBlocks = 8, kMinSmallBlockTiles = 8;
constexpr int64_t kMinBlocksForManyThreads = 16;  ///< kMinBlocks if there are many threads
/// The number of tiles for which moments are computed together, if blocks are small.
constexpr int64_t kMomentTiles = 16;
constexpr int64_t kMinWinogradTiles = 32;  ///< fewest tiles for which transforming the kernel pays
/// Kernels of at least this size are read once by all threads together.
constexpr int64_t kMinSharedKernelBytes = 1 << 20;
constexpr int64_t kPartialSums = 8;             ///< number of partial sums of a kernel's gradient
constexpr int64_t kTilesPerPartialSum = 256;    ///< tiles per additional partial sum
constexpr int64_t kMaxPartialValues = 4 << 20;  ///< most values of all partial sums together

/// The image that a pass reads and the image that it writes; for the gradient of the image these
/// are dy and dx.
struct InOutImages {
  Images in, out;

  explicit InOutImages(const ConvPlan& p) {
    const auto &h = p.axes[1], &w = p.axes[2];
    const Images x{h.in, w.in, p.in_channels, h.pad_before, w.pad_before, 0, 0},
        y{h.out, w.out, p.out_channels, 0, 0, 0, 0};
    in = x, out = y;
    if (p.pass == ConvPass::backward_data) {
      in = y, out = x;
      in.top = 2 - h.pad_before, in.left = 2 - w.pad_before, out.top = out.left = 0;
    }
    in.tile_rows = out.tile_rows = (out.height + kTile - 1) / kTile;
    in.tile_columns = out.tile_columns = (out.width + kTile - 1) / kTile;
  }
  int64_t values(int64_t tiles) const {
    return kPoints * (point_stride(tiles, in.channels) + point_stride(tiles, out.channels));
  }
  int64_t best_block_tiles() const {
    return std::max(kMinBlockTiles, kBlockBytes / static_cast<int64_t>(sizeof(float)) / values(1));
  }
};

/// Whether kernels use the division of their work that is made for many threads, which is slower
/// with few threads. Profiles use it too, because they estimate times on many cores.
bool uses_many_threads_split(const CpuThreads& threads) {
  constexpr int kMaxFewThreads = 8;
  return threads.threads() > kMaxFewThreads || WorkTrace::current();
}

float* floats(std::byte* memory) { return reinterpret_cast<float*>(memory); }

/// The kernel that transforms the weights of a convolution to the Winograd points: (36 points,
/// panels, in, columns of the panel).
class TransformedKernel final : public cpu::Kernel {
 public:
  TransformedKernel(const ConvPlan& p, const InOutImages& in_out)
      : loops_(loops()),
        in_channels_(in_out.in.channels),
        out_channels_(in_out.out.channels),
        is_forward_(p.pass == ConvPass::forward) {}
  std::string name() const override { return "winograd"; }
  void run(const Arguments& a) const override {
    transform(a.in<float>(0), a.out<float>(0), a.threads);
  }
  void transform(const float* kernel, float* to, CpuThreads& threads) const {
    const int64_t column_vectors = pieces(out_channels_, kLanes);
    threads.parallel(pieces(in_channels_, kLanes) * column_vectors, [&](int64_t part, int) {
      const int64_t first = part / column_vectors * kLanes;
      transform_taps(kernel, to, first, std::min(first + kLanes, in_channels_),
                     part % column_vectors * kLanes);
    });
  }
  int64_t stride() const { return point_stride(in_channels_, out_channels_); }
  int64_t values() const { return kPoints * stride(); }
  std::string form() const {
    return concat("winograd ", in_channels_, " ", out_channels_, is_forward_ ? "" : " turned");
  }
  int64_t panel_width(int64_t column) const {
    return std::min(kPanelColumns, padded_channel_count(out_channels_) - column);
  }

 private:
  /// Transforms the taps for input channels [first, last) and for kLanes output channels from
  /// `column` on.
  void transform_taps(const float* kernel, float* to, int64_t first, int64_t last,
                      int64_t column) const {
    float taps[kTaps][kLanes][kLanes] = {};
    const int64_t rows = last - first, columns = std::min(kLanes, out_channels_ - column);
    for (int64_t tap = 0; tap < kTaps; ++tap) {
      const float* from = kernel + tap * in_channels_ * out_channels_;
      if (is_forward_) {
        copy_tap(from + first * out_channels_ + column, rows, columns, taps[tap]);
      } else {
        flip_tap(from + column * in_channels_ + first, rows, columns, taps[kTaps - 1 - tap]);
      }
    }
    const int64_t panel = column / kPanelColumns * kPanelColumns, width = panel_width(panel);
    for (int64_t r = 0; r < rows; ++r) {
      float* points = to + panel * in_channels_ + (first + r) * width + column - panel;
      loops_.kernel(taps[0][r], kLanes * kLanes, points, stride());
    }
  }
  void copy_tap(const float* from, int64_t rows, int64_t columns, float (*to)[kLanes]) const {
    for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * out_channels_, columns, to[r]);
  }
  /// Copies a tap of the flipped kernel of a backward pass, whose input and output channels swap.
  void flip_tap(const float* from, int64_t rows, int64_t columns, float (*to)[kLanes]) const {
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = 0; r < rows; ++r) to[r][c] = from[c * in_channels_ + r];
    }
  }

  const Loops& loops_;
  int64_t in_channels_, out_channels_;
  bool is_forward_;
};

/// The base of the kernels for all passes. Tiles are divided into blocks of equal size except the
/// last one; the size depends on shapes only.
class WinogradConvolution : public cpu::Kernel {
 public:
  explicit WinogradConvolution(const ConvPlan& plan)
      : plan_(plan),
        images_(plan),
        loops_(loops()),
        tile_count_(plan.batch * images_.out.tile_rows * images_.out.tile_columns),
        in_channels_(images_.in.channels),
        out_channels_(images_.out.channels) {}
  std::string name() const override { return "winograd"; }
  double flops() const override { return plan_.flops(); }

 protected:
  /// The transformed input and output tiles of a block.
  struct Block {
    Tiles in, out;
  };
  Block block(int64_t first, int64_t count, float* memory) const {
    const int64_t in = point_stride(count, in_channels_), out = point_stride(count, out_channels_);
    return {{first, count, memory, in}, {first, count, memory + kPoints * in, out}};
  }

  ConvPlan plan_;
  InOutImages images_;
  const Loops& loops_;
  int64_t tile_count_;
  int64_t in_channels_, out_channels_;
};

/// The forward pass and the gradient of images.
class WinogradImageConvolution final : public WinogradConvolution {
 public:
  explicit WinogradImageConvolution(const ConvPlan& plan)
      : WinogradConvolution(plan), kernel_(plan, images_) {
    const int64_t bytes = kernel_.values() * static_cast<int64_t>(sizeof(float));
    shares_steps_ = tile_count_ < 2 * kMinSmallBlockTiles ||
                    (bytes >= kMinSharedKernelBytes && tile_count_ <= kMinBlocks * kMinBlockTiles);
    block_tiles_ = std::min(images_.best_block_tiles(),
                            std::max(kMinSmallBlockTiles, pieces(tile_count_, kMinBlocks)));
    const int64_t finer_block_tiles = std::min(
        block_tiles_, std::max(kMinSmallBlockTiles, pieces(tile_count_, kMinBlocksForManyThreads)));
    const int64_t row = images_.out.tile_columns;
    moment_tiles_ =
        !plan.has_moments
            ? 1
            : pieces(finer_block_tiles < block_tiles_ ? kMomentTiles : block_tiles_, row) * row;
    block_tiles_ = pieces(block_tiles_, moment_tiles_) * moment_tiles_,
    small_block_tiles_ = pieces(finer_block_tiles, moment_tiles_) * moment_tiles_;
  }
  /// Whether the kernel can compute moments (means and variances) of its result, block by block.
  bool can_compute_moments() const { return !shares_steps_; }

  InputConversion prepare(int input) override {
    if (input != 1) return {};
    is_transformed_ = true;
    return {std::make_unique<TransformedKernel>(kernel_),
            {DType::float32, {kernel_.values()}},
            kernel_.form()};
  }
  void run(const Arguments& a) const override {
    if (!is_transformed_) kernel_.transform(a.in<float>(1), floats(a.scratch), a.threads);
    shares_steps_ ? run_shared_steps(a) : run_blocks(a);
    if (plan_.has_moments) combine(a);
  }
  size_t scratch_bytes() const override {
    const int64_t moment_count = plan_.has_moments ? 2 * group_count() * out_channels_ : 0;
    return static_cast<size_t>(kernel_scratch() +
                               (shares_steps_ ? images_.values(tile_count_) : 0) + moment_count) *
           sizeof(float);
  }

 private:
  int64_t kernel_scratch() const { return is_transformed_ ? 0 : kernel_.values(); }
  const float* kernel(const Arguments& a) const {
    return is_transformed_ ? a.in<float>(1) : floats(a.scratch);
  }

  void multiply(const Block& b, const float* kernel, int64_t point) const {
    for (int64_t panel = 0; panel < out_channels_; panel += kPanelColumns) {
      const int64_t width = kernel_.panel_width(panel);
      loops_.product({b.in.count, width, in_channels_, b.in.points + point * b.in.stride,
                      padded_channel_count(in_channels_), 1,
                      kernel + point * kernel_.stride() + panel * in_channels_, width,
                      b.out.points + point * b.out.stride + panel,
                      padded_channel_count(out_channels_), false});
    }
  }
  void write_output(const Arguments& a, const Tiles& tiles) const {
    const float* bias = plan_.has_bias ? a.in<float>(2) : nullptr;
    float* y = a.out<float>(0);
    if (plan_.is_pooled) {
      loops_.pooled_output(images_.out, tiles, bias, plan_.activation, y,
                           plan_.has_argmax_indices ? a.out<uint8_t>(1) : nullptr);
    } else {
      const float* residual = plan_.has_residual ? a.in<float>(plan_.has_bias ? 3 : 2) : nullptr;
      const float* gate = plan_.is_relu_masked ? a.in<float>(2) : nullptr;
      loops_.output(images_.out, tiles, bias, residual, gate, plan_.activation, y);
    }
  }

  void run_blocks(const Arguments& a) const {
    a.threads.blocks(
        tile_count_, uses_many_threads_split(a.threads) ? small_block_tiles_ : block_tiles_,
        [&](int64_t first, int64_t last) {
          const int64_t count = last - first;
          const Block b =
              block(first, count, floats(thread_scratch(images_.values(count) * sizeof(float))));
          loops_.input(images_.in, a.in<float>(0), b.in);
          for (int64_t point = 0; point < kPoints; ++point) multiply(b, kernel(a), point);
          write_output(a, b.out);
          for (int64_t i = first; plan_.has_moments && i < last; i += moment_tiles_)
            compute_moments(a, i, std::min(i + moment_tiles_, last));
        });
  }
  void run_shared_steps(const Arguments& a) const {
    const Block b = block(0, tile_count_, floats(a.scratch) + kernel_scratch());
    auto tiles_part = [](const Tiles& tiles, int64_t begin, int64_t end,
                         int64_t channels) -> Tiles {
      return {begin, end - begin, tiles.points + begin * padded_channel_count(channels),
              tiles.stride};
    };
    a.threads.blocks(tile_count_, kTile, [&](int64_t begin, int64_t end) {
      loops_.input(images_.in, a.in<float>(0), tiles_part(b.in, begin, end, in_channels_));
    });
    a.threads.parallel(kPoints, [&](int64_t point, int) { multiply(b, kernel(a), point); });
    a.threads.blocks(tile_count_, kTile, [&](int64_t begin, int64_t end) {
      write_output(a, tiles_part(b.out, begin, end, out_channels_));
    });
  }

  int64_t group_count() const { return pieces(tile_count_, moment_tiles_); }
  float* moments(const Arguments& a, int64_t group) const {
    return floats(a.scratch) + kernel_scratch() + group * out_channels_;
  }
  /// The number of output pixels before `tile`, which begins a row of tiles.
  int64_t pixels_before(int64_t tile) const {
    const Images& y = images_.out;
    const int64_t row = tile / y.tile_columns, image = row / y.tile_rows;
    return (image * y.height + row % y.tile_rows * kTile) * y.width;
  }
  /// Computes the moments of tiles [first, last), which are whole rows of tiles.
  void compute_moments(const Arguments& a, int64_t first, int64_t last) const {
    const int64_t begin = pixels_before(first), group = first / moment_tiles_;
    normalization_.moments(
        {pixels_before(last) - begin, out_channels_, a.out<float>(0) + begin * out_channels_},
        moments(a, group), moments(a, group_count() + group));
  }
  void combine(const Arguments& a) const {
    auto pixels = [&](int64_t i) {
      return pixels_before(std::min((i + 1) * moment_tiles_, tile_count_)) -
             pixels_before(i * moment_tiles_);
    };
    for (int64_t c = 0; c < out_channels_; ++c) {
      combine_moments(moments(a, 0), moments(a, group_count()), group_count(), out_channels_, c,
                      pixels, a.out<float>(1), a.out<float>(2));
    }
  }

  TransformedKernel kernel_;
  NormalizationLoops<float> normalization_ = normalization_loops<float>();
  int64_t block_tiles_;        ///< the number of tiles in a block if there are few threads
  int64_t small_block_tiles_;  ///< the number of tiles in a block if there are many threads
  int64_t moment_tiles_;       ///< the number of tiles whose moments are computed together
  bool shares_steps_, is_transformed_ = false;
};

/// A convolution with so few tiles that transforming its weights in each run would take too long.
/// The kernel `direct_kernel` computes it, unless prepare() is called, after which the weights are
/// transformed in advance.
class FewTilesConvolution final : public cpu::Kernel {
 public:
  FewTilesConvolution(std::unique_ptr<cpu::Kernel> direct_kernel, const ConvPlan& plan)
      : kernel_(std::move(direct_kernel)), plan_(plan) {}
  InputConversion prepare(int input) override {
    if (input != 1) return {};
    kernel_ = std::make_unique<WinogradImageConvolution>(plan_);
    return kernel_->prepare(input);
  }
  void run(const Arguments& a) const override { kernel_->run(a); }
  std::string name() const override { return kernel_->name(); }
  size_t scratch_bytes() const override { return kernel_->scratch_bytes(); }
  double flops() const override { return kernel_->flops(); }

 private:
  std::unique_ptr<cpu::Kernel> kernel_;
  ConvPlan plan_;
};

/// Computes the gradient of a convolution's weights. Tiles are divided among a fixed number of
/// lanes (independent parts of the work). Each lane sums its products in the transformed domain and
/// transforms the sum back to taps.
class WinogradKernelGradient final : public WinogradConvolution {
 public:
  explicit WinogradKernelGradient(const ConvPlan& plan)
      : WinogradConvolution(plan),
        block_tiles_(images_.best_block_tiles()),
        lane_count_(std::clamp<int64_t>(
            std::min(tile_count_ / kMinBlockTiles, kMaxPartialValues / plan.kernel_size()), 2,
            std::clamp(tile_count_ / kTilesPerPartialSum, kPartialSums, 2 * kPartialSums))),
        channel_groups_(std::clamp<int64_t>(2 * kPartialSums / lane_count_, 1,
                                            pieces(out_channels_, kLanes))) {}

  void run(const Arguments& a) const override {
    const int64_t group_count_in_use = uses_many_threads_split(a.threads) ? channel_groups_ : 1,
                  vectors = pieces(out_channels_, kLanes);
    a.threads.parallel(lane_count_ * group_count_in_use, [&](int64_t part, int) {
      const int64_t group = part % group_count_in_use,
                    first = vectors * group / group_count_in_use * kLanes;
      add_lane(
          a, part / group_count_in_use, first,
          std::min(vectors * (group + 1) / group_count_in_use * kLanes, out_channels_) - first);
    });
    a.threads.blocks(plan_.kernel_size(), 4096, [&](int64_t begin, int64_t end) {
      std::copy(partial_gradient(a, 0) + begin, partial_gradient(a, 0) + end,
                a.out<float>(0) + begin);
      for (int64_t i = 1; i < lane_count_; ++i)
        accumulate(a.out<float>(0) + begin, partial_gradient(a, i) + begin, end - begin);
    });
  }
  size_t scratch_bytes() const override {
    return lane_count_ * plan_.kernel_size() * sizeof(float);
  }

 private:
  float* partial_gradient(const Arguments& a, int64_t lane) const {
    return floats(a.scratch) + lane * plan_.kernel_size();
  }

  /// Adds the products of the tiles of a lane, for `channels` output channels from `channel` on.
  void add_lane(const Arguments& a, int64_t lane, int64_t channel, int64_t channels) const {
    Images out = images_.out;
    out.channels = channels;
    const int64_t in_stride = point_stride(block_tiles_, in_channels_),
                  out_stride = point_stride(block_tiles_, channels),
                  sum_stride = point_stride(in_channels_, channels);
    float* in =
        floats(thread_scratch((kPoints * (in_stride + out_stride + sum_stride)) * sizeof(float)));
    float *dy = in + kPoints * in_stride, *sum = dy + kPoints * out_stride;
    const int64_t begin = tile_count_ * lane / lane_count_,
                  end = tile_count_ * (lane + 1) / lane_count_;
    for (int64_t i = begin; i < end; i += block_tiles_) {
      const int64_t count = std::min(block_tiles_, end - i);
      loops_.input(images_.in, a.in<float>(0), {i, count, in, in_stride});
      loops_.output_gradient(out, a.in<float>(1) + channel, {i, count, dy, out_stride});
      for (int64_t point = 0; point < kPoints; ++point) {
        loops_.product({in_channels_, padded_channel_count(channels), count, in + point * in_stride,
                        1, padded_channel_count(in_channels_), dy + point * out_stride,
                        padded_channel_count(channels), sum + point * sum_stride,
                        padded_channel_count(channels), i > begin});
      }
    }
    for (int64_t r = 0; r < in_channels_; ++r) {
      loops_.kernel_gradient(sum + r * padded_channel_count(channels), sum_stride, channels,
                             partial_gradient(a, lane) + r * out_channels_ + channel,
                             in_channels_ * out_channels_);
    }
  }

  int64_t block_tiles_, lane_count_;
  /// The number of groups of output channels that are computed separately if there are many
  /// threads.
  int64_t channel_groups_;
};

bool is_supported(const ConvPlan& p) {
  const auto& [d, h, w] = p.axes;
  auto has_winograd_window = [](const ConvPlan::Axis& a) {
    return a.kernel == 3 && a.stride == 1 && a.dilation == 1;
  };
  return p.dtype == DType::float32 && p.spatial_rank == 2 && p.groups == 1 &&
         has_winograd_window(h) && has_winograd_window(w) && !p.empty();
}

/// Whether windows are 2x2 with stride 2.
template <class P>
bool has_2x2_windows(const P& p) {
  const std::vector<int64_t> twos{2, 2}, zeros{0, 0};
  return p.window == twos && p.spec.strides == twos && p.spec.pad_before == zeros &&
         p.spec.pad_after == zeros;
}

/// True for shapes where Winograd's algorithm was faster than oneDNN's direct convolution. The
/// speedups, measured on two cores with AVX-512, of the forward pass, the gradient of the image and
/// the gradient of the kernel:
///
///   batch 128:   26x26x32 to 64   2.6 2.0 2.6     32x32x16 to 16     1.6 1.5 1.4
///                8x8x64 to 64     2.4 2.5 2.3
///   batch 32:    56x56x64 to 64   2.7 2.9 2.7     14x14x256 to 256   1.8 2.1 1.8
///                32x32x12 to 24   1.5 1.3 2.3
///   one image:   26x26x32 to 64   1.3 1.9 2.1     28x28x128 to 128   1.8 3.0 2.1
///                32x32x16 to 16   1.2 1.7 1.4
///   one image, prepared kernel, forward:   16x16x32 to 32   1.6     8x8x64 to 64   1.0 to 1.2
///
/// With few input channels, the transforms of the images take too long (8 channels: 0.9 to 1.4, 3
/// channels: 0.5 to 0.9). With few tiles, the transform of the kernel takes too long (4 tiles of 64
/// channels: 0.9). Tiles that are partly outside of the image waste products (128 images of 5x5x64:
/// 0.9 0.8 1.2).
bool is_faster(const ConvPlan& p, const InOutImages& in_out) {
  const int64_t tiles = in_out.out.tile_rows * in_out.out.tile_columns,
                pixels = in_out.out.height * in_out.out.width;
  return in_out.in.channels >= 12 && pixels >= 8 * tiles && p.kernel_size() <= kTaps << 18;
}

}  // namespace

std::unique_ptr<Kernel> make_winograd_pooled_convolution(const Request& r) {
  const auto& op = static_cast<const ConvPool&>(r.op);
  const TensorSpecs images = op.conv->infer(r.inputs);
  ConvPlan plan({*op.conv, r.inputs, images, r.options});
  auto* pool_argmax = dynamic_cast<const PoolArgmax*>(op.pool.get());
  auto* pool = dynamic_cast<const crescent::Pool*>(op.pool.get());
  if (!is_supported(plan) ||
      !(pool_argmax ? has_2x2_windows(*pool_argmax)
                    : pool && pool->max && has_2x2_windows(*pool)) ||
      (plan.activation != ActivationKind::none && plan.activation != ActivationKind::relu))
    return nullptr;
  const InOutImages in_out(plan);
  if (!is_faster(plan, in_out) ||
      plan.batch * in_out.out.tile_rows * in_out.out.tile_columns < kMinWinogradTiles)
    return nullptr;
  plan.is_pooled = true, plan.has_argmax_indices = pool_argmax != nullptr;
  return std::make_unique<WinogradImageConvolution>(plan);
}

std::unique_ptr<Kernel> make_winograd_convolution(const Request& r) {
  const ConvPlan plan(r);
  if (!is_supported(plan)) return nullptr;
  const InOutImages in_out(plan);
  if (!is_faster(plan, in_out)) return nullptr;
  if (plan.batch * in_out.out.tile_rows * in_out.out.tile_columns < kMinWinogradTiles &&
      !plan.has_residual) {
    if (plan.pass == ConvPass::backward_kernel || plan.has_moments || plan.is_relu_masked)
      return nullptr;
    auto onednn_kernel = make_onednn_convolution(r);
    return std::make_unique<FewTilesConvolution>(
        onednn_kernel ? std::move(onednn_kernel) : make_unfolded_convolution(r), plan);
  }
  if (plan.pass == ConvPass::backward_kernel) return std::make_unique<WinogradKernelGradient>(plan);
  auto kernel = std::make_unique<WinogradImageConvolution>(plan);
  return plan.has_moments && !kernel->can_compute_moments() ? nullptr : std::move(kernel);
}

}  // namespace crescent::cpu
