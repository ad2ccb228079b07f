#include "keras/keras1/gates.h"

#include <algorithm>
#include <string_view>

#include "crescent/ops/ops.h"

namespace crescent::keras {
namespace {

/// The order of the gates of a class in Keras 1 and in Keras 2. Each gate is
/// the last letter in the names of its arrays.
struct GateOrder {
  std::string_view keras1, keras2;
};
constexpr GateOrder kGateOrders[] = {{"icfo", "ifco"}, {"zrh", "zrh"}};
// the letters for the arrays of a gate: kernel, recurrent kernel and bias
constexpr std::string_view kArrayLetters = "WUb";

/// The letters of the array and of the gate in the name of an array: 'W' and 'i' for "lstm_1_W_i"
/// or "lstm_1_W_i:0"; zeros for other names.
std::pair<char, char> array_and_gate(std::string_view name) {
  if (name.ends_with(":0")) name.remove_suffix(2);
  const size_t end = name.size();
  const bool is_gate = end > 4 && name[end - 2] == '_' && name[end - 4] == '_';
  return is_gate ? std::pair{name[end - 3], name[end - 1]} : std::pair{'\0', '\0'};
}

/// Whether the names from index `first` on are those of the arrays of all gates, gate by gate.
bool are_gate_arrays(const Names& names, size_t first, const GateOrder& order) {
  const size_t count = order.keras1.size() * kArrayLetters.size();
  if (first + count > names.size()) return false;
  for (size_t i = 0; i < count; ++i)
    if (array_and_gate(names[first + i]) !=
        std::pair{kArrayLetters[i % kArrayLetters.size()], order.keras1[i / kArrayLetters.size()]})
      return false;
  return true;
}

std::string path_in(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

}  // namespace

Names JoinedGates::join_gates(const std::string& group, const Names& weights) {
  Names result;
  for (size_t i = 0; i < weights.size();) {
    const auto order = std::find_if(
        std::begin(kGateOrders), std::end(kGateOrders),
        [&](const GateOrder& candidate) { return are_gate_arrays(weights, i, candidate); });
    if (order == std::end(kGateOrders)) {
      result.push_back(weights[i++]);
      continue;
    }
    for (size_t array = 0; array < kArrayLetters.size(); ++array) {
      result.push_back(weights[i + array] + " and other gates");
      Names& datasets = parts_by_name_[path_in(group, result.back())];
      datasets.clear();
      for (const char gate : order->keras2)
        datasets.push_back(
            path_in(group, weights[i + order->keras1.find(gate) * kArrayLetters.size() + array]));
    }
    i += order->keras1.size() * kArrayLetters.size();
  }
  return result;
}

std::vector<std::optional<Names>> JoinedGates::texts(const Names& groups, const std::string& name) {
  auto lists = file_.texts(groups, name);
  if (name == "weight_names")
    for (size_t i = 0; i < lists.size(); ++i)
      if (lists[i]) lists[i] = join_gates(groups[i], *lists[i]);
  return lists;
}

Names JoinedGates::parts_of(const Names& datasets, std::vector<size_t>& part_counts) const {
  Names result;
  for (const std::string& dataset : datasets) {
    const auto found = parts_by_name_.find(dataset);
    const Names datasets_of_parts = found == parts_by_name_.end() ? Names{dataset} : found->second;
    part_counts.push_back(datasets_of_parts.size());
    result.insert(result.end(), datasets_of_parts.begin(), datasets_of_parts.end());
  }
  return result;
}

std::vector<TensorSpec> JoinedGates::describe(const Names& datasets) {
  std::vector<size_t> part_counts;
  const std::vector<TensorSpec> part_specs = file_.describe(parts_of(datasets, part_counts));
  std::vector<TensorSpec> specs;
  size_t part_index = 0;
  for (const size_t count : part_counts) {
    TensorSpec spec = part_specs[part_index];
    if (const int last_axis = spec.shape.rank() - 1; count > 1 && last_axis >= 0)
      spec.shape.set(last_axis, spec.shape[last_axis] * static_cast<int64_t>(count));
    specs.push_back(spec);
    part_index += count;
  }
  return specs;
}

std::vector<DatasetValues> JoinedGates::read(const Names& datasets) {
  std::vector<size_t> part_counts;
  const std::vector<DatasetValues> part_values = file_.read(parts_of(datasets, part_counts));
  std::vector<DatasetValues> result;
  size_t part_index = 0;
  for (const size_t count : part_counts) {
    Tensors values;
    DatasetValues joined = part_values[part_index];
    for (size_t i = part_index; i < part_index + count; ++i) {
      values.push_back(part_values[i].values);
      joined.is_finite = joined.is_finite && part_values[i].is_finite;
    }
    if (count > 1) {
      joined.values = ops::concatenate(values, -1);
      joined.is_in_file = false;
    }
    result.push_back(std::move(joined));
    part_index += count;
  }
  return result;
}

}  // namespace crescent::keras
