// What processes that train together decide together, so that none waits for one that has stopped.
#pragma once
#include <algorithm>

#include "crescent/program/communicator.h"
#include "crescent/system/interrupt.h"

namespace crescent {

/// The processes of a run. All ask the same questions in the same order.
class ProcessGroup {
 public:
  ProcessGroup() = default;  ///< one process by itself
  /// Those that the communicator in use talks to.
  static ProcessGroup now() {
    ProcessGroup group;
    if (auto all = communicator(); all->size() > 1) group.communicator_ = std::move(all);
    return group;
  }
  /// The greatest of what the processes say.
  int greatest(int own) const {
    if (!communicator_) return own;
    const std::vector<double> all = communicator_->all_gather(own);
    return static_cast<int>(*std::max_element(all.begin(), all.end()));
  }
  bool any(bool own) const { return greatest(own) != 0; }
  /// Does `work`, which they do together; an error here ends the others' waiting. That a run is
  /// interrupted is agreed, and no error.
  template <class F>
  void doing(F work) const try {
    work();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    if (communicator_) communicator_->leave(error.what());
    throw;
  }

 private:
  std::shared_ptr<Communicator> communicator_;  ///< null when alone
};

}  // namespace crescent
