#include "world.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "crescent/base/error.h"

namespace crescent::mpi {
namespace {

/// The first character of a message between processes: a farewell is followed by the reason why the
/// sender leaves, a question asks for the number of the receiver's last meeting, and an answer
/// contains this number.
constexpr char kFarewell = 'f', kQuestion = 'q', kAnswer = 'a';
constexpr double kAnswerSeconds = 1;
constexpr int kSpins = 2000;  ///< number of polls without a pause before the thread yields its core

World::Clock::time_point after(double seconds) {
  constexpr double kLongest = 1e9;
  return World::Clock::now() + std::chrono::duration_cast<World::Clock::duration>(
                                   std::chrono::duration<double>(std::min(seconds, kLongest)));
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
    auto* made = new World;
    on_exit([](int status, void* self) { static_cast<World*>(self)->finish(status); }, made);
    return made;
  }();
  return *world;
}

World::World() {
  int provided = 0, begun = 0;
  MPI_Initialized(&begun);
  if (!begun)
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init");
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  if (size_ == 1 && tasks_of_slurm() > 1)
    fail("srun started ", tasks_of_slurm(),
         " processes that do not see one another: start them by srun --mpi=pmix");
  for (MPI_Comm* each : {&data_, &messages_}) {
    check(MPI_Comm_dup(MPI_COMM_WORLD, each), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(*each, MPI_ERRORS_RETURN);
  }
  farewell_.resize(static_cast<size_t>(size_));
}

void World::send(int to, std::string text) {
  Message& message = sent_.emplace_back(Message{MPI_REQUEST_NULL, std::move(text)});
  MPI_Isend(message.text.data(), static_cast<int>(message.text.size()), MPI_CHAR, to, 0, messages_,
            &message.request);
}

void World::read_messages() {
  for (;;) {
    int there = 0, bytes = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, messages_, &there, &status);
    if (!there) return;
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    std::string text(static_cast<size_t>(bytes), '\0');
    MPI_Recv(text.data(), bytes, MPI_CHAR, status.MPI_SOURCE, 0, messages_, MPI_STATUS_IGNORE);
    take(status.MPI_SOURCE, text);
  }
}

void World::take(int from, const std::string& text) {
  if (text[0] == kFarewell) farewell_[static_cast<size_t>(from)] = text.substr(1);
  if (text[0] == kQuestion) send(from, kAnswer + std::to_string(meeting_));
  if (text[0] == kAnswer && !answers_.empty())
    answers_[static_cast<size_t>(from)] = std::atoll(text.c_str() + 1);
}

/// Reads messages until done() is true or the time `end` has come; returns whether done() is true.
template <class Done>
bool World::poll(Clock::time_point end, Done done) {
  for (int spins = 0; !done(); ++spins) {
    if (spins < kSpins) continue;
    read_messages();
    if (done()) return true;
    if (Clock::now() > end) return false;
    sched_yield();
  }
  return true;
}

std::vector<int> World::meet(double seconds) {
  ++meeting_;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(data_, &request), "MPI_Ibarrier");
  const auto has_met = [&] {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  };
  const auto someone_left = [&] {
    return std::any_of(farewell_.begin(), farewell_.end(),
                       [](const std::string& why) { return !why.empty(); });
  };
  bool met = false;
  const bool told = poll(after(seconds), [&] { return (met = has_met()) || someone_left(); });
  if (met) return {};
  if (!told) return absent();
  for (int i = 0; i < size_; ++i)
    if (const std::string& why = farewell_[static_cast<size_t>(i)]; !why.empty())
      fail("the process of rank ", i, " ", why);
  return {};
}

/// The ranks of processes that do not answer, or that have not yet come to the present meeting.
std::vector<int> World::absent() {
  answers_.assign(static_cast<size_t>(size_), -1);
  answers_[static_cast<size_t>(rank_)] = meeting_;
  for (int i = 0; i < size_; ++i)
    if (i != rank_) send(i, std::string(1, kQuestion));
  poll(after(kAnswerSeconds),
       [&] { return std::find(answers_.begin(), answers_.end(), -1) == answers_.end(); });
  std::vector<int> ranks;
  for (int i = 0; i < size_; ++i)
    if (answers_[static_cast<size_t>(i)] < meeting_) ranks.push_back(i);
  return ranks;
}

void World::leave(const std::string& why) noexcept try {
  if (std::exchange(left_, true)) return;
  for (int i = 0; i < size_; ++i)
    if (i != rank_) send(i, kFarewell + why);
} catch (...) {
}

/// Waits until all processes have ended. It sleeps between polls, because the others may still
/// train for a long time.
void World::finish(int status) noexcept {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended) return;
  leave(status == 0 ? "has ended" : concat("has ended with status ", status));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(messages_, &request);
  for (int done = 0; !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    read_messages();
    if (done) break;
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  MPI_Finalize();
}

}  // namespace crescent::mpi
