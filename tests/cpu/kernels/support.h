// Helpers that run kernels on raw memory and compare them with plain loops in double.
#pragma once
#include <hwy/targets.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "distance.h"
#include "kernel/kernel.h"

namespace crescent::cpu::test {

inline double read(DType dtype, const std::byte* at) {
  auto as = [&]<class T>(T x) {
    std::memcpy(&x, at, sizeof x);
    return x;
  };
  switch (dtype) {
    case DType::float32:
      return as(float{});
    case DType::float64:
      return as(double{});
    case DType::bfloat16:
      return bfloat16_to_float(as(uint16_t{}));
    case DType::float16:
      return float16_to_float(as(uint16_t{}));
    case DType::int32:
      return as(int32_t{});
    case DType::int64:
      return static_cast<double>(as(int64_t{}));
    case DType::int16:
      return as(int16_t{});
    case DType::int8:
      return as(int8_t{});
    default:
      return as(uint8_t{});
  }
}

inline void write(DType dtype, double value, std::byte* at) {
  auto as = [&](auto x) { std::memcpy(at, &x, sizeof x); };
  switch (dtype) {
    case DType::float32:
      return as(static_cast<float>(value));
    case DType::float64:
      return as(value);
    case DType::bfloat16:
      return as(float_to_bfloat16(static_cast<float>(value)));
    case DType::float16:
      return as(float_to_float16(static_cast<float>(value)));
    case DType::int32:
      return as(static_cast<int32_t>(value));
    case DType::int64:
      return as(static_cast<int64_t>(value));
    case DType::int16:
      return as(static_cast<int16_t>(value));
    case DType::int8:
      return as(static_cast<int8_t>(value));
    default:
      return as(static_cast<uint8_t>(value));
  }
}

/// An array of doubles, each of which its dtype represents exactly.
struct Array {
  TensorSpec spec;
  std::vector<double> values;

  double operator[](int64_t i) const { return values[static_cast<size_t>(i)]; }
};

inline Array zeros(const Shape& shape, DType dtype = DType::float32) {
  return {{dtype, shape}, std::vector<double>(static_cast<size_t>(shape.size()))};
}

inline Array random(const Shape& shape, DType dtype, unsigned seed, double low = -1,
                    double high = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Array a = zeros(shape, dtype);
  for (auto& x : a.values) {
    std::byte bytes[8];
    write(dtype, uniform(generator), bytes), x = read(dtype, bytes);
  }
  return a;
}

struct Memory {
  explicit Memory(size_t count) : bytes(count + 64) {
    start = bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64;
    std::memset(bytes.data(), 0xff,
                // All bits are set, which is NaN, so that reads of unwritten memory are detected.
                bytes.size());
  }
  std::vector<std::byte> bytes;
  std::byte* start;
};

struct Outcome {
  std::string kernel;
  std::vector<std::vector<std::byte>> bits;
  std::vector<Array> outputs;
};

/// Runs a kernel twice; the second run must not depend on the first. With `uses_prepared_inputs`
/// the inputs are first brought into the form that kernel.prepare() gives.
inline Outcome run(Kernel& kernel, const std::vector<Array>& inputs, const TensorSpecs& outputs,
                   int threads, bool uses_prepared_inputs = false) {
  std::vector<Memory> memory;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const auto& a : inputs) {
    const size_t size = size_of(a.spec.dtype);
    memory.emplace_back(a.values.size() * size);
    for (size_t i = 0; i < a.values.size(); ++i)
      write(a.spec.dtype, a.values[i], memory.back().start + i * size);
    in.push_back(memory.back().start);
  }
  for (const auto& spec : outputs) {
    memory.emplace_back(static_cast<size_t>(spec.bytes()));
    out.push_back(memory.back().start);
  }
  Pool pool(threads);
  for (size_t i = 0; uses_prepared_inputs && i < inputs.size(); ++i) {
    InputConversion prepared_form = kernel.prepare(static_cast<int>(i));
    if (!prepared_form.kernel) continue;
    memory.emplace_back(static_cast<size_t>(prepared_form.spec.bytes()));
    Memory scratch(prepared_form.kernel->scratch_bytes());
    prepared_form.kernel->run({&in[i], &memory.back().start, scratch.start, pool});
    in[i] = memory.back().start;
  }
  Memory scratch(kernel.scratch_bytes());
  Outcome o{kernel.name(), {}, {}};
  for (int i = 0; i < 2; ++i) kernel.run({in.data(), out.data(), scratch.start, pool});
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t size = size_of(outputs[i].dtype),
                 count = static_cast<size_t>(outputs[i].shape.size());
    Array a = zeros(outputs[i].shape, outputs[i].dtype);
    for (size_t j = 0; j < count; ++j) a.values[j] = read(outputs[i].dtype, out[i] + j * size);
    o.outputs.push_back(a), o.bits.emplace_back(out[i], out[i] + count * size);
  }
  return o;
}

inline double tolerance(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-12;
    case DType::float32:
      return 5e-6;
    case DType::float16:
      return 4e-3;
    case DType::bfloat16:
      return 2e-2;
    default:
      return 0;
  }
}

