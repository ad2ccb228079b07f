// Theano's convolutions turn the kernel around, so its files have kernels, and what an optimizer
// keeps of them, with the positions backwards.
#pragma once
#include <set>

#include "keras/configs/origin.h"
#include "keras/weights/match.h"

namespace crescent::keras {

class TurnedKernels {
 public:
  TurnedKernels(Model& model, const Origin& origin);
  /// Of the file's numbers for this variable, or for a slot of it; null: as they are.
  Match::Convert convert(const Variable& variable) const;

 private:
  std::set<const void*> variables_;
};

}  // namespace crescent::keras
