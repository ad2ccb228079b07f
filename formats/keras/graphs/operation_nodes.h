// Operations in graphs of Keras 3: "x * 2.0" is an entry of the class Multiply of keras.src.ops,
// with its constants among the arguments of its call. In Crescent it is an OperationLayer.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "crescent/base/value.h"

namespace crescent::keras {

/// The class of layers that are operations.
inline constexpr const char* kOperationLayer = "OperationLayer";

/// Whether an entry of a graph is an operation in the form of Keras 3 or of Crescent.
bool is_operation(const Dict& entry);
/// Converts the entry of an operation in the graph of a Keras 3 model to the entry of an
/// OperationLayer.
Dict operation_in(const Dict& entry);
/// Converts the entry of an OperationLayer to the form of Keras 3. `tensor` converts a reference
/// [layer, node, output].
Dict operation_out(const Dict& entry, const std::function<Value(const List& reference)>& tensor);
/// The name of a parameter that an operation has in Crescent but not in Keras, if the
/// OperationLayer with the configuration `layer` sets it to another value than its default; nullopt
/// if there is no such parameter.
std::optional<std::string> parameter_unknown_to_keras(const Dict& layer);
/// Whether the configuration of a model, or of a nested one, has an OperationLayer.
bool has_operation(const Value& config);

}  // namespace crescent::keras
