// A self-test: a sample input and the prediction for it are stored in the file. When the model is
// loaded on another machine or by another version, its prediction is compared with the stored one.
// Keras ignores both datasets.
#pragma once
#include "crescent/model/model.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Adds the self-test to the entries. Fails for a model whose inputs are unknown, and for a model
/// with stateful layers.
void write_self_test(Entries& entries, Model& model);

/// Reads a self-test, the inputs and predictions that a file stores to check the loaded model. The
/// object has a variable for each of these datasets, to which the matches assign the dataset.
/// There are no matches if the file has no self-test.
class SelfTest {
 public:
  explicit SelfTest(WeightSource& file);
  const Matches& matches() const { return matches_; }
  /// Warns if the model's prediction differs from the stored one. Must be called after the datasets
  /// of matches() were read into their variables.
  void check(Model& model) const;

 private:
  std::string path_;
  size_t input_count_ = 0;
  Matches matches_;
};

}  // namespace crescent::keras
