#include "keras/graphs/graph_in.h"

#include <algorithm>
#include <map>

#include "keras/configs/objects.h"

namespace crescent::keras {
namespace {

/// ["dense_1", 0, 0] or ["dense_1", 0, 0, {...}].
bool is_reference(const Value& value) {
  if (!value.is_list()) return false;
  const List& items = value.as_list();
  return items.size() >= 3 && items[0].is_string() && items[1].is_int() && items[2].is_int();
}

/// In the order in which Keras flattens a table.
std::vector<std::string> sorted_keys(const Dict& table) {
  std::vector<std::string> keys = table.keys();
  std::sort(keys.begin(), keys.end());
  return keys;
}

void collect_references(const Value& value, List& found) {
  const Value* history = keras_tensor_history(value);
  const Value& reference = history ? *history : value;
  if (is_reference(reference)) {
    const List& items = reference.as_list();
    found.push_back(List{items[0], items[1], items[2]});
  } else if (value.is_list()) {
    for (const Value& item : value.as_list()) collect_references(item, found);
  } else if (value.is_dict()) {
    for (const std::string& key : sorted_keys(value.as_dict()))
      collect_references(value.as_dict().at(key), found);
  }
}

/// The value with every reference in it in the one form that Crescent knows.
Value marked(const Value& value) {
  const Value* history = keras_tensor_history(value);
  const Value& reference = history ? *history : value;
  if (is_reference(reference)) {
    const List& items = reference.as_list();
    return Dict{{"class_name", "__keras_tensor__"},
                {"config", Dict{{"keras_history", List{items[0], items[1], items[2]}}}}};
  }
  if (value.is_list()) {
    List items;
    for (const Value& item : value.as_list()) items.push_back(marked(item));
    return items;
  }
  if (!value.is_dict()) return value;
  Dict dict;
  for (const DictEntry& entry : value.as_dict()) dict.set(entry.key, marked(entry.value));
  return dict;
}

/// Calls f(history) for every reference in arguments of a call.
template <class V, class F>
void each_history(V& value, F f) {
  if (value.is_list()) {
    for (auto& item : value.as_list()) each_history(item, f);
  } else if (value.is_dict()) {
    auto& dict = value.as_dict();
    if (keras_tensor_history(value))
      return f(dict.find("config")->as_dict().find("keras_history")->as_list());
    for (auto& entry : dict) each_history(entry.value, f);
  }
}

/// Arguments of a call: tensors that are inputs by another name join the inputs, at their place
/// when the layer declares one; the rest stays by name.
Dict split_arguments(const Dict& arguments, const std::vector<Argument>& declared, List& inputs) {
  Dict rest;
  std::map<int, List> placed;
  for (const DictEntry& entry : arguments) {
    if (entry.value.is_null()) continue;
    List references;
    collect_references(entry.value, references);
    if (entry.key == "mask") {  // of every layer
      if (!references.empty()) rest.set(entry.key, marked(entry.value));
      continue;
    }
    auto argument = std::find_if(declared.begin(), declared.end(),
                                 [&](const Argument& a) { return a.name == entry.key; });
    bool known = argument != declared.end();
    if (references.empty() || (known && !argument->place)) {
      rest.set(entry.key, marked(entry.value));
      continue;
    }
    List& place = known ? placed[*argument->place] : inputs;
    place.insert(place.end(), references.begin(), references.end());
  }
  for (const auto& [place, references] : placed)
    inputs.insert(inputs.end(), references.begin(), references.end());
  return rest;
}

class NestedCounting {
 public:
  NestedCounting(const List& layers, const List& outputs) {
    for (const Value& layer : layers) {
      const Dict& entry = layer.as_dict();
      std::string name = class_of(entry);
      if (is_sequential(name) || is_functional(name))
        calls_[name_of_layer(entry)] = entry.at("inbound_nodes").as_list().size();
    }
    for (const Value& layer : layers)
      for (const Value& node : layer.as_dict().at("inbound_nodes").as_list())
        look_at(node.as_list());
    look_at(outputs);
  }

  void rewrite(List& references) const {
    auto count_from_zero = [&](List& items) {
      if (from_one(items[0].as_string())) items[1] = items[1].as_int() - 1;
    };
    for (Value& reference : references) {
      List& items = reference.as_list();
      count_from_zero(items);
      if (items.size() > 3) each_history(items[3], count_from_zero);
    }
  }

 private:
  void look_at(const List& references) {
    auto look = [&](const List& items) {
      auto highest = highest_.try_emplace(items[0].as_string(), 0).first;
      highest->second = std::max(highest->second, items[1].as_int());
    };
    for (const Value& reference : references) {
      const List& items = reference.as_list();
      look(items);
      if (items.size() > 3) each_history(items[3], look);
    }
  }
  bool from_one(const std::string& name) const {
    auto calls = calls_.find(name);
    auto highest = highest_.find(name);
    return calls != calls_.end() && highest != highest_.end() &&
           highest->second >= static_cast<int64_t>(calls->second);
  }

  std::map<std::string, size_t> calls_;
  std::map<std::string, int64_t> highest_;
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

Value call_in(const Value& node, const std::vector<Argument>& declared) {
  List inputs;
  Dict arguments;
  if (node.is_dict()) {
    if (const Value* args = node.as_dict().find("args")) collect_references(*args, inputs);
    if (const Value* given = node.as_dict().find("kwargs"); given && given->is_dict()) {
      Dict kwargs = given->as_dict();
      kwargs.erase("training");  // Keras 3's models go by their own, whatever stands there
      arguments = split_arguments(kwargs, declared, inputs);
    }
  } else {
    List items = is_reference(node) ? List{node} : node.as_list();
    for (const Value& item : items) {
      if (!is_reference(item)) fail("expected [layer, node, tensor], got ", item);
      collect_references(item, inputs);
      const List& parts = item.as_list();
      if (parts.size() > 3 && parts[3].is_dict())
        arguments = split_arguments(parts[3].as_dict(), declared, inputs);
    }
  }
  for (Value& input : inputs) input.as_list().push_back(arguments);
  return inputs;
}

List references_in(const Value& ends) {
  List references;
  collect_references(ends, references);
  return references;
}

List keys_in(const Value& ends) {
  List keys;
  if (!ends.is_dict() || keras_tensor_history(ends)) return keys;
  for (const std::string& key : sorted_keys(ends.as_dict())) {
    const Value& end = ends.as_dict().at(key);
    if (!is_reference(end) && !keras_tensor_history(end)) return {};
    keys.emplace_back(key);
  }
  return keys;
}

void count_nested_from_zero(List& layers, List& outputs) {
  NestedCounting counting(layers, outputs);
  for (Value& layer : layers)
    for (Value& node : layer.as_dict()["inbound_nodes"].as_list()) counting.rewrite(node.as_list());
  counting.rewrite(outputs);
}

}  // namespace crescent::keras
