// Generators of random calls (CallGenerator in draft.h) for Fourier transforms, whose complex
// numbers are pairs of tensors, and for functions of complex tensors, which only the generators
// here use.
#include <cmath>

#include "crescent/base/error.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

/// Scales x so that sums of n numbers have about the same magnitude.
int scaled_for_sums(Draft& d, int x, int64_t n) {
  const double factor = std::exp2(-std::round(std::log2(static_cast<double>(n)) / 2));
  return d.call("multiply", {{"x1", x}, {"x2", Value(factor)}});
}

/// A part of the value: each of the last `axis_count` axes has at most `max_length` elements, and
/// the other axes together have as many as the limit of multiplications allows.
int limited_part(Draft& d, int x, int axis_count, int64_t max_length, int64_t max_multiplications) {
  List start_indices, extents;
  for (int i = d.shape(x).rank() - 1; i >= 0; --i) {
    const bool is_transformed = i >= d.shape(x).rank() - axis_count;
    const int64_t n = d.shape(x)[i],
                  count = std::min(
                      n, is_transformed ? max_length : std::max<int64_t>(1, max_multiplications));
    max_multiplications /= is_transformed ? count * (axis_count == 1 ? count : max_length) : count;
    extents.insert(extents.begin(), Value(count));
    start_indices.insert(start_indices.begin(), Value(d.choices.below(n - count + 1)));
  }
  return d.call(
      "slice", {{"inputs", x}, {"start_indices", Value(start_indices)}, {"shape", Value(extents)}});
}

/// Signals whose lengths have small or large prime factors. The number of signals may or may not be
/// a multiple of the vector length of the processor.
int signals(Draft& d) {
  constexpr int64_t kLengths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,   11,  12,  13,  15,  16,
                                  17, 23, 30, 31, 32, 33, 37, 60, 64,  65,  77,  96,  97,  100,
                                  4,  8,  16, 32, 64, 5,  12, 17, 121, 128, 129, 139, 254, 256};
  constexpr int64_t kMaxProducts = 70'000;
  if (d.choices.one_in(2)) return limited_part(d, d.floating_value(1), 1, 257, kMaxProducts);
  const int64_t n = d.choices.one_of(kLengths), rows = 1 + d.choices.below(9);
  const int64_t max_rows = std::max<int64_t>(1, std::min(rows, kMaxProducts / (n * n)));
  if (max_rows * n > d.max_elements()) fail("too large");
  return d.input({d.floating_dtype(), {max_rows, n}});
}

size_t real_or_imaginary(Draft& d) { return static_cast<size_t>(d.choices.below(2)); }

int fourier(Draft& d) {
  const int re = signals(d), im = d.same_shape(re);
  const int y = d.call("fft", {{"x", std::vector<int>{re, im}}}, real_or_imaginary(d));
  return scaled_for_sums(d, y, d.shape(re)[-1]);
}

