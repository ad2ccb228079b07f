// Convolutions of bfloat16 on AMX tiles, with stride 1 except in the gradient of the kernel. An
// image is copied to memory with rows padded by zeros, one row after the other. A pixel then is an
// index f, a tap of the kernel is an offset to f, and the values under one row of the kernel are
// contiguous: the left operand of a product consists of overlapping rows of pixels, without a copy.
// Results for pixels of the padding are computed, but not stored.
#include <algorithm>
#include <utility>
#include <vector>

#include "convolution/convolution.h"
#include "kernel/loops.h"
#include "matmul/amx.h"
#include "matmul/matmul.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {
namespace {

using amx::kLines;

/// The largest number of lines (rows of the left operand) of a block of the result.
constexpr int64_t kMaxBlockLines = 4 * kLines;
/// Fewest pieces into which a batch is divided, so that several threads have work.
constexpr int64_t kMinPieces = 8;

/// The geometry of a convolution over images of `rows` x `columns` pixels, with stride 1 except for
/// the gradient of the kernel. The gradient of an image is a convolution with the flipped kernel.
struct PaddedGeometry {
  int64_t batch, rows, columns, channels;  ///< sizes of the pass's input
  int64_t out_rows, out_columns, out_channels;
  int64_t kernel_rows, kernel_columns, pad_top, pad_left, row_stride, column_stride;
  int64_t width;       ///< pixels per padded row
  int64_t piece_rows;  ///< output rows per piece

  /// Splits images into pieces of about `max_pixels` pixels.
  PaddedGeometry(const ConvPlan& p, bool is_gradient, int64_t max_pixels) {
    const auto &h = p.axes[1], &w = p.axes[2];
    row_stride = h.stride, column_stride = w.stride;
    batch = p.batch, kernel_rows = h.kernel, kernel_columns = w.kernel;
    rows = is_gradient ? h.out : h.in, columns = is_gradient ? w.out : w.in;
    out_rows = is_gradient ? h.in : h.out, out_columns = is_gradient ? w.in : w.out;
    channels = is_gradient ? p.out_channels : p.in_channels,
    out_channels = is_gradient ? p.in_channels : p.out_channels;
    pad_top = is_gradient ? h.kernel - 1 - h.pad_before : h.pad_before,
    pad_left = is_gradient ? w.kernel - 1 - w.pad_before : w.pad_before;
    width = out_columns + (kernel_columns - 1) / column_stride;
    const int64_t max_rows = std::clamp<int64_t>(
        std::min(max_pixels / width, pieces(batch * out_rows, kMinPieces)), 1, out_rows);
    piece_rows = pieces(out_rows, pieces(out_rows, max_rows));
  }
  /// The number of padded pixels in `count` output rows, rounded up to whole blocks of `block`
  /// pixels.
  int64_t pixels(int64_t count, int64_t block) const {
    return pieces(count * width, block) * block;
  }
  /// The number of values that pad() writes for a piece of `count` output rows: the padded pixels
  /// and the pixels that are read beyond them, rounded up to whole tile rows.
  int64_t padded_values(int64_t count) const {
    const int64_t values = (pixels(count, kMaxBlockLines) + window_pixel_span()) * channels;
    return pieces(values, amx::kDepth) * amx::kDepth + 2 * amx::kDepth;
  }
  /// The number of consecutive padded pixels from the first tap of the kernel to the last one.
  int64_t window_pixel_span() const {
    return (kernel_rows - 1) / row_stride * width + (kernel_columns - 1) / column_stride + 1;
  }
  /// The first output row of the piece with this number; count() is the number of its rows.
  int64_t first_row(int64_t index) const { return index * piece_rows; }
  int64_t count(int64_t index) const { return std::min(piece_rows, out_rows - first_row(index)); }
  int64_t piece_count() const { return pieces(out_rows, piece_rows); }

