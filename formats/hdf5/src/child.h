// The process that reads an open HDF5 file: the class Child sends requests to it over a socket and
// explains how the process ended.
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
  /// Starts crescent-h5read, which reads the descriptor `file` and writes values to the shared
  /// memory `memory`. Each request may take this number of seconds.
  Child(int file, int memory, uint64_t file_size, unsigned seconds);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends a request; returns false if the process has ended or the user interrupted it.
  bool send(const Packer& request);
  /// Receives an answer; nullopt if the process crashed, timed out or sent an invalid answer, or if
  /// the user interrupted.
  std::optional<Unpacker> receive();
  /// Whether the user interrupted a request, which ends the process.
  bool was_interrupted_by_user() const { return was_interrupted_; }
  /// Raises the memory limit of the process by this number of bytes.
  void allow_memory(uint64_t bytes);
  /// Restarts the limit of the CPU time of the process for the next request.
  void allow_time();
  /// Ends the process if it still runs, and returns the reason why it failed, such as "ended with
  /// SIGSEGV (Segmentation fault)" or "did not answer within 30 seconds".
  std::string failure_reason();

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  Deadline deadline() const;
  bool wait_for(short event, Deadline end_time);
  void end();

  Descriptor socket_;
  std::optional<Process> process_;
  unsigned seconds_;
  bool has_timed_out_ = false, was_interrupted_ = false;
};

}  // namespace crescent::hdf5
