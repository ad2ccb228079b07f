// Helpers for tests of a device: the device under test, and the cpu for comparison.
#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>

#include "crescent/crescent.h"
#include "ops/cases.h"

namespace crescent::test {

/// The name of the device under test.
inline std::string device_under_test() {
  const char* name = std::getenv("CRESCENT_DEVICE");
  return name && *name ? name : "cpu";
}

/// While an object of this class exists, another device is the current one.
class DeviceScope {
 public:
  explicit DeviceScope(const std::string& name) : previous_device_(device().class_name()) {
    set_device(name);
  }
  ~DeviceScope() { set_device(previous_device_); }
  DeviceScope(const DeviceScope&) = delete;

 private:
  std::string previous_device_;
};

template <class F>
auto on_cpu(F f) {
  const DeviceScope cpu("cpu");
  return f();
}

/// The value of an integer that the device reports in its information(); -1 if there is none.
inline int64_t reported_number(std::string_view name) {
  const Dict facts = device().information();
  const Value* value = facts.find(name);
  return value ? value->as_int() : -1;
}

/// A copy of the tensor in the memory of the device under test.
inline Tensor on_device(const Tensor& t) { return t.to(device().memory()); }

/// 0, 1, 2, ... as float32.
inline Tensor consecutive_numbers(const Shape& shape, double first = 0) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(first + static_cast<double>(i));
  return Tensor::from(values, shape);
}

/// Pseudo-random numbers from -1 to 1.
inline Tensor numbers(const Shape& shape, int64_t seed) {
  return on_cpu([&] { return SeedGenerator(seed).uniform(shape, -1, 1); });
}

}  // namespace crescent::test