  /// Copies the part of an image that output rows [first, first + count) read, padded with zeros.
  /// With a stride only one pixel of each stride x stride block is copied, the one `block_row` rows
  /// below and `block_column` columns right of the block's first pixel.
  void pad(const uint16_t* image, int64_t first, int64_t count, int64_t block_row,
           int64_t block_column, uint16_t* to) const {
    std::fill_n(to, padded_values(count), uint16_t{0});
    for (int64_t i = 0; i < count + (kernel_rows - 1) / row_stride; ++i, to += width * channels) {
      const int64_t row = (first + i) * row_stride + block_row - pad_top;
      if (row < 0 || row >= rows) continue;
      const uint16_t* from = image + row * columns * channels;
      const int64_t pad_before = pad_left - block_column;  // padded columns left of the image
      const int64_t begin = std::max<int64_t>(pieces(pad_before, column_stride), 0);
      const int64_t end = std::min(width, pieces(columns + pad_before, column_stride));
      if (column_stride == 1 && begin < end) {
        std::copy_n(from + (begin - pad_before) * channels, (end - begin) * channels,
                    to + begin * channels);
        continue;
      }
      for (int64_t j = begin; j < end; ++j) {
        std::copy_n(from + (j * column_stride - pad_before) * channels, channels,
                    to + j * channels);
      }
    }
  }
};

/// Packs a kernel into strips of 16 output channels, with the rows of the kernel one after the
/// other.
class PackKernel final : public Kernel {
 public:
  PackKernel(const PaddedGeometry& geometry, bool is_gradient)
      : padded_geometry_(geometry),
        is_gradient_(is_gradient),
        kernel_row_values_(geometry.kernel_columns * geometry.channels),
        strip_values_(geometry.kernel_rows * amx::strip_values(kernel_row_values_)) {}

  void run(const Arguments& a) const override {
    run(a, a.in<uint16_t>(0), a.out<uint16_t>(0), reinterpret_cast<uint16_t*>(a.scratch));
  }
  /// Packs `kernel`. For the gradient of the image, the kernel (taps, out, in) is first copied to
  /// `flipped` (out, taps in reverse order, in).
  void run(const Arguments& a, const uint16_t* kernel, uint16_t* packed, uint16_t* flipped) const {
    const int64_t taps = padded_geometry_.kernel_rows * padded_geometry_.kernel_columns,
                  in = padded_geometry_.channels, out = padded_geometry_.out_channels;
    a.threads.blocks(is_gradient_ ? out : 0, 1 + 8192 / (taps * in),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t o = begin; o < end; ++o) {
                         for (int64_t tap = 0; tap < taps; ++tap) {
                           std::copy_n(kernel + ((taps - 1 - tap) * out + o) * in, in,
                                       flipped + (o * taps + tap) * in);
                         }
                       }
                     });
    a.threads.blocks(padded_geometry_.kernel_rows, 1 + 8192 / (kernel_row_values_ * out),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t row = begin; row < end; ++row) {
                         uint16_t* to = packed + row * amx::strip_values(kernel_row_values_);
                         is_gradient_ ? amx::pack_right(flipped + row * kernel_row_values_,
                                                        taps * in, amx::LineOrder::lines_in_rows,
                                                        out, kernel_row_values_, to, strip_values_)
                                      : amx::pack_right(kernel + row * kernel_row_values_ * out,
                                                        out, amx::LineOrder::lines_in_columns, out,
                                                        kernel_row_values_, to, strip_values_);
                       }
                     });
  }
  std::string name() const override { return "pack"; }
  size_t scratch_bytes() const override {
    return is_gradient_ ? static_cast<size_t>(padded_geometry_.kernel_rows * kernel_row_values_ *
                                              padded_geometry_.out_channels) *
                              sizeof(uint16_t)
                        : 0;
  }
  int64_t values() const { return pieces(padded_geometry_.out_channels, kLines) * strip_values_; }
  std::string form() const {
    return concat("amx convolution ", padded_geometry_.kernel_rows, " ",
                  padded_geometry_.kernel_columns, " ", padded_geometry_.channels, " ",
                  padded_geometry_.out_channels, is_gradient_ ? " turned" : "");
  }

 private:
  PaddedGeometry padded_geometry_;
  bool is_gradient_;
  int64_t kernel_row_values_;  ///< number of input values under one row of the kernel
  int64_t strip_values_;       ///< number of packed values for 16 output channels
};

/// The forward pass; and the gradient of the image, which is a forward convolution of dy with the
/// flipped kernel.
class AmxImageConvolution final : public Kernel {
  static constexpr int64_t kMaxPiecePixels = 2048;

