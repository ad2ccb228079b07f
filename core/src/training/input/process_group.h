// Processes that train together make some decisions together, such as to stop. Otherwise a process
// might wait forever for another process that has stopped.
#pragma once
#include <algorithm>

#include "crescent/data/data.h"
#include "crescent/program/device.h"
#include "crescent/program/distribution.h"
#include "crescent/system/interrupt.h"
#include "program/batch_share.h"

namespace crescent {

/// The rows of a batch that belong to these logical shards. `whole` is the whole batch.
inline RowRange rows_of_shards(const Share& whole, const ShardRange& shards) {
  if (shards.first == shards.last) return {};
  const int64_t begin = whole.shard(shards.first).first;
  const Share end = whole.shard(shards.last - 1);
  return {begin, end.first + end.count - begin};
}

/// The processes that train together. All of them must call the same functions in the same order.
class ProcessGroup {
 public:
  ProcessGroup() = default;  ///< makes a group of one process
  /// The processes of the communicator in use.
  static ProcessGroup current() {
    ProcessGroup group;
    if (auto communicator = crescent::communicator(); communicator->size() > 1)
      group.communicator_ = std::move(communicator);
    group.shares_batches_ = group.communicator_ && distribution() == Distribution::data_parallel;
    group.gathers_parts_ = group.shares_batches_ && !shards_data();
    group.uses_logical_shards_ =
        is_deterministic() && (group.shares_batches_ || !group.communicator_);
    return group;
  }
  /// The processes that share evaluations and predictions.
  static ProcessGroup for_inference() {
    const bool is_shared = shares_inference() && distribution() == Distribution::data_parallel;
    return is_shared ? current() : ProcessGroup();
  }
  /// Whether the processes share each batch; otherwise each process computes its own batches.
  bool shares_batches() const { return shares_batches_; }
  /// Whether batches are computed in logical shards, parts whose number does not depend on the
  /// number of processes, so that results have the same bits with any number of processes.
  bool uses_logical_shards() const { return uses_logical_shards_; }
  /// Whether the dataset of each process has only a part of each batch; otherwise all processes
  /// have the same batches.
  bool gathers_parts() const { return gathers_parts_; }
  /// Whether this process needs the inputs of the whole batch.
  bool needs_all_inputs() const {
    return !shares_batches_ || uses_logical_shards_ || reads_all_inputs_;
  }
  /// Makes each process compute whole batches from now on; all processes compute the same
  /// batches.
  void compute_whole_batches() { shares_batches_ = uses_logical_shards_ = false; }
  /// Returns the rows of a batch that this process computes; an empty Share if it computes the
  /// batch as a whole.
  Share share(int64_t samples) const {
    if (uses_logical_shards_) return Share::in_shards(samples);
    return shares_batches_ ? Share::of(samples, communicator_->rank(), communicator_->size())
                           : Share();
  }
  /// Makes each process read all inputs of each batch, although it computes only its share of the
  /// batch.
  void read_all_inputs() { reads_all_inputs_ = true; }
  /// Returns a function that maps the number of rows of a batch to the rows that this process
  /// reads; an empty function if it reads all.
  NeededRows needed_rows() const {
    if (!shares_batches_ || gathers_parts_ || reads_all_inputs_) return {};
    return [uses_shards = uses_logical_shards_, rank = communicator_->rank(),
            size = communicator_->size()](int64_t rows) -> RowRange {
      if (rows == 0) return {};
      if (!uses_shards) {
        const Share own_share = Share::of(rows, rank, size);
        return {own_share.begin(), own_share.rows()};
      }
      const Share whole_share = Share::in_shards(rows);
      return rows_of_shards(whole_share, shards_of(whole_share.shards, rank, size));
    };
  }
  /// The communicator of the processes; null for a single process.
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }
  /// Returns the maximum of `own_value` over all processes.
  int max_over_processes(int own_value) const {
    if (!communicator_) return own_value;
    const std::vector<double> values = communicator_->all_gather(own_value);
    return static_cast<int>(*std::max_element(values.begin(), values.end()));
  }
  bool any_process(bool own_value) const { return max_over_processes(own_value) != 0; }
  /// Runs `work`, in which processes wait for each other. On an error this process leaves the
  /// communicator, so that the others stop waiting; on Interrupted it does not, because all
  /// processes agree to stop.
  template <class F>
  void run_collective(F work) const try {
    work();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    if (communicator_) communicator_->leave(error.what());
    throw;
  }

 private:
  std::shared_ptr<Communicator> communicator_;  ///< null for a single process
  bool shares_batches_ = false, gathers_parts_ = false, uses_logical_shards_ = false,
       reads_all_inputs_ = false;
};

}  // namespace crescent
