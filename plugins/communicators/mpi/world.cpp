#include "world.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "crescent/base/error.h"
#include "crescent/program/activity.h"
#include "crescent/program/communicator.h"

namespace crescent::mpi {
namespace {

/// The first characters of messages between processes. A farewell is followed by the reason why the
/// sender leaves, and an error by the error that ends the sender. A question asks for an answer,
/// which contains the number of the sender's calls of meet() so far and the sender's activity.
constexpr char kFarewell = 'f', kQuestion = 'q', kAnswer = 'a', kError = 'e';
/// How long a process waits for the answers or errors of others.
constexpr double kAnswerSeconds = 1;
/// how often the listening thread reads messages
constexpr std::chrono::milliseconds kListeningInterval{50};
/// how long a process that failed waits for the others to end
constexpr double kMaxEndWaitSeconds = 10;
/// The number of polls without a pause before the thread yields its core.
constexpr int kPollsBeforeYield = 2000;
/// how long a waiting thread polls before it sleeps between polls
constexpr std::chrono::microseconds kYieldTime{300};
constexpr std::chrono::microseconds kShortestSleep{50}, kLongestSleep{1000};

World::Clock::time_point deadline_after(double seconds) {
  constexpr double kLongestWait = 1e9;
  return World::Clock::now() + std::chrono::duration_cast<World::Clock::duration>(
                                   std::chrono::duration<double>(std::min(seconds, kLongestWait)));
}

/// The number of processes that srun started.
int tasks_of_slurm() {
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return tasks ? std::atoi(tasks) : 1;
}

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(call, ": ", std::string_view(text, static_cast<size_t>(length)));
}

/// The object is never destroyed, because MPI is used until the process ends.
World& World::instance() {
  static World* const world = [] {
    auto* new_world = new World;
    on_exit([](int status, void* self) { static_cast<World*>(self)->finish(status); }, new_world);
    return new_world;
  }();
  return *world;
}

World::World() {
  int thread_level = 0, is_mpi_initialized = 0;
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  MPI_Initialized(&is_mpi_initialized);
  if (!is_mpi_initialized)
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &thread_level), "MPI_Init");
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  if (size_ == 1 && tasks_of_slurm() > 1)
    fail("srun started ", tasks_of_slurm(),
         " processes that do not see one another: start them by srun --mpi=pmix");
  for (MPI_Comm* communicator : {&data_communicator_, &message_communicator_}) {
    check(MPI_Comm_dup(MPI_COMM_WORLD, communicator), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(*communicator, MPI_ERRORS_RETURN);
  }
  leave_reasons_.resize(static_cast<size_t>(size_));
  errors_.resize(static_cast<size_t>(size_));
  find_hosts();
  if (size_ == 1) return;
  set_activity_tracking(true);
  listener_ = std::thread([this] { listen(); });
}

void World::find_hosts() {
  std::vector<char> names(static_cast<size_t>(size_) * MPI_MAX_PROCESSOR_NAME);
  char own_host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(own_host, &length);
  check(MPI_Allgather(own_host, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names.data(),
                      MPI_MAX_PROCESSOR_NAME, MPI_CHAR, data_communicator_),
        "MPI_Allgather");
  for (int i = 0; i < size_; ++i)
    hosts_.emplace_back(names.data() + static_cast<size_t>(i) * MPI_MAX_PROCESSOR_NAME);
}

/// The listening thread reads messages, and so answers questions, while the process computes or
/// hangs.
void World::listen() {
  std::unique_lock lock(mutex_);
  while (!end_condition_.wait_for(lock, kListeningInterval, [&] { return has_ended_; }))
    read_messages();
}

void World::send(int to, std::string text) {
  Message& message = sent_messages_.emplace_back(Message{MPI_REQUEST_NULL, std::move(text)});
  MPI_Isend(message.text.data(), static_cast<int>(message.text.size()), MPI_CHAR, to, 0,
            message_communicator_, &message.request);
}

void World::read_messages() {
  for (;;) {
    int has_message = 0, bytes = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, message_communicator_, &has_message, &status);
    if (!has_message) return;
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    std::string text(static_cast<size_t>(bytes), '\0');
    MPI_Recv(text.data(), bytes, MPI_CHAR, status.MPI_SOURCE, 0, message_communicator_,
             MPI_STATUS_IGNORE);
    handle_message(status.MPI_SOURCE, text);
  }
}

void World::handle_message(int sender_rank, const std::string& text) {
  if (text[0] == kFarewell) leave_reasons_[static_cast<size_t>(sender_rank)] = text.substr(1);
  if (text[0] == kError) errors_[static_cast<size_t>(sender_rank)] = text.substr(1);
  if (text[0] == kQuestion) send(sender_rank, concat(kAnswer, meeting_count_, ' ', activity()));
  if (text[0] == kAnswer && !last_answers_.empty())
    last_answers_[static_cast<size_t>(sender_rank)] = {
        std::atoll(text.c_str() + 1), text.substr(std::min(text.find(' '), text.size() - 1) + 1)};
}

