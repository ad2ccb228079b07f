#include <algorithm>

#include "crescent/base/error.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

/// The number of elements of the largest value: usually small, so that many programs can be
/// checked; sometimes large enough for several threads or to exceed a cache.
int64_t draw_size(Choices& choices) {
  constexpr int64_t kSizes[] = {64,    64,    300,   300,   300,    300,    2'000,  2'000,
                                2'000, 2'000, 2'000, 5'000, 5'000,  5'000,  5'000,  5'000,
                                5'000, 5'000, 5'000, 5'000, 20'000, 20'000, 70'000, 300'000};
  return choices.one_of(kSizes);
}

/// The generators of calls by family, such as reductions or images. A family is drawn first and
/// then one of its generators, because otherwise the family with most generators would dominate.
const std::vector<std::vector<CallGenerator>>& families() {
  static const std::vector<std::vector<CallGenerator>> all{
      regular_generators(), regular_generators(),  regular_generators(), shape_generators(),
      shape_generators(),   indexing_generators(), product_generators(), image_generators(),
      nested_generators(),  special_generators(),  edge_generators()};
  return all;
}

/// Adds one step; returns false when the program is large enough. A program that consists of edge
/// cases has only few steps.
bool add_step(Draft& draft, bool has_only_edge_cases) {
  const Choices::Step step(draft.choices);
  if (draft.choices.below(has_only_edge_cases ? 4 : 9) == 0) return false;
  const std::vector<CallGenerator>& family =
      has_only_edge_cases ? families().back() : draft.choices.one_of(families());
  const CallGenerator& generator = draft.choices.one_of(family);
  try {
    generator.add(draft);
  } catch (const Error&) {
    // The call was refused; the program of the earlier steps stays valid.
  }
  return true;
}

}  // namespace

std::vector<CallGenerator> special_generators() {
  std::vector<CallGenerator> result = matrix_generators();
  for (const auto& generators : {signal_generators(), sampling_generators()})
    result.insert(result.end(), generators.begin(), generators.end());
  return result;
}

const std::vector<CallGenerator>& call_generators() {
  static const std::vector<CallGenerator> all = [] {
    std::vector<CallGenerator> all_generators;
    for (const auto& family : families())
      all_generators.insert(all_generators.end(), family.begin(), family.end());
    return all_generators;
  }();
  return all;
}

namespace {

/// The program with only the nodes that its outputs need, renumbered.
Recipe without_unused(const Recipe& recipe) {
  const size_t node_count = recipe.nodes.size();
  std::vector<bool> is_needed(node_count);
  for (int output : recipe.outputs) is_needed[static_cast<size_t>(output)] = true;
  const auto for_each_operand = [](Node& node, const auto& f) {
    for (Argument& argument : node.arguments) {
      if (auto* single_value = std::get_if<int>(&argument.value)) f(*single_value);
      if (auto* value_list = std::get_if<std::vector<int>>(&argument.value))
        for (int& value : *value_list) f(value);
    }
  };
  Recipe result = recipe;
  for (size_t i = node_count; i-- > 0;)
    if (is_needed[i])
      for_each_operand(result.nodes[i],
                       [&](int value) { is_needed[static_cast<size_t>(value)] = true; });
  std::vector<int> new_indices(node_count);
  result.nodes.clear();
  for (size_t i = 0; i < node_count; ++i) {
    if (!is_needed[i]) continue;
    new_indices[i] = static_cast<int>(result.nodes.size());
    result.nodes.push_back(recipe.nodes[i]);
    for_each_operand(result.nodes.back(),
                     [&](int& value) { value = new_indices[static_cast<size_t>(value)]; });
  }
  for (int& output : result.outputs) output = new_indices[static_cast<size_t>(output)];
  return result;
}

}  // namespace

Recipe draw_recipe(Choices& choices) {
  constexpr int kMaxSteps = 14;
  Draft draft(choices, draw_size(choices));
  const bool has_only_edge_cases = choices.one_in(6), has_gradients = choices.one_in(2);
  const int64_t more_outputs = choices.below(3);
  int64_t steps_back[2] = {choices.below(8), choices.below(8)};
  for (int i = 0; i < kMaxSteps && add_step(draft, has_only_edge_cases); ++i) continue;

  Recipe& recipe = draft.recipe;
  recipe.has_gradients = has_gradients;
  int count = static_cast<int>(recipe.nodes.size());
  while (count > 0 && draft.is_internal(count - 1)) --count;
  if (count == 0) return recipe;
  recipe.outputs.push_back(count - 1);
  for (int64_t i = 0; i < more_outputs; ++i) {
    const int output = std::max(0, count - 2 - static_cast<int>(steps_back[i]));
    const bool is_new =
        std::find(recipe.outputs.begin(), recipe.outputs.end(), output) == recipe.outputs.end();
    const Node& node = recipe.nodes[static_cast<size_t>(output)];
    if (is_new && !node.function.empty() && !node.is_internal) recipe.outputs.push_back(output);
  }
  return without_unused(recipe);
}

}  // namespace crescent::random_programs
