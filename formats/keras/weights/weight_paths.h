// The canonical path of each weight consists of the names of the layers that contain it and its own
// name, as Variable.path of Keras 3: "dense/kernel", "encoder/lstm/lstm_cell/bias". Files of named
// arrays use these paths as names.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "crescent/io/format.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"
#include "keras/weights/names/renaming.h"
#include "keras/weights/vocabularies.h"

namespace crescent::keras {

/// All weights with their paths, which are distinct, in the order of get_weights().
std::vector<std::pair<std::string, Variable>> weights_by_path(Model& model);

/// Fails if the file lacks weights of the model (`missing`) or has arrays that the model lacks
/// (`unexpected`); the message lists them.
void check_all_matched(const std::string& path, const Names& missing, const Names& unexpected);

/// The values of all weights by path, for writing.
NamedTensors values_by_path(Model& model);

/// Matches each weight with the array that has its path as name after renaming or, if arrays are
/// numbered, with the array of its number ("arr_0", as numpy.savez names unnamed arrays). If the
/// file lacks weights or has arrays that the model lacks, fails and lists them all.
Matches match_by_path(WeightSource& file, Model& model, const Renaming& renaming,
                      Vocabularies& vocabularies);

}  // namespace crescent::keras
