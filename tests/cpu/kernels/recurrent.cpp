#include <array>

#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The product of a row and column j of a matrix (rows, width).
double dot(const std::vector<double>& row, const Array& matrix, int64_t width, int64_t j) {
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i)
    sum += row[i] * matrix[static_cast<int64_t>(i) * width + j];
  return sum;
}
std::vector<double> row_of(const Array& a, int64_t row, int64_t width) {
  return {a.values.begin() + row * width, a.values.begin() + (row + 1) * width};
}
void put_row(Array& a, int64_t row, const std::vector<double>& values) {
  std::copy(values.begin(), values.end(),
            a.values.begin() + row * static_cast<int64_t>(values.size()));
}

/// The states h after dropout: multiplied by the factors (batch, units) in input number
/// `input_index`, if there is one.
std::vector<double> after_dropout(std::vector<double> h, const std::vector<Array>& in,
                                  size_t input_index, int64_t sample) {
  for (size_t j = 0; in.size() > input_index && j < h.size(); ++j)
    h[j] *= in[input_index][sample * static_cast<int64_t>(h.size()) + static_cast<int64_t>(j)];
  return h;
}

// Inputs: x, h0, c0, kernel, recurrent kernel, bias and optionally dropout factors; results: hs,
// last h, last c, gates, cells.
std::vector<Array> lstm(const std::vector<Array>& in) {
  const Shape shape = in[0].spec.shape;
  const int64_t batch = shape[0], steps = shape[1], features = shape[2], u = in[1].spec.shape[1];
  const DType dtype = in[0].spec.dtype;
  Array hs = zeros({batch, steps, u}, dtype), h_last = zeros({batch, u}, dtype), c_last = h_last;
  Array gates = zeros({batch, steps, 4 * u}, dtype), cells = hs;
  for (int64_t b = 0; b < batch; ++b) {
    auto h = row_of(in[1], b, u), c = row_of(in[2], b, u);
    for (int64_t t = 0; t < steps; ++t) {
      const auto x = row_of(in[0], b * steps + t, features);
      const auto dropped_h = after_dropout(h, in, 6, b);
      std::vector<double> g(4 * u);
      for (int64_t j = 0; j < 4 * u; ++j) {
        const double z = dot(x, in[3], 4 * u, j) + dot(dropped_h, in[4], 4 * u, j) + in[5][j];
        g[j] = j / u == 2 ? std::tanh(z) : sigmoid(z);
      }
      for (int64_t j = 0; j < u; ++j)
        c[j] = g[u + j] * c[j] + g[j] * g[2 * u + j], h[j] = g[3 * u + j] * std::tanh(c[j]);
      put_row(hs, b * steps + t, h), put_row(cells, b * steps + t, c),
          put_row(gates, b * steps + t, g);
    }
    put_row(h_last, b, h), put_row(c_last, b, c);
  }
  return {hs, h_last, c_last, gates, cells};
}

// Inputs: x, h0, kernel, recurrent kernel, bias (2, 3u) and optionally dropout factors; results:
// hs, last h, gates.
std::vector<Array> gru(const std::vector<Array>& in) {
  const Shape shape = in[0].spec.shape;
  const int64_t batch = shape[0], steps = shape[1], features = shape[2], u = in[1].spec.shape[1];
  const DType dtype = in[0].spec.dtype;
  Array hs = zeros({batch, steps, u}, dtype), h_last = zeros({batch, u}, dtype);
  Array gates = zeros({batch, steps, 4 * u}, dtype);
  for (int64_t b = 0; b < batch; ++b) {
    auto h = row_of(in[1], b, u);
    for (int64_t t = 0; t < steps; ++t) {
      const auto x = row_of(in[0], b * steps + t, features);
      const auto dropped_h = after_dropout(h, in, 5, b);
      std::vector<double> g(4 * u);
      auto input_sum = [&](int64_t j) { return dot(x, in[2], 3 * u, j) + in[4][j]; };
      auto recurrent_sum = [&](int64_t j) {
        return dot(dropped_h, in[3], 3 * u, j) + in[4][3 * u + j];
      };
      for (int64_t j = 0; j < u; ++j) {
        g[j] = sigmoid(input_sum(j) + recurrent_sum(j)),
        g[u + j] = sigmoid(input_sum(u + j) + recurrent_sum(u + j));
        g[3 * u + j] = recurrent_sum(2 * u + j);
        g[2 * u + j] = std::tanh(input_sum(2 * u + j) + g[u + j] * g[3 * u + j]);
        h[j] = g[j] * dropped_h[j] + (1 - g[j]) * g[2 * u + j];
      }
      put_row(hs, b * steps + t, h), put_row(gates, b * steps + t, g);
    }
    put_row(h_last, b, h);
  }
  return {hs, h_last, gates};
}

