// The state of a run and its callbacks (Model::run_state): JSON in Crescent's description of the
// model, in which {"crescent_tensor": i} refers to a dataset of the group crescent_callbacks. Keras
// ignores both.
#pragma once
#include "crescent/model/model.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Adds the tensors of the states to the entries; returns the rest as JSON.
Value write_callback_states(Entries& entries, const Value& states);

/// States of callbacks that are being read: their tensors are matched with datasets of the file as
/// temporary variables, whose values then become part of the states.
class CallbackStates {
 public:
  CallbackStates(WeightSource& file, Value stored);
  const Matches& matches() const { return matches_; }
  /// Passes the states to the model; to be called after the matches were assigned.
  void give_to(Model& model) const;

 private:
  Value with_tensors() const;

  std::string path_;
  Value stored_;
  Matches matches_;
};

}  // namespace crescent::keras
