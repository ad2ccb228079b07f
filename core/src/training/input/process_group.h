// Collective decisions of processes that train together, so that none waits for one that has
// stopped.
#pragma once
#include <algorithm>

#include "crescent/data/data.h"
#include "crescent/program/device.h"
#include "crescent/program/distribution.h"
#include "crescent/system/interrupt.h"
#include "program/batch_share.h"

namespace crescent {

/// The rows of these logical shards of a batch.
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
    group.shares_ = group.communicator_ && distribution() == Distribution::data_parallel;
    group.gathers_ = group.shares_ && !shards_data();
    group.in_shards_ = is_deterministic() && (group.shares_ || !group.communicator_);
    return group;
  }
  /// The processes that share an evaluation or a prediction.
  static ProcessGroup of_inference() {
    const bool is_shared = shares_inference() && distribution() == Distribution::data_parallel;
    return is_shared ? current() : ProcessGroup();
  }
  /// Whether the processes share each batch; otherwise each has batches of its own.
  bool shares() const { return shares_; }
  /// Whether batches are computed in logical shards, for the same bits with any number of
  /// processes.
  bool in_shards() const { return in_shards_; }
  /// Whether each process is given its own part of each batch; otherwise all are given the same.
  bool gathers() const { return gathers_; }
  /// Whether this process needs the inputs of the whole batch.
  bool needs_all() const { return !shares_ || in_shards_ || reads_all_; }
  /// Makes each process compute whole batches from now on; all processes compute the same
  /// batches.
  void share_nothing() { shares_ = in_shards_ = false; }
  /// Returns the rows of a batch that this process computes; an empty Share if it computes the
  /// batch as a whole.
  Share share(int64_t samples) const {
    if (in_shards_) return Share::in_shards(samples);
    return shares_ ? Share::of(samples, communicator_->rank(), communicator_->size()) : Share();
  }
  /// Makes each process read all inputs of each batch, although it computes only its share of the
  /// batch.
  void read_all() { reads_all_ = true; }
  /// Returns a function that maps the number of rows of a batch to the rows that this process
  /// reads; an empty function if it reads all.
  NeededRows needed_rows() const {
    if (!shares_ || gathers_ || reads_all_) return {};
    return [in_shards = in_shards_, rank = communicator_->rank(),
            size = communicator_->size()](int64_t rows) -> RowRange {
      if (rows == 0) return {};
      if (!in_shards) {
        const Share own_share = Share::of(rows, rank, size);
        return {own_share.begin(), own_share.rows()};
      }
      const Share whole_share = Share::in_shards(rows);
      return rows_of_shards(whole_share, shards_of(whole_share.shards, rank, size));
    };
  }
  /// The communicator of the processes; null for a single process.
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }
  /// Returns the maximum of `own` over all processes.
  int max_over_processes(int own) const {
    if (!communicator_) return own;
    const std::vector<double> values = communicator_->all_gather(own);
    return static_cast<int>(*std::max_element(values.begin(), values.end()));
  }
  bool any(bool own) const { return max_over_processes(own) != 0; }
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
  bool shares_ = false, gathers_ = false, in_shards_ = false, reads_all_ = false;
};

}  // namespace crescent
