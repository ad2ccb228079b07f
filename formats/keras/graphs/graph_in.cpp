#include "keras/graphs/graph_in.h"

#include <algorithm>
#include <map>

#include "crescent/base/structure.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

/// Whether the value is a reference to a tensor: ["dense_1", 0, 0] or ["dense_1", 0, 0, {...}].
bool is_reference(const Value& value) {
  if (!value.is_list()) return false;
  const List& items = value.as_list();
  return items.size() >= 3 && items[0].is_string() && items[1].is_int() && items[2].is_int();
}

/// The keys in the order in which Keras flattens a dictionary.
std::vector<std::string> sorted_keys(const Dict& table) {
  std::vector<std::string> keys = table.keys();
  std::sort(keys.begin(), keys.end());
  return keys;
}

void collect_references(const Value& value, List& references) {
  const Value* history = keras_tensor_history(value);
  const Value& reference = history ? *history : value;
  if (is_reference(reference)) {
    const List& items = reference.as_list();
    references.push_back(List{items[0], items[1], items[2]});
  } else if (value.is_list()) {
    for (const Value& item : value.as_list()) collect_references(item, references);
  } else if (value.is_dict()) {
    for (const std::string& key : sorted_keys(value.as_dict()))
      collect_references(value.as_dict().at(key), references);
  }
}

/// Returns the value with each reference to a tensor converted to Crescent's form.
Value with_tensor_references(const Value& value) {
  const Value* history = keras_tensor_history(value);
  const Value& reference = history ? *history : value;
  if (is_reference(reference)) {
    const List& items = reference.as_list();
    return Dict{{"class_name", "__keras_tensor__"},
                {"config", Dict{{"keras_history", List{items[0], items[1], items[2]}}}}};
  }
  if (value.is_list()) {
    List items;
    for (const Value& item : value.as_list()) items.push_back(with_tensor_references(item));
    return items;
  }
  if (!value.is_dict()) return value;
  Dict dict;
  for (const DictEntry& entry : value.as_dict())
    dict.set(entry.key, with_tensor_references(entry.value));
  return dict;
}

/// The list in `value`, which is a list itself or a tuple in the form of Keras 3.
const Value& without_tuple(const Value& value) {
  return is_object(value) && class_of(value) == "__tuple__" ? value.as_dict().at("items") : value;
}

/// The nested lists and dictionaries of a value, in which `true` replaces each reference to a
/// tensor.
Value structure_of_references(const Value& argument) {
  const Value& value = without_tuple(argument);
  if (is_reference(value) || keras_tensor_history(value)) return true;
  if (value.is_list()) {
    List list;
    for (const Value& item : value.as_list()) list.push_back(structure_of_references(item));
    return list;
  }
  if (!value.is_dict()) return {};
  Dict dict;
  for (const DictEntry& entry : value.as_dict())
    dict.set(entry.key, structure_of_references(entry.value));
  return dict;
}

/// Appends the masks in a nested structure, which may be null, in the order of the inputs.
void collect_masks(const Value& structure, List& masks) {
  const Value& value = without_tuple(structure);
  if (value.is_list() && !is_reference(value)) {
    for (const Value& item : value.as_list()) collect_masks(item, masks);
  } else if (value.is_dict() && !keras_tensor_history(value)) {
    for (const std::string& key : sorted_keys(value.as_dict()))
      collect_masks(value.as_dict().at(key), masks);
  } else {
    masks.push_back(with_tensor_references(value));
  }
}

/// The argument `mask` of a call: a mask, or the list of the masks of nested inputs.
Value masks_in(const Value& argument) {
  if (is_reference(argument) || keras_tensor_history(argument))
    return with_tensor_references(argument);
  List masks;
  collect_masks(argument, masks);
  return masks;
}

bool is_lua_class(const ClassInfo* layer) { return layer && layer->origin == "Lua"; }

