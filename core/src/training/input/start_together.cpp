#include "training/input/start_together.h"

#include <cstring>

#include "program/recording/divided.h"

namespace crescent {
namespace {

/// A 32-bit FNV-1a hash, which a double represents exactly.
double hash_of(const std::string& text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// The ranks of the processes whose hash differs from that of rank 0.
std::vector<std::string> ranks_apart(const std::vector<double>& hashes) {
  std::vector<std::string> ranks;
  for (size_t rank = 1; rank < hashes.size(); ++rank)
    if (hashes[rank] != hashes[0]) ranks.push_back(std::to_string(rank));
  return ranks;
}

}  // namespace

/// Compares hashes of the facts. Every process gets the hashes of all others, so all processes come
/// to the same result.
void expect_equal(const ProcessGroup& group, const Dict& facts, const char* in_common) {
  std::vector<std::string> differences;
  for (const DictEntry& fact : facts) {
    const std::vector<std::string> ranks =
        ranks_apart(group.all()->all_gather(hash_of(to_json(fact.value))));
    if (!ranks.empty()) differences.push_back(concat(fact.key, " at rank ", join(ranks)));
  }
  if (differences.empty()) return;
  fail("fit: the processes were not given the same as rank 0: ", join(differences, "; "), ". ",
       in_common);
}

void take_from_first(const ProcessGroup& group, const Variables& variables) {
  for (const Variable& v : variables) {
    const Division* division = division_of(v);
    if (division && division->copies() > 1) v.assign(v.value());
    if (division) continue;
    const Tensor value = v.value().clone(nullptr);
    group.all()->broadcast(value.storage()->host(), value.bytes(), 0);
    v.assign(value);
  }
}

Variables state_of(Model& model) {
  Variables all = model.weights();
  for (Layer* layer : model.flatten_layers())
    for (const SeedGenerator& seeds : layer->seed_generators()) all.push_back(seeds.state());
  if (const auto optimizer = model.optimizer())
    for (const Variable& v : optimizer->state()) all.push_back(v);
  return all;
}

}  // namespace crescent