 public:
  explicit AmxImageConvolution(const Request& r)
      : plan_(r),
        padded_geometry_(plan_, plan_.pass == ConvPass::backward_data, kMaxPiecePixels),
        pack_(padded_geometry_, plan_.pass == ConvPass::backward_data),
        kernel_row_values_(padded_geometry_.kernel_columns * padded_geometry_.channels),
        strip_values_(padded_geometry_.kernel_rows * amx::strip_values(kernel_row_values_)),
        strip_count_(pieces(padded_geometry_.out_channels, kLines)),
        block_(strip_count_ == 1 ? amx::Block::tall : amx::Block::square) {}

  InputConversion prepare(int input) override {
    if (input != 1) return {};
    is_packed_ = true;
    return {std::make_unique<PackKernel>(pack_), {DType::bfloat16, {pack_.values()}}, pack_.form()};
  }
  void run(const Arguments& a) const override {
    auto* bias = reinterpret_cast<float*>(a.scratch);
    auto* packed = reinterpret_cast<uint16_t*>(bias + bias_values());
    const UnaryLoop widen = cast_loop(DType::bfloat16, DType::float32);
    if (plan_.has_bias) widen(a.inputs[2], bias, padded_geometry_.out_channels);
    if (!is_packed_) pack_.run(a, a.in<uint16_t>(1), packed, packed + pack_.values());
    const uint16_t* kernel = is_packed_ ? a.in<uint16_t>(1) : packed;
    a.threads.parallel(
        padded_geometry_.batch * padded_geometry_.piece_count(), [&](int64_t part, int) {
          const amx::Tiles tiles;
          compute(a, kernel, plan_.has_bias ? bias : nullptr, part / padded_geometry_.piece_count(),
                  part % padded_geometry_.piece_count());
        });
  }
  std::string name() const override { return is_packed_ ? "amx, packed" : "amx"; }
  size_t scratch_bytes() const override {
    return bias_values() * sizeof(float) + pack_.values() * sizeof(uint16_t) +
           pack_.scratch_bytes();
  }
  double flops() const override { return plan_.flops(); }

 private:
  int64_t bias_values() const {
    return plan_.has_bias ? pieces(padded_geometry_.out_channels, kLines) * kLines : 0;
  }

  void compute(const Arguments& a, const uint16_t* kernel, const float* bias, int64_t image,
               int64_t index) const {
    const int64_t first = padded_geometry_.first_row(index), count = padded_geometry_.count(index),
                  channels = padded_geometry_.channels;
    alignas(64) float sums[amx::kBlockValues];
    const int64_t padded_values = padded_geometry_.padded_values(count),
                  copied_values = left_strips(block_) * strip_values_;
    const size_t bytes = (padded_values + copied_values) * sizeof(uint16_t);
    auto* padded = reinterpret_cast<uint16_t*>(thread_scratch(bytes));
    padded_geometry_.pad(
        a.in<uint16_t>(0) + image * padded_geometry_.rows * padded_geometry_.columns * channels,
        first, count, 0, 0, padded);
    uint16_t* y = a.out<uint16_t>(0) + (image * padded_geometry_.out_rows + first) *
                                           padded_geometry_.out_columns *
                                           padded_geometry_.out_channels;
    // The last multiplication step of a kernel row may also read values beyond the row and multiply
    // them by zeros, which gives a wrong result if such a value is infinite or NaN. In this case
    // the values under the kernel are copied.
    const bool needs_copy =
        kernel_row_values_ % amx::kDepth != 0 && !amx::all_finite(padded, padded_values);
    for (int64_t f = 0; f < count * padded_geometry_.width; f += pixels()) {
      const uint16_t* pixel = padded + f * channels;
      const amx::LeftStrips left =
          needs_copy ? copy_under_kernel(pixel, padded + padded_values) : strips_in_place(pixel);
      for (int64_t strip = 0; strip < strip_count_; strip += right_strips(block_)) {
        const amx::RightStrips right{
            {kernel + strip * strip_values_,
             kernel + std::min(strip + 1, strip_count_ - 1) * strip_values_}};
        amx::multiply(block_, left, right, amx::steps(kernel_row_values_),
                      padded_geometry_.kernel_rows, sums, false);
        store(sums, bias, f, count, strip * kLines, y);
      }
    }
  }

  int64_t pixels() const { return left_strips(block_) * kLines; }
  int64_t width() const { return right_strips(block_) * kLines; }  ///< channels per block