std::vector<Array> lstm_operands(int64_t b, int64_t t, int64_t f, int64_t u, DType dtype) {
  return {random({b, t, f}, dtype, 1),  random({b, u}, dtype, 2),     random({b, u}, dtype, 3),
          random({f, 4 * u}, dtype, 4), random({u, 4 * u}, dtype, 5), random({4 * u}, dtype, 6)};
}
std::vector<Array> gru_operands(int64_t b, int64_t t, int64_t f, int64_t u, DType dtype) {
  return {random({b, t, f}, dtype, 1), random({b, u}, dtype, 2), random({f, 3 * u}, dtype, 3),
          random({u, 3 * u}, dtype, 4), random({2, 3 * u}, dtype, 5)};
}

/// Random dropout factors of 0 or 2, for a rate of 1/2.
Array dropout_factors_of(int64_t b, int64_t u, DType dtype) {
  Array dropout_factors = random({b, u}, dtype, 10);
  for (double& value : dropout_factors.values) value = value < 0 ? 0 : 2;
  return dropout_factors;
}

constexpr int64_t kSizes[][4] = {{1, 1, 1, 1},  {3, 4, 5, 7},     {17, 6, 3, 16}, {2, 9, 17, 33},
                                 {1, 30, 3, 4}, {1, 3, 150, 130}, {40, 3, 5, 20}};

/// Ops with the same names as those in the layers plugin; the device finds its kernels by these
/// names.
struct LstmGates final : OpOf<LstmGates> {
  static constexpr const char* kName = "lstm_gates";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec>) const override { return {}; }
};
struct LstmGatesBackward final : OpOf<LstmGatesBackward> {
  static constexpr const char* kName = "lstm_gates_backward";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec>) const override { return {}; }
};

/// LSTM gates. Inputs: the products with x and with h (rows, 4u), and the previous c (rows, u);
/// results: gates, c, h.
std::vector<Array> lstm_gates(const std::vector<Array>& in) {
  const int64_t u = in[2].spec.shape[-1], rows = in[2].spec.shape[0];
  std::vector<Array> out{in[0], in[2], in[2]};
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < u; ++k) {
      auto at = [&](int64_t gate) { return static_cast<size_t>((4 * r + gate) * u + k); };
      auto z = [&](int64_t gate) { return in[0].values[at(gate)] + in[1].values[at(gate)]; };
      const double i = sigmoid(z(0)), f = sigmoid(z(1)), g = std::tanh(z(2)), o = sigmoid(z(3)),
                   c = f * in[2][r * u + k] + i * g;
      const auto state_index = static_cast<size_t>(r * u + k);
      out[0].values[at(0)] = i, out[0].values[at(1)] = f, out[0].values[at(2)] = g;
      out[0].values[at(3)] = o, out[1].values[state_index] = c,
      out[2].values[state_index] = o * std::tanh(c);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("LSTM and GRU agree with plain loops", "[cpu][recurrent]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (auto [b, t, f, u] : kSizes) {
    for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
      CAPTURE(b, t, f, u, name_of(dtype));
      const double tolerance_factor = dtype == DType::bfloat16 ? 1 : 4;
      CHECK(check(recurrent_kernels, Lstm{}, lstm_operands(b, t, f, u, dtype),
                  lstm(lstm_operands(b, t, f, u, dtype)), tolerance_factor) >= 2);
      CHECK(check(recurrent_kernels, Gru{}, gru_operands(b, t, f, u, dtype),
                  gru(gru_operands(b, t, f, u, dtype)), tolerance_factor) >= 2);
    }
  }
}

