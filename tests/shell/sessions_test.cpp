// Sessions as a user at a terminal of 80 x 24 cells sees them, and the effects of a pasted script.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "editor/grid.h"

namespace {

using crescent::editor::Options;
using crescent::editor::TestFolder;
using crescent::editor::TestTerminal;

/// A session: the keys that are typed, and the expected screen below the greeting.
struct Session {
  std::string name, arguments, script, typed_text, screen;
};

/// Reads sessions from a file: "## name", arguments after "$ ", lines of a script after "| ", the
/// lines to type, "--", and the screen.
std::vector<Session> read_sessions(const std::string& path) {
  std::vector<Session> sessions;
  bool is_screen = false;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) {
      sessions.push_back({line.substr(3), "", "", "", ""});
      is_screen = false;
    } else if (line == "--") {
      is_screen = true;
    } else if (!sessions.empty() && !is_screen && line.starts_with("$ ")) {
      sessions.back().arguments = line.substr(2);
    } else if (!sessions.empty() && !is_screen && line.starts_with("| ")) {
      sessions.back().script += line.substr(2) + "\n";
    } else if (!sessions.empty()) {
      (is_screen ? sessions.back().screen : sessions.back().typed_text) += line + "\n";
    }
  }
  return sessions;
}

std::string without_trailing_blanks(const std::string& text) {
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

const std::pair<std::string, std::string> kKeys[] = {
    {"<Tab>", "\t"},   {"<Esc>", "\x1b"},       {"<Up>", "\x1b[A"}, {"<C-c>", "\x03"},
    {"<C-d>", "\x04"}, {"<A-Enter>", "\x1b\r"}, {"<C-r>", "\x12"},  {"<Enter>", "\r"}};

/// The words with which a line of a session waits before its next key, and the text with which the
/// row of the cursor begins once the pager or the prompt reads keys. Waiting until the program is
/// idle is not enough, because it is idle while a pager starts.
const std::pair<std::string, std::string> kAwaitedRowStarts[] = {{"<Pager>", ":"},
                                                                 {"<Prompt>", "["}};

/// Types a line, in which keys may be named; unless it ends in a backslash, Enter is pressed.
void type(TestTerminal& terminal, std::string line) {
  if (!line.ends_with('\\')) line += "<Enter>\\";
  line.pop_back();
  while (!line.empty()) {
    for (const auto& [name, beginning] : kAwaitedRowStarts) {
      if (!line.starts_with(name)) continue;
      terminal.expect_cursor_row(beginning);
      line.erase(0, name.size());
    }
    size_t end = std::min(line.find('<', 1), line.size());
    std::string bytes = line.substr(0, end);
    for (const auto& [name, key] : kKeys)
      if (line.starts_with(name)) bytes = key, end = name.size();
    terminal.settle(std::chrono::milliseconds(8));
    terminal.send(bytes);
    line.erase(0, end);
  }
}

Options options_of(const Session& session, const TestFolder& folder) {
  Options options;
  options.command = {"/usr/bin/env", "-C", folder.path, CRESCENT_PROGRAM};
  std::ofstream(folder.path / "script.lua") << session.script;
  std::istringstream words(session.arguments);
  for (std::string word; words >> word;) {
    const size_t separator = word.find('=');
    if (word.starts_with("TERM=")) options.terminal_type = word.substr(5);
    if (separator != word.npos && std::isupper(word[0]))
      options.environment.push_back({word.substr(0, separator), word.substr(separator + 1)});
    else
      options.command.push_back(word);
  }
  options.environment.insert(options.environment.begin(), {{"XDG_STATE_HOME", folder.path},
                                                           {"XDG_CONFIG_HOME", folder.path},
                                                           {"LC_ALL", "C.UTF-8"},
                                                           {"LESS", "FRX"},
                                                           {"PAGER", "less"}});
  return options;
}

/// The screen without the greeting, as soon as it equals the expected one, or after ten seconds.
std::string screen_of(const Session& session) {
  const TestFolder folder;
  TestTerminal terminal(options_of(session, folder));
  terminal.expect("]>");
  std::istringstream typed_lines(session.typed_text);
  for (std::string line; std::getline(typed_lines, line);) type(terminal, line);
  std::string screen;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  do {
    terminal.settle(std::chrono::milliseconds(8));
    screen = terminal.screen();
    if (screen.starts_with("Crescent ")) screen.erase(0, screen.find('\n') + 1);
    screen = without_trailing_blanks(screen);
  } while (screen != without_trailing_blanks(session.screen) &&
           std::chrono::steady_clock::now() < end);
  return screen;
}

}  // namespace

TEST_CASE("sessions leave the screens that they should") {
  const std::vector<Session> sessions =
      read_sessions(std::string(CRESCENT_SOURCE_DIR) + "/tests/shell/sessions.txt");
  CHECK(sessions.size() >= 60);
  for (const Session& session : sessions) {
    INFO(session.name);
    CHECK(screen_of(session) == without_trailing_blanks(session.screen));
  }
}

