// For authors of ops. An op is a struct with attributes, `infer` (dtypes, shapes and all checks)
// and `vjp`, which is written with ops, so that second derivatives, tracing and new devices need
// nothing extra.
//
//   struct Softmax final : OpOf<Softmax> {
//     static constexpr const char* kName = "softmax";
//     int axis = -1;
//     auto fields() const { return std::tie(axis); }          // equality, hash and printing follow
//     TensorSpecs infer(std::span<const TensorSpec> in) const override;
//     Tensors vjp(const Vjp& v) const override;
//   };
//   Softmax op;
//   op.axis = 1;
//   Tensor y = apply1(op, {x});
//
// Kernels belong to devices (device.h); they never check and never allocate. An op without a kernel
// on the device is computed by decompose() (as simpler ops) or by compute() (on host values).
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

using TensorSpecs = std::vector<TensorSpec>;
CRESCENT_API TensorSpecs specs_of(std::span<const Tensor> tensors);

/// The arguments of Op::vjp.
struct Vjp {
  std::span<const Tensor> inputs;
  std::span<const Tensor> outputs;
  std::span<const Tensor> gradients;  ///< per output; an empty Tensor stands for zero
  std::vector<bool> wanted;           ///< per input, whether its gradient is needed
};

/// The effects of an op besides computing its results, from weakest to strongest. The effect of a
/// scan is that of its body.
enum class Effect : uint8_t {
  none,  ///< no effect: the op may be dropped, merged with an equal one, moved, or constant-folded
  /// May fail on some values: runs as early as its inputs allow; dropped when its result is unread.
  check,
  /// Reads state that changes between runs, such as a clock: never merged, hoisted or
  /// constant-folded.
  state,
  ordered,  ///< visible outside of the program: runs exactly once per run, in the recorded order
};

class CRESCENT_API Op {
 public:
  virtual ~Op();
  virtual std::string_view name() const = 0;  ///< the name without attributes: "matmul"
  /// Returns the specs of the outputs; fails if the inputs do not fit the op.
  virtual TensorSpecs infer(std::span<const TensorSpec> inputs) const = 0;
  /// Returns a gradient for each input, which must have the shape and dtype of the input; an empty
  /// Tensor where there is no gradient or none is wanted. The default differentiates decompose();
  /// when that is empty, the op is not differentiable.
  virtual Tensors vjp(const Vjp& v) const;
  /// Computes the same result by simpler ops; returns no tensors when the op cannot be decomposed.
  virtual Tensors decompose(std::span<const Tensor> inputs) const;
  virtual Effect effect() const { return Effect::none; }
  /// Whether the op accepts complex numbers or strings, as ops that only move elements do. For
  /// other ops apply() rejects these dtypes before it calls infer.
  virtual bool supports_dtype(DType dtype) const;
  /// Computes the op on host values, for devices without a kernel; returns false when it cannot.
  /// `outputs` are allocated by the caller.
  virtual bool compute(std::span<const Tensor> inputs, std::span<Tensor> outputs) const;
  /// Whether the op implements compute(); OpOf answers this from the members of T.
  virtual bool computes() const;
  /// Whether the other op is of the same class with the same attributes.
  virtual bool equals(const Op& other) const = 0;
  virtual size_t hash() const = 0;  ///< the same for ops that are equal
  /// The op with its attributes: "matmul(false, true)".
  virtual std::string text() const = 0;
  /// A short name for profiles: "add", "matmul a'b", "max_pool"; the default is name().
  virtual std::string label() const;
};
using OpPtr = std::shared_ptr<const Op>;

namespace detail {
CRESCENT_API size_t hash_bytes(const void* bytes, size_t count);
inline void mix(size_t& seed, size_t h) {
  seed ^= h + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2);
}
template <class T>
size_t hash_field(const T& x) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>) {
    return hash_bytes(&x, sizeof x);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return hash_bytes(x.data(), x.size());
  } else if constexpr (requires { x.hash(); }) {
    return x.hash();
  } else {
    size_t seed = 0;
    for (const auto& item : x) mix(seed, hash_field(item));
    return seed;
  }
}
/// Compares floats by their bits, as hash_field hashes them: a NaN equals itself, -0 differs from
/// 0.
template <class T>
bool same_field(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T> ||
                       std::is_same_v<T, std::string> || requires { a.hash(); }) {
    return a == b;
  } else {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return same_field(x, y); });
  }
}
template <class... T>
bool same_fields(const std::tuple<T...>& a, const std::tuple<T...>& b) {
  const auto same_as_b = [&](const T&... x) {
    return std::apply([&](const T&... y) { return (same_field(x, y) && ...); }, b);
  };
  return std::apply(same_as_b, a);
}
template <class T>
std::string field_text(const T& x) {
  if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
    std::string text = "[";
    for (const auto& item : x) text += (text.size() > 1 ? ", " : "") + field_text(item);
    return text + "]";
  } else if constexpr (requires { to_text(x); }) {
    return to_text(x);
  } else {
    return std::to_string(static_cast<int>(x));
  }
}
}  // namespace detail

/// Implements the members of Op that follow from T::kName and T::fields().
template <class T>
struct OpOf : Op {
  std::string_view name() const override { return T::kName; }
  bool equals(const Op& other) const override {
    auto* same = dynamic_cast<const T*>(&other);
    return same && detail::same_fields(self().fields(), same->fields());
  }
  size_t hash() const override {
    size_t seed = detail::hash_bytes(T::kName, std::string_view(T::kName).size());
    std::apply([&](const auto&... f) { (detail::mix(seed, detail::hash_field(f)), ...); },
               self().fields());
    return seed;
  }
  std::string text() const override {
    std::string text = T::kName;
    text += '(';
    std::apply(
        [&](const auto&... f) {
          ((text += (text.back() == '(' ? "" : ", ") + detail::field_text(f)), ...);
        },
        self().fields());
    return text + ")";
  }
  bool computes() const override {
    return !std::is_same_v<decltype(&T::compute), decltype(&Op::compute)>;
  }

 private:
  const T& self() const { return static_cast<const T&>(*this); }
};

/// Every op is applied through this function. It calls infer, computes the results on the device
/// (or makes abstract tensors when an input is abstract), records the op into the program that is
/// being traced, and notifies the tapes that watch an input.
CRESCENT_API Tensors apply(OpPtr op, std::span<const Tensor> inputs);

template <std::derived_from<Op> T>
Tensors apply(T op, std::initializer_list<Tensor> inputs) {
  return crescent::apply(std::make_shared<const T>(std::move(op)),
                         std::span<const Tensor>(inputs.begin(), inputs.size()));
}
template <std::derived_from<Op> T>
Tensor apply1(T op, std::initializer_list<Tensor> inputs) {
  return crescent::apply<T>(std::move(op), inputs).front();
}

}  // namespace crescent
