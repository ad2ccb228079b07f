// A sample input and what the model makes of it, kept in its file and compared when it is loaded:
// on another machine, by another version. Keras ignores it.
#pragma once
#include "crescent/model/model.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Adds both. Fails for a model whose inputs are not known, and for one that remembers batches.
void write_self_test(Entries& entries, Model& model);

/// Reading: variables that stand for the tensors are matched with the file's datasets; none when
/// the file has no self-test.
class SelfTest {
 public:
  explicit SelfTest(WeightSource& file);
  const Matches& matches() const { return matches_; }
  /// After the matches were assigned: warns when the model predicts otherwise now.
  void check(Model& model) const;

 private:
  std::string path_;
  size_t inputs_ = 0;
  Matches matches_;
};

}  // namespace crescent::keras
