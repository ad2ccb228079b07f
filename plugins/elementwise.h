// Activation functions that compute each element by itself, so that it does not matter to them
// where the channels are.
#pragma once
#include "crescent/layer/activation.h"

namespace crescent {

/// The trait that the schemas of activation functions have if each element is computed by itself.
inline constexpr const char* kElementwise = "elementwise";

inline bool is_elementwise(const Ref<Activation>& activation) {
  return !activation ||
         (activation->info() && activation->info()->schema.traits.find(kElementwise));
}

}  // namespace crescent
