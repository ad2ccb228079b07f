#include "training/input/start_together.h"

#include <algorithm>

#include "program/recording/divided.h"

namespace crescent {
namespace {

/// A 32-bit FNV-1a hash, which a double represents exactly.
double hash_of(const std::string& text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// Returns the numbers that all processes pass, in one row for each process.
std::vector<double> gathered_rows(const ProcessGroup& group,
                                  const std::vector<double>& own_numbers) {
  Communicator& communicator = *group.communicator();
  const auto process_count = static_cast<size_t>(communicator.size());
  std::vector<double> rows(process_count * own_numbers.size());
  std::copy(own_numbers.begin(), own_numbers.end(),
            rows.begin() + communicator.rank() * std::ssize(own_numbers));
  communicator.gather(rows.data(),
                      std::vector<size_t>(process_count, own_numbers.size() * sizeof(double)));
  return rows;
}

/// The ranks of the processes whose number in this column differs from that of rank 0.
std::vector<int> differing_ranks(const std::vector<double>& rows, size_t columns, size_t column) {
  std::vector<int> ranks;
  for (size_t i = column + columns; i < rows.size(); i += columns)
    if (rows[i] != rows[column]) ranks.push_back(static_cast<int>(i / columns));
  return ranks;
}

}  // namespace

/// Compares hashes of the properties. Every process gets the hashes of all others, so all processes
/// come to the same result.
std::vector<double> expect_equal(const ProcessGroup& group, const Dict& properties,
                                 const char* requirement, double own_number) {
  std::vector<double> numbers;
  for (const DictEntry& property : properties) numbers.push_back(hash_of(to_json(property.value)));
  numbers.push_back(own_number);
  const size_t columns = numbers.size();
  const std::vector<double> all_rows = gathered_rows(group, numbers);
  std::vector<std::string> differences;
  size_t column = 0;
  for (const DictEntry& property : properties)
    if (const std::vector<int> ranks = differing_ranks(all_rows, columns, column++); !ranks.empty())
      differences.push_back(concat(property.key, " at ", ranks_text(ranks)));
  if (!differences.empty())
    fail("fit: the processes were not given the same as rank 0: ", join(differences, "; "), ". ",
         requirement);
  std::vector<double> result;
  for (size_t i = column; i < all_rows.size(); i += columns) result.push_back(all_rows[i]);
  return result;
}

void copy_from_rank_0(const ProcessGroup& group, const Variables& variables) {
  for (const Variable& v : variables) {
    const Division* division = division_of(v);
    if (division && division->copies() > 1) v.assign(v.value());
    if (division) continue;
    const Tensor value = v.value().clone(nullptr);
    group.communicator()->broadcast(value.storage()->host(), value.bytes(), 0);
    v.assign(value);
  }
}

Variables state_of(Model& model) {
  Variables variables = model.weights();
  for (Layer* layer : model.flatten_layers())
    for (const SeedGenerator& generator : layer->seed_generators())
      variables.push_back(generator.state());
  if (const auto optimizer = model.optimizer())
    for (const Variable& v : optimizer->state()) variables.push_back(v);
  return variables;
}

}  // namespace crescent