  amx::LeftStrips strips_in_place(const uint16_t* pixel) const {
    const int64_t row = padded_geometry_.channels, strip = kLines * row;
    return {{pixel, pixel + strip, pixel + 2 * strip, pixel + 3 * strip},
            row,
            amx::kDepth,
            padded_geometry_.width * row};
  }
  /// Copies only the values under the kernel to `to`, and adds zeros after each kernel row up to a
  /// whole step.
  amx::LeftStrips copy_under_kernel(const uint16_t* pixel, uint16_t* to) const {
    const int64_t row_values = amx::strip_values(kernel_row_values_);
    for (int64_t row = 0; row < padded_geometry_.kernel_rows; ++row) {
      amx::pack_left(pixel + row * padded_geometry_.width * padded_geometry_.channels,
                     padded_geometry_.channels, amx::LineOrder::lines_in_rows, pixels(),
                     kernel_row_values_, to + row * row_values, strip_values_);
    }
    return {{to, to + strip_values_, to + 2 * strip_values_, to + 3 * strip_values_},
            amx::kDepth,
            amx::kTileValues,
            row_values};
  }

  /// Stores the sums for a block of pixels from `f` on and output channels from `c` on.
  void store(float* sums, const float* bias, int64_t f, int64_t rows, int64_t c,
             uint16_t* y) const {
    const int64_t channels = std::min(width(), padded_geometry_.out_channels - c);
    if (bias) bias += c;
    if (!is_cheap(plan_.activation)) {
      finish<float>(sums, pixels(), channels, width(), std::exchange(bias, nullptr),
                    plan_.activation);
    }
    for (int64_t i = 0; i < pixels();) {
      const int64_t row = (f + i) / padded_geometry_.width,
                    column = (f + i) % padded_geometry_.width;
      const int64_t row_pixels = std::min(pixels() - i, padded_geometry_.width - column),
                    stored_pixels = std::min(row_pixels, padded_geometry_.out_columns - column);
      if (row >= rows) return;
      if (stored_pixels > 0) {
        amx::store(
            sums + i * width(), width(), stored_pixels, channels, bias,
            plan_.activation == ActivationKind::relu,
            y + (row * padded_geometry_.out_columns + column) * padded_geometry_.out_channels + c,
            padded_geometry_.out_channels);
      }
      i += row_pixels;
    }
  }

  ConvPlan plan_;
  PaddedGeometry padded_geometry_;
  PackKernel pack_;
  bool is_packed_ = false;
  int64_t kernel_row_values_;  ///< number of input values under one row of the kernel
  int64_t strip_values_;       ///< number of packed values for 16 output channels
  int64_t strip_count_;
  amx::Block block_;
};

/// The gradient of the kernel: dkernel[tap] = transpose(x shifted by the tap) times dy. Images are
/// divided among a fixed number of lanes (independent parts of the work). Each lane has its own
/// sums, which are added at the end. With a stride, x is split into one image per position within a
/// stride x stride block, so that each tap shifts by whole pixels of such an image.
class AmxKernelGradient final : public Kernel {
  /// Most pixels per piece, so that the operands fit the first-level cache.
  static constexpr int64_t kMaxPiecePixels = 512;

 public:
  explicit AmxKernelGradient(const Request& r)
      : plan_(r),
        padded_geometry_(plan_, false, kMaxPiecePixels),
        result_dtype_(r.outputs[0].dtype),
        in_strip_count_(pieces(padded_geometry_.channels, kLines)),
        out_strip_count_(pieces(padded_geometry_.out_channels, kLines)),
        column_count_(padded_geometry_.kernel_rows * padded_geometry_.kernel_columns *
                      in_strip_count_),
        block_(out_strip_count_ == 1 ? amx::Block::wide : amx::Block::square) {
    constexpr int64_t kMaxLanes = 16, kMaxValues = 4 << 20;
    lane_count_ = std::clamp<int64_t>(std::min(kMaxValues / values(), kMaxLanes), 2,
                                      std::max<int64_t>(padded_geometry_.batch, 2));
    for (int64_t c = 0; c < column_count_; ++c) sources_.push_back(source(c));
  }