TEST_CASE("news of a run in the background change in their place while an entry is typed") {
  const TestFolder folder;
  TestTerminal terminal(options_of({}, folder));
  terminal.expect("[1]>");
  for (const char* entry :
       {"m = cr.Sequential({ cr.layers.Dense(1) }, { name = 'm' })",
        "m:compile { optimizer = 'sgd', loss = 'mse' }; x, go = cr.ones { 4, 1 }, 0",
        "wait = cr.callbacks.LambdaCallback { on_epoch_end = function() repeat",
        "  cr.sleep(0.01) until os.remove 'go' end }",
        "run = m:fit_async(x, x, { epochs = 3, callbacks = wait })"})
    terminal.send(std::string(entry) + "\r");
  terminal.expect("[5]>");
  terminal.send("1000 +");
  terminal.expect("[5]> 1000 +");
  for (const char* status : {"running, epoch 2 of 3", "running, epoch 3 of 3", "ended, epoch 3"}) {
    INFO(status);
    std::ofstream(folder.path / "go") << "go";
    terminal.expect(std::string("fit_async: model 'm': ") + status);
    terminal.expect("[5]> 1000 +");
    terminal.send("1 +");
  }
  terminal.send(" 1\r");
  terminal.expect("1004");
  const std::string screen = terminal.screen();
  CHECK(screen.find("fit_async: model") == screen.rfind("fit_async: model"));
  CHECK(screen.find("fit_async: model 'm': ended, epoch 3, loss") <
        screen.find("[5]> 1000 +1 +1 +1 + 1"));
}

namespace {

/// The longest line of the program's output, ignoring what the editor draws, the typed examples
/// (which the terminal wraps) and single long words.
std::string longest_line(const std::string& output) {
  std::string longest;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const bool is_entry = line.find('\x1b') != line.npos || line.substr(begin).starts_with('>');
    const bool is_word = line.find(' ', begin) == line.npos;
    if (!is_entry && !is_word && line.size() > longest.size()) longest = line;
  }
  return longest;
}

}  // namespace

TEST_CASE("help and searches are no wider than the terminal") {
  for (const int columns : {40, 80}) {
    const TestFolder folder;
    Options options = options_of({}, folder);
    options.environment.push_back({"PAGER", "cat"});
    options.columns = columns;
    TestTerminal terminal(options);
    terminal.expect("]>");
    for (const char* entry : {"help()", "help(cr.layers.Dense)", "help(cr.layers.RandomFlip)",
                              "help 'padding'", "help(cr.ops.conv)", "help(cr.Layer)",
                              "help(cr.Sequential())", "help(cr.layers)", "??normalization"}) {
      INFO(columns << " columns: " << entry);
      terminal.take_output();
      terminal.send(std::string(entry) + "\r");
      terminal.settle(std::chrono::milliseconds(300));
      const std::string output = terminal.take_output(), longest = longest_line(output);
      INFO(longest);
      CHECK(output.size() > 300);
      CHECK(longest.size() <= static_cast<size_t>(columns));
    }
  }
}

namespace {

/// Random statements that must give the same results in a script and as entries at the prompt.
class RandomScript {
 public:
  explicit RandomScript(unsigned seed) : random_(seed) {}

  std::string text() {
    std::string text = "local v1, v2, v3 = 1, 2, 3\nlocal f1 = function() return v1 end\n";
    for (int i = 0; i < 40; ++i) text += statement();
    return text;
  }

 private:
  int integer_below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string variable() { return "v" + std::to_string(1 + integer_below(3)); }
  std::string value() {
    const std::string a = variable(), b = std::to_string(integer_below(9));
    return std::vector<std::string>{a, b, "(" + a + " + " + b + ")", "f1() % 97",
                                    "#(\"x\"..5)"}[static_cast<size_t>(integer_below(5))];
  }
  std::string statement() {
    const std::string v = variable(), x = value(), y = value();
    switch (integer_below(9)) {
      case 0:
        return "local " + v + " = " + x + " + " + y + "\n";
      case 1:
        return v + " = " + x + "\n";
      case 2:
        return "local function f1() " + v + " = (" + v + " + 1) % 1000 return " + v + " end\n";
      case 3:
        return "print(" + x + ", " + y + ", f1())\n";
      case 4:
        return "for i = 1, 3 do local " + v + " = i\n  print(" + v + " + i, " + x + ")\nend\n";
      case 5:
        return "local k <const>, " + v + " = " + x + ", " + y + "; print(k)\n";
      case 6:
        return "do local n = 0 ::again:: n = n + 1\n  if n < 3 then goto again end\n  print(n) "
               "end\n";
      case 7:
        return "local f1 = function() return " + x + " end; print(f1())\n";
      default:
        return "if " + x + " > " + y + " then\n  " + v + " = " + y + "\nelse print '" + v +
               "' end\n";
    }
  }
  std::mt19937 random_;
};

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

}  // namespace

TEST_CASE("a script that is pasted entry by entry does what it does as a file") {
  const TestFolder folder;
  const std::string script_path = folder.path / "script.lua";
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string script = RandomScript(seed).text();
    std::ofstream(script_path) << script;
    const std::string program = CRESCENT_PROGRAM,
                      state_assignment = "XDG_STATE_HOME=" + script_path + ".state ";
    INFO(script);
    const std::string expected = output_of(program + " " + script_path + " 2>&1");
    CHECK(expected.size() > 20);
    CHECK(output_of(state_assignment + program + " --no-init -i < " + script_path + " 2>&1") ==
          expected);
  }
}
