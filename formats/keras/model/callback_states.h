// What a run and its callbacks leave (Model::run_state), beside the training state: JSON in the
// model's own description, where {"crescent_tensor": i} stands for a dataset of the group
// crescent_callbacks. Keras ignores both.
#pragma once
#include "crescent/model/model.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Adds the tensors to the entries; what is left is JSON.
Value write_callback_states(Entries& entries, const Value& states);

/// Reading: variables that stand for the tensors are matched with the file's datasets, and become
/// part of the states when they have their values.
class CallbackStates {
 public:
  CallbackStates(WeightSource& file, Value stored);
  const Matches& matches() const { return matches_; }
  /// To the model, after the matches were assigned.
  void give_to(Model& model) const;

 private:
  Value with_tensors() const;

  std::string path_;
  Value stored_;
  Matches matches_;
};

}  // namespace crescent::keras
