#include "child.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <chrono>

#include "crescent/model.h"

namespace crescent::hdf5 {
namespace {

/// The helper is in lib/crescent: beside this library's folder, or reached from bin where tests
/// are.
constexpr const char* kPlaces[] = {"/../crescent-h5read", "/crescent-h5read",
                                   "/../lib/crescent/crescent-h5read"};

std::string own_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &info) || !info.dli_fname) return ".";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string find_helper() {
  std::string tried;
  for (const char* place : kPlaces) {
    std::string path = own_folder() + place;
    if (access(path.c_str(), X_OK) == 0) return path;
    tried += (tried.empty() ? "" : ", ") + path;
  }
  fail("the program that reads HDF5 files, crescent-h5read, is missing (looked for ", tried,
       "); install Crescent again");
}

/// While it waits for the reader: how often it looks whether the user still wants the answer. A
/// signal may have reached another thread.
constexpr std::chrono::milliseconds kNone{0}, kGlance{50};

/// Numbers from ten up, so that no dup2 of the child overwrites one that it still needs.
Descriptor moved_up(int descriptor) {
  Descriptor copy(fcntl(descriptor, F_DUPFD_CLOEXEC, 10));
  if (copy < 0) fail("cannot start crescent-h5read: ", strerror(errno));
  return copy;
}

class SpawnActions {
 public:
  SpawnActions() {
    posix_spawn_file_actions_init(&actions_);
    for (int standard : {0, 1, 2})
      posix_spawn_file_actions_addopen(&actions_, standard, "/dev/null", O_RDWR, 0);
  }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  void hand_over(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// A group of its own, so that Ctrl-C at the terminal is ours to answer; all signals back to their
/// defaults.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

pid_t spawn(int file, int socket, int memory, uint64_t file_size, unsigned seconds) {
  Descriptor up[] = {moved_up(file), moved_up(socket), moved_up(memory)};
  SpawnActions actions;
  actions.hand_over(up[0], kFileDescriptor);
  actions.hand_over(up[1], kSocketDescriptor);
  actions.hand_over(up[2], kMemoryDescriptor);
  std::string path = find_helper(), size = std::to_string(file_size),
              limit = std::to_string(seconds);
  char* arguments[] = {path.data(), size.data(), limit.data(), nullptr};
  char* environment[] = {nullptr};
  pid_t pid = -1;
  if (int error = posix_spawn(&pid, path.c_str(), actions.get(), SpawnAttributes().get(), arguments,
                              environment))
    fail("cannot start ", path, ": ", strerror(error));
  return pid;
}

}  // namespace

Child::Child(int file, int memory, uint64_t file_size, unsigned seconds) : seconds_(seconds) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail("cannot start crescent-h5read: ", strerror(errno));
  socket_ = Descriptor(ends[0]);
  Descriptor theirs(ends[1]);
  pid_ = spawn(file, theirs, memory, file_size, seconds);
}

Child::~Child() {
  socket_.close();  // what it waits for ends, and so does it
  end();
}

bool Child::send(const Packer& request) {
  const Patience patience = begin_to_wait();
  return send_frame(socket_, request, MSG_DONTWAIT,
                    [&](int) { return wait_for(POLLOUT, patience); });
}

std::optional<Unpacker> Child::receive() {
  const Patience patience = begin_to_wait();
  return receive_frame(socket_, [&](int) { return wait_for(POLLIN, patience); });
}

Child::Patience Child::begin_to_wait() const {
  // Its own clock goes first.
  return std::chrono::steady_clock::now() + std::chrono::seconds(seconds_ + 1);
}

bool Child::wait_for(short event, Patience until) {
  if (pid_ < 0) return false;  // it has ended, and -1 would be every process
  pollfd awaited{socket_, event, 0};
  for (;;) {
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    int ready = poll(&awaited, 1, static_cast<int>(std::clamp(left, kNone, kGlance).count()));
    if (ready > 0) return true;
    interrupted_ = interrupted();
    if (!interrupted_ && left > kNone && (ready == 0 || errno == EINTR)) continue;
    late_ = !interrupted_;
    kill(pid_, SIGKILL);
    return false;
  }
}

void Child::allow_memory(uint64_t bytes) {
  rlimit limit;
  if (prlimit(pid_, RLIMIT_AS, nullptr, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur + bytes, limit.rlim_max);
  prlimit(pid_, RLIMIT_AS, &limit, nullptr);
}

void Child::allow_time() {
  clockid_t clock;
  timespec used;
  rlimit limit;
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &used) != 0 ||
      prlimit(pid_, RLIMIT_CPU, nullptr, &limit) != 0)
    return;
  const auto until = static_cast<rlim_t>(used.tv_sec) + processor_seconds(seconds_) + 1;
  limit.rlim_cur = std::min<rlim_t>(until, limit.rlim_max);
  prlimit(pid_, RLIMIT_CPU, &limit, nullptr);
}

std::string Child::obituary() {
  socket_.close();
  end();
  if (late_) return concat("did not answer within ", seconds_, " seconds");
  if (WIFSIGNALED(status_))
    return concat("ended with SIG", sigabbrev_np(WTERMSIG(status_)), " (",
                  sigdescr_np(WTERMSIG(status_)), ")");
  return concat("ended early with code ", WEXITSTATUS(status_));
}

void Child::end() {
  if (pid_ < 0) return;
  auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  for (;;) {
    pid_t ended = waitpid(pid_, &status_, late_ || interrupted_ ? 0 : WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) break;
    if (std::chrono::steady_clock::now() > patience) {
      late_ = true;
      kill(pid_, SIGKILL);
    } else {
      usleep(100);
    }
  }
  pid_ = -1;
}

}  // namespace crescent::hdf5
