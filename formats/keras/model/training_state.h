// What an optimizer needs to go on as if nothing had happened.
#pragma once
#include <string>

#include "crescent/model/model.h"
#include "keras/export.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"
#include "keras/vocabulary/origin.h"

namespace crescent::keras {

/// In the order of `target`, "keras3" or "keras2", by names.
void write_optimizer(Entries& entries, Model& model, const std::string& target);
/// By position, as beside weights in Keras 3's layout.
void write_keras3_optimizer(Entries& entries, Model& model);
/// State of the model's optimizer, which is built for its trainable variables if the file
/// has one. None, with Keras' warning and the reason, when it cannot be placed for certain.
/// `weights` are those of the model, by whose names some generations went. `options_known`: the
/// file says with which options it was made; else it has to be just what those that it has now
/// make.
CRESCENT_KERAS_API Matches match_optimizer(WeightSource& file, Model& model, const Matches& weights,
                                           const Origin& origin, bool options_known = true);

}  // namespace crescent::keras
