// The processes that mpirun or srun started: starts and ends MPI, and sends short messages between
// the processes, in addition to the data. A thread reads the messages while the process computes,
// so that other processes learn what it does; a mutex lets one thread at a time call MPI.
#pragma once
#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace crescent::mpi {

/// Throws an error if `code`, the result of the MPI function `call`, is not success.
void check(int code, const char* call);

/// The processes of an MPI job. The only object of this class is made when it is first used. When
/// this process ends, the object tells the other processes, waits until all have ended, and ends
/// MPI.
class World {
 public:
  using Clock = std::chrono::steady_clock;
  static World& instance();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The name of the host of each process.
  const std::vector<std::string>& hosts() const { return hosts_; }

  /// The ranks of the processes that did not call meet() in time, and a sentence for the error
  /// message that tells what each process is doing.
  struct AbsentProcesses {
    std::vector<int> ranks;
    std::string descriptions;
  };
  /// A barrier: waits until all processes have called this function, but at most `seconds`. Returns
  /// the processes that have not called it by then. Fails if a process has left; the error gives
  /// its rank.
  AbsentProcesses meet(double seconds);
  /// Runs a collective function of MPI on the communicator for data.
  template <class F>
  void exchange(F call) {
    const std::lock_guard lock(mutex_);
    call(data_communicator_);
  }
  /// Tells all other processes that this process will call meet() no more.
  void leave(const std::string& reason) noexcept;
  /// Sends an error to all other processes, and returns the ranks of the processes that have the
  /// same error: this one, and those whose error arrives within a second.
  std::vector<int> ranks_with(const std::string& error);
  void finish(int status) noexcept;

 private:
  World();
  struct Message {
    MPI_Request request;
    std::string text;
  };
  /// The answer of a process: how often it has called meet(), and its activity.
  struct Answer {
    int64_t meeting_count = -1;
    std::string activity;
  };
  void find_hosts();
  void listen();
  void send(int to, std::string text);
  void read_messages();
  void handle_message(int from, const std::string& text);
  AbsentProcesses absent_processes();
  template <class Done>
  bool poll(Clock::time_point deadline, Done is_done);

  std::mutex mutex_;  ///< locked during calls of MPI and while the members below are used

  int rank_ = 0, size_ = 1;
  MPI_Comm data_communicator_ = MPI_COMM_NULL, message_communicator_ = MPI_COMM_NULL;
  /// Messages that were sent; MPI reads them until the process ends.
  std::deque<Message> sent_messages_;
  /// For each process, the reason why it has left; empty if the process has not left.
  std::vector<std::string> leave_reasons_;
  std::vector<Answer> last_answers_;  ///< for each process, its last answer
  /// For each process, the error that it has sent because the error ends it; empty if none.
  std::vector<std::string> errors_;
  int64_t meeting_count_ = 0;  ///< the number of calls of meet() so far
  bool has_left_ = false, has_ended_ = false;
  std::vector<std::string> hosts_;
  std::condition_variable end_condition_;
  /// Reads messages (listen()); started only if there are several processes.
  std::thread listener_;
};

}  // namespace crescent::mpi
