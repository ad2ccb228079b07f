// Convolutions of 8-bit integers (op Int8Conv). A sample is rounded to bytes in an image with a
// margin of zeros, in which the windows are read in place as rows of a matrix product. The sums are
// exact, so neither tiles nor threads change a result.
#include <algorithm>
#include <numeric>
#include <vector>

#include "convolution/convolution.h"
#include "convolution/rounding.h"
#include "crescent/device/quantized_op_types.h"
#include "elementwise/epilogue.h"
#include "matmul/byte_panels.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kTileValues = 1 << 14;  // approximate number of results of a tile
constexpr int64_t kTilePixels = 24;       // tiles have multiples of this number of pixels
constexpr int64_t kPartsPerSample = 16;   // parts of a sample that several threads share
constexpr int64_t kAlignment = 64;

int64_t aligned_size(int64_t bytes) { return pieces(bytes, kAlignment) * kAlignment; }

/// The layout of a sample's bytes as an image with a margin, and of the windows in this image.
struct ByteImage {
  explicit ByteImage(const ConvPlan& p);

  int64_t lines;       ///< rows of the image with those of the margin
  int64_t line_bytes;  ///< bytes of such a row
  bytes::Depth depth;  ///< the number of values in a window, and of those that lie together
  std::vector<int64_t> window_offsets,
      run_offsets;  ///< offsets of windows, and of runs within a window

  /// The number of bytes of an image, including those that are read behind its end.
  int64_t size() const { return aligned_size(lines * line_bytes + bytes::kGroup); }
};

ByteImage::ByteImage(const ConvPlan& p) : depth{p.in_channels} {
  const auto& [d, h, w] = p.axes;
  const auto length = [](const ConvPlan::Axis& a) { return a.pad_before + a.in + a.pad_after; };
  const int64_t height = length(h), width = length(w), channels = p.in_channels;
  lines = length(d) * height, line_bytes = width * channels;
  const auto offset = [&](int64_t z, int64_t y, int64_t x) {
    return ((z * height + y) * width + x) * channels;
  };
  for (int64_t z = 0; z < d.out; ++z)
    for (int64_t y = 0; y < h.out; ++y)
      for (int64_t x = 0; x < w.out; ++x)
        window_offsets.push_back(offset(z * d.stride, y * h.stride, x * w.stride));
  const bool is_joined = w.dilation == 1;  // whether the taps of a row of a window lie together
  if (is_joined) depth.length *= w.kernel;
  for (int64_t z = 0; z < d.kernel; ++z)
    for (int64_t y = 0; y < h.kernel; ++y)
      for (int64_t x = 0; x < (is_joined ? 1 : w.kernel); ++x)
        run_offsets.push_back(offset(z * d.dilation, y * h.dilation, x * w.dilation));
  depth.runs = static_cast<int64_t>(run_offsets.size());
}

class ByteConvolution final : public EpilogueHost {
 public:
  explicit ByteConvolution(const Request& r)
      : EpilogueHost(r),
        plan_(r),
        range_(r.op_as<Int8Conv>()->range),
        image_(plan_),
        right_{plan_.out_channels, 1, image_.depth, plan_.out_channels},
        loops_(rounding_loops()),
        multiply_(bytes::fastest_product()) {
    tile_pixels_ = rounded_pixel_count(kTileValues / plan_.out_channels);
  }

  InputConversion prepare(int input) override {
    if (input != 1) return {};
    is_packed_ = true;
    return bytes::conversion_to_panels(right_);
  }
  void run(const Arguments& a) const override {
    MaybeEpilogue epilogue;
    begin(a, epilogue);
    if (!is_packed_)
      a.threads.parallel(right_.panel_count(), [&](int64_t panel, int) {
        right_.pack(a.in<int8_t>(1), panel, reinterpret_cast<int8_t*>(a.scratch));
      });
    const int thread_count = a.threads.threads();
    const int64_t sample_count_for_all_threads = plan_.batch / thread_count * thread_count;
    a.threads.parallel(sample_count_for_all_threads,
                       [&](int64_t sample, int) { compute(a, epilogue, sample); });
    for (int64_t sample = sample_count_for_all_threads; sample < plan_.batch; ++sample)
      compute_on_all_threads(a, epilogue, sample);
  }

