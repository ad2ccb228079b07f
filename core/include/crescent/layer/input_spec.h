// InputSpec: the dtype, shape and rank that a layer accepts for one input. Unset members are not
// checked.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

struct CRESCENT_API InputSpec {
  InputSpec();
  InputSpec(const InputSpec&);
  InputSpec(InputSpec&&) noexcept;
  InputSpec& operator=(const InputSpec&);
  InputSpec& operator=(InputSpec&&) noexcept;
  ~InputSpec();

  std::optional<DType> dtype;
  std::optional<Shape> shape;  ///< -1 accepts any size; sets ndim
  std::optional<int> ndim, max_ndim, min_ndim;
  std::vector<std::pair<int, int64_t>> axes;  ///< axis (may be negative) -> required size

  static InputSpec with_ndim(int ndim);
  static InputSpec with_min_ndim(int ndim);
  InputSpec& axis(int axis, int64_t dim);
  /// Fails with the message of Keras 2.3.1: "Input 0 is incompatible with layer d: expected ndim=4,
  /// found ndim=3". Order of checks: ndim, max_ndim, min_ndim, dtype, axes, shape.
  void check(int index, const std::string& layer, const TensorSpec& input) const;
};
/// "InputSpec(dtype=float32, shape=(None, 3), ndim=2, axes={-1: 3})": lists the set members only.
CRESCENT_API std::string to_text(const InputSpec& spec);

}  // namespace crescent
