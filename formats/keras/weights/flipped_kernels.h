// Converts kernels of convolutions, and their optimizer slots, that are flipped in files, as those
// of Theano, or have another order of axes, as those of Keras 1.
#pragma once
#include <map>

#include "keras/export.h"
#include "keras/source/match.h"
#include "keras/vocabulary/origin.h"

namespace crescent::keras {

class CRESCENT_KERAS_API FlippedKernels {
 public:
  FlippedKernels(Model& model, const Origin& origin);
  /// The conversion for a variable or one of its slots; null if it needs none.
  Match::Convert convert(const Variable& variable) const;
  /// The shape after conversion; null if the shape stays the same.
  Match::ShapeOf shape(const Variable& variable) const;

  struct KernelTransform {
    Match::Convert convert = nullptr;
    Match::ShapeOf shape = nullptr;
  };

 private:
  KernelTransform of(const Variable& variable) const;

  std::map<const void*, KernelTransform> transforms_;
};

}  // namespace crescent::keras
