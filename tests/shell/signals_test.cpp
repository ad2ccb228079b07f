// Signals to scripts during endless work: one signal stops code that checks for interruptions; two
// signals stop any code.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

/// A script in a process of its own; it prints "ready" before its endless part.
class Script {
 public:
  explicit Script(const std::string& text) {
    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    child_ = fork();
    if (child_ == 0) {
      dup2(pipe_ends[1], STDOUT_FILENO), dup2(pipe_ends[1], STDERR_FILENO);
      close(pipe_ends[0]);
      const std::string code = "io.stdout:setvbuf 'no' " + text;
      execl(CRESCENT_PROGRAM, "crescent", "-e", code.c_str(), nullptr);
      _exit(127);
    }
    close(pipe_ends[1]);
    output_ = pipe_ends[0];
    fcntl(output_, F_SETFL, O_NONBLOCK);
    for (int try_count = 0; shown_text().find("ready") == std::string::npos; ++try_count) {
      INFO(shown_text_);
      REQUIRE(try_count < 600);
      usleep(50000);
    }
    usleep(100000);  // waits until the script is inside its endless part
  }
  ~Script() {
    if (!has_ended_) kill(child_, SIGKILL), waitpid(child_, nullptr, 0);
    close(output_);
  }
  void signal(int signal_number) { REQUIRE(kill(child_, signal_number) == 0); }
  /// Waits for the end of the process; returns its exit status as a shell reports it, or -1 if it
  /// has not ended in time.
  int end(double seconds) {
    for (const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
         Clock::now() < deadline; usleep(20000)) {
      int status = 0;
      if (waitpid(child_, &status, WNOHANG) != child_) continue;
      has_ended_ = true;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return -1;
  }
  const std::string& shown_text() {
    char buffer[4096];
    for (ssize_t count; (count = read(output_, buffer, sizeof buffer)) > 0;)
      shown_text_.append(buffer, static_cast<size_t>(count));
    return shown_text_;
  }

 private:
  pid_t child_ = -1;
  int output_ = -1;
  bool has_ended_ = false;
  std::string shown_text_;
};

/// The seconds within which the process must end, also on a busy machine.
constexpr double kEndSeconds = 20;

struct EndlessCode {
  const char* name;
  const char* code;
};

const std::string kEndlessData = "local data = cr.data.from_list { 1, 2, 3 }:repeated() ";

/// Endless code that checks for interruptions.
const EndlessCode kInterruptible[] = {
    {"skip", "for e in data:skip(1000000000000):elements() do print(e) break end"},
    {"shuffle", "for e in data:shuffle(1000000000000):elements() do print(e) break end"},
    {"batch", "for e in data:batch(1000000000000):elements() do print(e) break end"},
    {"filter", "for e in data:filter(function() return false end):elements() do print(e) end"},
    {"filter with workers",
     "for e in data:filter(function() return false end, { workers = 2 }):elements() do end"},
    {"prefetched filter",
     "for e in data:filter(function() return false end, { workers = 1 }):prefetch(2):elements() do "
     "end"},
    {"interleave",
     "for e in data:interleave(function() return cr.data.from_list {} end):elements() do end"},
    {"fit on nothing",
     "local m = cr.Sequential { cr.layers.Dense(1, { input_shape = { 1 } }) } m:compile { loss = "
     "'mse' } "
     "m:fit(data:filter(function() return false end, { workers = 1 }):batch(2), { verbose = 0, "
     "steps_per_epoch = 2 })"},
    {"fori_loop of a function of the library", "cr.ops.fori_loop(0, 1 << 62, cr.ops.add, 1)"},
    {"while_loop of functions of the library",
     "cr.ops.while_loop(cr.ops.isfinite, cr.ops.abs, cr.ops.ones {})"},
    {"adapt",
     "local l = cr.layers.Normalization {} l:adapt(data:map(function(x) return x * 1.0 "
     "end):batch(2))"},
    {"ngrams", "local l = cr.layers.TextVectorization { ngrams = 1 << 62 } l:adapt { 'a b' }"},
    {"a loop of Lua", "while true do end"},
    {"a loop in a coroutine", "coroutine.wrap(function() while true do end end)()"},
    {"coroutines in a loop",
     "while true do coroutine.resume(coroutine.create(function() while true do end end)) end"},
    {"a coroutine in a coroutine",
     "coroutine.wrap(function() local inner = coroutine.wrap(function() while true do end end) "
     "while "
     "true do coroutine.resume(coroutine.create(inner)) end end)()"},
};

/// Endless code that does not check for interruptions.
const EndlessCode kUninterruptible[] = {
    {"a pattern", "string.find(('a'):rep(40), ('a*'):rep(30) .. 'b')"},
    {"a worker in a pattern",
     "for e in cr.data.from_tensor_slices(cr.ones { 100, 2 }):map(function() return "
     "string.find(('a'):rep(40), ('a*'):rep(30) .. 'b') end, { workers = 2 }):elements() do end"},
    {"a fit on such data",
     "local m = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) } m:compile { loss = "
     "'mse' } "
     "m:fit(cr.data.from_tensor_slices(cr.ones { 100, 2 }):map(function(x) "
     "string.find(('a'):rep(40), ('a*'):rep(30) .. 'b') return x, x end, { workers = 2 "
     "}):batch(4), "
     "{ verbose = 0 })"},
};

}  // namespace

