// A short random training, which several processes can share and which goes on from a backup.
#pragma once
#include <functional>
#include <string>

#include "crescent/crescent.h"

namespace crescent::simulation {

class Training {
 public:
  /// A function that gets the number of steps since the training was first started.
  using AtStep = std::function<void(int64_t steps)>;
  /// Draws the model, the data and the options of fit.
  explicit Training(int64_t seed);
  /// The layers and the options.
  std::string text() const;
  /// Trains a new model, from the backup in the folder if there is one; returns hashes of
  /// the weights, the state of the optimizer and the history. Calls `at_batch_end` after each
  /// batch.
  std::string train(const std::string& folder, const AtStep& at_batch_end) const;
  /// Whether the training leaves its best weights in the folder.
  bool keeps_best() const { return keeps_best_; }
  /// A hash of the best weights in the folder.
  std::string hash_of_best(const std::string& folder) const;

 private:
  using ClassAndOptions = std::pair<std::string, Dict>;  ///< name of a class, options
  /// The transformations of the dataset from which the model gets its rows, unless they are given
  /// as arrays. A 0, or `repeats` = 1, leaves out the transformation.
  struct DatasetChain {
    bool is_used = false, is_cached = false;
    int64_t skipped = 0, buffer = 0, repeats = 1, prefetched = 0;
  };
  std::shared_ptr<Sequential> model() const;
  DatasetPtr data() const;
  Dict options(const std::string& folder, const AtStep& at_batch_end) const;

  int64_t seed_;
  Tensor x_, y_, weights_;
  DatasetChain dataset_chain_;
  int64_t batch_size_;
  std::vector<ClassAndOptions> layers_, callbacks_;
  ClassAndOptions optimizer_;
  Dict fit_, backup_;
  bool keeps_best_;
};

}  // namespace crescent::simulation
