// Masks that stand beside calls in graphs of Keras 3. It writes them whether somebody gave them or
// they came with the inputs; those that come by themselves here too need not be given, so that a
// model is the same whoever built it.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "crescent/base/value.h"

namespace crescent::keras {

class GivenMasks {
 public:
  /// `layers` of a functional model, as Keras wrote them, which must stay. `hands_on`: whether the
  /// layer of such an entry lets a mask through.
  GivenMasks(const List& layers, std::function<bool(const Dict& entry)> hands_on);

  /// Whether the masks of this call are those that its inputs bring.
  bool come_along(const Value& node) const;

 private:
  /// The layer of [layer, node, tensor] and the call that the tensor comes from.
  struct Call {
    const Dict* entry = nullptr;
    const Value* node = nullptr;
  };
  Call call_of(const Value& tensor) const;
  /// What makes a mask, in a form in which the same is equal; null when it is not known.
  Value made_by(Value mask) const;
  /// The mask that a tensor brings; null when it has none that is known.
  Value brought_by(Value tensor) const;

  std::map<std::string, const Dict*> entries_;
  std::function<bool(const Dict&)> hands_on_;
};

}  // namespace crescent::keras
