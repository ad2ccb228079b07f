// The layout of a weight that may be quantized: it determines which elements share a scale.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

struct QuantizedLayout {
  Shape shape;              ///< shape of the weight as floats
  std::vector<int> summed;  ///< axes whose elements share a scale, sorted
  std::vector<int> kept;    ///< the other axes, in the order of the scale
  Shape scale_shape;        ///< the dims of kept axes, with 1 for the others
  /// whether it is the table of a reverse embedding, with the blocks of the forward table; Keras
  /// stores it by columns
  bool is_reverse = false;

  /// Whether each row has a scale, as in tables, of which rows are read.
  bool is_table() const { return shape.rank() == 2 && summed.front() == 1; }
  /// The shape as a matrix: summed by kept axes; that of a table is unchanged.
  Shape matrix() const;
  /// Converts scales with the axes of the weight, of size 1 if summed, to scales in the order of
  /// the axes of the result, and back.
  Tensor as_scale(const Tensor& of_values) const;
  Tensor scale_of_values(const Tensor& scale) const;
};

/// A variable of a quantized weight; its name is that of the weight with this suffix, or its own.
struct QuantizedComponent {
  std::string ending;
  Shape shape;
  std::optional<DType> dtype{};  ///< nullopt: that of the layer's variables
  bool is_own_name = false;
};
using QuantizedComponents = std::vector<QuantizedComponent>;

}  // namespace crescent
