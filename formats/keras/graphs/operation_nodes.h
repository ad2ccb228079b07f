// Operations in graphs of Keras 3: "x * 2.0" is an entry of the class Multiply of keras.src.ops,
// whose constants stand among the arguments of its call. Here it is an OperationLayer.
#pragma once
#include <functional>
#include <set>

#include "crescent/base/value.h"

namespace crescent::keras {

/// The class of a layer that is an operation here.
inline constexpr const char* kOperationLayer = "OperationLayer";

/// Whether an entry of a graph is an operation, as Keras 3 wrote it or as it is here.
bool is_operation(const Dict& entry);
/// The entry as that of an OperationLayer.
Dict operation_in(const Dict& entry);
/// The entry of an OperationLayer as Keras 3 writes it. `tensor` makes what stands there for
/// [layer, node, output].
Dict operation_out(const Dict& entry, const std::function<Value(const List& reference)>& tensor);
/// Whether a model's configuration has an OperationLayer, in a nested model too.
bool has_operation(const Value& config);

}  // namespace crescent::keras
