// Saves and loads the state that an optimizer needs to continue training exactly where it stopped.
#pragma once
#include <string>

#include "crescent/model/model.h"
#include "keras/export.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"
#include "keras/vocabulary/origin.h"

namespace crescent::keras {

/// Adds the state of the model's optimizer with the names and in the order of `target_generation`,
/// "keras3" or "keras2".
void write_optimizer(Entries& entries, Model& model, const std::string& target_generation);
/// Adds the state of the model's optimizer with numbers as names, as files in the weights layout of
/// Keras 3 have them.
void write_keras3_optimizer(Entries& entries, Model& model);
/// Matches the state of the model's optimizer with the file; if the file has such state, first
/// builds the optimizer for the model's trainable variables. If the assignment is not certain,
/// warns with the reason and returns no matches. `weights` are the matches of the model's weights,
/// whose names determine the order in some generations. If `are_options_known` is false, the file
/// lacks the options of the optimizer, and the state must have exactly the layout that the present
/// options of the optimizer give.
CRESCENT_KERAS_API Matches match_optimizer(WeightSource& file, Model& model, const Matches& weights,
                                           const Origin& origin, bool are_options_known = true);

}  // namespace crescent::keras