/// Divides the named arguments of a call. The tensors in arguments that the layer declares as
/// inputs are appended to `inputs`, in the declared order. The other arguments are returned.
Dict split_arguments(const Dict& arguments, const ClassInfo* layer, List& inputs) {
  const std::vector<Argument> declared_arguments =
      layer ? layer->schema.arguments : std::vector<Argument>();
  Dict other_arguments;
  std::map<int, List> inputs_by_index;
  for (const DictEntry& entry : arguments) {
    if (entry.value.is_null()) continue;
    List references;
    collect_references(entry.value, references);
    if (entry.key == "mask") {  // every layer has the argument `mask`, declared or not
      if (!references.empty()) other_arguments.set(entry.key, masks_in(entry.value));
      continue;
    }
    auto argument = std::find_if(declared_arguments.begin(), declared_arguments.end(),
                                 [&](const Argument& a) { return a.name == entry.key; });
    bool is_known = argument != declared_arguments.end() || is_lua_class(layer);
    const bool is_declared_input = argument != declared_arguments.end() && argument->input;
    if (references.empty() || (is_known && !is_declared_input)) {
      other_arguments.set(entry.key, with_tensor_references(entry.value));
      continue;
    }
    List& argument_inputs = is_declared_input ? inputs_by_index[*argument->input] : inputs;
    argument_inputs.insert(argument_inputs.end(), references.begin(), references.end());
  }
  for (const auto& [index, references] : inputs_by_index)
    inputs.insert(inputs.end(), references.begin(), references.end());
  return other_arguments;
}

}  // namespace

const Value* keras_tensor_history(const Value& value) {
  if (!is_object(value) || class_of(value) != "__keras_tensor__") return nullptr;
  const Value* config = value.as_dict().find("config");
  const Value* history =
      config && config->is_dict() ? config->as_dict().find("keras_history") : nullptr;
  if (!history || !is_reference(*history))
    fail("a tensor's keras_history: expected [layer, node, tensor], got ",
         history ? *history : Value());
  return history;
}

namespace {

/// Separates the arguments of a call of a layer whose class is the user's. The inputs of the layer
/// are the tensors in the first positional argument or, without positional arguments, in the first
/// named argument with tensors other than the mask, which is then removed from `kwargs`. Appends
/// the references to the inputs to `inputs`. Returns the nested structure of the inputs and, by
/// number, the further positional arguments.
Dict user_class_arguments_in(List args, Dict& kwargs, List& inputs) {
  for (const DictEntry& entry : Dict(kwargs)) {
    List references;
    collect_references(entry.value, references);
    if (!args.empty() || references.empty() || entry.key == "mask") continue;
    args.push_back(entry.value);
    kwargs.erase(entry.key);
  }
  Dict arguments;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) {
      arguments.set(std::to_string(i), with_tensor_references(args[i]));
      continue;
    }
    collect_references(args[i], inputs);
    const Value structure = nested_or_null(structure_of_references(args[i]));
    if (!structure.is_null()) arguments.set(kInputStructure, structure);
  }
  return arguments;
}

}  // namespace

Value call_in(const Value& node, const ClassInfo* layer) {
  List inputs;
  Dict arguments;
  if (node.is_dict()) {
    const Value *args = node.as_dict().find("args"), *stored_kwargs = node.as_dict().find("kwargs");
    Dict kwargs = stored_kwargs && stored_kwargs->is_dict() ? stored_kwargs->as_dict() : Dict();
    kwargs.erase("training");  // models of Keras 3 ignore a stored value of `training`
    if (args && is_lua_class(layer))
      arguments = user_class_arguments_in(without_tuple(*args).as_list(), kwargs, inputs);
    else if (args)
      collect_references(*args, inputs);
    for (const DictEntry& entry : split_arguments(kwargs, layer, inputs))
      arguments.set(entry.key, entry.value);
  } else {
    List items = is_reference(node) ? List{node} : node.as_list();
    for (const Value& item : items) {
      if (!is_reference(item)) fail("expected [layer, node, tensor], got ", item);
      collect_references(item, inputs);
      const List& parts = item.as_list();
      if (parts.size() > 3 && parts[3].is_dict())
        arguments = split_arguments(parts[3].as_dict(), layer, inputs);
    }
  }
  for (Value& input : inputs) input.as_list().push_back(arguments);
  return inputs;
}

List references_in(const Value& endpoints) {
  List references;
  collect_references(endpoints, references);
  return references;
}

Value structure_in(const Value& endpoints) {
  return nested_or_null(structure_of_references(endpoints));
}

}  // namespace crescent::keras
