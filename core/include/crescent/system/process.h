// Processes that this one starts: programs, and copies of itself. What they do to themselves is
// reported, not suffered.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "crescent/system/file.h"

namespace crescent {

/// What a process has from its start.
struct ProcessOptions {
  static constexpr int kNowhere = -1;
  /// Open files of ours and their numbers there; kNowhere is one that is empty and takes anything.
  /// Where nothing is said, 0 to 2 are ours.
  std::vector<std::pair<int, int>> descriptors;
  bool has_environment = true;  ///< ours; otherwise none
  bool has_own_group = false;   ///< of processes: Ctrl-C at the terminal does not reach it
};

/// A process that was started here. It is killed when it still runs at the end of this object.
class CRESCENT_API Process {
 public:
  using Patience = std::chrono::milliseconds;

  /// A program, by its path, and its arguments. Signals have their defaults there and nothing of
  /// ours is open but what the options say.
  static Process program(const std::vector<std::string>& words, const ProcessOptions& = {});
  /// A copy of this process as it is, with one thread. It does `work` and ends with the status that
  /// this returns, 1 when it throws. It does not outlive this process.
  static Process copy(const std::function<int()>& work, const ProcessOptions& = {});

  Process(Process&& other) noexcept;
  ~Process();

  int id() const { return id_; }  ///< -1: it has ended, or was moved from
  /// Comes back when it has ended, with its exit status.
  int wait();
  /// False when it takes longer; it is killed then.
  bool wait(Patience patience);
  bool runs();
  void kill();

  // When it has ended:
  int signal() const;       ///< that ended it; 0: none
  int exit_status() const;  ///< -1: a signal ended it
  /// "ended with SIGSEGV (Segmentation fault)", "ended with exit status 3"
  std::string ending() const;

 private:
  explicit Process(int id) : id_(id) {}
  bool has_ended(int options);

  int id_;
  int status_ = 0;
};

/// "SIGSEGV (Segmentation fault)"
CRESCENT_API std::string signal_name(int signal);

/// Memory that processes write to and read from as if it were a file; `name` is for whoever looks
/// for it in /proc.
CRESCENT_API Descriptor memory_file(const char* name);
/// All that is in such a file.
CRESCENT_API std::string contents_of(const Descriptor& file);

}  // namespace crescent
