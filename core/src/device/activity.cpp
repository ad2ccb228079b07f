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

/// An op, and the path of the layer that recorded it; `op` is empty while no program is running.
struct RunningInstruction {
  std::string op, scope;
};

/// What the process is computing. The thread that entered the last batch reports it or, before the
/// first batch, any thread does. Threads that only exchange data for a program enter no batch.
struct CurrentActivity {
  std::mutex mutex;
  std::string run_name;
  int64_t batch_number = 0;
  std::thread::id thread;
  RunningInstruction instruction;
  Clock::time_point start_time = Clock::now();
};

thread_local RunningInstruction instruction_of_thread;

std::atomic<bool> is_tracking{false};

/// The object is never destroyed, because other threads may use it while the process ends.
CurrentActivity& current_activity() {
  static auto* current_activity = new CurrentActivity;
  return *current_activity;
}

}  // namespace

bool is_tracking_activity() { return is_tracking.load(std::memory_order_relaxed); }
void set_activity_tracking(bool on) { is_tracking = on; }

void enter_batch(const char* run_name, int64_t batch_number) {
  if (!is_tracking_activity()) return;
  CurrentActivity& process_activity = current_activity();
  const std::lock_guard lock(process_activity.mutex);
  process_activity.run_name = run_name, process_activity.batch_number = batch_number,
  process_activity.thread = std::this_thread::get_id();
  process_activity.instruction = {};
  process_activity.start_time = Clock::now();
}

void enter_instruction(std::string_view op, std::string_view scope) {
  instruction_of_thread.op = op, instruction_of_thread.scope = scope;
  CurrentActivity& process_activity = current_activity();
  const std::lock_guard lock(process_activity.mutex);
  if (process_activity.batch_number > 0 && process_activity.thread != std::this_thread::get_id())
    return;
  process_activity.instruction = instruction_of_thread;
  process_activity.start_time = Clock::now();
}

void leave_program() { enter_instruction("", ""); }

std::string activity() {
  CurrentActivity& process_activity = current_activity();
  const std::lock_guard lock(process_activity.mutex);
  const double seconds =
      std::chrono::duration<double>(Clock::now() - process_activity.start_time).count();
  const auto& [op, scope] = process_activity.instruction;
  std::string activity_text = op.empty() ? "outside of a program" : concat("in ", op);
  if (!op.empty() && !scope.empty()) activity_text = concat("in layer `", scope, "`");
  if (process_activity.batch_number > 0)
    activity_text += concat(op.empty() ? ", in" : " of", " batch ", process_activity.batch_number,
                            " of ", process_activity.run_name);
  return concat(activity_text, " for ", std::round(seconds * 10) / 10, " s");
}

std::string running_instruction() {
  const auto& [op, scope] = instruction_of_thread;
  if (op.empty()) return {};
  return scope.empty() ? op : concat(op, " of `", scope, "`");
}

}  // namespace crescent
