// Kernels that check indices and labels.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "crescent/device/row_error.h"
#include "data_movement/indexing.h"
#include "kernel/loops.h"

namespace crescent::cpu {
namespace {

/// The index of element `i` as text: "[2]", "[0, 3]"; empty for a scalar.
std::string position_text(const Shape& shape, int64_t i) {
  std::vector<std::string> indices;
  for (int axis = shape.rank() - 1; axis >= 0; i /= shape[axis--])
    indices.push_back(std::to_string(i % shape[axis]));
  std::reverse(indices.begin(), indices.end());
  return indices.empty() ? "" : concat(" at [", join(indices), "]");
}

/// True when x is outside of [0, size). A floating-point x is first truncated to an integer, as a
/// cast would do.
template <class T>
bool is_outside(T x, int64_t size) {
  if constexpr (std::is_floating_point_v<T>)
    return !(x > T{-1} && x < static_cast<T>(size));
  else
    return x < 0 || static_cast<int64_t>(x) >= size;
}

/// True when one of n > 0 values is outside of [0, size).
template <class T>
bool contains_outside(const T* x, int64_t n, int64_t size) {
  if constexpr (std::is_integral_v<T>) {
    T minimum = 0, maximum = 0;
    extremes_loop(sizeof(T), std::is_signed_v<T>)(x, n, &minimum, &maximum);
    return is_outside(minimum, size) || is_outside(maximum, size);
  } else {
    bool has_outside = false;
    for (int64_t i = 0; i < n; ++i) has_outside |= is_outside(x[i], size);
    return has_outside;
  }
}

template <class T>
class CheckKernel final : public Kernel {
 public:
  CheckKernel(const CheckIndices& op, const Request& r)
      : op_(op),
        shape_(r.inputs[0].shape),
        element_count_(shape_.size()),
        convert_(std::is_integral_v<T> ? nullptr
                                       : cast_loop(r.inputs[0].dtype, r.outputs[0].dtype)) {}

  void run(const Arguments& a) const override {
    const T* x = a.in<T>(0);
    std::atomic<bool> any_outside = false;
    a.threads.blocks(element_count_, kMinTaskElements, [&](int64_t begin, int64_t end) {
      if (begin < end && contains_outside(x + begin, end - begin, op_.size)) any_outside = true;
    });
    if (any_outside) fail_for_outside_value(x);
    if (convert_) convert_(x, a.outputs[0], element_count_);
  }
  std::string name() const override { return "loop"; }

 private:
  [[noreturn]] void fail_for_outside_value(const T* x) const {
    const int64_t i =
        std::find_if(x, x + element_count_, [this](T v) { return is_outside(v, op_.size); }) - x;
    const std::string value = std::is_integral_v<T> ? to_text(static_cast<int64_t>(x[i]))
                                                    : to_text(static_cast<double>(x[i]));
    const std::string message =
        concat(op_.what, " ", value, position_text(shape_, i), " is out of range for ", op_.of);
    if (shape_.rank() == 0) throw DataError(message);
    throw RowError(message, i / (element_count_ / shape_[0]), shape_[0]);
  }
  static constexpr int64_t kMinTaskElements = 65536;  ///< fewest elements per task
  CheckIndices op_;
  Shape shape_;
  int64_t element_count_;
  UnaryLoop convert_;
};

}  // namespace

std::unique_ptr<Kernel> make_check_indices(const Request& r) {
  const auto& op = static_cast<const CheckIndices&>(r.op);
  switch (r.inputs[0].dtype) {
    case DType::int32:
      return std::make_unique<CheckKernel<int32_t>>(op, r);
    case DType::int64:
      return std::make_unique<CheckKernel<int64_t>>(op, r);
    case DType::uint8:
      return std::make_unique<CheckKernel<uint8_t>>(op, r);
    case DType::int8:
      return std::make_unique<CheckKernel<int8_t>>(op, r);
    case DType::int16:
      return std::make_unique<CheckKernel<int16_t>>(op, r);
    case DType::float32:
      return std::make_unique<CheckKernel<float>>(op, r);
    case DType::float64:
      return std::make_unique<CheckKernel<double>>(op, r);
    default:
      return nullptr;
  }
}

}  // namespace crescent::cpu
