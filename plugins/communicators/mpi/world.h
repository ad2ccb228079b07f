// The processes that mpirun or srun started: MPI from its first use to the end of the process, and
// the short messages beside the data.
#pragma once
#include <mpi.h>

#include <chrono>
#include <deque>
#include <string>
#include <vector>

namespace crescent::mpi {

/// Raises the error of MPI that `code` stands for; does nothing for success.
void check(int code, const char* call);

/// One object per process, made when it is first used. At the end of the process it tells the
/// others, waits until all have ended, and ends MPI.
class World {
 public:
  using Clock = std::chrono::steady_clock;
  static World& instance();

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm data() const { return data_; }

  /// Waits until all processes have come to this call. Fails with the rank of one that has left;
  /// returns the ranks that did not come in time.
  std::vector<int> meet(double seconds);
  /// Tells all others that this process makes no more calls.
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
  std::deque<Message> sent_;           ///< kept until MPI ends, which may still read them
  std::vector<std::string> farewell_;  ///< of each process that has left
  std::vector<int64_t> answers_;       ///< the meeting that each process is in, as it last said
  int64_t meeting_ = 0;                ///< the number of the last meeting that was begun
  bool left_ = false;
};

}  // namespace crescent::mpi
