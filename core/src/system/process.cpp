#include "crescent/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "crescent/base/error.h"

extern char** environ;

namespace crescent {
namespace {

constexpr const char* kNullDevice = "/dev/null";

/// Duplicates the descriptor to a number of at least ten. The child process gets its descriptors by
/// dup2() to smaller numbers, and dup2() closes the descriptor that has the number already. This
/// could be a descriptor that is still to be duplicated.
Descriptor duplicated_above_nine(int descriptor) {
  Descriptor copy(fcntl(descriptor, F_DUPFD_CLOEXEC, 10));
  if (copy < 0) fail("cannot hand over an open file: ", strerror(errno));
  return copy;
}

class SpawnFiles {
 public:
  explicit SpawnFiles(const ProcessOptions& options) {
    posix_spawn_file_actions_init(&actions_);
    for (const auto& [parent_descriptor, child_descriptor] : options.descriptors) {
      if (parent_descriptor == ProcessOptions::kNowhere) {
        posix_spawn_file_actions_addopen(&actions_, child_descriptor, kNullDevice, O_RDWR, 0);
      } else {
        duplicates_.push_back(duplicated_above_nine(parent_descriptor));
        posix_spawn_file_actions_adddup2(&actions_, duplicates_.back(), child_descriptor);
      }
    }
  }
  ~SpawnFiles() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnFiles(const SpawnFiles&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
  std::vector<Descriptor> duplicates_;
};

class SpawnAttributes {
 public:
  explicit SpawnAttributes(const ProcessOptions& options) {
    sigset_t no_signals, every_signal;
    sigemptyset(&no_signals);
    sigfillset(&every_signal);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &no_signals);
    posix_spawnattr_setsigdefault(&attributes_, &every_signal);
    posix_spawnattr_setpgroup(&attributes_, 0);
    const int group_flag = options.has_own_group ? POSIX_SPAWN_SETPGROUP : 0;
    posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK |
                                                              POSIX_SPAWN_SETSIGDEF | group_flag));
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// Runs in the child after fork: restores the default handlers of crash signals and disables core
/// dumps.
void prepare_forked_process(const ProcessOptions& options) {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGALRM})
    ::signal(signal, SIG_DFL);
  const rlimit no_core_dump{0, 0};
  setrlimit(RLIMIT_CORE, &no_core_dump);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (options.has_own_group) setpgid(0, 0);
  if (!options.has_environment) clearenv();
  for (const auto& [parent_descriptor, child_descriptor] : options.descriptors)
    dup2(parent_descriptor == ProcessOptions::kNowhere ? open(kNullDevice, O_RDWR | O_CLOEXEC)
                                                       : parent_descriptor,
         child_descriptor);
}

}  // namespace

Process Process::program(const std::vector<std::string>& words, const ProcessOptions& options) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  char* no_environment[] = {nullptr};
  const SpawnFiles files(options);
  const SpawnAttributes attributes(options);
  pid_t id = -1;
  if (int error = posix_spawn(&id, arguments[0], files.get(), attributes.get(), arguments.data(),
                              options.has_environment ? environ : no_environment))
    fail("cannot start ", words.front(), ": ", strerror(error));
  return Process(id);
}

Process Process::copy(const std::function<int()>& work, const ProcessOptions& options) {
  const pid_t id = fork();
  if (id < 0) fail("cannot start a copy of this process: ", strerror(errno));
  if (id > 0) return Process(id);
  int status = 1;
  try {
    prepare_forked_process(options);
    status = work();
  } catch (...) {
  }
  _exit(status);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}

Process::~Process() { kill(); }

bool Process::has_ended(int options) {
  if (pid_ < 0) return true;
  pid_t ended_process;
  do ended_process = waitpid(pid_, &status_, options);
  while (ended_process < 0 && errno == EINTR);
  if (ended_process != 0) pid_ = -1;
  return ended_process != 0;
}

int Process::wait() {
  has_ended(0);
  return exit_status();
}

/// Sleeps until the child ends. If the system has no process descriptors (pidfd), the child is
/// polled every millisecond.
bool Process::wait(Timeout timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const Descriptor child(pid_ < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  pollfd poll_entry{child, POLLIN, 0};
  while (!has_ended(WNOHANG)) {
    const auto remaining_time =
        std::chrono::ceil<Timeout>(deadline - std::chrono::steady_clock::now());
    if (remaining_time.count() <= 0) return kill(), false;
    poll(&poll_entry, 1,
         child < 0 ? 1 : static_cast<int>(std::min<int64_t>(remaining_time.count(), INT_MAX)));
  }
  return true;
}

bool Process::runs() { return !has_ended(WNOHANG); }

void Process::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

int Process::signal() const { return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }
int Process::exit_status() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1; }

std::string Process::ending() const {
  return signal() ? concat("ended with ", signal_name(signal()))
                  : concat("ended with exit status ", exit_status());
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? concat("SIG", name, " (", sigdescr_np(signal), ")") : concat("signal ", signal);
}

Descriptor memory_file(const char* name) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  if (file < 0) fail("cannot make memory for another process to write to: ", strerror(errno));
  return file;
}

std::string contents_of(const Descriptor& file) {
  std::string text(std::max<off_t>(0, lseek(file, 0, SEEK_END)), '\0');
  text.resize(std::max<ssize_t>(0, pread(file, text.data(), text.size(), 0)));
  return text;
}

}  // namespace crescent
