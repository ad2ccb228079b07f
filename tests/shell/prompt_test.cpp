// The prompt as a user at a terminal sees it, tested through a pseudo-terminal.
#include "prompt_terminal.h"

using namespace crescent::prompt_tests;

TEST_CASE("the prompt evaluates, prints and goes on after errors") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("Ctrl-D ends.");
  terminal.enter("6 * 7");
  terminal.expect("42");
  terminal.enter("= 6 * 8");
  terminal.expect("48");
  terminal.enter("cr.arange(3) * 11");
  terminal.expect("[ 0 11 22]");
  terminal.enter("{ 1 + 1, a = 'x' .. 'y' }");
  terminal.expect("{ 2, a = \"xy\" }");
  terminal.enter("nothing = nil; return nil");
  terminal.enter("for i = 1, 2 do");
  terminal.expect(">> ");
  terminal.enter("print(i * 100)");
  terminal.enter("end");
  terminal.expect("100");
  terminal.expect("200");
  terminal.enter("error('on ' .. 'purpose')");
  terminal.expect("crescent: [7]:1: on purpose");
  terminal.enter("cr.layers.Dens");
  terminal.expect("did you mean 'Dense'?");
  terminal.enter("5 5");
  terminal.expect("unexpected symbol");
  terminal.enter("no_such_thing");
  terminal.expect("thing\r\nnil\r\n[");
  terminal.enter("cr.Sequental {}");
  terminal.expect("cr has no 'Sequental' (did you mean 'Sequential'?)");
  terminal.enter("'still ' .. 'here'");
  terminal.expect("still here\r\n[");
  terminal.send("\x04");
  CHECK(terminal.end() == 0);
}

TEST_CASE("a session ends with the status that it asks for") {
  for (const auto& [entry, status] : std::vector<std::pair<std::string, int>>{{"exit(3)", 3},
                                                                              {"quit(x + 2);", 7},
                                                                              {"exit(false)", 1},
                                                                              {"exit (true)", 0},
                                                                              {"quit", 0},
                                                                              {"exit(x > 4)", 0}}) {
    INFO(entry);
    StateFolder state;
    Terminal terminal(state);
    terminal.expect("> ");
    terminal.enter("local x = 5");
    terminal.expect("[2]> ");
    terminal.enter(entry);
    CHECK(terminal.end() == status);
  }
}

TEST_CASE("the prompt runs what is meant, and says at once what can never become right") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.enter("x = 5; x");
  terminal.expect("\r\n5\r\n[");
  terminal.enter("y = 6; nothing");
  terminal.expect("\r\nnil\r\n[");
  terminal.enter("do x = 7 end; { x }");
  terminal.expect("\r\n{ 7 }\r\n[");
  terminal.enter("\"multi");
  terminal.expect("unfinished string");
  terminal.enter("\"multi\\");
  terminal.expect(">> ");
  terminal.enter("ple\"");
  terminal.expect("\r\nmulti\r\nple\r\n[");
  terminal.enter("x = 5 5");
  terminal.expect("unexpected symbol near '5'");
  terminal.enter("[[long");
  terminal.expect(">> ");
  terminal.enter("text]] .. 1");
  terminal.expect("\r\nlong\r\ntext1\r\n[");
}

TEST_CASE("a block is remembered as one entry, and Ctrl-D cancels one that is begun") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.enter("for i = 1, 2 do");
  terminal.enter("print('round ' .. i)");
  terminal.enter("end");
  terminal.expect("round 2\r\n[");
  terminal.send("\x1b[A\r");
  terminal.expect("round 2\r\n[");
  terminal.enter("while true do");
  terminal.expect(">> ");
  terminal.send("\x04");
  terminal.expect("^C\r\n[");
  terminal.enter("'still ' .. 'here'");
  terminal.expect("still here\r\n[");
  std::ifstream file(state.path / "crescent" / "history");
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) ==
        "> for i = 1, 2 do\n>> print('round ' .. i)\n>> end\n> 'still ' .. 'here'\n");
}

