#include "cluster.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include "crescent/base/error.h"
#include "crescent/system/interrupt.h"

namespace crescent::simulation {
namespace {

// Mean durations of the simulation, in seconds.
constexpr double kStep = 1e-3;       ///< from event to event of a rank
constexpr double kLatency = 2e-3;    ///< from sending to arrival
constexpr double kDetection = 5e-2;  ///< from a crash until others learn of it

constexpr int kProcess = 1 << 30;  ///< greater than the number of any process of the system
constexpr double kNever = std::numeric_limits<double>::infinity();

thread_local Cluster* cluster_of_thread = nullptr;
thread_local int rank_of_thread = -1;

}  // namespace

Cluster* Cluster::current() { return cluster_of_thread; }

Cluster::Cluster(int size, uint64_t seed, const FaultRates& rates, Disk& disk)
    : random_(seed), rates_(rates), disk_(disk) {
  static std::atomic<int> processes{0};
  first_process_ = kProcess + (processes += size) - size;
  for (int i = 0; i < size; ++i) ranks_.emplace_back().inbox.resize(static_cast<size_t>(size));
}

std::vector<Outcome> Cluster::run(const std::function<void(int)>& program) {
  std::vector<std::thread> threads;
  for (int i = 0; i < size(); ++i)
    threads.emplace_back([this, i, &program] { run_rank(i, program); });
  ranks_.front().turn.release();
  for (std::thread& thread : threads) thread.join();
  std::vector<Outcome> outcomes;
  for (const Rank& rank : ranks_) outcomes.push_back(rank.outcome);
  return outcomes;
}

void Cluster::run_rank(int rank, const std::function<void(int)>& program) {
  cluster_of_thread = this, rank_of_thread = rank;
  own_rank().turn.acquire();
  try {
    program(rank);
  } catch (const Crashed&) {
  } catch (const std::exception& error) {
    own_rank().outcome = {Outcome::End::failed, error.what()};
  }
  if (own_rank().has_crashed) own_rank().outcome = {Outcome::End::crashed, ""};
  leave("has ended");
  own_rank().has_ended = true;
  pass_turn();
}

int Cluster::process_id() const { return first_process_ + rank_of_thread; }

Cluster::Rank& Cluster::own_rank() { return ranks_[static_cast<size_t>(rank_of_thread)]; }

int64_t Cluster::draw(int64_t below) {
  return static_cast<int64_t>(random_() % static_cast<uint64_t>(below));
}

bool Cluster::happens(double probability) {
  return std::generate_canonical<double, 53>(random_) < probability;
}

double Cluster::delay(double mean) { return std::exponential_distribution(1 / mean)(random_); }

// ---- whose turn it is

/// The time at which the rank can go on.
double Cluster::next_time(const Rank& rank) const {
  if (rank.has_ended) return kNever;
  if (rank.waits_for < 0 || rank.has_crashed) return rank.time;
  const std::deque<Message>& inbox = rank.inbox[static_cast<size_t>(rank.waits_for)];
  const double arrival = inbox.empty() ? kNever : inbox.front().arrival;
  return std::min(std::max(rank.time, arrival), rank.time + kTimeout);
}

/// Lets the rank with the earliest time go on. Returns when it is the turn of the calling rank
/// again, or at once if the calling rank has ended.
void Cluster::pass_turn() {
  const auto next =
      std::min_element(ranks_.begin(), ranks_.end(),
                       [&](const Rank& a, const Rank& b) { return next_time(a) < next_time(b); });
  Rank& previous_rank = own_rank();
  if (&*next == &previous_rank || next_time(*next) == kNever) return;
  const bool has_ended =
      previous_rank.has_ended;  // no member may be used after the last turn was passed
  next->turn.release();
  if (!has_ended) previous_rank.turn.acquire();
}

bool Cluster::pass_event() {
  ++events_;
  own_rank().time += delay(kStep);
  if (!own_rank().has_crashed) draw_faults();
  pass_turn();
  return !own_rank().has_crashed;
}

void Cluster::pass_event_or_end() {
  if (!pass_event()) throw Crashed();
}

// ---- drawing faults

void Cluster::draw_faults() {
  if (happens(rates_.stall)) {
    ++faults_.stalls;
    own_rank().time += 2 * kTimeout;
  }
  if (happens(rates_.interruption)) {
    ++faults_.interruptions;
    interrupt();
  }
  if (happens(rates_.crash)) {
    ++faults_.crashes;
    crash(rank_of_thread);
  }
  if (happens(rates_.power_failure)) {
    ++faults_.power_failures;
    for (int i = 0; i < size(); ++i) crash(i);
    disk_.lose_power([&](int64_t below) { return draw(below); });
  }
}

bool Cluster::disk_fails() {
  const bool fails = happens(rates_.disk_error);
  faults_.disk_errors += fails;
  return fails;
}

/// The last messages that the rank has sent may be lost.
void Cluster::crash(int rank) {
  Rank& crashed_rank = ranks_[static_cast<size_t>(rank)];
  if (crashed_rank.has_ended || crashed_rank.has_crashed) return;
  for (Rank& other_rank : ranks_) {
    std::deque<Message>& sent_messages = other_rank.inbox[static_cast<size_t>(rank)];
    while (!sent_messages.empty() && sent_messages.back().arrival > crashed_rank.time &&
           draw(2) == 0)
      sent_messages.pop_back();
  }
  say_farewell(rank, "has ended", delay(kDetection));
  crashed_rank.has_crashed = true;
}

// ---- sending and receiving messages

void Cluster::send(int to, Bytes message) {
  std::deque<Message>& inbox =
      ranks_[static_cast<size_t>(to)].inbox[static_cast<size_t>(rank_of_thread)];
  const double last_arrival = inbox.empty() ? 0 : inbox.back().arrival;
  inbox.push_back(
      {std::max(last_arrival, own_rank().time + delay(kLatency)), std::move(message), {}});
}

Cluster::Bytes Cluster::receive(int from) {
  Rank& rank = own_rank();
  std::deque<Message>& inbox = rank.inbox[static_cast<size_t>(from)];
  rank.waits_for = from;
  pass_turn();
  rank.time = next_time(rank);
  rank.waits_for = -1;
  if (rank.has_crashed) throw Crashed();
  if (inbox.empty() || inbox.front().arrival > rank.time)
    fail("rank ", from, " did not come within ", kTimeout, " seconds");
  if (const std::string& reason = inbox.front().farewell; !reason.empty())
    fail("the process of rank ", from, " ", reason);
  Bytes bytes = std::move(inbox.front().bytes);
  inbox.pop_front();
  return bytes;
}

void Cluster::leave(const std::string& reason) {
  say_farewell(rank_of_thread, reason, delay(kLatency));
}

void Cluster::say_farewell(int rank, const std::string& reason, double after) {
  Rank& leaving_rank = ranks_[static_cast<size_t>(rank)];
  if (leaving_rank.has_crashed || std::exchange(leaving_rank.has_left, true)) return;
  for (Rank& other_rank : ranks_) {
    std::deque<Message>& inbox = other_rank.inbox[static_cast<size_t>(rank)];
    const double last = inbox.empty() ? 0 : inbox.back().arrival;
    inbox.push_back({std::max(last, leaving_rank.time + after), {}, reason});
  }
}

}  // namespace crescent::simulation
