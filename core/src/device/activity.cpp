#include "crescent/program/activity.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>

#include "crescent/base/error.h"

namespace crescent {
namespace {

using Clock = std::chrono::steady_clock;

struct CurrentActivity {
  std::mutex mutex;
  std::string run, op, scope;
  int64_t batch = 0;
  Clock::time_point since = Clock::now();
};

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
  now.run = run, now.batch = number, now.op.clear(), now.scope.clear();
  now.since = Clock::now();
}

void enter_instruction(std::string_view op, std::string_view scope) {
  CurrentActivity& now = current_activity();
  const std::lock_guard lock(now.mutex);
  now.op = op, now.scope = scope;
  now.since = Clock::now();
}

void leave_program() { enter_instruction("", ""); }

std::string activity() {
  CurrentActivity& now = current_activity();
  const std::lock_guard lock(now.mutex);
  const double seconds = std::chrono::duration<double>(Clock::now() - now.since).count();
  std::string where = now.op.empty() ? "outside of a program" : concat("in ", now.op);
  if (!now.op.empty() && !now.scope.empty()) where = concat("in layer `", now.scope, "`");
  if (now.batch > 0)
    where += concat(now.op.empty() ? ", in" : " of", " batch ", now.batch, " of ", now.run);
  return concat(where, " for ", std::round(seconds * 10) / 10, " s");
}

std::string running_instruction() {
  CurrentActivity& now = current_activity();
  const std::lock_guard lock(now.mutex);
  if (now.op.empty()) return {};
  return now.scope.empty() ? now.op : concat(now.op, " of `", now.scope, "`");
}

}  // namespace crescent