  void run(const Arguments& a) const override {
    a.threads.parallel(lane_count_, [&](int64_t lane, int) {
      const amx::Tiles tiles;
      bool add = false;
      for (int64_t i = padded_geometry_.batch * lane / lane_count_;
           i < padded_geometry_.batch * (lane + 1) / lane_count_; ++i) {
        for (int64_t n = 0; n < padded_geometry_.piece_count(); ++n, add = true)
          compute(a, i, n, partial_sums(a, lane), add);
      }
      if (!add) std::fill_n(partial_sums(a, lane), values(), 0.0f);
    });
    a.threads.blocks(values(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = 1; i < lane_count_; ++i)
        accumulate(partial_sums(a, 0) + begin, partial_sums(a, i) + begin, end - begin);
    });
    a.threads.blocks(plan_.taps() * padded_geometry_.channels, 64, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) write_row(a, row);
    });
  }
  std::string name() const override { return "amx"; }
  size_t scratch_bytes() const override { return lane_count_ * values() * sizeof(float); }
  double flops() const override { return plan_.flops(); }

 private:
  int64_t phases_per_row() const {
    return std::min(padded_geometry_.column_stride, padded_geometry_.kernel_columns);
  }
  int64_t phase_count() const {
    return std::min(padded_geometry_.row_stride, padded_geometry_.kernel_rows) * phases_per_row();
  }
  /// The number of strips of rows per block of the result.
  int64_t row_strips() const { return left_strips(block_); }
  int64_t column_strips() const { return right_strips(block_); }
  int64_t blocks_per_row() const { return pieces(column_count_, column_strips()); }
  int64_t values() const {
    return pieces(out_strip_count_, row_strips()) * blocks_per_row() * amx::kBlockValues;
  }
  float* partial_sums(const Arguments& a, int64_t lane) const {
    return reinterpret_cast<float*>(a.scratch) + lane * values();
  }

  void compute(const Arguments& a, int64_t image, int64_t index, float* sums, bool add) const {
    const int64_t first = padded_geometry_.first_row(index), count = padded_geometry_.count(index),
                  pixels = padded_geometry_.pixels(count, amx::kDepth);
    const int64_t in = padded_geometry_.channels, out = padded_geometry_.out_channels;
    const int64_t depth = pixels + padded_geometry_.window_pixel_span();
    const int64_t x_strip = amx::strip_values(depth), dy_strip = amx::strip_values(pixels);
    const int64_t padded_values = padded_geometry_.padded_values(count), dy_values = pixels * out,
                  x_strips = 2 * phase_count() * in_strip_count_;
    auto* x = reinterpret_cast<uint16_t*>(
        thread_scratch(static_cast<size_t>(x_strips * x_strip + out_strip_count_ * dy_strip +
                                           padded_values + dy_values) *
                       sizeof(uint16_t)));
    uint16_t *dy = x + x_strips * x_strip, *rows = dy + out_strip_count_ * dy_strip,
             *dy_rows = rows + padded_values;

    // Pixels are packed twice: in pairs that begin at even pixels and in pairs that begin at odd
    // pixels, so that the pairs for every tap exist.
    const uint16_t* pixels_of_image =
        a.in<uint16_t>(0) + image * padded_geometry_.rows * padded_geometry_.columns * in;
    for (int64_t phase = 0; phase < phase_count(); ++phase) {
      padded_geometry_.pad(pixels_of_image, first, count, phase / phases_per_row(),
                           phase % phases_per_row(), rows);
      for (int64_t parity : {0, 1}) {
        uint16_t* to = x + (2 * phase + parity) * in_strip_count_ * x_strip;
        amx::pack_right(rows + parity * in, in, amx::LineOrder::lines_in_columns, in,
                        depth - parity, to, x_strip);
      }
    }
    pad_gradient(a.in<uint16_t>(1) + (image * padded_geometry_.out_rows + first) *
                                         padded_geometry_.out_columns * out,
                 count, pixels, dy_rows);
    amx::pack_left(dy_rows, out, amx::LineOrder::lines_in_columns, out, pixels, dy, dy_strip);

    for (int64_t o = 0; o < out_strip_count_; o += row_strips()) {
      const amx::LeftStrips left{
          {dy + o * dy_strip, dy + std::min(o + 1, out_strip_count_ - 1) * dy_strip}};
      for (int64_t c = 0; c < column_count_; c += column_strips(), sums += amx::kBlockValues) {
        amx::RightStrips right;
        for (int64_t i = 0; i < column_strips(); ++i) {
          const PackedPosition& from = sources_[std::min(c + i, column_count_ - 1)];
          right.strips[i] = x + from.strip * x_strip + from.offset;
        }
        amx::multiply(block_, left, right, amx::steps(pixels), 1, sums, add);
      }
    }
  }
  /// The position of a strip in the packed x. Column c of the result, which stands for a tap and 16
  /// input channels, is computed from the strip sources_[c].
  struct PackedPosition {
    int64_t strip, offset;
  };
  PackedPosition source(int64_t c) const {
    const int64_t tap = c / in_strip_count_, row = tap / padded_geometry_.kernel_columns,
                  column = tap % padded_geometry_.kernel_columns;
    const int64_t phase = row % padded_geometry_.row_stride * phases_per_row() +
                          column % padded_geometry_.column_stride;
    const int64_t distance = row / padded_geometry_.row_stride * padded_geometry_.width +
                             column / padded_geometry_.column_stride;
    return {(2 * phase + distance % 2) * in_strip_count_ + c % in_strip_count_,
            distance / 2 * 2 * kLines};
  }
  /// Copies `count` rows of dy to rows of padded width. The ends of the rows, and the memory after
  /// them up to `pixels` pixels, are filled with zeros.
  void pad_gradient(const uint16_t* dy, int64_t count, int64_t pixels, uint16_t* to) const {
    const int64_t out = padded_geometry_.out_channels,
                  row_values = padded_geometry_.out_columns * out,
                  width = padded_geometry_.width * out;
    for (int64_t i = 0; i < count; ++i) {
      std::fill(std::copy_n(dy + i * row_values, row_values, to + i * width), to + (i + 1) * width,
                uint16_t{0});
    }
    std::fill(to + count * width, to + pixels * out, uint16_t{0});
  }

  /// Writes row (tap, input channel) of the result, after the sums of all lanes have been added.
  void write_row(const Arguments& a, int64_t row) const {
    const int64_t out = padded_geometry_.out_channels, tap = row / padded_geometry_.channels,
                  channel = row % padded_geometry_.channels;
    const int64_t c = tap * in_strip_count_ + channel / kLines;
    const int64_t height = row_strips() * kLines, width = column_strips() * kLines;
    const float* from = partial_sums(a, 0) + c / column_strips() * amx::kBlockValues +
                        c % column_strips() * kLines + channel % kLines;
    const size_t bytes = size_of(result_dtype_);
    const UnaryLoop convert = cast_loop(DType::float32, result_dtype_);
    for (int64_t o = 0; o < out; o += height, from += blocks_per_row() * amx::kBlockValues) {
      float line[kMaxBlockLines];
      const int64_t count = std::min(height, out - o);
      for (int64_t i = 0; i < count; ++i) line[i] = from[i * width];
      convert(line, a.outputs[0] + static_cast<size_t>(row * out + o) * bytes, count);
    }
  }

  ConvPlan plan_;
  PaddedGeometry padded_geometry_;
  DType result_dtype_;
  int64_t in_strip_count_, out_strip_count_;
  /// The number of columns of the result: taps times strips of 16 input channels.
  int64_t column_count_;
  amx::Block block_;
  int64_t lane_count_ = 1;
  /// For each column of the result, the strip of the packed x from which it is computed.
  std::vector<PackedPosition> sources_;
};

}  // namespace

std::unique_ptr<Kernel> make_amx_convolution(const Request& r) {
  const ConvPlan p(r);
  const auto& [d, h, w] = p.axes;
  const bool is_two_dimensional =
      d.in == 1 && d.out == 1 && d.kernel == 1 && d.pad_before == 0 && p.groups == 1;
  const bool is_gradient = p.pass == ConvPass::backward_kernel;
  const bool is_dense =
      ((h.stride == 1 && w.stride == 1) || is_gradient) && h.dilation == 1 && w.dilation == 1;
  const bool is_half = r.inputs[0].dtype == DType::bfloat16 && r.inputs[1].dtype == DType::bfloat16;
  if (!is_half || !is_two_dimensional || !is_dense || p.empty() || !amx::has_tiles())
    return nullptr;
  if (is_gradient) return std::make_unique<AmxKernelGradient>(r);
  return std::make_unique<AmxImageConvolution>(r);
}

}  // namespace crescent::cpu
