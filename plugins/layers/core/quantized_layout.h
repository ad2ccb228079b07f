// How a weight that may be kept in few bits is used: which elements share a scale.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

struct QuantizedLayout {
  Shape shape;              ///< of the weight as floats
  std::vector<int> summed;  ///< axes whose elements share a scale, sorted
  std::vector<int> kept;    ///< the others, in the order in which the scale has them
  Shape scale_shape;        ///< their dims, with 1 between them
  bool is_reverse = false;  ///< of a table whose groups it has; Keras keeps it column by column

  /// A row is a scale's, as of tables, which are read row by row.
  bool is_table() const { return shape.rank() == 2 && summed.front() == 1; }
  /// As a matrix: what is summed by what is kept; a table as it is.
  Shape matrix() const;
  /// Scales in the order of the result's axes, of those with the axes of the weight, 1 where they
  /// were summed; and the other way round.
  Tensor as_scale(const Tensor& of_values) const;
  Tensor scale_of_values(const Tensor& scale) const;
};

/// A variable that a weight is kept in, named by the weight with this ending, or by itself.
struct QuantizedComponent {
  std::string ending;
  Shape shape;
  std::optional<DType> dtype{};  ///< none: as the layer's variables
  bool is_own_name = false;
};
using QuantizedComponents = std::vector<QuantizedComponent>;

}  // namespace crescent
