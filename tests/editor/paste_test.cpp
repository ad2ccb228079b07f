// Pasted text arrives completely, and pasting large texts is fast.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "grid.h"

namespace crescent::editor {
namespace {

/// The text as terminals send it when bracketed paste is on.
std::string bracketed_paste(const std::string& text) { return "\x1b[200~" + text + "\x1b[201~"; }

std::string with_carriage_returns(std::string text) {
  std::replace(text.begin(), text.end(), '\n', '\r');
  return text;
}

/// Lines with letters of several scripts, tabs and blanks, inside balanced brackets.
std::string random_text(std::mt19937& random) {
  const std::vector<std::string> letters = {"a",       "Z",  "0", " ",  "\t",    "é",
                                            "e\u0301", "漢", "🌙", "\n", "\"",    "'",
                                            "\\",      "[",  "#", "~",  "\u200d"};
  std::string text = "(";
  for (size_t count = random() % 300; count > 0; --count)
    text += letters[random() % letters.size()];
  return text + std::string(70, '.') + ")";
}

std::string length_and_hash(const std::string& text) {
  return "[" + std::to_string(text.size()) + " " + hash_of(text) + "]";
}

}  // namespace

TEST_CASE("random texts are pasted, with marks and without, and nothing is lost") {
  std::mt19937 random(7);
  TestTerminal terminal;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_text(random);
    INFO(i << ": " << text);
    const std::string sent_text = i % 3 == 0 ? text : with_carriage_returns(text);
    terminal.send((i % 2 == 0 || sent_text == text ? bracketed_paste(sent_text) : sent_text) +
                  "\r");
    terminal.expect(length_and_hash(text));
  }
}

TEST_CASE("ten thousand lines are pasted within 0.3 seconds, with marks and without") {
  std::string text = "(";
  for (int i = 0; i < 10000; ++i) text += "local x" + std::to_string(i) + " = 1\n";
  text += ")";
  for (const bool is_marked : {true, false}) {
    TestTerminal terminal;
    terminal.expect_row(0, ">");
    const double start_seconds = terminal.processor_seconds();
    terminal.send(is_marked ? bracketed_paste(with_carriage_returns(text))
                            : with_carriage_returns(text));
    terminal.expect(">> )");
    const double seconds = terminal.processor_seconds() - start_seconds;
    INFO((is_marked ? "with marks: " : "without: ") << seconds);
    CHECK(seconds < 0.3);
    terminal.send("\r");
    terminal.expect(length_and_hash(text));
  }
}

TEST_CASE("what is pasted without marks is entered line by line") {
  TestTerminal terminal;
  terminal.send("one\rtwo(\r\tthree)\rfour");
  terminal.expect("[one]");
  terminal.expect("[two(|  three)]");  // the tab is expanded, as the terminal shows it
  terminal.expect("> four");
}

}  // namespace crescent::editor
