// Sessions as somebody at a terminal of 80 x 24 cells sees them, and what a pasted script does.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <sstream>

#include "editor/grid.h"

namespace {

using crescent::editor::Options;
using crescent::editor::TestFolder;
using crescent::editor::TestTerminal;

/// What is typed, and the screen that it leaves, below the greeting.
struct Session {
  std::string name, arguments, script, typed, screen;
};

/// "## name", arguments behind "$ ", a script behind "| ", what is typed, "--" and the screen.
std::vector<Session> sessions_in(const std::string& path) {
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
      (is_screen ? sessions.back().screen : sessions.back().typed) += line + "\n";
    }
  }
  return sessions;
}

std::string without_last_blanks(const std::string& text) {
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

const std::pair<std::string, std::string> kKeys[] = {
    {"<Tab>", "\t"},   {"<Esc>", "\x1b"},       {"<Up>", "\x1b[A"}, {"<C-c>", "\x03"},
    {"<C-d>", "\x04"}, {"<A-Enter>", "\x1b\r"}, {"<C-r>", "\x12"},  {"<Enter>", "\r"}};

/// Types a line, key by key where it names keys; one that ends in a backslash is not entered.
void type(TestTerminal& terminal, std::string line) {
  if (!line.ends_with('\\')) line += "<Enter>\\";
  line.pop_back();
  while (!line.empty()) {
    size_t end = std::min(line.find('<', 1), line.size());
    std::string bytes = line.substr(0, end);
    for (const auto& [name, key] : kKeys)
      if (line.starts_with(name)) bytes = key, end = name.size();
    terminal.settle(std::chrono::milliseconds(20));
    terminal.send(bytes);
    line.erase(0, end);
  }
}

Options options_of(const Session& session, const TestFolder& folder) {
  Options options;
  options.program = {"/usr/bin/env", "-C", folder.path, CRESCENT_PROGRAM};
  std::ofstream(folder.path / "script.lua") << session.script;
  std::istringstream words(session.arguments);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals != word.npos && std::isupper(word[0]))
      options.environment.push_back({word.substr(0, equals), word.substr(equals + 1)});
    else
      options.program.push_back(word);
  }
  options.environment.insert(options.environment.begin(), {{"XDG_STATE_HOME", folder.path},
                                                           {"XDG_CONFIG_HOME", folder.path},
                                                           {"LC_ALL", "C.UTF-8"},
                                                           {"LESS", "FRX"},
                                                           {"PAGER", "less"}});
  return options;
}

/// The screen without the greeting, once it looks as it should or ten seconds have passed.
std::string screen_of(const Session& session) {
  const TestFolder folder;
  TestTerminal terminal(options_of(session, folder));
  terminal.expect("]>");
  std::istringstream typed(session.typed);
  for (std::string line; std::getline(typed, line);) type(terminal, line);
  std::string screen;
  for (int tries = 0; tries < 100; ++tries) {
    terminal.settle(std::chrono::milliseconds(20));
    screen = terminal.screen();
    if (screen.starts_with("Crescent ")) screen.erase(0, screen.find('\n') + 1);
    if ((screen = without_last_blanks(screen)) == without_last_blanks(session.screen)) break;
    if (getenv("REC") && tries > 3) break;
  }
  return screen;
}

}  // namespace

TEST_CASE("sessions leave the screens that they should") {
  const std::vector<Session> sessions =
      sessions_in(std::string(CRESCENT_SOURCE_DIR) + "/tests/shell/sessions.txt");
  CHECK(sessions.size() >= 60);
  for (const Session& session : sessions) {
    if (getenv("REC")) {
      std::ofstream(getenv("REC"), std::ios::app)
          << "## " << session.name << "\n"
          << (session.arguments.empty() ? "" : "$ " + session.arguments + "\n") << session.typed
          << "--\n"
          << screen_of(session) << "\n\n";
      continue;
    }
    INFO(session.name);
    CHECK(screen_of(session) == without_last_blanks(session.screen));
  }
}
