// The operations that replace the TensorFlow functions in models of tf.keras.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "crescent/base/value.h"

namespace crescent::keras {

/// A call with arguments by name; the first argument of a TensorFlow function has none. Tensors are
/// ["layer", node, output].
struct NamedCall {
  std::string function;
  Dict arguments;
};

/// The call of an operation, named by its class in Keras 3, that computes the same as a call of
/// TensorFlow. Fails for functions without such an operation and for arguments that the operation
/// lacks.
NamedCall operation_for(NamedCall tensorflow);

/// The words of a text in a row of a table.
std::vector<std::string> words_of(std::string_view text);

}  // namespace crescent::keras
