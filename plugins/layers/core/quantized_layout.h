// The layout of a weight that may be quantized: it determines which elements share a scale.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

struct QuantizedLayout {
  Shape shape;              ///< the shape of the weight as floats
  std::vector<int> summed;  ///< axes whose elements share a scale, sorted
  std::vector<int> kept;    ///< the other axes, in the order of the scale
  Shape scale_shape;        ///< the sizes of the kept axes, with 1 for other axes of the result
  /// whether the weight is the table of a reversed embedding, with the blocks of the forward table;
  /// Keras stores it by columns
  bool is_reverse = false;

  /// Whether each row has a scale, as in embedding tables, from which single rows are read.
  bool is_table() const { return shape.rank() == 2 && summed.front() == 1; }
  /// The shape of the weight as a matrix (summed axes, kept axes); a table keeps its shape.
  Shape matrix() const;
  /// Converts scales with the axes of the weight, where summed axes have size 1, to scales in the
  /// order of the axes of the result, and back.
  Tensor as_scale(const Tensor& of_values) const;
  Tensor scale_of_values(const Tensor& scale) const;
};

/// A variable of a quantized weight. Its name is `ending` if is_own_name is true, else the name of
/// the weight followed by `ending`.
struct QuantizedComponent {
  std::string ending;
  Shape shape;
  std::optional<DType> dtype{};  ///< nullopt: the dtype of the layer's variables
  bool is_own_name = false;
};
using QuantizedComponents = std::vector<QuantizedComponent>;

}  // namespace crescent