int fourier_2d(Draft& d, const char* function) {
  const int re = limited_part(d, d.floating_value(2), 2, 24, 20'000), im = d.same_shape(re);
  const int y = d.call(function, {{"x", std::vector<int>{re, im}}}, real_or_imaginary(d));
  return function[0] == 'i' ? y : scaled_for_sums(d, y, d.shape(re)[-1] * d.shape(re)[-2]);
}

/// Adds at random the length argument; without it, the length of the last axis is used.
void add_length_argument(Draft& d, std::vector<Argument>& arguments, int64_t n) {
  if (d.choices.one_in(2))
    arguments.push_back({"fft_length", Value(std::max<int64_t>(1, n + d.choices.below(5) - 2))});
}

int rfft(Draft& d) {
  const int x = signals(d);
  std::vector<Argument> arguments{{"x", x}};
  add_length_argument(d, arguments, d.shape(x)[-1]);
  return scaled_for_sums(d, d.call("rfft", arguments, real_or_imaginary(d)), d.shape(x)[-1]);
}

int irfft(Draft& d) {
  const int re = limited_part(d, signals(d), 1, 129, 70'000), im = d.same_shape(re);
  std::vector<Argument> arguments{{"x", std::vector<int>{re, im}}};
  add_length_argument(d, arguments, 2 * (d.shape(re)[-1] - 1));
  return d.call("irfft", arguments);
}

struct WindowOptions {
  int64_t length, stride, fft_length;
  Value name;
  bool is_centered;
  void add_to(std::vector<Argument>& arguments) const {
    arguments.push_back({"sequence_length", Value(length)});
    arguments.push_back({"sequence_stride", Value(stride)});
    arguments.push_back({"fft_length", Value(fft_length)});
    arguments.push_back({"window", name});
    arguments.push_back({"center", Value(is_centered)});
  }
};

WindowOptions draw_window_options(Draft& d) {
  const Value kNames[] = {Value("hann"), Value("hamming"), Value()};
  constexpr int64_t kLengths[] = {4, 5, 8, 12, 16, 17, 32};
  const int64_t length = d.choices.one_of(kLengths), padding = d.choices.below(4),
                stride = 1 + d.choices.below(length);
  return {length, stride, length + padding, d.choices.one_of(kNames), d.choices.one_in(2)};
}

int stft(Draft& d) {
  const WindowOptions window_options = draw_window_options(d);
  const int x = limited_part(d, d.floating_value(1), 1, 200, 40'000);
  std::vector<Argument> arguments{{"x", x}};
  window_options.add_to(arguments);
  return scaled_for_sums(d, d.call("stft", arguments, real_or_imaginary(d)), window_options.length);
}

int istft(Draft& d) {
  const WindowOptions window_options = draw_window_options(d);
  const int64_t count = 1 + d.choices.below(6), batch = 1 + d.choices.below(3);
  const TensorSpec spec{d.floating_dtype(), {batch, count, window_options.fft_length / 2 + 1}};
  const int re = d.input(spec), im = d.input(spec);
  std::vector<Argument> arguments{{"x", std::vector<int>{re, im}}};
  window_options.add_to(arguments);
  const int y = d.call("istft", arguments);
  // The function tanh limits the result, because at the ends of windows small numbers are divided
  // by small numbers.
  return d.call("tanh", {{"x", y}});
}

// ---- complex numbers

int complex_value(Draft& d, int pairs) {
  return d.mark_internal(d.call("view_as_complex", {{"x", pairs}}));
}

int pairs(Draft& d) {
  const int x = d.floating_value(1);
  if (d.shape(x)[-1] < 2) fail("no pairs");
  return d.call("slice_axis",
                {{"x", x}, {"axis", Value(-1)}, {"first", Value(0)}, {"last", Value(2)}});
}

/// Complex numbers at least 1/2 from 0, so that angles and quotients are well conditioned.
int complex_away_from_zero(Draft& d) {
  const int length = d.positive_value();
  const int angle = d.call("tanh", {{"x", d.same_shape(length)}});
  return d.mark_internal(d.call("polar", {{"abs_", length}, {"angle", angle}}));
}

int real_part_of(Draft& d, int z) {
  constexpr const char* kParts[] = {"real", "imag", "view_as_real"};
  return d.call(d.choices.one_of(kParts), {{"x", z}});
}

int complex_unary(Draft& d) {
  constexpr const char* kFunctions[] = {"conj", "conjugate", "negative", "square", "real"};
  const std::string function = d.choices.one_of(kFunctions);
  const int z = complex_value(d, pairs(d));
  if (function == "real") return real_part_of(d, z);
  return d.damped_value(real_part_of(d, d.mark_internal(d.call(function, {{"x", z}}))));
}

int complex_binary(Draft& d) {
  constexpr const char* kFunctions[] = {"add", "subtract", "multiply"};
  const int x = pairs(d), z = complex_value(d, x), w = complex_value(d, d.same_shape(x));
  return d.damped_value(real_part_of(
      d, d.mark_internal(d.call(d.choices.one_of(kFunctions), {{"x1", z}, {"x2", w}}))));
}

int complex_quotient(Draft& d) {
  const int z = complex_away_from_zero(d);
  const Shape shape = d.shape(z).concat({2});
  const TensorSpec wanted_spec{DType::float32, shape};
  const int x =
      d.operand([&](const TensorSpec& s) { return s == wanted_spec; }, [&] { return wanted_spec; });
  const int y = d.mark_internal(d.call("divide", {{"x1", complex_value(d, x)}, {"x2", z}}));
  return d.damped_value(real_part_of(d, y));
}

int polar_product(Draft& d) {
  constexpr const char* kFunctions[] = {"angle", "abs", "imag", "log", "reciprocal"};
  const std::string function = d.choices.one_of(kFunctions);
  const int y = d.call(function, {{"x", complex_away_from_zero(d)}});
  return d.dtype(y) == DType::complex64 ? real_part_of(d, d.mark_internal(y)) : y;
}

}  // namespace

std::vector<CallGenerator> signal_generators() {
  return {{"fft", fourier},
          {"fft", fourier},
          {"fft2", [](Draft& d) { return fourier_2d(d, "fft2"); }},
          {"ifft2", [](Draft& d) { return fourier_2d(d, "ifft2"); }},
          {"rfft", rfft},
          {"irfft", irfft},
          {"stft", stft},
          {"istft", istft},
          {"view_as_complex", complex_unary},
          {"view_as_real", complex_binary},
          {"polar", complex_quotient},
          {"angle", polar_product}};
}

}  // namespace crescent::random_programs
