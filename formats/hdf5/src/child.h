// The reader process: started on an open file, spoken to over a socket, and understood when it
// dies.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "crescent/system/process.h"
#include "wire.h"

namespace crescent::hdf5 {

class Child {
 public:
  /// Starts crescent-h5read on `file`; what it reads it puts into `memory`. It may take `seconds`
  /// for each request.
  Child(int file, int memory, uint64_t file_size, unsigned seconds);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// False as receive() gives nothing.
  bool send(const Packer& request);
  /// Nothing when it died, hung or sent nonsense, and when the user would not wait.
  std::optional<Unpacker> receive();
  /// True when the user would not wait: it is ended.
  bool interrupted_by_user() const { return interrupted_; }
  /// Lets it map this much more memory.
  void allow_memory(uint64_t bytes);
  /// Lets it use the processor for as long as a request may, from now on.
  void allow_time();
  /// "ended with SIGSEGV (Segmentation fault)", "did not answer within 30 seconds". Ends it if it
  /// still runs.
  std::string obituary();

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  Deadline begin_to_wait() const;
  bool wait_for(short event, Deadline until);
  void end();

  Descriptor socket_;
  std::optional<Process> process_;
  unsigned seconds_;
  bool late_ = false, interrupted_ = false;
};

}  // namespace crescent::hdf5
