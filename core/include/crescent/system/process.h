// Child processes: programs, and forks of this process. A crash of a child is reported by its
// status and does not harm this process.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "crescent/system/file.h"

namespace crescent {

/// What a child process inherits from this process.
struct ProcessOptions {
  static constexpr int kNowhere = -1;
  /// Pairs of an open descriptor of this process and its number in the child; kNowhere stands for
  /// /dev/null. By default, 0 to 2 are inherited.
  std::vector<std::pair<int, int>> descriptors;
  /// Whether the child inherits the environment; otherwise it is empty.
  bool has_environment = true;
  /// Whether the child has its own process group: Ctrl-C at the terminal does not reach it.
  bool has_own_group = false;
};

/// A child process. The destructor kills it when it is still running.
class CRESCENT_API Process {
 public:
  using Timeout = std::chrono::milliseconds;

  /// Starts a program, given by its path, with its arguments. Signals have their default handlers
  /// in the child, and only the descriptors named by the options are open.
  static Process program(const std::vector<std::string>& words, const ProcessOptions& = {});
  /// Forks this process; the child has one thread. The child runs `work` and exits with the status
  /// that `work` returns, 1 when it throws. The child does not outlive this process.
  static Process copy(const std::function<int()>& work, const ProcessOptions& = {});

  Process(Process&& other) noexcept;
  ~Process();

  /// The process id; -1 after the child has ended or was moved from.
  int id() const { return pid_; }
  /// Waits for the end of the child and returns its exit status.
  int wait();
  /// Waits for the child at most for `timeout`; if it still runs then, kills it and returns false.
  bool wait(Timeout timeout);
  bool runs();  ///< whether the child has not ended yet
  void kill();

  // The following functions are valid after the child has ended.
  int signal() const;       ///< the signal that ended the child, or 0
  int exit_status() const;  ///< -1 if a signal ended the child
  /// Describes the end of the child: "ended with SIGSEGV (Segmentation fault)", "ended with exit
  /// status 3".
  std::string ending() const;

 private:
  explicit Process(int id) : pid_(id) {}
  bool has_ended(int options);

  int pid_;
  int status_ = 0;
};

/// The name and description of a signal: "SIGSEGV (Segmentation fault)".
CRESCENT_API std::string signal_name(int signal);

/// An anonymous file in memory, for passing data between processes; `name` is what /proc shows.
CRESCENT_API Descriptor memory_file(const char* name);
/// Reads all bytes of a memory_file().
CRESCENT_API std::string contents_of(const Descriptor& file);

}  // namespace crescent
