// Kernels of convolutions that files have with their positions backwards, as Theano's, which turn
// the kernel around, or with their axes in another order, as Keras 1; and what an optimizer keeps
// of them.
#pragma once
#include <map>

#include "keras/export.h"
#include "keras/source/match.h"
#include "keras/vocabulary/origin.h"

namespace crescent::keras {

class CRESCENT_KERAS_API TurnedKernels {
 public:
  TurnedKernels(Model& model, const Origin& origin);
  /// Of the file's numbers for this variable, or for a slot of it; null: as they are.
  Match::Convert convert(const Variable& variable) const;
  /// The shape that this gives; null: the same.
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
