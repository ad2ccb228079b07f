// TensorFlow's functions by our operations: a row for each that models of tf.keras call.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "crescent/base/value.h"

namespace crescent::keras {

/// A call whose arguments have names, the first of TensorFlow's none; tensors among them are
/// ["layer", node, output].
struct NamedCall {
  std::string function;
  Dict arguments;
};

/// What computes the same: the operation's class as Keras 3 calls it, and its arguments. Fails for
/// functions that have no row, and for arguments that ours does not have.
NamedCall operation_for(NamedCall tensorflow);

/// The words of a text, which rows of tables are.
std::vector<std::string> words_of(std::string_view text);

}  // namespace crescent::keras
