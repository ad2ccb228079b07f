#include "keras/weights/weight_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "keras/weights/cudnn_weights.h"
#include "keras/weights/weight_paths.h"

namespace crescent::keras {

std::vector<WeightRow> weight_report(WeightSource& file, Model& model, const Matches& matches,
                                     const Names& arrays) {
  using WeightStatus = WeightRow::WeightStatus;
  Matches converted_matches = matches;
  std::vector<TensorSpec> specs = file.describe(datasets_of(matches));
  convert_cudnn(converted_matches, specs);
  std::map<const void*, size_t> match_indices;
  std::set<std::string> used_names;
  for (size_t i = 0; i < matches.size(); ++i)
    match_indices[matches[i].variable.id()] = i, used_names.insert(matches[i].dataset);
  std::vector<WeightRow> rows;
  for (const auto& [path, variable] : weights_by_path(model)) {
    const auto found = match_indices.find(variable.id());
    if (found == match_indices.end()) {
      rows.push_back({WeightStatus::missing, path, "", variable.shape(), {}});
      continue;
    }
    const Shape& array_shape = specs[found->second].shape;
    rows.push_back(
        {array_shape == variable.shape() ? WeightStatus::loaded : WeightStatus::misfitting, path,
         matches[found->second].dataset, variable.shape(), array_shape});
  }
  Names unexpected_arrays;
  std::copy_if(arrays.begin(), arrays.end(), std::back_inserter(unexpected_arrays),
               [&](const std::string& array) { return !used_names.contains(array); });
  const std::vector<TensorSpec> unexpected_specs = file.describe(unexpected_arrays);
  for (size_t i = 0; i < unexpected_arrays.size(); ++i)
    rows.push_back(
        {WeightStatus::unexpected, "", unexpected_arrays[i], {}, unexpected_specs[i].shape});
  return rows;
}

std::string to_text(const std::vector<WeightRow>& rows) {
  using WeightStatus = WeightRow::WeightStatus;
  std::string text;
  for (const auto& [status, weight, array, weight_shape, array_shape] : rows) {
    switch (status) {
      case WeightStatus::loaded:
        text += concat("\n  loaded      ", weight, " ", weight_shape, " <- ", array);
        break;
      case WeightStatus::missing:
        text += concat("\n  missing     ", weight, " ", weight_shape);
        break;
      case WeightStatus::unexpected:
        text += concat("\n  unexpected  ", array, " ", array_shape);
        break;
      case WeightStatus::misfitting:
        text +=
            concat("\n  misfitting  ", weight, " ", weight_shape, " <- ", array, " ", array_shape);
    }
  }
  return text;
}

}  // namespace crescent::keras
