// The communicator of one thread, so that threads of one process can be the ranks of a run.
#pragma once
#include "crescent/program/communicator.h"

namespace crescent {

/// While an object of this class lives, communicator() returns the communicator of the object on
/// the thread that made it. Other threads and set_communicator() are not affected.
class CRESCENT_API CommunicatorScope {
 public:
  explicit CommunicatorScope(std::shared_ptr<Communicator> communicator);
  ~CommunicatorScope();
  CommunicatorScope(const CommunicatorScope&) = delete;

 private:
  std::shared_ptr<Communicator> communicator_;
  /// The communicator of the enclosing scope; null if there is none.
  const std::shared_ptr<Communicator>* outer_communicator_;
};

}  // namespace crescent
