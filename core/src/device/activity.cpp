#include "crescent/program/activity.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include "crescent/base/error.h"

namespace crescent {
namespace {

using Clock = std::chrono::steady_clock;

/// An op, and the layer that recorded it; without an op: no program is running.
struct NotedInstruction {
  std::string op, scope;
};

/// The activity of the thread that entered the last batch; before the first batch, of any thread.
/// Threads that only exchange data for a program enter no batch.
struct CurrentActivity {
  std::mutex mutex;
  std::string run;
  int64_t batch = 0;
  std::thread::id thread;
  NotedInstruction instruction;
  Clock::time_point since = Clock::now();
};

thread_local NotedInstruction instruction_of_thread;

std::atomic<bool> is_noting{false};

/// The object is never destroyed, because other threads may use it while the process ends.
CurrentActivity& current_activity() {
  static auto* current_activity = new CurrentActivity;
  return *current_activity;
}

}  // namespace

bool notes_activity() { return is_noting.load(std::memory_order_relaxed); }
void note_activity(bool on) { is_noting = on; }

void enter_batch(const char* run, int64_t number) {
  if (!notes_activity()) return;
  CurrentActivity& now = current_activity();
  const std::lock_guard lock(now.mutex);
  now.run = run, now.batch = number, now.thread = std::this_thread::get_id();
  now.instruction = {};
  now.since = Clock::now();
}

void enter_instruction(std::string_view op, std::string_view scope) {
  instruction_of_thread.op = op, instruction_of_thread.scope = scope;
  CurrentActivity& now = current_activity();
  const std::lock_guard lock(now.mutex);
  if (now.batch > 0 && now.thread != std::this_thread::get_id()) return;
  now.instruction = instruction_of_thread;
  now.since = Clock::now();
}

void leave_program() { enter_instruction("", ""); }

std::string activity() {
  CurrentActivity& now = current_activity();
  const std::lock_guard lock(now.mutex);
  const double seconds = std::chrono::duration<double>(Clock::now() - now.since).count();
  const auto& [op, scope] = now.instruction;
  std::string where = op.empty() ? "outside of a program" : concat("in ", op);
  if (!op.empty() && !scope.empty()) where = concat("in layer `", scope, "`");
  if (now.batch > 0)
    where += concat(op.empty() ? ", in" : " of", " batch ", now.batch, " of ", now.run);
  return concat(where, " for ", std::round(seconds * 10) / 10, " s");
}

std::string running_instruction() {
  const auto& [op, scope] = instruction_of_thread;
  if (op.empty()) return {};
  return scope.empty() ? op : concat(op, " of `", scope, "`");
}

}  // namespace crescent
