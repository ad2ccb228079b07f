// The reader process of an open file: sends requests over a socket and explains how the process
// ended.
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
  /// Starts crescent-h5read on the descriptor `file`; it writes values to the shared memory
  /// `memory`. Each request may take `seconds`.
  Child(int file, int memory, uint64_t file_size, unsigned seconds);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends a request; returns false if the process ended or the user interrupted.
  bool send(const Packer& request);
  /// Receives an answer; nullopt if the process crashed, timed out or sent an invalid answer, or if
  /// the user interrupted.
  std::optional<Unpacker> receive();
  /// Whether the user interrupted, upon which the process was ended.
  bool interrupted_by_user() const { return interrupted_; }
  /// Raises the memory limit of the process by this size.
  void allow_memory(uint64_t bytes);
  /// Renews the limit of the process's processor time for the next request.
  void allow_time();
  /// The reason of the failure: "ended with SIGSEGV (Segmentation fault)", "did not answer within
  /// 30 seconds". Kills the process if it still runs.
  std::string failure();

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  Deadline deadline() const;
  bool wait_for(short event, Deadline until);
  void end();

  Descriptor socket_;
  std::optional<Process> process_;
  unsigned seconds_;
  bool late_ = false, interrupted_ = false;
};

}  // namespace crescent::hdf5
