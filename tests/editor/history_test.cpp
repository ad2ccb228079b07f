// The history: entries are stored, shared between processes, and found by search.
#include <catch2/catch.hpp>
#include <fstream>

#include "editor/history.h"
#include "grid.h"

namespace crescent::editor {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Options with_history(const TestFolder& folder) {
  Options options;
  options.history = folder.path / "history";
  return options;
}

}  // namespace

TEST_CASE("blocks are remembered as they were, in a file that people can read") {
  TestFolder folder;
  const Options options = with_history(folder);
  {
    TestTerminal terminal(options);
    terminal.send("f(\r  >> 1\r)\r");
    terminal.expect("[f(|  >> 1|)]");
    terminal.send("2\r2\r \r");
    terminal.expect("[ ]");
    terminal.send("exit\r");
    CHECK(terminal.end() == 3);
  }
  CHECK(text_of(options.history) == "> f(\n>>   >> 1\n>> )\n> 2\n> exit\n");
  CHECK((std::filesystem::status(options.history).permissions() & std::filesystem::perms(077)) ==
        std::filesystem::perms::none);
  TestTerminal terminal(options);
  terminal.send("draft\x01");
  terminal.send(std::string(kUp) + kUp + kUp);
  terminal.expect_row(0, "> f(");
  terminal.expect_row(1, ">>   >> 1");
  terminal.expect_cursor(0, 4);
  terminal.send(std::string(kDown) + kDown + kDown);
  terminal.expect_row(0, "> 2");
  terminal.expect_row(1, "");
  terminal.send(std::string(kDown) + kDown);
  terminal.expect_row(0, "> draft");
}

TEST_CASE("the cursor is in the entry that is shown, also where its row stays as it was") {
  TestFolder folder;
  TestTerminal terminal(with_history(folder));
  terminal.send("one(\r)\rthe other(\r)\r");
  terminal.expect_row(6, ">");
  terminal.send(std::string(kUp) + kUp);
  terminal.expect_row(6, "> one(");
  terminal.expect_cursor(6, 6);
  terminal.send(std::string(kDown) + kDown);
  terminal.expect_row(6, "> the other(");
  terminal.send("x");
  terminal.expect_row(7, ">> )x");
}

TEST_CASE("up looks for entries that begin like what is typed") {
  TestFolder folder;
  TestTerminal terminal(with_history(folder));
  terminal.send("model one\rother\rmodel two\rother\r");
  terminal.expect_row(8, ">");
  terminal.send(std::string("mod") + kUp);
  terminal.expect_row(8, "> model two");
  terminal.send(kUp);
  terminal.expect_row(8, "> model one");
  terminal.send(std::string(kDown) + kDown);
  terminal.expect_row(8, "> model two");
  terminal.expect_cursor(8, 5);
}

TEST_CASE("the rest of an entry of the history is offered") {
  TestFolder folder;
  TestTerminal terminal(with_history(folder));
  terminal.send("cr.layers.Dense(3)\r");
  terminal.expect("[cr.layers.Dense(3)]");
  terminal.send("cr.");
  terminal.expect_row(2, "> cr.layers.Dense(3)");
  terminal.expect_cursor(2, 5);
  terminal.send(
      "\x1b"
      "f");
  terminal.expect_cursor(2, 11);
  terminal.send(std::string(kRight) + "\r");
  terminal.expect_row(3, "[cr.layers.Dense(3)]");
}

TEST_CASE("the history is searched backwards") {
  TestFolder folder;
  TestTerminal terminal(with_history(folder));
  terminal.send("alpha one\r(beta\rone)\rgamma\r");
  terminal.expect("[gamma]");
  terminal.send("typed\x12one");
  terminal.expect_row(7, "> (beta");
  terminal.expect_row(8, ">> one)");
  terminal.expect_row(9, "search: one");
  terminal.send("\x12");
  terminal.expect_row(7, "> alpha one");
  terminal.expect_cursor(7, 8);
  terminal.send("\x12");
  terminal.expect("not found: one");
  terminal.send("\x07");
  terminal.expect_row(7, "> typed");
  terminal.expect_row(8, "");
  terminal.send(
      "\x12"
      "bet\r");
  terminal.expect_row(9, "[(beta|one)]");
}

TEST_CASE("sessions share the history", "[L08]") {
  TestFolder folder;
  const Options options = with_history(folder);
  TestTerminal first(options), second(options);
  first.send("of the first\r");
  first.expect("[of the first]");
  second.send("of the second\r");
  second.expect("[of the second]");
  first.settle();
  first.send(kUp);
  first.expect_row(2, "> of the second");
  first.send(kUp);
  first.expect_row(2, "> of the first");
  CHECK(text_of(options.history) == "> of the first\n> of the second\n");
}

TEST_CASE("a history that is no text, is long, or cannot be written does no harm", "[L08]") {
  TestFolder folder;
  const std::string path = folder.path / "history";
  {
    std::ofstream file(path);
    for (int i = 0; i < 300000; ++i)
      file << "> entry " << i << "\nrubbish" << '\0' << "\xff\n>> lost\n";
  }
  History history(path);
  history.add("new");
  CHECK(history.entries().back() == "new");
  CHECK(history.entries()[history.entries().size() - 2] == "entry 299999");
  CHECK(std::filesystem::file_size(path) <= size_t{1} << 20);
  History other_history(path);
  other_history.refresh();
  CHECK(other_history.entries().back() == "new");
  CHECK(other_history.entries().size() > 1000);
  other_history.add("newer");
  history.refresh();
  CHECK(history.entries().back() == "newer");
  History unwritable_history("/nowhere/history");
  unwritable_history.add("kept");
  CHECK(unwritable_history.entries().back() == "kept");
}

}  // namespace crescent::editor
