// A self-test: a sample input and the prediction for it are stored in the file and compared when
// the model is loaded on another machine or by another version. Keras ignores them.
#pragma once
#include "crescent/model/model.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Adds the self-test. Fails for a model with unknown inputs, and for one with stateful layers.
void write_self_test(Entries& entries, Model& model);

/// A self-test that is being read: variables for its tensors are matched with datasets of the file;
/// empty if the file has none.
class SelfTest {
 public:
  explicit SelfTest(WeightSource& file);
  const Matches& matches() const { return matches_; }
  /// Warns if the prediction differs; to be called after the matches were assigned.
  void check(Model& model) const;

 private:
  std::string path_;
  size_t inputs_ = 0;
  Matches matches_;
};

}  // namespace crescent::keras
