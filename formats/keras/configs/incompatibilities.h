// Finds the parts of a model that a file for the target version of Keras cannot express, before
// anything is written.
#pragma once
#include <string>
#include <vector>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

struct Incompatibility {
  std::string location;  ///< "layer 'dense_1'", "optimizer"
  std::string option;    ///< "": the object as a whole
  std::string reason;
  /// whether saving must fail; false if the target can read the file and computes nearly the same
  /// with it
  bool is_serious = true;
};

/// `model` is the configuration in Crescent's own form; `compile` are the arguments of compile, or
/// null. The result for "keras3" has the parts that Keras 3 reads but computes differently. For
/// "keras2" it also has the parts that Keras 2.3.1 would refuse.
CRESCENT_KERAS_API std::vector<Incompatibility> incompatibilities_of(
    const Value& model, const Value& compile, const std::string& target_generation);

CRESCENT_KERAS_API bool any_serious(const std::vector<Incompatibility>& incompatibilities);
/// The incompatibilities as text, one per line.
CRESCENT_KERAS_API std::string to_text(const std::vector<Incompatibility>& incompatibilities);

}  // namespace crescent::keras