/// The largest difference, relative to the largest expected value.
inline double difference(const Array& got, const Array& want) {
  return farthest(got.values, want.values) / magnitude(want.values, 1e-3);
}

inline bool prepares_inputs(Kernel& kernel, size_t input_count) {
  bool any_prepared = false;
  for (size_t i = 0; i < input_count; ++i)
    any_prepared |= kernel.prepare(static_cast<int>(i)).kernel != nullptr;
  return any_prepared;
}

/// The op wrapped with the given post-ops (bias, activation, ...).
template <class T>
WithPostOps with_post_ops(const T& op, bool has_bias, Combine combine, ActivationKind activation) {
  WithPostOps result;
  result.op = std::make_shared<const T>(op);
  if (has_bias) result.post.push_back(PostOp::bias);
  if (combine == Combine::add) result.post.push_back(PostOp::add);
  if (combine == Combine::mask) result.post.push_back(PostOp::mask);
  if (activation == ActivationKind::relu) result.post.push_back(PostOp::relu);
  if (activation == ActivationKind::sigmoid) result.post.push_back(PostOp::sigmoid);
  if (activation == ActivationKind::tanh) result.post.push_back(PostOp::tanh);
  return result;
}

using Family = std::span<const KernelEntry> (*)();

/// Checks every kernel of the family that supports the op, with oneDNN and without: the values must
/// be right, and bit-identical for 1, 2 and 3 threads. `tolerance_factor` multiplies the tolerance
/// of the dtype. Returns the number of kernels that were checked.
inline int check(Family family, const Op& op, const std::vector<Array>& inputs,
                 const std::vector<Array>& wanted, double tolerance_factor = 1) {
  TensorSpecs in, out;
  for (const auto& a : inputs) in.push_back(a.spec);
  for (const auto& a : wanted) out.push_back(a.spec);
  int kernel_count = 0;
  for (bool uses_onednn : {true, false}) {
    Options options;
    options.onednn = uses_onednn;
    for (const auto& kernel_entry : family()) {
      if (base_of(op).name() != kernel_entry.op) continue;
      auto kernel = kernel_entry.make({op, in, out, options});
      if (!kernel) continue;
      ++kernel_count;
      for (bool uses_prepared_inputs : {false, true}) {
        if (uses_prepared_inputs && !prepares_inputs(*kernel, inputs.size())) break;
        if (uses_prepared_inputs) kernel = kernel_entry.make({op, in, out, options});
        const Outcome outcome = run(*kernel, inputs, out, 1, uses_prepared_inputs);
        CAPTURE(op.text(), in.size(), outcome.kernel, uses_onednn, uses_prepared_inputs);
        for (size_t i = 0; i < wanted.size(); ++i) {
          CAPTURE(i, to_text(wanted[i].spec));
          CHECK(difference(outcome.outputs[i], wanted[i]) <=
                tolerance_factor * tolerance(wanted[i].spec.dtype));
        }
        for (int threads : {2, 3}) {
          if (uses_prepared_inputs) kernel = kernel_entry.make({op, in, out, options});
          CHECK((run(*kernel, inputs, out, threads, uses_prepared_inputs).bits == outcome.bits));
        }
      }
    }
  }
  return kernel_count;
}

/// The instruction sets that loops may use: all, all without AVX-512, or all without AVX2.
enum Simd { kNative, kNoAvx512, kNoAvx2 };

/// While an object of this class exists, loops use only the given instruction sets.
class SimdLimit {
 public:
  explicit SimdLimit(Simd simd) {
    constexpr int64_t kDisabledTargets[] = {0, HWY_AVX3 | HWY_AVX3_DL,
                                            HWY_AVX3 | HWY_AVX3_DL | HWY_AVX2};
    hwy::DisableTargets(kDisabledTargets[simd]);
  }
  ~SimdLimit() { hwy::DisableTargets(0); }
};

/// The gradient of sum(weights . f(inputs)) with respect to input `input_index`, by central
/// differences in double.
using Function = std::function<std::vector<Array>(const std::vector<Array>&)>;
inline Array numeric_gradient(const Function& f, std::vector<Array> inputs, size_t input_index,
                              const std::vector<Array>& weights) {
  auto objective = [&] {
    double sum = 0;
    const auto outputs = f(inputs);
    for (size_t i = 0; i < weights.size(); ++i) {
      for (size_t j = 0; j < weights[i].values.size(); ++j)
        sum += weights[i].values[j] * outputs[i].values[j];
    }
    return sum;
  };
  Array gradient = inputs[input_index];
  constexpr double kStep = 1e-5;
  for (size_t i = 0; i < gradient.values.size(); ++i) {
    double& x = inputs[input_index].values[i];
    const double old_value = x;
    x = old_value + kStep;
    const double objective_above = objective();
    x = old_value - kStep;
    gradient.values[i] = (objective_above - objective()) / (2 * kStep);
    x = old_value;
  }
  return gradient;
}

inline std::vector<Array> as(DType dtype, std::vector<Array> arrays) {
  for (auto& a : arrays) a.spec.dtype = dtype;
  return arrays;
}

}  // namespace crescent::cpu::test
