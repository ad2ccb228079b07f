// The effects of keys in the editor, checked on the screen of a terminal.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "grid.h"

namespace crescent::editor {
TEST_CASE("lines longer than the terminal go on in the next row") {
  Options options;
  options.columns = 20;
  TestTerminal terminal(options);
  terminal.expect_row(0, ">");
  terminal.send("abcdefghijklmnopqr");
  terminal.expect_row(0, "> abcdefghijklmnopqr");
  terminal.expect_cursor(1, 0);
  terminal.send("stu");
  terminal.expect_row(1, "stu");
  terminal.expect_cursor(1, 3);
  terminal.send("\x01");
  terminal.expect_cursor(0, 2);
  terminal.send("1");
  terminal.expect_row(0, "> 1abcdefghijklmnopq");
  terminal.expect_row(1, "rstu");
  terminal.send("\x05\x7f\x7f\x7f\x7f\x7f");
  terminal.expect_row(0, "> 1abcdefghijklmnop");
  terminal.expect_row(1, "");
  terminal.expect_cursor(0, 19);
  terminal.send("\r");
  terminal.expect("[1abcdefghijklmnop]");
}

TEST_CASE("wide letters and marks that combine take the cells that the terminal gives them") {
  Options options;
  options.columns = 10;
  TestTerminal terminal(options);
  terminal.send("e\u0301漢字");
  terminal.expect_row(0, "> e\u0301漢字");
  terminal.expect_cursor(0, 7);
  terminal.send("語漢");
  terminal.expect_row(0, "> e\u0301漢字語");
  terminal.expect_row(1, "漢");
  terminal.expect_cursor(1, 2);
  terminal.send(std::string(kLeft) + kLeft + kLeft + kLeft);
  terminal.expect_cursor(0, 3);
  terminal.send("\x7f");
  terminal.expect_row(0, "> 漢字語漢");
  terminal.expect_row(1, "");
  terminal.expect_cursor(0, 2);
  terminal.send("ab");
  terminal.expect_row(0, "> ab漢字語");
  terminal.expect_row(1, "漢");
  terminal.send("c");
  terminal.expect_row(0, "> abc漢字");
  terminal.expect_row(1, "語漢");
}

TEST_CASE("what a terminal would obey is shown as what it is") {
  TestTerminal terminal;
  terminal.send(
      "\x1b[200~a\x1b[31mb\u009bc\xff"
      "d\te\x1b[201~");
  terminal.expect_row(0, "> a\\x1b[31mb\\u009bc\\xffd    e");
  terminal.send("\x02\x02\x7f\x7f\x7f");
  terminal.expect_row(0, "> a\\x1b[31mb\\u009b  e");
}

TEST_CASE("a block is edited as one, and up and down move in it") {
  TestTerminal terminal;
  terminal.send("print(\r1,\r22222");
  terminal.expect_row(0, "> print(");
  terminal.expect_row(1, ">> 1,");
  terminal.expect_row(2, ">> 22222");
  terminal.send(kUp);
  terminal.expect_cursor(1, 5);
  terminal.send(kUp);
  terminal.expect_cursor(0, 7);
  terminal.send(std::string(kDown) + kDown);
  terminal.expect_cursor(2, 8);
  terminal.send(std::string(kUp) + "0\x1b\r7,");
  terminal.expect_row(1, ">> 1,0");
  terminal.expect_row(2, ">> 7,");
  terminal.expect_row(3, ">> 22222");
  terminal.send("\x1b>)\r");
  terminal.expect("[print(|1,0|7,|22222)]");
}

TEST_CASE("a block that is higher than the terminal is seen around the cursor") {
  Options options;
  options.rows = 5;
  TestTerminal terminal(options);
  terminal.send("(\r1\r2\r3\r4\r5\r6\r7");
  terminal.expect_row(4, ">> 7");
  terminal.expect_row(0, ">> 3");
  for (int i = 0; i < 7; ++i) terminal.send(kUp);
  terminal.expect_row(0, "> (");
  terminal.expect_row(4, ">> 4");
  terminal.send("x\x1b>)\r");
  terminal.expect("[(x|1|2|3|4|5|6|7)]");
}

TEST_CASE("Ctrl-C starts again, Ctrl-D cancels a block and ends where there is no text") {
  TestTerminal terminal;
  terminal.send("garbage (\x03");
  terminal.expect_row(0, "> garbage (^C");
  terminal.expect_row(1, ">");
  terminal.send("begun(\r\x04");
  terminal.expect_row(1, "> begun(");
  terminal.expect_row(3, ">");
  terminal.send("ab\x01\x04\x04");
  terminal.expect_row(3, ">");
  terminal.expect_cursor(3, 2);
  terminal.send("ok\r");
  terminal.expect("[ok]");
  terminal.settle();
  terminal.send("x\x04");
  terminal.settle();
  terminal.send("\x7f\x04");
  terminal.expect("ended");
  CHECK(terminal.end() == 0);
}

TEST_CASE("Ctrl-Z stops the process, which comes back with its text") {
  TestTerminal terminal;
  terminal.send("half(\rdone");
  terminal.expect_row(1, ">> done");
  for (const bool is_key_pressed : {true, false}) {
    is_key_pressed ? terminal.send("\x1a") : terminal.signal(SIGSTOP);
    for (int tries = 0; tries < 500 && !terminal.is_stopped(); ++tries) usleep(10000);
    REQUIRE(terminal.is_stopped());
    terminal.signal(SIGCONT);
    terminal.settle();
  }
  terminal.send(")");
  terminal.expect_row(2, "> half(");
  terminal.expect_row(4, ">> done)");
  terminal.send("\r");
  terminal.expect("[half(|done)]");
}

TEST_CASE("a process without a shell is not stopped by Ctrl-Z") {
  Options options;
  options.has_shell = false;
  TestTerminal terminal(options);
  terminal.send(
      "abc\x1a"
      "d\r");
  terminal.expect("[abcd]");
}

TEST_CASE("the entry is laid out anew when the terminal gets another size") {
  Options options;
  options.columns = 30;
  TestTerminal terminal(options);
  terminal.send("first\r");
  terminal.expect("[first]");
  terminal.send("abcdefghijklmnopqrstuvwxyz(\r1234567890");
  terminal.expect_row(3, ">> 1234567890");
  terminal.resize(24, 12);
  terminal.expect_row(2, "> abcdefghij");
  terminal.expect_row(3, "klmnopqrstuv");
  terminal.expect_row(4, "wxyz(");
  terminal.expect_row(5, ">> 123456789");
  terminal.expect_row(6, "0");
  terminal.expect_cursor(6, 1);
  CHECK(terminal.row(1) == "[first]");
  terminal.resize(24, 60);
  terminal.expect_row(2, "> abcdefghijklmnopqrstuvwxyz(");
  terminal.expect_row(3, ">> 1234567890");
  terminal.expect_row(4, "");
  terminal.send(")\r");
  terminal.expect("[abcdefghijklmnopqrstuvwxyz(|1234567890)]");
}

TEST_CASE("Tab completes, and shows in a menu what there is") {
  TestTerminal terminal;
  terminal.send("b\t");
  terminal.expect_row(0, "> beta");
  terminal.send(" a\t");
  terminal.expect_row(0, "> beta alpha");
  terminal.expect_row(1, "alpha     what alpha is");
  terminal.expect_row(2, "alphabet  what alphabet is");
  terminal.send("\t\t");
  terminal.expect_row(0, "> beta alphabet");
  terminal.send(kEscape);
  terminal.expect_row(1, "");
  terminal.expect_row(0, "> beta alpha");
  terminal.send("\t");
  terminal.expect_row(2, "alphabet  what alphabet is");
  terminal.send("b");
  terminal.expect_row(1, "alphabet  what alphabet is");
  terminal.expect_row(2, "");
  terminal.send("\x1b[Z\r\r");
  terminal.expect("[beta alphabet]");
}

TEST_CASE("a hint stands below the text while a call is typed") {
  TestTerminal terminal;
  terminal.send("x = Dense(");
  terminal.expect_row(1, "Dense(units, {activation=...})");
  terminal.expect_cursor(0, 12);
  terminal.send("3)\r");
  terminal.expect_row(1, "[x = Dense(3)]");
}

TEST_CASE("words are killed and put back, and changes are taken back") {
  TestTerminal terminal;
  terminal.send("one two.three");
  terminal.send("\x17");
  terminal.expect_row(0, "> one two.");
  terminal.send("\x01\x0b");
  terminal.expect_row(0, ">");
  terminal.send("\x19\x19");
  terminal.expect_row(0, "> one two.one two.");
  terminal.send("\x1f\x1f\x1f");
  terminal.expect_row(0, "> one two.");
  terminal.send("\x1f");
  terminal.expect_row(0, "> one two.three");
  terminal.send(
      "\x1b"
      "b\x1b"
      "b\x1b"
      "d");
  terminal.expect_row(0, "> one .three");
}

TEST_CASE("$EDITOR edits the block") {
  TestFolder folder;
  const std::string editor_path = folder.path / "program";
  std::ofstream(editor_path) << "#!/bin/sh\nsed -i 's/one/three/' \"$1\"\n";
  std::filesystem::permissions(editor_path, std::filesystem::perms::owner_all);
  Options options;
  options.environment = {{"VISUAL", ""}, {"EDITOR", editor_path}};
  TestTerminal terminal(options);
  terminal.send("(one\rtwo");
  terminal.send("\x18\x05");
  terminal.expect_row(2, "> (three");
  terminal.expect_row(3, ">> two");
  terminal.send(")\r");
  terminal.expect("[(three|two)]");
}

TEST_CASE("dumb terminals read lines") {
  Options options;
  options.terminal_type = "dumb";
  TestTerminal terminal(options);
  terminal.send("1 + 1\n");
  terminal.expect("[1 + 1]");
  terminal.send("f(\n");
  terminal.expect(">>");
  terminal.send("2)\n");
  terminal.expect("[f(|2)]");
  terminal.send("g(\n\x04");
  terminal.settle();
  terminal.send("3\n");
  terminal.expect("[3]");
  terminal.settle();
  terminal.send("\x04");
  terminal.expect("ended");
  CHECK(terminal.take_output().find('\x1b') == std::string::npos);
}

TEST_CASE("a key is on the screen of a block of 300 lines within two milliseconds") {
  TestTerminal terminal;
  std::string block = "\x1b[200~local t = (\n";
  for (int i = 0; i < 298; ++i) block += "  f(" + std::to_string(i) + ") + value, -- a comment\n";
  terminal.send(block + "\x1b[201~");
  terminal.expect(">> ");
  for (int i = 0; i < 150; ++i) terminal.send(kUp);
  terminal.settle();
  std::vector<double> times;
  for (int i = 0; i < 300; ++i) {
    const double start_seconds = terminal.processor_seconds();
    const int column = terminal.cursor().col;
    terminal.send(i % 50 == 49 ? "\x01" : i % 3 == 2 ? "\x7f" : "x");
    while (terminal.cursor().col == column)
      terminal.settle(std::chrono::milliseconds(0)), terminal.settle(std::chrono::milliseconds(1));
    times.push_back(terminal.processor_seconds() - start_seconds);
  }
  std::sort(times.begin(), times.end());
  INFO("median " << times[150] * 1e3 << " ms, p99 " << times[297] * 1e3 << " ms");
  CHECK(times[297] < 2e-3);
}

}  // namespace crescent::editor
