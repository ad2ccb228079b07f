// Converts kernels of convolutions that are flipped in files (of Theano) or have another order of
// axes (in Keras 1). Slots of optimizers for such kernels are converted, too.
#pragma once
#include <map>

#include "keras/export.h"
#include "keras/source/match.h"
#include "keras/vocabulary/origin.h"

namespace crescent::keras {

class CRESCENT_KERAS_API FlippedKernels {
 public:
  FlippedKernels(Model& model, const Origin& origin);
  /// The conversion for a variable or for a slot of it; null if none is needed.
  Match::Convert conversion_of(const Variable& variable) const;
  /// The function that returns the shape after conversion; null if the shape stays the same.
  Match::ShapeOf shape_conversion_of(const Variable& variable) const;

  struct KernelTransform {
    Match::Convert convert = nullptr;
    Match::ShapeOf shape = nullptr;
  };

 private:
  KernelTransform transform_for(const Variable& variable) const;

  std::map<const void*, KernelTransform> transforms_;
};

}  // namespace crescent::keras
