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

std::string library_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&library_folder), &info) || !info.dli_fname) return ".";
  std::string path = info.dli_fname;
  size_t slash_position = path.rfind('/');
  return slash_position == std::string::npos ? "." : path.substr(0, slash_position);
}

std::string find_reader() {
  std::string tried_paths;
  for (const char* reader_path : kReaderPaths) {
    std::string path = library_folder() + reader_path;
    if (access(path.c_str(), X_OK) == 0) return path;
    tried_paths += (tried_paths.empty() ? "" : ", ") + path;
  }
  fail("the program that reads HDF5 files, crescent-h5read, is missing (looked for ", tried_paths,
       "); install Crescent again");
}

/// kPollInterval is the interval at which a waiting thread checks for an interruption, since
/// another thread may have received the signal.
constexpr std::chrono::milliseconds kZeroTime{0}, kPollInterval{50};

/// The time that the reader has to exit after its socket was closed.
constexpr std::chrono::milliseconds kExitTimeout{200};

/// Starts the reader in a process group of its own, so that Ctrl-C at the terminal reaches only
/// this process.
Process spawn(int file, int socket, int memory, uint64_t file_size, unsigned seconds) {
  constexpr int kNowhere = ProcessOptions::kNowhere;
  return Process::program({find_reader(), std::to_string(file_size), std::to_string(seconds)},
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
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    fail("cannot start crescent-h5read: ", strerror(errno));
  socket_ = Descriptor(sockets[0]);
  const Descriptor reader_socket(sockets[1]);
  process_.emplace(spawn(file, reader_socket, memory, file_size, seconds));
}

Child::~Child() { end(); }

bool Child::send(const Packer& request) {
  const Deadline end_time = deadline();
  return send_frame(socket_, request, MSG_DONTWAIT,
                    [&](int) { return wait_for(POLLOUT, end_time); });
}

std::optional<Unpacker> Child::receive() {
  const Deadline end_time = deadline();
  return receive_frame(socket_, [&](int) { return wait_for(POLLIN, end_time); });
}

Child::Deadline Child::deadline() const {
  // The time limit in the reader itself, seconds_, expires one second earlier.
  return std::chrono::steady_clock::now() + std::chrono::seconds(seconds_ + 1);
}

bool Child::wait_for(short event, Deadline end_time) {
  if (process_->id() < 0) return false;  // the reader has ended
  pollfd poll_request{socket_, event, 0};
  for (;;) {
    auto time_left =
        std::chrono::ceil<std::chrono::milliseconds>(end_time - std::chrono::steady_clock::now());
    int ready_count =
        poll(&poll_request, 1,
             static_cast<int>(std::clamp(time_left, kZeroTime, kPollInterval).count()));
    if (ready_count > 0) return true;
    was_interrupted_ = interrupted();
    if (!was_interrupted_ && time_left > kZeroTime && (ready_count == 0 || errno == EINTR))
      continue;
    has_timed_out_ = !was_interrupted_;
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
  timespec used_time;
  rlimit limit;
  if (clock_getcpuclockid(process_->id(), &clock) != 0 || clock_gettime(clock, &used_time) != 0 ||
      prlimit(process_->id(), RLIMIT_CPU, nullptr, &limit) != 0)
    return;
  const auto end_time = static_cast<rlim_t>(used_time.tv_sec) + processor_seconds(seconds_) + 1;
  limit.rlim_cur = std::min<rlim_t>(end_time, limit.rlim_max);
  prlimit(process_->id(), RLIMIT_CPU, &limit, nullptr);
}

std::string Child::failure_reason() {
  end();
  return has_timed_out_ ? concat("did not answer within ", seconds_, " seconds")
                        : process_->ending();
}

/// Closes the socket, which makes the reader exit, and kills the reader if it does not.
void Child::end() {
  socket_.close();
  if (!process_->wait(kExitTimeout)) has_timed_out_ = true;
}

}  // namespace crescent::hdf5
