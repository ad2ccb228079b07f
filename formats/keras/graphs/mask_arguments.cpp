#include "keras/graphs/mask_arguments.h"

#include <algorithm>

#include "keras/graphs/graph_in.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

const Value* find_entry(const Value& node, const char* name) {
  return node.is_dict() ? node.as_dict().find(name) : nullptr;
}

const Value* mask_of(const Value& node) {
  const Value* kwargs = find_entry(node, "kwargs");
  return kwargs ? find_entry(*kwargs, "mask") : nullptr;
}

/// The reference [layer, node, tensor] to the only tensor in a value; null if there is none or more
/// than one.
Value only_reference(const Value& value) {
  const List references = references_in(value);
  return references.size() == 1 ? references.front() : Value();
}

/// The tensors among the positional arguments of a call.
List inputs_of(const Value& node) {
  const Value* args = find_entry(node, "args");
  return args ? references_in(*args) : List();
}

/// Whether an entry is of one of the operations with which layers of Keras compute masks.
bool computes_masks(const Dict& entry) {
  return class_of(entry) == "NotEqual" || class_of(entry) == "Any";
}

const std::string& layer_name_in(const Value& reference) {
  return reference.as_list()[0].as_string();
}

}  // namespace

MaskArguments::MaskArguments(const List& layers, std::function<bool(const Dict&)> passes_masks_on)
    : passes_masks_on_(std::move(passes_masks_on)) {
  for (const Value& layer : layers) entries_[name_of_layer(layer.as_dict())] = &layer.as_dict();
  for (const auto& [name, entry] : entries_)
    if (const Value* nodes = entry->find("inbound_nodes"); nodes && nodes->is_list())
      for (const Value& node : nodes->as_list()) find_shared_operations(*entry, node);
}

MaskArguments::Call MaskArguments::call_of(const Value& tensor) const {
  const List& reference = tensor.as_list();
  const auto found = entries_.find(reference.at(0).as_string());
  if (found == entries_.end()) return {};
  const Value* nodes = found->second->find("inbound_nodes");
  const auto index = static_cast<size_t>(reference.at(1).as_int());
  if (!nodes || !nodes->is_list() || index >= nodes->as_list().size()) return {};
  return {found->second, &nodes->as_list()[index]};
}

// The functions below follow edges backwards. They limit the number of steps, because edges may
// form a cycle in a damaged file.

Value MaskArguments::mask_origin(Value mask) const {
  // the number of calls of the operation "any" that reduced the mask over its last axis
  int64_t any_count = 0;
  for (size_t steps = entries_.size(); steps > 0; --steps) {
    const Call call = call_of(mask);
    const List inputs = call.node ? inputs_of(*call.node) : List();
    if (inputs.size() != 1) return {};
    const std::string operation = class_of(*call.entry);
    const List& args = find_entry(*call.node, "args")->as_list();
    if (operation == "NotEqual" && args.size() == 2)
      return List{any_count, inputs.front(), args.back()};
    if (operation != "Any") return {};
    ++any_count;
    mask = inputs.front();
  }
  return {};
}

Value MaskArguments::tensor_mask(Value tensor) const {
  for (size_t steps = entries_.size(); steps > 0; --steps) {
    const Call call = call_of(tensor);
    const List inputs = call.node ? inputs_of(*call.node) : List();
    if (inputs.size() != 1) return {};
    const Dict config = config_of(*call.entry);
    const std::string name = class_of(*call.entry);
    const Value* value = config.find(name == "Embedding" ? "mask_zero" : "mask_value");
    if (name == "Embedding")
      return value && *value == Value(true) ? Value(List{0, inputs.front(), 0}) : Value();
    if (name == "Masking") return List{1, inputs.front(), value ? *value : Value(0.0)};
    if (!passes_masks_on_(*call.entry)) return {};
    if (const Value* mask = mask_of(*call.node); mask && !mask->is_null()) {
      const Value reference = only_reference(*mask);
      return reference.is_null() ? Value() : mask_origin(reference);
    }
    tensor = inputs.front();
  }
  return {};
}

namespace {

/// Whether named arguments of the call other than the mask contain tensors: Keras 3 passes a mask
/// on only in calls with a single argument of tensors.
bool has_other_tensors(const Value& node) {
  const Value* kwargs = find_entry(node, "kwargs");
  return kwargs && std::any_of(kwargs->as_dict().begin(), kwargs->as_dict().end(),
                               [](const DictEntry& entry) {
                                 return entry.key != "mask" && !references_in(entry.value).empty();
                               });
}

}  // namespace

bool MaskArguments::are_masks_of_inputs(const Value& node) const {
  if (has_other_tensors(node)) return false;
  const List inputs = inputs_of(node);
  const Value* mask_value = mask_of(node);
  const Value mask = mask_value ? only_reference(*mask_value) : Value();
  if (inputs.empty() || mask.is_null()) return false;
  const Value origin = mask_origin(mask);
  return !origin.is_null() && origin == tensor_mask(inputs.front());
}

void MaskArguments::find_shared_operations(const Dict& entry, const Value& node) {
  if (computes_masks(entry) || !node.is_dict()) return;
  Dict arguments = node.as_dict();
  if (are_masks_of_inputs(node)) arguments["kwargs"].as_dict().erase("mask");
  for (const Value& reference : references_in(arguments)) {
    const auto found = entries_.find(layer_name_in(reference));
    if (found != entries_.end() && computes_masks(*found->second))
      shared_operations_.insert(found->first);
  }
}

bool MaskArguments::can_be_omitted(const Value& node) const {
  if (!are_masks_of_inputs(node)) return false;
  Value mask = only_reference(*mask_of(node));
  while (!shared_operations_.contains(layer_name_in(mask))) {
    const Call call = call_of(mask);
    if (class_of(*call.entry) == "NotEqual") return true;
    mask = inputs_of(*call.node).front();
  }
  return false;
}

}  // namespace crescent::keras
