// The handler of signals that end the process. It calls no function that blocks or allocates
// memory. It writes the first part of its message before it reads the stack, which may be damaged.
// An exit handler reports plugins that call exit().
#include "crescent/system/crash.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "system/plugin_code.h"
#include "system/saved_file.h"

namespace crescent {
namespace {

thread_local const Running* innermost_running = nullptr;

}  // namespace

Running::Running(std::string_view kind, std::string_view name, std::string_view class_name,
                 std::string_view plugin)
    : kind_(kind),
      name_(name),
      class_name_(class_name),
      plugin_(plugin),
      outer_(innermost_running) {
  innermost_running = this;
}

Running::~Running() { innermost_running = outer_; }

/// The names that the signal handler prints: those of the innermost running operation, which a
/// Running object describes, and those of the innermost named operation around it.
struct RunningNow {
  std::string_view kind, name, class_name, plugin;
  std::string_view outer_name, outer_class_name;
  RunningNow() {
    if (!innermost_running) return;
    kind = innermost_running->kind_, name = innermost_running->name_;
    class_name = innermost_running->class_name_, plugin = innermost_running->plugin_;
    const Running* named_run = innermost_running;
    while (named_run && named_run->name_.empty()) named_run = named_run->outer_;
    if (named_run && named_run != innermost_running)
      outer_name = named_run->name_, outer_class_name = named_run->class_name_;
  }
};

namespace {

constexpr int kCrashSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

/// A text of limited length, without allocation.
class CrashLine {
 public:
  CrashLine& operator<<(std::string_view text) {
    for (const char c : text)
      if (size_ < sizeof bytes_) bytes_[size_++] = static_cast<unsigned char>(c) < 32 ? '?' : c;
    return *this;
  }
  void write() { [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, bytes_, size_); }

 private:
  char bytes_[1200];
  size_t size_ = 0;
};

void write_newline() { [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, "\n", 1); }

/// Ends the line about a crash; another line names the file that was saved last.
void end_line() {
  write_newline();
  const std::string_view saved_file = last_saved_file();
  const bool exists = !saved_file.empty() && access(saved_file.data(), F_OK) == 0;
  if (!exists) return;
  CrashLine note;
  note << "crescent: last saved: '" << saved_file << "'";
  note.write();
  write_newline();
}

CrashLine& operator<<(CrashLine& line, const RunningNow& names) {
  if (!names.kind.empty()) line << " in " << names.kind;
  if (!names.name.empty()) line << " '" << names.name << "'";
  if (!names.class_name.empty()) {
    line << (names.name.empty() ? " " : " (") << names.class_name;
    if (!names.plugin.empty()) line << " of plugin '" << names.plugin << "'";
    if (!names.name.empty()) line << ")";
  }
  if (!names.outer_name.empty())
    line << ", in layer '" << names.outer_name << "' (" << names.outer_class_name << ")";
  return line;
}

/// The plugin of the innermost stack frame whose code belongs to a plugin.
std::string_view plugin_on_stack() {
  void* frames[64];
  const int count = backtrace(frames, 64);
  for (int i = 0; i < count; ++i)
    if (const char* plugin = plugin_at(frames[i])) return plugin;
  return "";
}

extern "C" void crescent_on_crash(int signal) {
  const RunningNow names;
  std::signal(signal, SIG_DFL);
  CrashLine line;
  line << "crescent: SIG" << sigabbrev_np(signal) << " (" << sigdescr_np(signal) << ")" << names;
  line.write();
  const std::string_view plugin = plugin_on_stack();
  CrashLine plugin_note;
  if (!plugin.empty() && plugin != names.plugin)
    plugin_note << ", in code of plugin '" << plugin << "'";
  plugin_note.write();
  end_line();
  raise(signal);
}

/// The plugin whose code called exit(), for an exit handler; null if other code did.
const char* exiting_plugin() {
  void* frames[16];
  const int count = backtrace(frames, 16);
  // This check avoids calls of dladdr() if no plugin is on the stack. dladdr() searches tables of
  // symbols, which takes a noticeable time compared with the shortest programs.
  if (std::none_of(frames, frames + count, plugin_at)) return nullptr;
  Dl_info libc{}, frame_info{};
  dladdr(reinterpret_cast<void*>(&std::exit), &libc);
  bool was_in_exit = false;
  for (int i = 0; i < count; ++i) {
    const bool is_in_libc =
        dladdr(frames[i], &frame_info) && frame_info.dli_fbase == libc.dli_fbase;
    if (was_in_exit && !is_in_libc) return plugin_at(frames[i]);
    was_in_exit = is_in_libc;
  }
  return nullptr;
}

void report_exit(int status, void*) {
  const char* plugin = exiting_plugin();
  if (!plugin) return;
  const RunningNow names;
  CrashLine line;
  line << "crescent: exit(" << std::to_string(status) << ")" << names;
  if (plugin != names.plugin) line << ", in code of plugin '" << plugin << "'";
  line.write();
  end_line();
}

/// Sets an alternate signal stack, on which the handler runs even if the stack of the thread has
/// overflowed.
void provide_stack() {
  static char stack_memory[256 << 10];
  stack_t stack{};
  stack.ss_sp = stack_memory;
  stack.ss_size = sizeof stack_memory;
  sigaltstack(&stack, nullptr);
}

}  // namespace

void report_crashes() {
  void* frame;
  // the first call of backtrace() loads a library and allocates, which the handler must not do
  backtrace(&frame, 1);
  provide_stack();
  [[maybe_unused]] static const int exit_handler = on_exit(report_exit, nullptr);
  for (const int signal : kCrashSignals) {
    struct sigaction old_action {
    }, action{};
    sigaction(signal, nullptr, &old_action);
    if (old_action.sa_handler != SIG_DFL) continue;
    action.sa_handler = crescent_on_crash;
    action.sa_flags = SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace crescent
