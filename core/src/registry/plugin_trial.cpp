#include "registry/plugin_trial.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>

#include "crescent/error.h"
#include "crescent/file.h"
#include "registry/plugin_path.h"

extern char** environ;

namespace crescent {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);

std::string helper() {
  const std::string path =
      (std::filesystem::path(installed_plugin_directory()).parent_path() / "crescent-try").string();
  if (access(path.c_str(), X_OK) != 0)
    fail("the program that tries plugins, ", path, ", is missing; install Crescent again");
  return path;
}

/// Memory that the child writes to as if to a file. Numbers from ten up, which no dup2 in the child
/// overwrites.
Descriptor memory_file() {
  const Descriptor file(memfd_create("crescent-try", MFD_CLOEXEC));
  Descriptor moved(fcntl(file, F_DUPFD_CLOEXEC, 10));
  if (moved < 0) fail("cannot try the plugin: ", strerror(errno));
  return moved;
}

std::string contents(const Descriptor& file) {
  std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, pread(file, text.data(), text.size(), 0))));
  return text;
}

/// "SIGSEGV (Segmentation fault)"
std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? concat("SIG", name, " (", sigdescr_np(signal), ")") : concat("signal ", signal);
}

/// How the helper starts: without input and output, all signals back to their defaults. It stays in
/// the process group, so that Ctrl-C ends the trial.
class Settings {
 public:
  Settings(int words, int report) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, words, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files, report, kTrialDescriptor);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Settings() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  }
  Settings(const Settings&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

/// A process that was started here, and how it ended.
struct Child {
  pid_t id = -1;
  int status = 0;
  bool late = false;

  /// Returns when it has ended; it is killed when it takes too long.
  void wait() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      const pid_t ended = waitpid(id, &status, late ? 0 : WNOHANG);
      if (ended == id || (ended < 0 && errno != EINTR)) return;
      late = std::chrono::steady_clock::now() > deadline;
      if (late)
        kill(id, SIGKILL);
      else
        usleep(100);
    }
  }
};

/// One run of the helper.
class Trial {
 public:
  explicit Trial(std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    const Settings settings(words_, report_);
    const int error = posix_spawn(&child_.id, pointers[0], &settings.files, &settings.attributes,
                                  pointers.data(), environ);
    if (error) fail("cannot start ", arguments[0], ": ", strerror(error));
  }

  std::string outcome() {
    child_.wait();
    const int status = child_.status;
    const bool loaded = !contents(report_).empty();
    const char* when = loaded ? "when the process ends" : "while it is loaded";
    if (child_.late)
      return concat("it does not come to an end ", when, ": it was given ", kPatience.count(),
                    " seconds", last_words());
    if (WIFSIGNALED(status))
      return concat("it crashes ", when, ": ", signal_name(WTERMSIG(status)), last_words());
    if (!loaded)
      return concat("it ends the process ", when, ", with exit status ", WEXITSTATUS(status),
                    last_words());
    return WEXITSTATUS(status) ? concat("it makes the process end with exit status ",
                                        WEXITSTATUS(status), last_words())
                               : "";
  }

 private:
  /// The last line on stderr: what an assertion or the system's loader had to say.
  std::string last_words() const {
    std::string text = contents(words_);
    while (text.ends_with('\n')) text.pop_back();
    const std::string line = text.substr(text.rfind('\n') + 1);
    return line.empty() ? "" : concat("; its last words: ", line);
  }

  Descriptor words_ = memory_file(), report_ = memory_file();
  Child child_;
};

/// In the copy: nothing that it says is heard, and nobody handles its crashes.
[[noreturn]] void rehearse(const std::function<void()>& load, int report) {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGALRM})
    ::signal(signal, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nowhere = open("/dev/null", O_RDWR);
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, stream);
  try {
    load();
  } catch (...) {  // found again by who loads it in earnest
  }
  static_cast<void>(!write(report, "1", 1));
  _exit(0);
}

}  // namespace

std::string tried(const std::vector<std::string>& libraries) {
  std::vector<std::string> arguments{helper()};
  arguments.insert(arguments.end(), libraries.begin(), libraries.end());
  return Trial(std::move(arguments)).outcome();
}

/// A copy has one thread: one that waits for the others says nothing against the library. Nor does
/// a machine without memory for a copy.
std::string rehearsed(const std::function<void()>& load) {
  const Descriptor report = memory_file();
  Child child;
  child.id = fork();
  if (child.id < 0) return "";
  if (child.id == 0) rehearse(load, report);
  child.wait();
  if (child.late || !contents(report).empty()) return "";
  if (WIFSIGNALED(child.status))
    return concat("it crashes in this process: ", signal_name(WTERMSIG(child.status)));
  return "it ends this process while it is loaded";
}

}  // namespace crescent
