// The masks of calls in graphs of Keras 3. It writes masks that a user gave and masks that came
// with the inputs. The latter need not be passed, since they come with the inputs in Crescent too.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "crescent/base/value.h"

namespace crescent::keras {

class GivenMasks {
 public:
  /// `layers` is the list of layers in the configuration of Keras, which must outlive the object.
  /// `passes_on` says whether the layer of an entry passes a mask on.
  GivenMasks(const List& layers, std::function<bool(const Dict& entry)> passes_on);

  /// Whether the masks of this call are those of its inputs.
  bool come_with_inputs(const Value& node) const;

 private:
  /// The layer of [layer, node, tensor] and its call.
  struct Call {
    const Dict* entry = nullptr;
    const Value* node = nullptr;
  };
  Call call_of(const Value& tensor) const;
  /// The origin of a mask in a canonical form; null if it is unknown.
  Value mask_origin(Value mask) const;
  /// The origin of the mask of a tensor; null without a mask or if it is unknown.
  Value tensor_mask(Value tensor) const;

  std::map<std::string, const Dict*> entries_;
  std::function<bool(const Dict&)> hands_on_;
};

}  // namespace crescent::keras
