// What Keras, as a target of saving, has no words for: found before anything is written.
#pragma once
#include <string>
#include <vector>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

struct Incompatibility {
  std::string place;   ///< "layer 'dense_1'", "optimizer"
  std::string option;  ///< "" for the whole
  std::string reason;
  /// False where the target reads what is written for it and computes nearly the same: no reason
  /// not to write it.
  bool serious = true;
};

/// `model`: core's own form; `compile`: arguments of compile or null. For "keras3": what it reads
/// but computes otherwise. For "keras2": all that 2.3.1 would refuse or compute otherwise.
CRESCENT_KERAS_API std::vector<Incompatibility> incompatibilities_of(const Value& model,
                                                                     const Value& compile,
                                                                     const std::string& target);

CRESCENT_KERAS_API bool any_serious(const std::vector<Incompatibility>& found);
/// One line each.
CRESCENT_KERAS_API std::string to_text(const std::vector<Incompatibility>& found);

}  // namespace crescent::keras
