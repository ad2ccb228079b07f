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
      regular_rows(), regular_rows(), regular_rows(), shape_rows(),   shape_rows(), indexing_rows(),
      product_rows(), image_rows(),   nested_rows(),  special_rows(), edge_rows()};
  return all;
}

/// Adds one step; returns false when the program is large enough. A program that consists of edge
/// cases has only few steps.
bool grow(Draft& draft, bool all_edges) {
  const Choices::Step step(draft.choices);
  if (draft.choices.below(all_edges ? 4 : 9) == 0) return false;
  const std::vector<CallGenerator>& family =
      all_edges ? families().back() : draft.choices.one_of(families());
  const CallGenerator& row = draft.choices.one_of(family);
  try {
    row.add(draft);
  } catch (const Error&) {
    // the call was refused; the program of the earlier steps stays valid
  }
  return true;
}

}  // namespace

std::vector<CallGenerator> special_rows() {
  std::vector<CallGenerator> rows = matrix_rows();
  for (const auto& generators : {signal_rows(), sampling_rows()})
    rows.insert(rows.end(), generators.begin(), generators.end());
  return rows;
}

const std::vector<CallGenerator>& rows() {
  static const std::vector<CallGenerator> all = [] {
    std::vector<CallGenerator> all_generators;
    for (const auto& family : families())
      all_generators.insert(all_generators.end(), family.begin(), family.end());
    return all_generators;
  }();
  return all;
}

namespace {

/// The recipe with only the nodes that its outputs need, renumbered.
Recipe without_unused(const Recipe& recipe) {
  const size_t count = recipe.nodes.size();
  std::vector<bool> is_needed(count);
  for (int output : recipe.outputs) is_needed[static_cast<size_t>(output)] = true;
  const auto each_operand = [](Node& node, const auto& f) {
    for (Argument& argument : node.arguments) {
      if (auto* single_value = std::get_if<int>(&argument.value)) f(*single_value);
      if (auto* value_list = std::get_if<std::vector<int>>(&argument.value))
        for (int& value : *value_list) f(value);
    }
  };
  Recipe result = recipe;
  for (size_t i = count; i-- > 0;)
    if (is_needed[i])
      each_operand(result.nodes[i],
                   [&](int value) { is_needed[static_cast<size_t>(value)] = true; });
  std::vector<int> numbers(count);
  result.nodes.clear();
  for (size_t i = 0; i < count; ++i) {
    if (!is_needed[i]) continue;
    numbers[i] = static_cast<int>(result.nodes.size());
    result.nodes.push_back(recipe.nodes[i]);
    each_operand(result.nodes.back(),
                 [&](int& value) { value = numbers[static_cast<size_t>(value)]; });
  }
  for (int& output : result.outputs) output = numbers[static_cast<size_t>(output)];
  return result;
}

}  // namespace

Recipe draw_recipe(Choices& choices) {
  constexpr int kMaxSteps = 14;
  Draft draft(choices, draw_size(choices));
  const bool all_edges = choices.one_in(6), gradients = choices.one_in(2);
  const int64_t more_outputs = choices.below(3);
  int64_t steps_back[2] = {choices.below(8), choices.below(8)};
  for (int i = 0; i < kMaxSteps && grow(draft, all_edges); ++i) continue;

  Recipe& recipe = draft.recipe;
  recipe.has_gradients = gradients;
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