TEST_CASE("gradients of LSTM and GRU agree with finite differences", "[cpu][recurrent]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (auto [b, t, f, u] : {std::array<int64_t, 4>{1, 1, 1, 1},
                            {3, 4, 5, 7},
                            {9, 3, 2, 17},
                            {1, 2, 1, 33},
                            {2, 70, 1, 1},
                            {300, 1, 1, 1}}) {
    for (DType dtype : {DType::float32, DType::float64}) {
      CAPTURE(b, t, f, u, name_of(dtype));
      const double tolerance_factor = dtype == DType::float64 ? 1e4 : 10;
      const auto in = lstm_operands(b, t, f, u, dtype);
      const auto out = lstm(in);
      const Array dhs = random({b, t, u}, dtype, 7), dh = random({b, u}, dtype, 8),
                  dc = random({b, u}, dtype, 9);
      std::vector<Array> wanted;
      for (size_t i = 0; i < in.size(); ++i)
        wanted.push_back(numeric_gradient(lstm, in, i, {dhs, dh, dc}));
      CHECK(check(recurrent_kernels, LstmBackward{},
                  {in[0], in[1], in[2], in[3], in[4], out[0], out[3], out[4], dhs, dh, dc}, wanted,
                  tolerance_factor) >= 2);
      const auto gru_in = gru_operands(b, t, f, u, dtype);
      const auto gru_out = gru(gru_in);
      wanted.clear();
      for (size_t i = 0; i < gru_in.size(); ++i)
        wanted.push_back(numeric_gradient(gru, gru_in, i, {dhs, dh}));
      auto gradient_in = gru_in;
      gradient_in.insert(gradient_in.end(), {gru_out[0], gru_out[2], dhs, dh});
      CHECK(check(recurrent_kernels, GruBackward{}, gradient_in, wanted, tolerance_factor) >= 2);
    }
  }
}

TEST_CASE("LSTM and GRU see states times factors", "[cpu][recurrent]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (auto [b, t, f, u] : {std::array<int64_t, 4>{1, 3, 2, 1},
                            {3, 4, 5, 7},
                            {9, 3, 2, 17},
                            {1, 6, 3, 40},
                            {40, 3, 5, 20}}) {
    for (DType dtype : {DType::float32, DType::float64}) {
      CAPTURE(b, t, f, u, name_of(dtype));
      auto in = lstm_operands(b, t, f, u, dtype), gru_in = gru_operands(b, t, f, u, dtype);
      const Array dropout_factors = dropout_factors_of(b, u, dtype),
                  dhs = random({b, t, u}, dtype, 7), dh = random({b, u}, dtype, 8),
                  dc = random({b, u}, dtype, 9);
      in.push_back(dropout_factors), gru_in.push_back(dropout_factors);
      const auto out = lstm(in), gru_out = gru(gru_in);
      CHECK(check(recurrent_kernels, Lstm{}, in, out, 4) >= 2);
      CHECK(check(recurrent_kernels, Gru{}, gru_in, gru_out, 4) >= 2);
      if (b * u > 200) continue;  // skipped, because finite differences are slow
      const double tolerance_factor = dtype == DType::float64 ? 1e5 : 10;
      std::vector<Array> wanted;
      for (size_t i = 0; i < 6; ++i) wanted.push_back(numeric_gradient(lstm, in, i, {dhs, dh, dc}));
      CHECK(check(recurrent_kernels, LstmBackward{},
                  {in[0], in[1], in[2], in[3], in[4], out[0], out[3], out[4], dhs, dh, dc,
                   dropout_factors},
                  wanted, tolerance_factor) >= 2);
      wanted.clear();
      for (size_t i = 0; i < 5; ++i) wanted.push_back(numeric_gradient(gru, gru_in, i, {dhs, dh}));
      CHECK(check(recurrent_kernels, GruBackward{},
                  {gru_in[0], gru_in[1], gru_in[2], gru_in[3], gru_in[4], gru_out[0], gru_out[2],
                   dhs, dh, dropout_factors},
                  wanted, tolerance_factor) >= 2);
    }
  }
}

