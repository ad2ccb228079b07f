#include "training/replay/step_hashes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "crescent/tensor/strings.h"
#include "training/variable_groups.h"

namespace crescent {
namespace {

std::string digits_of(uint64_t hash) {
  std::string digits(kHashDigits, '0');
  for (auto digit = digits.rbegin(); hash > 0; hash /= 16) *digit++ = "0123456789abcdef"[hash % 16];
  return digits;
}

/// The name of a variable of a group in records and messages.
std::string name_in(const VariableGroup& group, size_t index) {
  const std::string& path = group.variables[index].path();
  if (std::string_view(group.name) == "weights") return path;
  return group.owners.empty() ? concat(group.name, "/", path)
                              : concat(group.name, "/", group.owners[index], "/", path);
}

VariableSpecs specs_of(const std::vector<VariableGroup>& groups) {
  VariableSpecs specs;
  for (const VariableGroup& group : groups)
    for (size_t i = 0; i < group.variables.size(); ++i)
      specs.push_back({name_in(group, i), to_text(group.variables[i].spec())});
  return specs;
}

/// The XXH3 hash of the bytes, which is the same on all machines.
uint64_t hash_of_bytes(const void* bytes, size_t count, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, count, seed);
}

/// Hashes the values; for strings, it hashes the texts, because their ids differ from process to
/// process.
uint64_t hash_of_values(const Tensor& source, uint64_t seed = 0) {
  const Tensor tensor = source.in_memory() ? source : source.clone(nullptr);
  if (tensor.dtype() != DType::string) return hash_of_bytes(tensor.raw(), tensor.bytes(), seed);
  for (const std::string& text : strings_of(tensor))
    seed = hash_of_bytes(text.data(), text.size(), seed);
  return seed;
}

std::string hash_of_all(const Tensors& tensors) {
  uint64_t hash = 0;
  for (const Tensor& tensor : tensors)
    if (tensor) hash = hash_of_values(tensor, hash);
  return digits_of(hash);
}

/// The rows of the last batch that this process computes and hashes, so that all processes together
/// hash each row once; nullopt if the processes do not share the batch.
std::optional<RowRange> own_rows(const TrainingRun::State& run) {
  const Share& share = run.training_pass.batches().share();
  if (!share || !run.group.shares_batches()) return std::nullopt;
  if (share.shards == 0) return RowRange{share.first, share.count};
  const Communicator& communicator = *run.group.communicator();
  return rows_of_shards(share, shards_of(share.shards, communicator.rank(), communicator.size()));
}

/// Sums the hashes of rows of an input, beginning with row `first` of the tensor. The hash of a row
/// depends on its position in the batch, but the sum does not depend on which process hashes which
/// rows.
uint64_t hash_of_rows(const Tensor& x, int64_t first, const RowRange& batch_range,
                      uint64_t input_index) {
  const size_t bytes = x.bytes() / static_cast<size_t>(std::max<int64_t>(x.dim(0), 1));
  const auto* values = static_cast<const std::byte*>(x.raw()) + static_cast<size_t>(first) * bytes;
  uint64_t sum = 0;
  for (int64_t i = 0; i < batch_range.count; ++i) {
    const uint64_t seed = input_index << 48 | static_cast<uint64_t>(batch_range.first + i);
    sum += x.dtype() == DType::string
               ? hash_of_values(x.view_rows(first + i, 1), seed)
               : hash_of_bytes(values + static_cast<size_t>(i) * bytes, bytes, seed);
  }
  return sum;
}

/// Hashes the rows of an input that belong to this process. If each process provides its own
/// inputs, the tensor consists of these rows alone.
uint64_t hash_of_input(const Tensor& source, const std::optional<RowRange>& own_range,
                       int64_t batch_rows, uint64_t input_index) {
  if (source.rank() == 0) return 0;
  const Tensor x = source.in_memory() ? source : source.clone(nullptr);
  if (!own_range) return hash_of_rows(x, 0, {0, x.dim(0)}, input_index);
  if (x.dim(0) == batch_rows) return hash_of_rows(x, own_range->first, *own_range, input_index);
  return x.dim(0) == own_range->count ? hash_of_rows(x, 0, *own_range, input_index) : 0;
}

uint64_t summed_over_processes(uint64_t own_hash, const ProcessGroup& group) {
  if (!group.shares_batches()) return own_hash;
  Communicator& communicator = *group.communicator();
  const auto process_count = static_cast<size_t>(communicator.size());
  std::vector<uint64_t> sums(process_count);
  sums[static_cast<size_t>(communicator.rank())] = own_hash;
  communicator.gather(sums.data(), std::vector<size_t>(process_count, sizeof own_hash));
  return std::accumulate(sums.begin(), sums.end(), uint64_t{0});
}

}  // namespace

std::vector<VariableGroup> variables_of_snapshot(Model& model) {
  std::vector<VariableGroup> groups = groups_of_model(model);
  for (VariableGroup& group : groups_of_run(model)) groups.push_back(std::move(group));
  return groups;
}

Tensor value_in(const Dict& snapshot, Model& model, size_t index) {
  const Dict& model_variables = snapshot.at("variables").as_dict();
  List values;
  for (const VariableGroup& group : variables_of_snapshot(model)) {
    const Value* model_value = model_variables.find(group.name);
    const List& tensors = (model_value ? *model_value : snapshot.at(group.name)).as_list();
    values.insert(values.end(), tensors.begin(), tensors.end());
  }
  const auto boxed = index < values.size() ? values[index].object_as<BoxedTensor>() : nullptr;
  if (!boxed) fail("the snapshot has ", values.size(), " tensors, expected one as number ", index);
  return boxed->tensor;
}

Dict batch_hashes(const TrainingRun::State& run) {
  const Batches& batches = run.training_pass.batches();
  const Batch& batch = batches.last_batch();
  const std::optional<RowRange> own_range = own_rows(run);
  uint64_t inputs_hash = 0;
  for (size_t i = 0; i < batch.x.size(); ++i)
    inputs_hash += hash_of_input(batch.x[i], own_range, batches.share().whole, i);
  Dict hashes;
  if (const std::vector<int64_t> rows = batches.last_rows(); !rows.empty())
    hashes.set("rows", digits_of(hash_of_bytes(rows.data(), rows.size() * sizeof rows.front(), 0)));
  hashes.set("inputs", digits_of(summed_over_processes(inputs_hash, run.group)));
  hashes.set("targets", hash_of_all(batch.y));
  hashes.set("sample weights", hash_of_all(batch.sample_weight));
  return hashes;
}

void StepHasher::add_variables(RecordedStep& step, Model& model) {
  const std::vector<VariableGroup> groups = variables_of_snapshot(model);
  Variables variables;
  for (const VariableGroup& group : groups)
    variables.insert(variables.end(), group.variables.begin(), group.variables.end());
  step.hashes.reserve(variables.size() * kHashDigits);
  for (const Variable& v : variables) step.hashes += digits_of(hash_of_values(v.value()));
  if (variables != variables_ || !specs_)
    specs_ = std::make_shared<const VariableSpecs>(specs_of(groups));
  variables_ = std::move(variables);
  step.variables = specs_;
}

}  // namespace crescent
