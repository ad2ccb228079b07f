#include "worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace crescent::faults {
namespace {

std::string variable(int i) { return "CRESCENT_WORKER_" + std::to_string(i); }

}  // namespace

std::string worker_argument(int i) {
  const char* value = getenv(variable(i).c_str());
  REQUIRE(value);
  return value;
}

Worker::Worker(const std::string& test, const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i)
    setenv(variable(static_cast<int>(i)).c_str(), arguments[i].c_str(), 1);
  std::string program = "test_faults", name = test;
  char* words[] = {program.data(), name.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = posix_spawn(&process_, "/proc/self/exe", &quiet, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&quiet);
  REQUIRE(error == 0);
}

Worker::~Worker() { kill(); }

bool Worker::runs() {
  if (process_ > 0 && waitpid(process_, &status_, WNOHANG) == process_) process_ = -1;
  return process_ > 0;
}

void Worker::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  wait();
}

int Worker::wait() {
  if (process_ > 0) waitpid(process_, &status_, 0);
  process_ = -1;
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
}

}  // namespace crescent::faults