TEST_CASE("ten thousand lines of Lua are pasted, as one block and line by line", "[L07]") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("> ");
  for (const std::string block_start : {"", "t = {", "do", "s = [["}) {
    const std::string line = block_start == "t = {"    ? "1,\r"
                             : block_start == "s = [[" ? "text\r"
                                                       : "n = n + 1\r";
    terminal.enter("n = 0");
    std::string text = block_start + "\r";
    for (int i = 0; i < 10000; ++i) text += line;
    text += block_start == "t = {"    ? "} n = #t"
            : block_start == "do"     ? "end"
            : block_start == "s = [[" ? "]] n = #s / 5"
                                      : "";
    const double start_seconds = terminal.processor_seconds();
    terminal.send_and_read(text + "\r");
    terminal.enter("'lines: ' .. n // 1 .. ' of ' .. [[" + block_start + "]]");
    terminal.expect("lines: 10000");
    const double seconds = terminal.processor_seconds() - start_seconds;
    INFO("'" << block_start << "' " << seconds << " s");
    // The limit is higher without an open block, since then each line is run as an entry.
    CHECK(seconds < (block_start.empty() ? 0.8 : 0.3));
  }
}

TEST_CASE("the prompt completes names, fields, methods and options") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.send("cr.layers.Conv2DTr\t");
  terminal.expect("anspose");  // the editor writes only the letters that are new
  terminal.send("{ kernel_s\t");
  terminal.expect("ize");
  terminal.send("\x03");
  terminal.expect("> ");
  terminal.enter("model = cr.Sequential()");
  terminal.send("model:summ\t");
  terminal.expect("ary");
}

TEST_CASE("what takes more than a second shows how far it has come, what takes less does not") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("Ctrl-D ends.");
  terminal.enter("slow = cr.data.from_generator(function() local i = 0; return function()");
  terminal.enter(
      "  i = i + 1; local t = cr.utils.clock(); while cr.utils.clock() < t + 0.1 do end");
  terminal.enter("  if i <= 15 then return cr.ones { 4, 1 } end end end)");
  terminal.enter("layer = cr.layers.Normalization(); layer:adapt(slow)");
  terminal.expect("adapt: ");
  terminal.expect("adapt: 15 batches - ");
  terminal.expect("s\x1b[K\r\n[");
  terminal.enter("layer:adapt(cr.data.dataset(cr.ones { 8, 1 })); print 'at once'");
  terminal.expect("\r\nat once\r\n[");
  CHECK(terminal.shown_text().find("adapt:") == std::string::npos);
  terminal.send("\x04");
  CHECK(terminal.end() == 0);
}

TEST_CASE("lines are remembered from one session to the next") {
  StateFolder state;
  {
    Terminal terminal(state);
    terminal.expect("> ");
    terminal.enter("'remem' .. 'bered'");
    terminal.expect("remembered\r\n[");
    terminal.send("\x04");
    CHECK(terminal.end() == 0);
  }
  CHECK(fs::exists(state.path / "crescent" / "history"));
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.send("\x1b[A\r");
  terminal.expect("remembered");
}

TEST_CASE("-i gives a prompt after the script, and its variables") {
  StateFolder state;
  Terminal terminal(state, {"-i", "-e", "answer = 41"});
  terminal.expect("> ");
  terminal.enter("answer + 1");
  terminal.expect("42");
}

TEST_CASE("the program hints at what was meant, and shows tables that are errors") {
  StateFolder state;
  Terminal script_terminal(state, {"-e", "cr.layers.Dense(units=10)"});
  script_terminal.expect("options go in a table: cr.layers.Dense { units = 10 }");
  CHECK(script_terminal.end() == 1);
  Terminal table_terminal(state, {"-e", "error { code = 5 }"});
  table_terminal.expect("(error object is a table value) { code = 5 }");
  CHECK(table_terminal.end() == 1);
  const std::string model_path = state.path / "model.onnx";
  std::ofstream(model_path) << "nothing";
  Terminal inspection_terminal(state, {"inspect", model_path});
  inspection_terminal.expect(
      "files of format onnx are only written; inspect reads those of archive");
  CHECK(inspection_terminal.end() == 1);
}
