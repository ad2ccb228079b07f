// Helpers that compile programs for a device that belongs to the test.
#pragma once
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "crescent/device/lowering.h"
#include "crescent/tensor/tensor.h"
#include "executor/device.h"

namespace crescent::cpu::test {

inline CpuDevice& test_device() {
  static CpuDevice device;
  return device;
}

/// A tensor with the values sin(first), sin(first + 1), ...
inline Tensor sines(const Shape& shape, double first) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(first + static_cast<double>(i)));
  return Tensor::from(values, shape);
}

/// The program of a function of tensors with the specs of `inputs`, as the device gets it.
inline Program lowered(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs) {
  TensorSpecs specs;
  for (const Tensor& x : inputs) specs.push_back(x.spec());
  OptimizeOptions options;
  options.device = &test_device();
  return lower(optimize(trace(f, specs), options), test_device());
}

/// Allocates the outputs of a program.
inline Tensors outputs_of(const Program& program) {
  Tensors outputs;
  for (int value : program.outputs)
    outputs.emplace_back(program.values[static_cast<size_t>(value)]);
  return outputs;
}

/// Runs a program without variables; returns its outputs.
inline Tensors results_of(const Program& program, const Tensors& inputs) {
  Tensors no_variables, outputs = outputs_of(program);
  compile(program, test_device())->run(inputs, no_variables, outputs);
  return outputs;
}

inline bool are_same(const Tensor& a, const Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

}  // namespace crescent::cpu::test
