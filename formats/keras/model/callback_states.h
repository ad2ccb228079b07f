// The state of a run and its callbacks (Model::run_state) is JSON in Crescent's description of the
// model. In it {"crescent_tensor": i} refers to a dataset of the group crescent_callbacks. Keras
// ignores the state and the group.
#pragma once
#include "crescent/model/model.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Adds the tensors in the states to the entries; returns the states as JSON that refers to these
/// tensors.
Value write_callback_states(Entries& entries, const Value& states);

/// The states of callbacks while they are read. Each dataset of the file is matched with a
/// temporary variable; when these variables have their values, give_to() passes the states to the
/// model.
class CallbackStates {
 public:
  CallbackStates(WeightSource& file, Value saved_states);
  const Matches& matches() const { return matches_; }
  /// Passes the states to the model. Must be called after the datasets of matches() were read into
  /// their variables.
  void give_to(Model& model) const;

 private:
  Value with_tensors() const;

  std::string path_;
  Value saved_states_;
  Matches matches_;
};

}  // namespace crescent::keras