 protected:
  bool can_pass_rows() const override { return true; }
  size_t product_scratch_bytes() const override {
    return static_cast<size_t>(panel_bytes() + sample_bytes());
  }
  std::string product_name() const override { return bytes::name_of_fastest(); }
  double product_flops() const override { return plan_.flops(); }

 private:
  /// The data of one sample in scratch memory, from which its result is computed.
  struct Sample {
    int64_t index;
    uint8_t* image;
    float* factors;  ///< for each output channel, the factor of its sums
    float largest_magnitude, scale;
  };

  int64_t panel_bytes() const { return is_packed_ ? 0 : aligned_size(right_.bytes()); }
  int64_t factor_bytes() const { return aligned_size(plan_.out_channels * int64_t{sizeof(float)}); }
  int64_t sample_bytes() const { return image_.size() + factor_bytes(); }
  int64_t sample_values() const { return plan_.in_pixels() * plan_.in_channels; }
  /// The number of pixels of a tile: `pixels` rounded down to a multiple of kTilePixels, but at
  /// least kTilePixels and at most all pixels.
  int64_t rounded_pixel_count(int64_t pixels) const {
    return std::min(plan_.out_pixels(), std::max<int64_t>(1, pixels / kTilePixels) * kTilePixels);
  }
  Sample sample_at(int64_t index, std::byte* memory) const {
    return {index, reinterpret_cast<uint8_t*>(memory + factor_bytes()),
            reinterpret_cast<float*>(memory), 0, 0};
  }
  const float* values(const Arguments& a, const Sample& s) const {
    return a.in<float>(0) + s.index * sample_values();
  }

  /// Computes a sample on the calling thread.
  void compute(const Arguments& a, const MaybeEpilogue& epilogue, int64_t index) const {
    std::byte* memory = thread_scratch(static_cast<size_t>(sample_bytes() + tile_bytes()));
    Sample s = sample_at(index, memory);
    s.largest_magnitude = loops_.largest_magnitude(values(a, s), sample_values());
    set_factors(a, s);
    round_lines(a, s, 0, image_.lines);
    for (int64_t first = 0; first < plan_.out_pixels(); first += tile_pixels_)
      compute_tile(a, epilogue, s, first, std::min(tile_pixels_, plan_.out_pixels() - first),
                   memory + sample_bytes());
  }

  /// Computes a sample on all threads.
  void compute_on_all_threads(const Arguments& a, const MaybeEpilogue& epilogue,
                              int64_t index) const {
    Sample s = sample_at(index, a.scratch + panel_bytes());
    float largest_magnitude[kPartsPerSample] = {};
    const auto part_begin = [](int64_t whole, int64_t part) {
      return whole * part / kPartsPerSample;
    };
    a.threads.parallel(kPartsPerSample, [&](int64_t part, int) {
      const int64_t first = part_begin(sample_values(), part);
      largest_magnitude[part] = loops_.largest_magnitude(
          values(a, s) + first, part_begin(sample_values(), part + 1) - first);
    });
    s.largest_magnitude = loops_.largest_magnitude(largest_magnitude, kPartsPerSample);
    set_factors(a, s);
    a.threads.parallel(kPartsPerSample, [&](int64_t part, int) {
      round_lines(a, s, part_begin(image_.lines, part), part_begin(image_.lines, part + 1));
    });
    const int64_t part_tile_pixels =
        std::min(tile_pixels_, rounded_pixel_count(plan_.out_pixels() / kPartsPerSample));
    a.threads.blocks(plan_.out_pixels(), part_tile_pixels, [&](int64_t begin, int64_t end) {
      compute_tile(a, epilogue, s, begin, end - begin,
                   thread_scratch(static_cast<size_t>(tile_bytes())));
    });
  }

