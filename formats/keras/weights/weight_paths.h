// A name for every weight of a model: the layers that it is inside of, and its own, as Keras 3 has
// it in Variable.path: "dense/kernel", "encoder/lstm/lstm_cell/bias". Files that know arrays by
// names alone have these.
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

/// In the order of get_weights(); no two names are the same.
std::vector<std::pair<std::string, Variable>> weights_by_path(Model& model);

/// Fails naming weights that the file lacks and arrays that the model lacks, unless there are none.
void check_all_matched(const std::string& path, const Names& missing, const Names& unexpected);

/// Their values, for writing.
NamedTensors values_by_path(Model& model);

/// Each weight with the array that has its name after renaming, or with that of its position when
/// they are numbered
/// ("arr_0", as numpy.savez names what comes without names). Fails naming every weight that the
/// file lacks and every array that the model lacks.
Matches match_by_path(WeightSource& file, Model& model, const Renaming& renamed,
                      Vocabularies& vocabularies);

}  // namespace crescent::keras
