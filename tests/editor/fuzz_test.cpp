// Random keys: the editor must not crash, and the screen must be the same as after a complete
// redraw.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "grid.h"

namespace crescent::editor {
namespace {

const std::vector<std::string> kKeys = {"a",
                                        "b",
                                        " ",
                                        "(",
                                        ")",
                                        "0",
                                        "é",
                                        "e\u0301",
                                        "漢",
                                        "🌙",
                                        "\u200d",
                                        "\xff",
                                        "Dense(",
                                        "alp",
                                        "\r",
                                        "\r",
                                        "\t",
                                        "\x7f",
                                        "\x1b[A",
                                        "\x1b[B",
                                        "\x1b[C",
                                        "\x1b[D",
                                        "\x1b[H",
                                        "\x1b[F",
                                        "\x01",
                                        "\x05",
                                        "\x0b",
                                        "\x15",
                                        "\x17",
                                        "\x19",
                                        "\x12",
                                        "\x07",
                                        "\x1f",
                                        "\x03",
                                        "\x04",
                                        "\x0c",
                                        "\x10",
                                        "\x0e",
                                        "\x1b"
                                        "b",
                                        "\x1b"
                                        "f",
                                        "\x1b"
                                        "d",
                                        "\x1b\r",
                                        "\x1b[Z",
                                        "\x1b[3~",
                                        "\x1b<",
                                        "\x1b>",
                                        "\x1b[1;5D",
                                        "\x1b[200~p\tq\r(\x1b[201~",
                                        "wide enough to be broken into rows",
                                        "\x18\x15",
                                        "\x1b[",
                                        "\x1b[9",
                                        "\x1b[9)D",
                                        "\x1bO",
                                        "\x1b]"};

long count_of_keys() {
  const char* count = std::getenv("CRESCENT_EDITOR_KEYS");
  return count ? std::atol(count) : 20000;
}

/// Checks that a complete redraw (Ctrl-L) gives the same rows around the cursor.
void check_drawn_anew(TestTerminal& terminal) {
  using std::chrono::milliseconds;
  terminal.send("\x1b");  // Escape ends an incomplete key, and closes the search or the menu
  terminal.settle(milliseconds(60));
  const VTermPos cursor_before = terminal.cursor();
  std::vector<std::string> rows;
  for (int i = 0; i < terminal.rows(); ++i) rows.push_back(terminal.row(i));
  terminal.send("\x0c");
  terminal.settle();
  const VTermPos cursor_after = terminal.cursor();
  CHECK(cursor_before.col == cursor_after.col);
  for (int i = 0; i < terminal.rows(); ++i) {
    const int old_row = i + cursor_before.row - cursor_after.row;
    if (old_row >= 0 && old_row < terminal.rows())
      CHECK(rows[static_cast<size_t>(old_row)] == terminal.row(i));
  }
}

}  // namespace

TEST_CASE("random keys leave the screen as it would be drawn anew") {
  TestFolder folder;
  Options options;
  options.columns = 31, options.rows = 11;
  options.history = folder.path / "history";
  options.ends_with_input = false;
  options.environment = {{"VISUAL", ""}, {"EDITOR", ""}};
  TestTerminal terminal(options);
  std::mt19937 random(1);
  for (long done = 0, total = count_of_keys(); done < total;) {
    std::string keys;
    for (int i = 0; i < 200; ++i, ++done) keys += kKeys[random() % kKeys.size()];
    INFO("keys up to the " << done << "th: " << Catch::Detail::stringify(keys));
    terminal.send(keys);
    check_drawn_anew(terminal);
    terminal.take_output();
    // The height stays the same, because libvterm 0.1.4 crashes at some changes of the height.
    if (random() % 8 == 0) terminal.resize(options.rows, 15 + int(random() % 40));
    REQUIRE(terminal.processor_seconds() > 0);
  }
  terminal.settle();
  terminal.send("\x03ok\r");
  terminal.expect("[ok]");
}

}  // namespace crescent::editor
