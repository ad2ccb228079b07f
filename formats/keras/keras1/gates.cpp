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
constexpr std::string_view kArrays = "WUb";

/// The letters of the array and of the gate in the name of an array: 'W' and 'i' for "lstm_1_W_i"
/// or "lstm_1_W_i:0"; zeros for other names.
std::pair<char, char> array_and_gate(std::string_view name) {
  if (name.ends_with(":0")) name.remove_suffix(2);
  const size_t end = name.size();
  const bool is_gate = end > 4 && name[end - 2] == '_' && name[end - 4] == '_';
  return is_gate ? std::pair{name[end - 3], name[end - 1]} : std::pair{'\0', '\0'};
}

/// Whether the names from index `first` on are those of the arrays of all gates, gate by gate.
bool are_gate_arrays(const Names& names, size_t first, const GateOrder& layout) {
  const size_t count = layout.keras1.size() * kArrays.size();
  if (first + count > names.size()) return false;
  for (size_t i = 0; i < count; ++i)
    if (array_and_gate(names[first + i]) !=
        std::pair{kArrays[i % kArrays.size()], layout.keras1[i / kArrays.size()]})
      return false;
  return true;
}

std::string place_in(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

}  // namespace

Names JoinedGates::join_gates(const std::string& group, const Names& weights) {
  Names result;
  for (size_t i = 0; i < weights.size();) {
    const auto layout =
        std::find_if(std::begin(kGateOrders), std::end(kGateOrders),
                     [&](const GateOrder& each) { return are_gate_arrays(weights, i, each); });
    if (layout == std::end(kGateOrders)) {
      result.push_back(weights[i++]);
      continue;
    }
    for (size_t array = 0; array < kArrays.size(); ++array) {
      result.push_back(weights[i + array] + " and other gates");
      Names& parts = parts_[place_in(group, result.back())];
      parts.clear();
      for (const char gate : layout->keras2)
        parts.push_back(
            place_in(group, weights[i + layout->keras1.find(gate) * kArrays.size() + array]));
    }
    i += layout->keras1.size() * kArrays.size();
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

Names JoinedGates::parts_of(const Names& datasets, std::vector<size_t>& counts) const {
  Names result;
  for (const std::string& dataset : datasets) {
    const auto found = parts_.find(dataset);
    const Names parts = found == parts_.end() ? Names{dataset} : found->second;
    counts.push_back(parts.size());
    result.insert(result.end(), parts.begin(), parts.end());
  }
  return result;
}

std::vector<TensorSpec> JoinedGates::describe(const Names& datasets) {
  std::vector<size_t> counts;
  const std::vector<TensorSpec> parts = file_.describe(parts_of(datasets, counts));
  std::vector<TensorSpec> specs;
  size_t next = 0;
  for (const size_t count : counts) {
    TensorSpec spec = parts[next];
    if (const int last = spec.shape.rank() - 1; count > 1 && last >= 0)
      spec.shape.set(last, spec.shape[last] * static_cast<int64_t>(count));
    specs.push_back(spec);
    next += count;
  }
  return specs;
}

std::vector<DatasetValues> JoinedGates::read(const Names& datasets) {
  std::vector<size_t> counts;
  const std::vector<DatasetValues> parts = file_.read(parts_of(datasets, counts));
  std::vector<DatasetValues> result;
  size_t next = 0;
  for (const size_t count : counts) {
    Tensors values;
    DatasetValues stored = parts[next];
    for (size_t i = next; i < next + count; ++i) {
      values.push_back(parts[i].values);
      stored.finite = stored.finite && parts[i].finite;
    }
    if (count > 1) {
      stored.values = ops::concatenate(values, -1);
      stored.in_file = false;
    }
    result.push_back(std::move(stored));
    next += count;
  }
  return result;
}

}  // namespace crescent::keras
