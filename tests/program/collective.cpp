// Two processes that compute together: this one, and the same program started again.
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "crescent/communicator.h"
#include "crescent/gradient.h"
#include "crescent/ops.h"
#include "crescent/program.h"
#include "distance.h"

extern char** environ;

namespace crescent {
namespace {

constexpr const char* kSocket = "CRESCENT_TEST_SOCKET";

/// One of two processes with a socket between them.
class Pair final : public Communicator {
 public:
  Pair(int rank, int socket) : rank_(rank), socket_(socket) {}
  ~Pair() override { close(socket_); }
  int rank() const override { return rank_; }
  int size() const override { return 2; }

  void all_reduce(ReduceKind kind, DType dtype, void* data, size_t count) override {
    dtype == DType::float32   ? reduce<float>(kind, data, count)
    : dtype == DType::float64 ? reduce<double>(kind, data, count)
                              : fail("two processes reduce float32 and float64, got ", dtype);
  }
  void broadcast(void* data, size_t bytes, int root) override {
    rank_ == root ? send(data, bytes) : receive(data, bytes);
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
  void send(const void* data, size_t bytes) const {
    for (const char* at = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t n = ::send(socket_, at, bytes, MSG_NOSIGNAL);
      if (n <= 0) fail("the other process is gone");
      at += n, bytes -= static_cast<size_t>(n);
    }
  }
  void receive(void* data, size_t bytes) const {
    for (char* at = static_cast<char*>(data); bytes > 0;) {
      const ssize_t n = recv(socket_, at, bytes, 0);
      if (n <= 0) fail("the other process is gone");
      at += n, bytes -= static_cast<size_t>(n);
    }
  }
  int rank_, socket_;
};

Tensor ramp(const Shape& shape, double scale) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(scale * std::sin(1 + static_cast<double>(i)));
  return Tensor::from(values, shape);
}

/// Three steps of a small network on the rows; gradients are averaged over processes. Gives the
/// weights and the mean loss of the last step.
Tensors train(const Tensor& x, const Tensor& y) {
  const Variable w(ramp({3, 2}, 0.5)), b(ops::zeros({2}));
  const Function step([&](const Tensors& in) {
    GradientTape tape;
    const Tensor loss =
        ops::mean(ops::square(ops::tanh(ops::matmul(in[0], w) + b.value()) - in[1]));
    const Tensors gradients = tape.gradient(loss, Variables{w, b});
    w.assign_sub(ops::all_reduce(gradients[0], ReduceKind::mean) * 0.3);
    b.assign_sub(ops::all_reduce(gradients[1], ReduceKind::mean) * 0.3);
    return Tensors{ops::all_reduce(loss, ReduceKind::mean)};
  });
  Tensor loss;
  for (int i = 0; i < 3; ++i) loss = step({x, y})[0];
  return {w.value(), b.value(), loss};
}

const Tensor& images() {
  static const Tensor x = ramp({8, 3}, 1);
  return x;
}
const Tensor& targets() {
  static const Tensor y = ramp({8, 2}, 0.7);
  return y;
}

void expect(const Tensor& got, const std::vector<double>& expected) {
  CHECK(got.to_vector() == expected);
}

/// What both processes do, each with its half of the rows.
Tensors run_together() {
  const int rank = communicator()->rank();
  CHECK(communicator()->all_gather(rank + 5.0) == std::vector<double>{5, 6});
  communicator()->barrier();
  double told = rank == 1 ? 42 : 0;
  communicator()->broadcast(&told, sizeof told, 1);
  CHECK(told == 42);

  const Tensor x = Tensor::from(std::vector<float>{1.0f + rank, 2.0f - rank, 3}, {3});
  expect(ops::all_reduce(x), {3, 3, 6});
  expect(ops::all_reduce(x, ReduceKind::mean), {1.5, 1.5, 3});
  expect(ops::all_reduce(x, ReduceKind::max), {2, 2, 3});
  expect(ops::all_reduce(x, ReduceKind::min), {1, 1, 3});

  auto gradient = [&](ReduceKind kind) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(ops::sum(ops::all_reduce(x, kind)) * (rank + 1.0), Tensors{x})[0];
  };
  expect(gradient(ReduceKind::sum), {3, 3, 3});
  expect(gradient(ReduceKind::mean), {1.5, 1.5, 1.5});
  expect(gradient(ReduceKind::max), {rank == 1 ? 3.0 : 0.0, rank == 0 ? 3.0 : 0.0, 1.5});

  return train(images().view_rows(rank * 4, 4), targets().view_rows(rank * 4, 4));
}

}  // namespace

TEST_CASE("the second of two processes", "[.][second]") {
  const char* socket = std::getenv(kSocket);
  REQUIRE(socket);
  set_communicator(std::make_shared<Pair>(1, std::atoi(socket)));
  run_together();
}

TEST_CASE("two processes train as one with the whole batch", "[collective]") {
  int sockets[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  REQUIRE(setenv(kSocket, std::to_string(sockets[1]).c_str(), 1) == 0);
  char name[] = "test", test[] = "[second]";
  char* arguments[] = {name, test, nullptr};
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0);
  unsetenv(kSocket);
  close(sockets[1]);

  struct Alone {
    ~Alone() { set_communicator(nullptr); }
  } alone;
  set_communicator(std::make_shared<Pair>(0, sockets[0]));
  const Tensors together = run_together();
  set_communicator(nullptr);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);

  const Tensors whole = train(images(), targets());
  for (size_t i = 0; i < whole.size(); ++i)
    CHECK(farthest(together[i].to_vector(), whole[i].to_vector()) < 1e-6);
}

TEST_CASE("one process alone", "[collective]") {
  const std::shared_ptr<Communicator> single = make<Communicator>("single");
  CHECK((single->rank() == 0 && single->size() == 1));
  CHECK(single->all_gather(3) == std::vector<double>{3});
  CHECK(communicator()->size() == 1);
  CHECK_THROWS_WITH(ops::all_reduce(Tensor(1.0), ReduceKind::prod),
                    Catch::Contains("expected sum, mean, max or min, got prod"));
  CHECK_THROWS_WITH(ops::all_reduce(Tensor::full({2}, 1, DType::boolean)),
                    Catch::Contains("expected numbers, got bool"));
}

}  // namespace crescent