TEST_CASE("one signal stops what would never end", "[L06]") {
  for (const EndlessCode& endless_code : kInterruptible)
    for (const int signal_number : {SIGINT, SIGTERM}) {
      INFO(endless_code.name << ", signal " << signal_number);
      Script script(kEndlessData + "print 'ready' " + endless_code.code);
      script.signal(signal_number);
      const int status = script.end(kEndSeconds);
      INFO(script.shown_text());
      CHECK(status == 128 + signal_number);
    }
}

TEST_CASE("an interruption of Lua code that is caught lets a script go on") {
  Script script(
      "local good = pcall(function() print 'ready' while true do end end) print(good) print 'went "
      "on'");
  script.signal(SIGINT);
  CHECK(script.end(kEndSeconds) == 0);
  INFO(script.shown_text());
  CHECK(script.shown_text().find("false\nwent on") != std::string::npos);
}

TEST_CASE("an interruption of a coroutine that is caught outside of it lets a script go on") {
  Script script(
      "local f = coroutine.wrap(function() print 'ready' while true do end end) print(pcall(f)) "
      "local g = coroutine.wrap(function(...) while true do print(coroutine.yield(...)) end end) "
      "g(1) g(2) print(coroutine.resume(coroutine.create(error), 'plain')) print 'went on'");
  script.signal(SIGINT);
  CHECK(script.end(kEndSeconds) == 0);
  INFO(script.shown_text());
  CHECK(script.shown_text().find("interrupted!\n2\nfalse\tplain\nwent on") != std::string::npos);
}

TEST_CASE("two signals end everything", "[L06]") {
  for (const EndlessCode& endless_code : kUninterruptible)
    for (const int signal_number : {SIGINT, SIGTERM}) {
      INFO(endless_code.name << ", signal " << signal_number);
      Script script("print 'ready' " + std::string(endless_code.code));
      script.signal(signal_number);
      usleep(200000);
      script.signal(signal_number);
      const auto begin_time = Clock::now();
      CHECK(script.end(kEndSeconds) == 128 + signal_number);
      const std::chrono::duration<double> duration = Clock::now() - begin_time;
      WARN(endless_code.name << ": ended " << duration.count() << " s after the second signal");
    }
}

TEST_CASE("a script that was stopped does not wait for its workers") {
  Script script("print 'ready' " + std::string(kUninterruptible[1].code));
  script.signal(SIGTERM);
  CHECK(script.end(kEndSeconds) == 128 + SIGTERM);
}
