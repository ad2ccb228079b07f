// The canonical path of every weight: the layers that contain it and its name, as Variable.path of
// Keras 3: "dense/kernel", "encoder/lstm/lstm_cell/bias". Files of named arrays have these names.
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

/// The weights with distinct paths, in the order of get_weights().
std::vector<std::pair<std::string, Variable>> weights_by_path(Model& model);

/// Fails, naming them, if the file lacks weights or the model lacks arrays.
void check_all_matched(const std::string& path, const Names& missing, const Names& unexpected);

/// The values of all weights by path, for writing.
NamedTensors values_by_path(Model& model);

/// Matches each weight with the array of its name after renaming, or with that of its number if
/// arrays are numbered ("arr_0", as numpy.savez names unnamed arrays). Fails, naming all of them,
/// if the file lacks weights or the model lacks arrays.
Matches match_by_path(WeightSource& file, Model& model, const Renaming& renamed,
                      Vocabularies& vocabularies);

}  // namespace crescent::keras
