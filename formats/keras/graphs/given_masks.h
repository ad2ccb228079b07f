// The mask arguments of calls in graphs of Keras 3. Keras 3 writes both the masks that a user
// passed and the masks that the inputs carry. Crescent leaves out the latter, since its tensors
// carry their masks too.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "crescent/base/value.h"

namespace crescent::keras {

class GivenMasks {
 public:
  /// `layers` is the list of layers in a configuration of Keras and must outlive the object.
  /// `passes_on` tells whether a layer, given its entry in the list, passes masks on to its output.
  GivenMasks(const List& layers, std::function<bool(const Dict& entry)> passes_on);

  /// Whether the masks passed to this call are those that its inputs carry anyway.
  bool come_with_inputs(const Value& node) const;

 private:
  /// The layer, by its entry in the configuration, and the call that produce a tensor [layer, node,
  /// tensor].
  struct Call {
    const Dict* entry = nullptr;
    const Value* node = nullptr;
  };
  Call call_of(const Value& tensor) const;
  /// The tensor and operations from which a mask is computed, in a form that can be compared; null
  /// if it is unknown.
  Value mask_origin(Value mask) const;
  /// The same for the mask that a tensor carries; null if it is unknown or there is none.
  Value tensor_mask(Value tensor) const;

  std::map<std::string, const Dict*> entries_;
  std::function<bool(const Dict&)> passes_on_;
};

}  // namespace crescent::keras
