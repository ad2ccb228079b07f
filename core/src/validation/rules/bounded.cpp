#include "validation/rules/bounded.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/elements.h"

namespace crescent::validation {

double unit_roundoff(DType dtype, Rounding rounding) {
  if (rounding == Rounding::float64) return 0x1p-53;
  switch (dtype) {
    case DType::float64:
      return 0x1p-53;
    case DType::float16:
      return 0x1p-11;
    case DType::bfloat16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

double sum_roundoff(DType dtype, Rounding rounding) {
  return std::min(unit_roundoff(dtype, rounding), 0x1p-24);
}

double smallest_number(DType dtype, Rounding rounding) {
  if (rounding == Rounding::float64 || dtype == DType::float64)
    return std::numeric_limits<double>::min();
  return dtype == DType::float16 ? 0x1p-24 : static_cast<double>(std::numeric_limits<float>::min());
}

double largest_number(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return std::numeric_limits<double>::max();
    case DType::float16:
      return 65504;
    default:
      return static_cast<double>(std::numeric_limits<float>::max());
  }
}

double rounded_to(double number, DType dtype) {
  return with_element_type(dtype,
                           [&]<class T>(T* type) { return number_of(element_of(number, type)); });
}

int64_t wrap_around(int64_t number, DType dtype) {
  switch (dtype) {
    case DType::int32:
      return static_cast<int32_t>(number);
    case DType::int16:
      return static_cast<int16_t>(number);
    case DType::int8:
      return static_cast<int8_t>(number);
    case DType::uint8:
      return static_cast<uint8_t>(number);
    case DType::boolean:
      return number != 0;
    default:
      return number;
  }
}

bool Bounded::is_exact() const {
  return std::all_of(bound.begin(), bound.end(), [](double e) { return e == 0; });
}

void Bounded::widen(size_t i, double added_error) {
  if (added_error == 0) return;
  if (bound.empty()) bound.assign(size(), 0);
  bound[i] += added_error;
}

void Bounded::mark_undecided(Rounding rounding) {
  if (is_real()) {
    const double overflow_bound =
        rounding == Rounding::float64 ? largest_number(DType::float64) : largest_number(spec.dtype);
    for (size_t i = 0; i < real.size(); ++i)
      if (!(std::abs(real[i]) + error(i) < overflow_bound)) widen(i, kUndecided);
  }
  for (double& e : bound)
    if (!(e < kUndecided)) e = kUndecided;
}

Bounded Bounded::zeros(const TensorSpec& spec) {
  Bounded value{spec, {}, {}, {}, {}};
  if (value.is_real())
    value.real.resize(value.size());
  else if (value.is_whole())
    value.whole.resize(value.size());
  else
    value.opaque = Tensor(spec);
  return value;
}

Bounded Bounded::undecided(const TensorSpec& spec) {
  Bounded value = zeros(spec);
  value.bound.assign(value.size(), kUndecided);
  return value;
}

Bounded Bounded::of(const Tensor& tensor, Rounding rounding) {
  Bounded value{tensor.spec(), {}, {}, {}, {}};
  if (!value.is_real() && !value.is_whole()) {
    value.opaque = tensor;
    return value;
  }
  const size_t size = value.size();
  const void* bytes = size > 0 ? tensor.raw() : nullptr;
  if (value.is_whole()) {
    value.whole.resize(size);
    with_element_type(tensor.dtype(), [&]<class T>(T*) {
      if constexpr (std::is_integral_v<T>)
        std::copy_n(static_cast<const T*>(bytes), size, value.whole.begin());
    });
    return value;
  }
  value.real.resize(size);
  with_element_type(tensor.dtype(), [&]<class T>(T*) {
    if constexpr (!std::is_same_v<T, Complex> && !std::is_same_v<T, StringId>)
      for (size_t i = 0; i < size; ++i) value.real[i] = number_of(static_cast<const T*>(bytes)[i]);
  });
  const double underflow_bound = smallest_number(tensor.dtype(), rounding);
  for (size_t i = 0; i < size; ++i) {
    if (value.real[i] != 0 && std::abs(value.real[i]) < underflow_bound)
      value.widen(i, underflow_bound);
  }
  value.mark_undecided(rounding);
  return value;
}

namespace {

Tensor tensor_of_values(const Bounded& value, DType dtype) {
  Tensor tensor = Tensor::uninitialized({dtype, value.spec.shape});
  if (value.size() == 0) return tensor;
  void* bytes = tensor.mutable_raw();
  with_element_type(dtype, [&]<class T>(T* type) {
    if constexpr (!std::is_same_v<T, Complex> && !std::is_same_v<T, StringId>) {
      T* target = static_cast<T*>(bytes);
      for (size_t i = 0; i < value.size(); ++i) {
        if constexpr (std::is_integral_v<T>)
          target[i] = static_cast<T>(value.whole[i]);
        else
          target[i] = element_of(value.real[i], type);
      }
    }
  });
  return tensor;
}

}  // namespace

Tensor rounded(const Bounded& value) {
  if (!value.is_real() && !value.is_whole()) return value.opaque;
  return tensor_of_values(value, value.spec.dtype);
}

Tensor widened(const Bounded& value) {
  return value.is_real() ? tensor_of_values(value, DType::float64) : rounded(value);
}

}  // namespace crescent::validation
