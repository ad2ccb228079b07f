// Calls of TensorFlow's functions in graphs of tf.keras 2.4 to 2.15: "x * 2.0" is a layer of the
// class TFOpLambda with the function "math.multiply", whose other arguments stand by name in its
// node. Before that (2.0 to 2.3) TensorFlowOpLayer holds a node of TensorFlow's own graph. Here
// each is an OperationLayer.
#pragma once
#include <map>
#include <string>

#include "crescent/base/value.h"

namespace crescent::keras {

bool is_tensorflow_call(const Dict& entry);

/// The calls among a graph's layers as entries of OperationLayers, by name: those that something
/// needs. The others worked out sizes from shapes, which nothing here does at run time.
std::map<std::string, Dict> tensorflow_calls_in(const List& layers, const List& outputs);

/// The loss or metric of symbols that an entry of the class AddLoss or AddMetric stands for joins
/// those of the graph; false for every other entry.
bool take_addition(const Dict& entry, Dict& graph);

}  // namespace crescent::keras
