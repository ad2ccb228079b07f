// The communicator of one thread, so that threads of one process can be the ranks of a run.
#pragma once
#include "crescent/program/communicator.h"

namespace crescent {

/// While an object of this class lives, communicator() on its thread returns the given
/// communicator; other threads, and set_communicator(), are not affected.
class CRESCENT_API CommunicatorScope {
 public:
  explicit CommunicatorScope(std::shared_ptr<Communicator> communicator);
  ~CommunicatorScope();
  CommunicatorScope(const CommunicatorScope&) = delete;

 private:
  std::shared_ptr<Communicator> communicator_;
  const std::shared_ptr<Communicator>* outer_;  ///< of the scope around this one; may be null
};

}  // namespace crescent
