#include "keras/graphs/call_numbers.h"

#include <map>
#include <set>

#include "keras/graphs/graph_in.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

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

/// The names of those layers that are graphs of layers.
std::set<std::string> names_of_graphs(const List& layers) {
  std::set<std::string> names;
  for (const Value& layer : layers)
    if (is_graph(class_of(layer), config_of(layer.as_dict())))
      names.insert(name_of_layer(layer.as_dict()));
  return names;
}

template <class References, class F>
void for_each_reference(References& references, const F& f) {
  for (auto& reference : references) {
    auto& items = reference.as_list();
    f(items);
    if (items.size() > 3) for_each_history(items[3], f);
  }
}

/// Numbers the calls from 0 of those models for which `counts_from_one` is true.
template <class CountsFromOne>
void rewrite(List& references, const CountsFromOne& counts_from_one) {
  for_each_reference(references, [&](List& items) {
    if (counts_from_one(items[0].as_string())) items[1] = items[1].as_int() - 1;
  });
}

/// The numbers of calls that stand in references, by the name of the called layer.
class CallNumbers {
 public:
  void record(const List& references) {
    for_each_reference(references, [&](const List& items) {
      numbers_[items[0].as_string()].insert(items[1].as_int());
    });
  }
  bool contains(const std::string& name, int64_t number) const {
    const auto numbers = numbers_.find(name);
    return numbers != numbers_.end() && numbers->second.contains(number);
  }

 private:
  std::map<std::string, std::set<int64_t>> numbers_;
};

}  // namespace

void count_nested_from_zero(List& layers, List& outputs, bool is_keras3) {
  const std::set<std::string> graph_names = names_of_graphs(layers);
  std::map<std::string, int64_t> call_counts;  // those of nested models
  CallNumbers node_numbers, output_numbers;
  for (Value& layer : layers) {
    Dict& entry = layer.as_dict();
    List& nodes = entry["inbound_nodes"].as_list();
    for (const Value& node : nodes) node_numbers.record(node.as_list());
    const std::string name = name_of_layer(entry);
    if (is_sequential(class_of(entry)) || graph_names.contains(name))
      call_counts[name] = static_cast<int64_t>(nodes.size());
  }
  output_numbers.record(outputs);
  // The highest number, that of the last call, is in the references if all calls are used.
  const auto exceeds = [&](const CallNumbers& numbers, const std::string& name) {
    const auto count = call_counts.find(name);
    return count != call_counts.end() && numbers.contains(name, count->second);
  };
  const auto nodes_count_from_one = [&](const std::string& name) {
    const bool is_shown_by_outputs =
        !is_keras3 && exceeds(output_numbers, name) && !node_numbers.contains(name, 0);
    return exceeds(node_numbers, name) || is_shown_by_outputs;
  };
  const auto outputs_count_from_one = [&](const std::string& name) {
    if (is_keras3 && graph_names.contains(name)) return !output_numbers.contains(name, 0);
    return exceeds(node_numbers, name) || exceeds(output_numbers, name);
  };
  for (Value& layer : layers)
    for (Value& node : layer.as_dict()["inbound_nodes"].as_list())
      rewrite(node.as_list(), nodes_count_from_one);
  rewrite(outputs, outputs_count_from_one);
}

List outputs_for_keras3(List outputs, const List& layers) {
  const std::set<std::string> names = names_of_graphs(layers);
  for (Value& reference : outputs) {
    List& items = reference.as_list();
    if (names.contains(items[0].as_string())) items[1] = items[1].as_int() + 1;
  }
  return outputs;
}

}  // namespace crescent::keras