TEST_CASE("threads in lockstep see the states of the step before", "[cpu][recurrent]") {
  const std::array<int64_t, 4> sizes{3, 120, 2, 96};  // a step is large enough for several threads
  const auto [b, t, f, u] = sizes;
  for (bool has_dropout : {false, true}) {
    auto in = lstm_operands(b, t, f, u, DType::float64),
         gru_in = gru_operands(b, t, f, u, DType::float64);
    for (size_t weight_index : {3u, 4u})
      for (double& w : in[weight_index].values) w *= 0.2;
    for (size_t weight_index : {2u, 3u})
      for (double& w : gru_in[weight_index].values) w *= 0.2;
    // With factors of 2 the states would grow without limit, so the factors are halved.
    if (has_dropout) {
      in.push_back(dropout_factors_of(b, u, DType::float64));
      for (double& factor : in.back().values) factor *= 0.5;
      gru_in.push_back(in.back());
    }
    CHECK(check(recurrent_kernels, Lstm{}, in, lstm(in), 100) >= 2);
    CHECK(check(recurrent_kernels, Gru{}, gru_in, gru(gru_in), 100) >= 2);
  }
}

TEST_CASE("gates of an LSTM agree with plain loops and finite differences", "[cpu][recurrent]") {
  const SimdLimit limit(GENERATE(kNative, kNoAvx512, kNoAvx2));
  for (auto [rows, units] : {std::array<int64_t, 2>{1, 1}, {7, 16}, {5, 19}, {300, 33}}) {
    for (DType dtype : {DType::float32, DType::float64}) {
      CAPTURE(rows, units, name_of(dtype));
      const std::vector<Array> in{random({rows, 4 * units}, dtype, 1, -3, 3),
                                  random({rows, 4 * units}, dtype, 2, -3, 3),
                                  random({rows, units}, dtype, 3)};
      const auto out = lstm_gates(in);
      CHECK(check(recurrent_kernels, LstmGates{}, in, out, 4) == 2);
      if (rows > 7) continue;  // skipped, because finite differences are slow
      const Array dc = random({rows, units}, dtype, 4), dh = random({rows, units}, dtype, 5),
                  second_dh = random({rows, units}, dtype, 6),
                  no_gradient = zeros({rows, 4 * units}, dtype);
      Array dh_sum = dh;
      for (size_t i = 0; i < dh_sum.values.size(); ++i) dh_sum.values[i] += second_dh.values[i];
      const double tolerance_factor = dtype == DType::float64 ? 1e4 : 10;
      auto wanted = [&](const Array& upstream_of_h) {
        return std::vector<Array>{
            numeric_gradient(lstm_gates, in, 0, {no_gradient, dc, upstream_of_h}),
            numeric_gradient(lstm_gates, in, 2, {no_gradient, dc, upstream_of_h})};
      };
      const std::vector<Array> backward_inputs{out[0], out[1], in[2], dc, dh};
      CHECK(check(recurrent_kernels, LstmGatesBackward{}, backward_inputs, wanted(dh),
                  tolerance_factor) == 2);
      CHECK(check(recurrent_kernels, LstmGatesBackward{},
                  {out[0], out[1], in[2], dc, dh, second_dh}, wanted(dh_sum),
                  tolerance_factor) == 2);
    }
  }
}
