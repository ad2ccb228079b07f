// The questions that a terminal is sent to find its abilities, and the timeout if it does not
// answer.
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "targets/terminal.h"

namespace crescent::pictures {
namespace {

/// Reads output until the text arrives; returns "" after a second.
std::string read_until(int terminal, const std::string& text) {
  std::string output;
  for (pollfd wait{terminal, POLLIN, 0}; poll(&wait, 1, 1000) == 1;) {
    char bytes[256];
    const ssize_t count = read(terminal, bytes, sizeof bytes);
    if (count <= 0) return "";
    output.append(bytes, static_cast<size_t>(count));
    if (output.find(text) != output.npos) return output;
  }
  return "";
}

/// The child process: prints the detected kind of terminal and the milliseconds that the detection
/// took.
[[noreturn]] void print_detected_terminal() {
  setenv("TERM", "xterm-256color", 1);
  unsetenv("COLORTERM");
  const auto begin = std::chrono::steady_clock::now();
  const Terminal terminal = terminal_now();
  const auto duration = std::chrono::steady_clock::now() - begin;
  dprintf(
      STDOUT_FILENO, "kitty %d sixel %d colors %d columns %d ms %d.", terminal.supports_kitty,
      terminal.supports_sixel, terminal.cell_options.colors, static_cast<int>(terminal.columns),
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()));
  _exit(0);
}

/// The output of a child process at a terminal that gives these answers; "" stands for no answer.
std::string output_for(const std::string& attributes, const std::string& kitty) {
  const winsize size{24, 77, 0, 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) print_detected_terminal();
  std::string output_text;
  if (attributes.empty()) {
    output_text = read_until(terminal, ".");
  } else {
    CHECK(read_until(terminal, "\033[c") == "\033[c");
    REQUIRE(write(terminal, attributes.data(), attributes.size()) > 0);
    const std::string question = read_until(terminal, "\033[c");
    CHECK(question.find("a=q") != question.npos);
    const std::string answer = kitty + attributes;
    REQUIRE(write(terminal, answer.data(), answer.size()) > 0);
    output_text = read_until(terminal, ".");
  }
  waitpid(child, nullptr, 0);
  close(terminal);
  const size_t begin = output_text.find("kitty");
  return begin == output_text.npos ? "nothing" : output_text.substr(begin);
}

int milliseconds_in(const std::string& output_text) {
  return std::stoi(output_text.substr(output_text.find("ms") + 3));
}

}  // namespace

TEST_CASE("terminals say what they can show") {
  using Catch::StartsWith;
  CHECK_THAT(output_for("\033[?62;4;22c", ""), StartsWith("kitty 0 sixel 1 colors 256 columns 77"));
  CHECK_THAT(output_for("\033[?62c", "\033_Gi=31;OK\033\\"), StartsWith("kitty 1 sixel 0"));
  CHECK_THAT(output_for("\033[?4c", ""), StartsWith("kitty 0 sixel 0"));
}

TEST_CASE("a terminal that does not answer is not waited for") {
  const std::string output_text = output_for("", "");
  CHECK_THAT(output_text, Catch::StartsWith("kitty 0 sixel 0"));
  CHECK(milliseconds_in(output_text) >= 15);
  CHECK(milliseconds_in(output_text) <
        200);  // the timeout is 20 ms; the rest allows for a busy machine
}

TEST_CASE("answers of terminals") {
  CHECK(says_sixel("\033[?1;2;4c"));
  CHECK(!says_sixel("\033[?4;2c"));
  CHECK(!says_sixel("\033[?1;24c"));
  CHECK(!says_sixel(""));
  CHECK(says_kitty("\033_Gi=31;OK\033\\\033[?62c"));
  CHECK(!says_kitty("\033_Gi=31;ENOTSUP\033\\"));
}

}  // namespace crescent::pictures
