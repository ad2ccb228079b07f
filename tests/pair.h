// Runs a test in two processes that compute together: this process, and the same program started
// again to run one hidden test case.
#pragma once
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "crescent/program/communicator.h"
#include "crescent/system/process.h"

namespace crescent {

/// A communicator of two processes that exchange messages through a socket.
class Pair final : public Communicator {
 public:
  static void describe(Schema<Pair>& s) {
    s.doc("Two processes with a socket between them.")
        .field("rank", &Pair::rank_, "0 or 1.")
        .field("socket", &Pair::socket_, "Its number.");
    describe_timeout(s, &Pair::timeout_);
  }
  ~Pair() override { close(descriptor()); }
  int rank() const override { return static_cast<int>(rank_); }
  int size() const override { return 2; }

  void all_reduce(ReduceKind kind, DType dtype, void* data, size_t count) override {
    dtype == DType::float32   ? reduce<float>(kind, data, count)
    : dtype == DType::float64 ? reduce<double>(kind, data, count)
                              : fail("two processes reduce float32 and float64, got ", dtype);
  }
  void broadcast(void* data, size_t bytes, int root) override {
    rank() == root ? send(data, bytes) : receive(data, bytes);
  }
  void leave(const std::string& why) noexcept override {
    write(kFarewell, why.data(), why.size());
    shutdown(descriptor(), SHUT_WR);
  }

 private:
  template <class T>
  void reduce(ReduceKind kind, void* data, size_t count) {
    std::vector<T> theirs(count);
    if (rank_ == 0) send(data, count * sizeof(T));
    receive(theirs.data(), count * sizeof(T));
    if (rank_ == 1) send(data, count * sizeof(T));
    T* own = static_cast<T*>(data);
    for (size_t i = 0; i < count; ++i) {
      const T x = own[i], y = theirs[i];
      own[i] = kind == ReduceKind::sum   ? x + y
               : kind == ReduceKind::max ? std::max(x, y)
                                         : std::min(x, y);
    }
  }
  /// Sends a message. If this fails, the other process has ended, and its farewell message may
  /// contain the reason.
  void send(const void* data, size_t bytes) const {
    if (!write(kData, data, bytes)) receive(nullptr, 0);
  }
  void receive(void* data, size_t bytes) const {
    char kind = kFarewell;
    if (!read(&kind, 1)) fail("the process of rank ", other(), " has ended");
    if (kind == kFarewell) fail("the process of rank ", other(), " left: ", remaining_text());
    if (!read(data, bytes)) fail("the process of rank ", other(), " ended while it sent");
  }
  bool write(char kind, const void* data, size_t bytes) const {
    return write(&kind, 1) && write(data, bytes);
  }
  bool write(const void* data, size_t bytes) const {
    for (const char* at = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t n = ::send(descriptor(), at, bytes, MSG_NOSIGNAL);
      if (n <= 0) return false;
      at += n, bytes -= static_cast<size_t>(n);
    }
    return true;
  }
  bool read(void* data, size_t bytes) const {
    for (char* at = static_cast<char*>(data); bytes > 0;) {
      pollfd awaited{descriptor(), POLLIN, 0};
      if (poll(&awaited, 1, static_cast<int>(timeout_ * 1000)) == 0)
        fail_timeout({other()}, timeout_);
      const ssize_t n = recv(descriptor(), at, bytes, 0);
      if (n <= 0) return false;
      at += n, bytes -= static_cast<size_t>(n);
    }
    return true;
  }
  std::string remaining_text() const {
    std::string text;
    for (char c; read(&c, 1);) text += c;
    return text;
  }
  static constexpr char kData = 'd', kFarewell = 'f';  ///< possible first bytes of a message
  int descriptor() const { return static_cast<int>(socket_); }
  int other() const { return 1 - rank(); }

  int64_t rank_ = 0, socket_ = -1;
  double timeout_ = kTimeout;
};

inline void communicate(int rank, int socket, double timeout) {
  static const bool registered = (registry().add<Pair>("pair"), true);
  CHECK(registered);
  use_communicator("pair", {{"rank", rank}, {"socket", socket}, {"timeout", timeout}});
}

constexpr double kPairTimeout = 60;
constexpr int kPairSocket = 3;  ///< the file descriptor of the socket in the second process

/// While an object of this class exists, the second process runs the hidden test case with this
/// tag, and this process is rank 0. The destructor requires that the second process has passed, or
/// was killed by the expected signal.
class FirstOfTwo {
 public:
  explicit FirstOfTwo(const std::string& tag, int killed_by = 0, double timeout = kPairTimeout)
      : FirstOfTwo(sockets(), tag, killed_by, timeout) {}
  ~FirstOfTwo() {
    set_communicator(nullptr);
    second_.wait();
    CHECK(second_.signal() == killed_by_);
    CHECK(second_.exit_status() == (killed_by_ ? -1 : 0));
  }
  FirstOfTwo(const FirstOfTwo&) = delete;

  Process& second() { return second_; }

 private:
  using Sockets = std::pair<Descriptor, Descriptor>;
  FirstOfTwo(Sockets ends, const std::string& tag, int killed_by, double timeout)
      : second_(Process::program({"/proc/self/exe", tag},
                                 {.descriptors = {{ends.second, kPairSocket}}})),
        killed_by_(killed_by) {
    communicate(0, ends.first.release(), timeout);
  }
  static Sockets sockets() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    return {Descriptor(ends[0]), Descriptor(ends[1])};
  }

  Process second_;
  int killed_by_;
};

/// Called by the hidden test case: makes this process rank 1.
inline void be_second_of_two() { communicate(1, kPairSocket, kPairTimeout); }

}  // namespace crescent
