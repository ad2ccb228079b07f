#include "child.h"

#include <dlfcn.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "crescent/model/model.h"

namespace crescent::hdf5 {
namespace {

/// The paths at which the program crescent-h5read may be, relative to the folder of this library or
/// of a test program.
constexpr const char* kReaderPaths[] = {"/../crescent-h5read", "/crescent-h5read",
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
  for (const char* folder : kReaderPaths) {
    std::string path = own_folder() + folder;
    if (access(path.c_str(), X_OK) == 0) return path;
    tried += (tried.empty() ? "" : ", ") + path;
  }
  fail("the program that reads HDF5 files, crescent-h5read, is missing (looked for ", tried,
       "); install Crescent again");
}

/// kPollInterval is the interval at which a waiting thread checks for an interruption, since
/// another thread may have received the signal.
constexpr std::chrono::milliseconds kNoTime{0}, kPollInterval{50};

/// The time that the reader has to exit after its socket was closed.
constexpr std::chrono::milliseconds kExitTimeout{200};

/// Starts the reader in a process group of its own, so that Ctrl-C at the terminal reaches only
/// this process.
Process spawn(int file, int socket, int memory, uint64_t file_size, unsigned seconds) {
  constexpr int kNowhere = ProcessOptions::kNowhere;
  return Process::program({find_helper(), std::to_string(file_size), std::to_string(seconds)},
                          {.descriptors = {{kNowhere, STDIN_FILENO},
                                           {kNowhere, STDOUT_FILENO},
                                           {kNowhere, STDERR_FILENO},
                                           {file, kFileDescriptor},
                                           {socket, kSocketDescriptor},
                                           {memory, kMemoryDescriptor}},
                           .has_environment = false,
                           .has_own_group = true});
}

}  // namespace

Child::Child(int file, int memory, uint64_t file_size, unsigned seconds) : seconds_(seconds) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail("cannot start crescent-h5read: ", strerror(errno));
  socket_ = Descriptor(ends[0]);
  const Descriptor reader_socket(ends[1]);
  process_.emplace(spawn(file, reader_socket, memory, file_size, seconds));
}

Child::~Child() { end(); }

bool Child::send(const Packer& request) {
  const Deadline until = deadline();
  return send_frame(socket_, request, MSG_DONTWAIT, [&](int) { return wait_for(POLLOUT, until); });
}

std::optional<Unpacker> Child::receive() {
  const Deadline until = deadline();
  return receive_frame(socket_, [&](int) { return wait_for(POLLIN, until); });
}

Child::Deadline Child::deadline() const {
  // The time limit in the reader itself, seconds_, expires one second earlier.
  return std::chrono::steady_clock::now() + std::chrono::seconds(seconds_ + 1);
}

bool Child::wait_for(short event, Deadline until) {
  if (process_->id() < 0) return false;  // the reader has ended
  pollfd awaited{socket_, event, 0};
  for (;;) {
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    int ready_count =
        poll(&awaited, 1, static_cast<int>(std::clamp(left, kNoTime, kPollInterval).count()));
    if (ready_count > 0) return true;
    interrupted_ = interrupted();
    if (!interrupted_ && left > kNoTime && (ready_count == 0 || errno == EINTR)) continue;
    timed_out_ = !interrupted_;
    process_->kill();
    return false;
  }
}

void Child::allow_memory(uint64_t bytes) {
  rlimit limit;
  if (prlimit(process_->id(), RLIMIT_AS, nullptr, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur + bytes, limit.rlim_max);
  prlimit(process_->id(), RLIMIT_AS, &limit, nullptr);
}

void Child::allow_time() {
  clockid_t clock;
  timespec used;
  rlimit limit;
  if (clock_getcpuclockid(process_->id(), &clock) != 0 || clock_gettime(clock, &used) != 0 ||
      prlimit(process_->id(), RLIMIT_CPU, nullptr, &limit) != 0)
    return;
  const auto until = static_cast<rlim_t>(used.tv_sec) + processor_seconds(seconds_) + 1;
  limit.rlim_cur = std::min<rlim_t>(until, limit.rlim_max);
  prlimit(process_->id(), RLIMIT_CPU, &limit, nullptr);
}

std::string Child::failure() {
  end();
  return timed_out_ ? concat("did not answer within ", seconds_, " seconds") : process_->ending();
}

/// Closes the socket, which makes the reader exit, and kills the reader if it does not.
void Child::end() {
  socket_.close();
  if (!process_->wait(kExitTimeout)) timed_out_ = true;
}

}  // namespace crescent::hdf5
