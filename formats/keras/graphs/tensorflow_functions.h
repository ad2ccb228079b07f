// The operations that replace the TensorFlow functions in models of tf.keras.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "crescent/base/value.h"

namespace crescent::keras {

/// A call with its arguments by name. The first argument of a TensorFlow function has the name "".
/// Tensors are references ["layer", node, output].
struct NamedCall {
  std::string function;
  Dict arguments;
};

/// The call of an operation that computes the same as a call of a TensorFlow function. The
/// operation has the name of its class in Keras 3. Fails for functions without such an operation
/// and for arguments that the operation lacks.
NamedCall operation_for(NamedCall tensorflow);

/// Splits a text into its words, which are separated by spaces.
std::vector<std::string> words_of(std::string_view text);

}  // namespace crescent::keras