  /// Computes the scale of a sample and the factors from its largest magnitude.
  void set_factors(const Arguments& a, Sample& s) const {
    s.scale = static_cast<float>(range_.high) /
              (s.largest_magnitude + static_cast<float>(range_.epsilon));
    for (int64_t j = 0; j < plan_.out_channels; ++j)
      s.factors[j] = 1 / (s.scale * a.in<float>(2)[j]);
  }

  /// Writes lines [begin, end) of the image.
  void round_lines(const Arguments& a, const Sample& s, int64_t begin, int64_t end) const {
    const auto& [d, h, w] = plan_.axes;
    const int64_t height = h.pad_before + h.in + h.pad_after, channels = plan_.in_channels;
    for (int64_t line = begin; line < end; ++line) {
      uint8_t* to = s.image + line * image_.line_bytes;
      const int64_t z = line / height - d.pad_before, y = line % height - h.pad_before;
      if (z < 0 || z >= d.in || y < 0 || y >= h.in) {
        std::fill_n(to, image_.line_bytes, uint8_t{bytes::kOffset});
        continue;
      }
      to = std::fill_n(to, w.pad_before * channels, uint8_t{bytes::kOffset});
      round(s, values(a, s) + (z * h.in + y) * w.in * channels, w.in * channels, to);
      std::fill_n(to + w.in * channels, w.pad_after * channels, uint8_t{bytes::kOffset});
    }
  }
  /// Rounds values to bytes. All are zero in a sample with an infinite value or NaN, whose results
  /// are NaN.
  void round(const Sample& s, const float* x, int64_t count, uint8_t* to) const {
    if (s.scale > 0)
      loops_.round(x, count, s.scale, static_cast<float>(range_.low),
                   static_cast<float>(range_.high), bytes::kOffset, to);
    else
      std::fill_n(to, count, uint8_t{bytes::kOffset});
  }

  int64_t tile_bytes() const {
    return has_epilogue() ? tile_pixels_ * plan_.out_channels * int64_t{sizeof(float)} : 0;
  }
  /// Computes `count` pixels from `first` on; the epilogue reads them in `memory`.
  void compute_tile(const Arguments& a, const MaybeEpilogue& epilogue, const Sample& s,
                    int64_t first, int64_t count, std::byte* memory) const {
    const int64_t out = plan_.out_channels, offset = (s.index * plan_.out_pixels() + first) * out;
    int32_t* c = epilogue ? reinterpret_cast<int32_t*>(memory)
                          : reinterpret_cast<int32_t*>(a.out<float>(0) + offset);
    const int8_t* right = is_packed_ ? a.in<int8_t>(1) : reinterpret_cast<int8_t*>(a.scratch);
    multiply_({s.image, 0, image_.window_offsets.data() + first, image_.run_offsets.data()}, count,
              right, image_.depth, out, {c, out, s.factors});
    if (epilogue) (*epilogue)(offset, offset + count * out, c);
  }

  ConvPlan plan_;
  AbsMax range_;
  ByteImage image_;
  bytes::RightMatrix right_;
  RoundingLoops loops_;
  bytes::Multiply multiply_;
  int64_t tile_pixels_;  ///< pixels of a tile
  bool is_packed_ = false;
};

}  // namespace

std::unique_ptr<Kernel> make_byte_convolution(const Request& r) {
  constexpr int64_t kMaxTerms = 1 << 17;  // number of terms whose sum fits 32 bits
  const ConvPlan plan(r);
  if (plan.dtype != DType::float32 || plan.empty() ||
      !bytes::processor_has(bytes::Instructions::avx2) ||
      plan.taps() * plan.in_channels >= kMaxTerms)
    return nullptr;
  return std::make_unique<ByteConvolution>(r);
}

}  // namespace crescent::cpu
