// Keras gives layers default names with a counter ("dense_7"), which counts the layers made by the
// process. In another process the same layers may have other counters, but in the same order.
#pragma once
#include <map>
#include <set>
#include <string>

#include "crescent/model/model.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// The bases of default names in the model: "dense", "lstm_cell".
std::set<std::string> default_names(Model& model);

/// For each path, the path in which the counters of default names are replaced by their order among
/// those of the same base within the same layer: "block_4/dense_9/kernel" and
/// "block_4/dense_8/bias" become "block/dense_1/kernel" and "block/dense/bias".
std::map<std::string, std::string> ordered_paths(const Names& paths,
                                                 const std::set<std::string>& bases);

}  // namespace crescent::keras
