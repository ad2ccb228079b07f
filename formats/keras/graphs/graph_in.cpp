#include "keras/graphs/graph_in.h"

#include <algorithm>
#include <map>
#include <set>

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

/// Calls f(history), where history is the list [layer, node, tensor], for every tensor in the
/// arguments of a call.
template <class V, class F>
void for_each_history(V& value, F f) {
  if (value.is_list()) {
    for (auto& item : value.as_list()) for_each_history(item, f);
  } else if (value.is_dict()) {
    auto& dict = value.as_dict();
    if (keras_tensor_history(value))
      return f(dict.find("config")->as_dict().find("keras_history")->as_list());
    for (auto& entry : dict) for_each_history(entry.value, f);
  }
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

/// Finds out for which nested models the numbers of calls count from 1 in references, and rewrites
/// these numbers so that they count from 0. They count from 1 if a number is too large otherwise.
class NestedCallNumbers {
 public:
  explicit NestedCallNumbers(const List& layers) {
    for (const Value& layer : layers) {
      const Dict& entry = layer.as_dict();
      std::string name = class_of(entry);
      if (is_sequential(name) || is_functional(name))
        call_counts_[name_of_layer(entry)] = entry.at("inbound_nodes").as_list().size();
      if (is_functional(name)) functional_names_.insert(name_of_layer(entry));
    }
  }

  void record(const List& references) {
    for_each_item(references, [&](const List& items) {
      const auto [range, is_new] =
          ranges_.try_emplace(items[0].as_string(), Range{items[1].as_int(), items[1].as_int()});
      range->second.lowest = std::min(range->second.lowest, items[1].as_int());
      range->second.highest = std::max(range->second.highest, items[1].as_int());
    });
  }

  /// Rewrites references that Keras 3 has written as outputs of a model: there the calls of
  /// functional models, but not those of stacks, count from 1.
  void rewrite_keras3_outputs(List& references) const {
    rewrite(references, [&](const std::string& name) {
      return functional_names_.contains(name) ? ranges_.at(name).lowest > 0 : counts_from_one(name);
    });
  }
  void rewrite(List& references) const {
    rewrite(references, [&](const std::string& name) { return counts_from_one(name); });
  }

 private:
  struct Range {
    int64_t lowest, highest;
  };

  template <class References, class F>
  static void for_each_item(References& references, const F& f) {
    for (auto& reference : references) {
      auto& items = reference.as_list();
      f(items);
      if (items.size() > 3) for_each_history(items[3], f);
    }
  }
  template <class CountsFromOne>
  static void rewrite(List& references, const CountsFromOne& counts_from_one) {
    for_each_item(references, [&](List& items) {
      if (counts_from_one(items[0].as_string())) items[1] = items[1].as_int() - 1;
    });
  }
  bool counts_from_one(const std::string& name) const {
    auto calls = call_counts_.find(name);
    auto range = ranges_.find(name);
    return calls != call_counts_.end() && range != ranges_.end() &&
           range->second.highest >= static_cast<int64_t>(calls->second);
  }

  std::map<std::string, size_t> call_counts_;
  std::set<std::string> functional_names_;
  std::map<std::string, Range> ranges_;  ///< the numbers of calls in the recorded references
};

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

void count_nested_from_zero(List& layers, List& outputs, bool is_keras3) {
  NestedCallNumbers call_numbers(layers), output_numbers(layers);
  for (Value& layer : layers)
    for (Value& node : layer.as_dict()["inbound_nodes"].as_list())
      call_numbers.record(node.as_list());
  (is_keras3 ? output_numbers : call_numbers).record(outputs);
  for (Value& layer : layers)
    for (Value& node : layer.as_dict()["inbound_nodes"].as_list())
      call_numbers.rewrite(node.as_list());
  is_keras3 ? output_numbers.rewrite_keras3_outputs(outputs) : call_numbers.rewrite(outputs);
}

}  // namespace crescent::keras
