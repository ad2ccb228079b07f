#include "keras/graphs/tensorflow_calls.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "crescent/base/mapped.h"
#include "crescent/layer/operation.h"
#include "keras/graphs/graph_in.h"
#include "keras/graphs/operation_nodes.h"
#include "keras/graphs/tensorflow_functions.h"
#include "keras/graphs/tensorflow_nodes.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

constexpr const char* kClasses[] = {"TFOpLambda", "SlicingOpLambda", kTensorFlowNode};
constexpr const char* kConstant = "_CONSTANT_VALUE";

/// Whether the value is a reference to a tensor without arguments: ["dense_1", 0, 0].
bool is_bare_reference(const Value& value) {
  if (!value.is_list() || value.as_list().size() != 3) return false;
  const List& parts = value.as_list();
  return parts[0].is_string() && parts[1].is_int() && parts[2].is_int();
}

/// The arguments of a call: the first argument, which is a tensor, a constant or a list of these,
/// and the named arguments.
struct CallInputs {
  List first_arguments;
  bool is_list = false;
  Dict named_arguments;
};

/// Reads the arguments of a call from ["dense_1", 0, 0, {...}] or ["_CONSTANT_VALUE", -1, value,
/// {...}], or from a list of such entries.
CallInputs inputs_in(const Value& node) {
  const List& parts = node.as_list();
  CallInputs inputs;
  inputs.is_list = !parts.empty() && parts.front().is_list();
  for (const Value& call_input : inputs.is_list ? parts : List{node}) {
    const List& item = call_input.as_list();
    if (item.size() < 3) fail("expected [layer, node, output], got ", call_input);
    inputs.first_arguments.push_back(
        item[0] == Value(kConstant) ? item[2] : Value(List{item[0], item[1], item[2]}));
    if (item.size() > 3) inputs.named_arguments = item[3].as_dict();
  }
  return inputs;
}

/// Appends the references to tensors in a value to `inputs` and replaces each by {"input": i}.
Value with_inputs(const Value& value, List& inputs) {
  return mapped(value, [&](const Value& item) -> std::optional<Value> {
    if (!is_bare_reference(item)) return std::nullopt;
    List reference = item.as_list();
    reference.emplace_back(Dict());
    inputs.emplace_back(std::move(reference));
    return Dict{{"input", inputs.size() - 1}};
  });
}

NamedCall call_of(const Dict& entry) {
  const List& nodes = entry.at("inbound_nodes").as_list();
  if (nodes.size() != 1) fail("expected one call, got ", nodes.size());
  CallInputs inputs = inputs_in(nodes.front());
  if (class_of(entry) == kTensorFlowNode)
    return tensorflow_node_in(config_of(entry), std::move(inputs.first_arguments));
  Dict arguments{{"", inputs.is_list ? Value(std::move(inputs.first_arguments))
                                     : inputs.first_arguments.front()}};
  for (const DictEntry& named_argument : inputs.named_arguments)
    arguments.set(named_argument.key, named_argument.value);
  return {config_of(entry).at("function").as_string(), std::move(arguments)};
}

Dict operation_layer_entry(const Dict& entry) {
  const std::string name = name_of_layer(entry);
  try {
    const NamedCall call = operation_for(call_of(entry));
    List inputs;
    Value arguments = with_inputs(Value(call.arguments), inputs);
    return {
        {"class_name", kOperationLayer},
        {"config",
         Dict{{"name", name}, {"operation", call.function}, {"arguments", std::move(arguments)}}},
        {"name", name},
        {"inbound_nodes", List{std::move(inputs)}}};
  } catch (const Error& error) {
    fail("layer '", name, "': ", error.what());
  }
}

/// Finds the calls of TensorFlow functions that are needed for given tensors, going backwards from
/// these.
class RequiredCalls {
 public:
  explicit RequiredCalls(const List& layers) {
    for (const Value& layer : layers)
      if (is_tensorflow_call(layer.as_dict()))
        calls_[name_of_layer(layer.as_dict())] = &layer.as_dict();
  }
  void add(const Value& tensors) {
    for (List pending_references = references_in(tensors); !pending_references.empty();) {
      const std::string name = pending_references.back().as_list().front().as_string();
      pending_references.pop_back();
      const auto call = calls_.find(name);
      if (call == calls_.end() || required_.contains(name)) continue;
      const Dict& entry = required_[name] = operation_layer_entry(*call->second);
      for (Value& reference : references_in(entry.at("inbound_nodes")))
        pending_references.push_back(std::move(reference));
    }
  }
  std::map<std::string, Dict> take_entries() { return std::move(required_); }

 private:
  std::map<std::string, const Dict*> calls_;
  std::map<std::string, Dict> required_;
};

}  // namespace

bool is_tensorflow_call(const Dict& entry) {
  const std::string name = class_of(entry);
  return std::any_of(std::begin(kClasses), std::end(kClasses),
                     [&](const char* each) { return name == each; });
}

std::map<std::string, Dict> tensorflow_calls_in(const List& layers, const List& outputs) {
  RequiredCalls required(layers);
  required.add(outputs);
  for (const Value& layer : layers)
    if (const Value* nodes = layer.as_dict().find("inbound_nodes");
        nodes && !is_tensorflow_call(layer.as_dict()))
      required.add(*nodes);
  return required.take_entries();
}

bool add_loss_or_metric(const Dict& entry, Dict& graph) {
  const std::string name = class_of(entry);
  const bool is_metric = name == "AddMetric";
  if (!is_metric && name != "AddLoss") return false;
  Value& added = graph[is_metric ? "added_metrics" : "added_losses"];
  if (!added.is_list()) added = List();
  for (const Value& tensor : references_in(entry.at("inbound_nodes"))) {
    if (!is_metric) {
      added.as_list().push_back(tensor);
      continue;
    }
    const std::string* metric_name = text_at(config_of(entry), "metric_name");
    added.as_list().push_back(List{metric_name ? *metric_name : name_of_layer(entry), tensor});
  }
  return true;
}

}  // namespace crescent::keras