/// Reads messages until is_done() is true or the time `deadline` has come; returns whether
/// is_done() is true. A thread that has waited for long sleeps between polls, which leaves the core
/// to processes that compute.
template <class Done>
bool World::poll(Clock::time_point deadline, Done is_done) {
  const Clock::time_point begin = Clock::now();
  std::chrono::microseconds sleep_time = kShortestSleep;
  for (int poll_count = 0;; ++poll_count) {
    {
      const std::lock_guard lock(mutex_);
      if (is_done()) return true;
      if (poll_count < kPollsBeforeYield) continue;
      read_messages();
      if (is_done()) return true;
    }
    const Clock::time_point now = Clock::now();
    if (now > deadline) return false;
    if (now - begin < kYieldTime) {
      sched_yield();
      continue;
    }
    std::this_thread::sleep_for(sleep_time);
    sleep_time = std::min(2 * sleep_time, kLongestSleep);
  }
}

World::AbsentProcesses World::meet(double seconds) {
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const std::lock_guard lock(mutex_);
    ++meeting_count_;
    check(MPI_Ibarrier(data_communicator_, &request), "MPI_Ibarrier");
  }
  const auto has_met = [&] {
    int is_complete = 0;
    check(MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE), "MPI_Test");
    return is_complete != 0;
  };
  int rank_that_left = -1;  // the rank of a process that has left; -1 if none has
  const auto has_process_left = [&] {
    const auto leave_reason =
        std::find_if(leave_reasons_.begin(), leave_reasons_.end(),
                     [](const std::string& reason) { return !reason.empty(); });
    if (leave_reason != leave_reasons_.end())
      rank_that_left = static_cast<int>(leave_reason - leave_reasons_.begin());
    return rank_that_left >= 0;
  };
  bool have_all_met = false;
  const bool has_met_or_left = poll(
      deadline_after(seconds), [&] { return (have_all_met = has_met()) || has_process_left(); });
  if (have_all_met) return {};
  if (!has_met_or_left) return absent_processes();
  const std::lock_guard lock(mutex_);
  fail("the process of rank ", rank_that_left, " ",
       leave_reasons_[static_cast<size_t>(rank_that_left)]);
}

/// Asks all other processes how often they have called meet(), and for their activities. Those that
/// do not answer, or that have called meet() less often than this process, are absent.
World::AbsentProcesses World::absent_processes() {
  {
    const std::lock_guard lock(mutex_);
    last_answers_.assign(static_cast<size_t>(size_), {});
    last_answers_[static_cast<size_t>(rank_)].meeting_count = meeting_count_;
    for (int i = 0; i < size_; ++i)
      if (i != rank_) send(i, std::string(1, kQuestion));
  }
  poll(deadline_after(kAnswerSeconds), [&] {
    return std::none_of(last_answers_.begin(), last_answers_.end(),
                        [](const Answer& answer) { return answer.meeting_count < 0; });
  });
  const std::lock_guard lock(mutex_);
  AbsentProcesses absent;
  std::vector<std::string> descriptions;
  std::vector<int> waiting_ranks;
  for (int i = 0; i < size_; ++i) {
    const Answer& answer = last_answers_[static_cast<size_t>(i)];
    if (answer.meeting_count >= meeting_count_) {
      waiting_ranks.push_back(i);
      continue;
    }
    absent.ranks.push_back(i);
    descriptions.push_back(
        concat("rank ", i, " (host ", hosts_[static_cast<size_t>(i)], ") ",
               answer.meeting_count < 0 ? "does not answer" : "has been " + answer.activity));
  }
  const std::string instruction_text = running_instruction();
  descriptions.push_back(concat(
      ranks_text(waiting_ranks), waiting_ranks.size() == 1 ? " waits " : " wait ",
      instruction_text.empty() ? "for all to agree on the next batch" : "in " + instruction_text));
  absent.descriptions = join(descriptions, "; ");
  return absent;
}

std::vector<int> World::ranks_with(const std::string& error) {
  {
    const std::lock_guard lock(mutex_);
    errors_[static_cast<size_t>(rank_)] = error;
    for (int i = 0; i < size_; ++i)
      if (i != rank_) send(i, kError + error);
  }
  poll(deadline_after(kAnswerSeconds), [&] {
    return std::none_of(errors_.begin(), errors_.end(),
                        [](const std::string& error_text) { return error_text.empty(); });
  });
  const std::lock_guard lock(mutex_);
  std::vector<int> ranks;
  for (int i = 0; i < size_; ++i)
    if (errors_[static_cast<size_t>(i)] == error) ranks.push_back(i);
  return ranks;
}

void World::leave(const std::string& reason) noexcept try {
  const std::lock_guard lock(mutex_);
  if (std::exchange(has_left_, true)) return;
  for (int i = 0; i < size_; ++i)
    if (i != rank_) send(i, kFarewell + reason);
} catch (...) {
}

/// Waits until all processes have ended, and sleeps between polls, because the others may still
/// train for a long time.
void World::finish(int status) noexcept {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized) return;
  leave(status == 0 ? "has ended" : concat("has ended with status ", status));
  if (listener_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    end_condition_.notify_all();
    listener_.join();
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(message_communicator_, &request);
  const Clock::time_point end = deadline_after(kMaxEndWaitSeconds);
  for (int is_done = 0; !is_done;) {
    // If this process has failed and another one hangs, the others would never end.
    if (status != 0 && Clock::now() > end) MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    read_messages();
    if (is_done) break;
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  MPI_Finalize();
}

}  // namespace crescent::mpi
