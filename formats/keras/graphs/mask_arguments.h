// The mask arguments of calls in graphs of Keras 3. Keras 3 writes both the masks that a user
// passed and the masks that the inputs carry. Crescent leaves out the latter, since its tensors
// carry their masks too.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>

#include "crescent/base/value.h"

namespace crescent::keras {

class MaskArguments {
 public:
  /// `layers` is the list of layers in a configuration of Keras and must outlive the object.
  /// `passes_masks_on` tells whether a layer, given its entry in the list, passes masks on to its
  /// output.
  MaskArguments(const List& layers, std::function<bool(const Dict& entry)> passes_masks_on);

  /// Whether the mask argument of this call can be left out. It must be the mask that the inputs
  /// carry anyway, and the operations that compute it must be used for such arguments only.
  /// Otherwise these operations stay in the graph; if the argument were left out, Keras would add a
  /// second set of operations of the same names when it opens the file again.
  bool can_be_omitted(const Value& node) const;

 private:
  /// The call that produces a tensor: the entry of its layer in the configuration, and its node.
  struct Call {
    const Dict* entry = nullptr;
    const Value* node = nullptr;
  };
  Call call_of(const Value& tensor) const;
  /// Whether the mask argument of this call is the mask that its inputs carry.
  bool are_masks_of_inputs(const Value& node) const;
  /// Adds the operations that compute masks to `shared_operations_` if the call reads their
  /// results. A mask argument that the inputs carry anyway does not count.
  void find_shared_operations(const Dict& entry, const Value& node);
  /// Describes how a mask is computed (from which tensor, by which operations), in a form that can
  /// be compared; null if that is unknown.
  Value mask_origin(Value mask) const;
  /// Describes the mask that a tensor carries in the same form as mask_origin(); null if it is
  /// unknown or there is none.
  Value tensor_mask(Value tensor) const;

  std::map<std::string, const Dict*> entries_;
  std::set<std::string> shared_operations_;
  std::function<bool(const Dict&)> passes_masks_on_;
};

}  // namespace crescent::keras
