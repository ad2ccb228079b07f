// A simulated cluster: each rank is a thread with a clock of its own. Of all ranks that can go on,
// the one with the earliest time does so, and the others stand still, as in a discrete-event
// simulation. Delays and faults are drawn from one seed, so that a seed repeats a run.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <semaphore>
#include <span>
#include <string>
#include <vector>

#include "disk.h"

namespace crescent::simulation {

/// Thrown on the thread of a rank that has crashed.
struct Crashed {};

/// The probability of each fault at an event.
struct FaultRates {
  double crash = 0;          ///< the rank crashes
  double power_failure = 0;  ///< all ranks crash, and the disk loses what was not synced
  double stall = 0;          ///< the rank does nothing for longer than others wait
  double disk_error = 0;     ///< a call of the disk fails
  double interruption = 0;   ///< the rank is interrupted, as by Ctrl-C
};

/// The faults that have happened.
struct FaultCounts {
  int crashes = 0, power_failures = 0, stalls = 0, disk_errors = 0, interruptions = 0;
  bool operator==(const FaultCounts&) const = default;
};

/// How a rank has ended.
struct Outcome {
  enum class End { finished, failed, crashed } end = End::finished;
  std::string error;  ///< of a rank that has failed
  bool operator==(const Outcome&) const = default;
};

class Cluster {
 public:
  using Bytes = std::vector<std::byte>;
  static constexpr double kTimeout = 600;  ///< the seconds that a rank waits for a message

  Cluster(int size, uint64_t seed, const FaultRates& rates, Disk& disk);
  /// Runs `program` on the thread of each rank; returns how each has ended.
  std::vector<Outcome> run(const std::function<void(int rank)>& program);

  /// The cluster whose rank the calling thread is; null on other threads.
  static Cluster* current();
  int size() const { return static_cast<int>(ranks_.size()); }
  const FaultCounts& faults() const { return faults_; }
  /// The number of events so far.
  int64_t events() const { return events_; }
  /// The process number that getpid() returns on the calling rank.
  int process_id() const;

  // The functions below are called by ranks.

  /// An event of the calling rank: time passes, other ranks may go on, and faults may happen.
  /// Returns false if the rank has crashed; from then on it must have no effect on others.
  bool pass_event();
  /// Does the same as pass_event(), but throws Crashed if the rank has crashed.
  void pass_event_or_end();
  /// Sends a message to a rank. Messages from one rank to another arrive in the order in which they
  /// were sent.
  void send(int to, Bytes message);
  /// Waits for the next message of a rank. Fails if the rank has left or ended, or if nothing
  /// arrives within kTimeout.
  Bytes receive(int from);
  /// Announces that the calling rank sends no more.
  void leave(const std::string& reason);
  Disk& disk() { return disk_; }
  /// Whether a call of the disk is to fail.
  bool disk_fails();
  /// A random number from 0 to below - 1.
  int64_t draw(int64_t below);

 private:
  struct Message {
    double arrival;
    Bytes bytes;
    std::string farewell;  ///< why the sender sends no more; empty for data
  };
  struct Rank {
    double time = 0;
    int waits_for = -1;  ///< the rank whose message it waits for; -1 if it can go on
    bool has_crashed = false, has_left = false, has_ended = false;
    std::vector<std::deque<Message>> inbox;  ///< by sender
    std::binary_semaphore turn{0};
    Outcome outcome;
  };

  Rank& own_rank();
  bool happens(double probability);
  double delay(double mean);
  double next_time(const Rank& rank) const;
  void pass_turn();
  void draw_faults();
  void crash(int rank);
  void say_farewell(int rank, const std::string& reason, double after);
  void run_rank(int rank, const std::function<void(int)>& program);

  std::mt19937_64 random_;
  FaultRates rates_;
  FaultCounts faults_;
  int64_t events_ = 0;
  Disk& disk_;
  int first_process_;  ///< the number of the process of rank 0
  std::deque<Rank> ranks_;
};

}  // namespace crescent::simulation
