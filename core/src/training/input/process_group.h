// Collective decisions of processes that train together, so that none waits for one that has
// stopped.
#pragma once
#include <algorithm>

#include "crescent/program/distribution.h"
#include "crescent/system/interrupt.h"
#include "program/batch_share.h"

namespace crescent {

/// The processes of a run. All of them must call the same functions in the same order.
class ProcessGroup {
 public:
  ProcessGroup() = default;  ///< a single process
  /// The processes of the communicator in use.
  static ProcessGroup now() {
    ProcessGroup group;
    if (auto all = communicator(); all->size() > 1) group.communicator_ = std::move(all);
    group.shares_ = group.communicator_ && distribution() == Distribution::data_parallel;
    return group;
  }
  /// Whether the processes share each batch; otherwise each has batches of its own.
  bool shares() const { return shares_; }
  /// From here on each process computes whole batches, the same as all others.
  void share_nothing() { shares_ = false; }
  Share share(int64_t samples) const {
    return Share::of(samples, communicator_->rank(), communicator_->size());
  }
  /// Null for a single process.
  const std::shared_ptr<Communicator>& all() const { return communicator_; }
  /// The maximum of a number over all processes.
  int max_over_processes(int own) const {
    if (!communicator_) return own;
    const std::vector<double> all = communicator_->all_gather(own);
    return static_cast<int>(*std::max_element(all.begin(), all.end()));
  }
  bool any(bool own) const { return max_over_processes(own) != 0; }
  /// Runs collective `work`. An error leaves the communicator, so that the other processes stop
  /// waiting; Interrupted does not, because all processes agree on it.
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
  bool shares_ = false;
};

}  // namespace crescent
