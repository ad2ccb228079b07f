// A short random training, which several processes can share and which goes on from a backup.
#pragma once
#include <functional>
#include <string>

#include "crescent/crescent.h"

namespace crescent::simulation {

class Training {
 public:
  /// Draws the model, the data and the options of fit.
  explicit Training(int64_t seed);
  /// Trains a new model, from the backup in the folder if there is one; returns a hash of the
  /// weights, the state of the optimizer and the history. Calls `at_batch_end` after each batch.
  std::string train(const std::string& folder, const std::function<void()>& at_batch_end) const;

 private:
  std::shared_ptr<Sequential> model() const;
  Dict options(const std::string& folder, const std::function<void()>& at_batch_end) const;

  int64_t seed_;
  Tensor x_, y_, weights_;
  Dict fit_, backup_, optimizer_;
  std::string optimizer_name_, activation_, normalization_;
  int64_t units_;
  bool drops_, synchronized_, reduces_rate_;
};

}  // namespace crescent::simulation
