// The processes that mpirun or srun started: starts and ends MPI, and sends short messages between
// the processes, in addition to the data.
#pragma once
#include <mpi.h>

#include <chrono>
#include <deque>
#include <string>
#include <vector>

namespace crescent::mpi {

/// Throws an error if `code`, the result of the MPI function `call`, is not success.
void check(int code, const char* call);

/// The only object of this class is made when it is first used. At the end of the process it tells
/// the other processes, waits until all have ended, and ends MPI.
class World {
 public:
  using Clock = std::chrono::steady_clock;
  static World& instance();

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm data() const { return data_; }

  /// Waits until all processes have called this function, at most `seconds`. Returns the ranks of
  /// processes that have not called it in time. Fails if a process has left, with its rank.
  std::vector<int> meet(double seconds);
  /// Tells all other processes that this process will call meet() no more.
  void leave(const std::string& why) noexcept;
  void finish(int status) noexcept;

 private:
  World();
  struct Message {
    MPI_Request request;
    std::string text;
  };
  void send(int to, std::string text);
  void read_messages();
  void take(int from, const std::string& text);
  std::vector<int> absent();
  template <class Done>
  bool poll(Clock::time_point end, Done done);

  int rank_ = 0, size_ = 1;
  MPI_Comm data_ = MPI_COMM_NULL, messages_ = MPI_COMM_NULL;
  std::deque<Message> sent_;           ///< sent messages, which MPI may read until it ends
  std::vector<std::string> farewell_;  ///< for each process, the reason why it has left; empty if
                                       ///< it has not
  std::vector<int64_t> answers_;       ///< for each process, the number of its last meeting that it
                                       ///< sent in an answer; -1 without answer
  int64_t meeting_ = 0;                ///< the number of calls of meet() so far
  bool left_ = false;
};

}  // namespace crescent::mpi
