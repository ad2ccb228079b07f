#include "editor.h"

#include <histedit.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <memory>

#include "crescent/base/error.h"
#include "crescent/system/file.h"
#include "signals.h"

namespace crescent::program {
namespace {

constexpr int kRemembered = 5000;

/// $XDG_STATE_HOME/crescent/history; empty without a home.
std::string history_path() {
  const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
  std::string folder = state && *state == '/' ? state
                       : home && *home == '/' ? std::string(home) + "/.local/state"
                                              : "";
  if (folder.empty()) return "";
  folder += "/crescent";
  for (size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
    mkdir(folder.substr(0, slash).c_str(), 0700);
    if (slash == std::string::npos) break;
  }
  return folder + "/history";
}

/// As libedit writes them, which it does to a file alone.
std::string text_of_history(::History* lines) {
  const NoFileSizeSignal guard;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(
      fdopen(memfd_create("history", MFD_CLOEXEC), "w+"), std::fclose);
  HistEvent event;
  if (!file || history(lines, &event, H_SAVE_FP, file.get()) < 0) fail(std::strerror(errno));
  std::string text(std::ftell(file.get()), '\0');
  std::rewind(file.get());
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

void save_history(::History* lines, const std::string& path) {
  try {
    replace_file(path, text_of_history(lines));
    chmod(path.c_str(), 0600);
  } catch (const Error& error) {
    warn("the lines of this session are not remembered: ", error.what());
  }
}

std::string common_start(const std::vector<std::string>& names) {
  std::string start = names.front();
  for (const std::string& name : names) {
    const auto [end, other] = std::mismatch(start.begin(), start.end(), name.begin(), name.end());
    (void)other;
    start.erase(end, start.end());
  }
  return start;
}

/// Names in columns below the line.
void print_columns(const std::vector<std::string>& names) {
  constexpr size_t kWidth = 80, kMost = 200;
  size_t widest = 0;
  for (const std::string& name : names) widest = std::max(widest, name.size() + 2);
  const size_t columns = std::max<size_t>(1, kWidth / widest),
               shown = std::min(names.size(), kMost);
  std::printf("\n");
  for (size_t i = 0; i < shown; ++i)
    std::printf("%-*s%s", static_cast<int>(widest), names[i].c_str(),
                i % columns + 1 == columns || i + 1 == shown ? "\n" : "");
  if (shown < names.size()) std::printf("... %zu more\n", names.size() - shown);
  std::fflush(stdout);
}

/// The next character that is typed, as libedit reads it by itself, but a signal ends the waiting.
int read_key(EditLine*, wchar_t* key) {
  for (std::mbstate_t state{};;) {
    char byte;
    if (!await_input(STDIN_FILENO)) return -1;
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return static_cast<int>(count);
    const size_t length = std::mbrtowc(key, &byte, 1, &state);
    if (length <= 1) return 1;
    if (length == static_cast<size_t>(-1)) state = {};  // no character: it is left out
  }
}

}  // namespace

struct Editor::State {
  EditLine* line = nullptr;  // null without a terminal
  ::History* history = nullptr;
  std::string path, prompt;
  Complete complete;
  bool interrupted = false;

  static State& of(EditLine* el) {
    void* data = nullptr;
    el_get(el, EL_CLIENTDATA, &data);
    return *static_cast<State*>(data);
  }
  static char* show_prompt(EditLine* el) { return of(el).prompt.data(); }
  static unsigned char on_interrupt(EditLine* el, int) {
    of(el).interrupted = true;
    std::printf("^C\n");
    return CC_NEWLINE;
  }
  static unsigned char on_tab(EditLine* el, int) {
    const LineInfo* info = el_line(el);
    const std::string text(info->buffer, info->cursor);
    if (text.find_first_not_of(" \t") == std::string::npos)
      return el_insertstr(el, "  ") ? CC_ERROR : CC_REFRESH;
    const Completion found = of(el).complete(text);
    if (found.names.empty()) return CC_REFRESH_BEEP;
    const std::string start = common_start(found.names).substr(found.typed);
    if (!start.empty()) return el_insertstr(el, start.c_str()) ? CC_ERROR : CC_REFRESH;
    if (found.names.size() == 1) return CC_NORM;
    print_columns(found.names);
    return CC_REDISPLAY;
  }
};

Editor::Editor(Complete complete) : state_(std::make_unique<State>()) {
  state_->complete = std::move(complete);
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return;
  EditLine* el = state_->line = el_init("crescent", stdin, stdout, stderr);
  if (!el) return;
  HistEvent event;
  state_->history = history_init();
  history(state_->history, &event, H_SETSIZE, kRemembered);
  history(state_->history, &event, H_SETUNIQUE, 1);
  state_->path = history_path();
  if (!state_->path.empty()) history(state_->history, &event, H_LOAD, state_->path.c_str());
  el_set(el, EL_CLIENTDATA, state_.get());
  el_set(el, EL_PROMPT, State::show_prompt);
  el_set(el, EL_EDITOR, "emacs");
  el_set(el, EL_GETCFN, read_key);
  el_set(el, EL_HIST, history, state_->history);
  el_set(el, EL_ADDFN, "crescent-complete", "completes names", State::on_tab);
  el_set(el, EL_ADDFN, "crescent-interrupt", "starts the line again", State::on_interrupt);
  el_set(el, EL_BIND, "\t", "crescent-complete", nullptr);
  el_set(el, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(el, nullptr);
  // While a line is edited Ctrl-C is a key like others; while code runs it is a signal again.
  el_set(el, EL_SETTY, "-d", "-isig", nullptr);
  el_set(el, EL_BIND, "^C", "crescent-interrupt", nullptr);
}

Editor::~Editor() {
  if (state_->history && !state_->path.empty()) save_history(state_->history, state_->path);
  if (state_->history) history_end(state_->history);
  if (state_->line) el_end(state_->line);
}

Editor::Result Editor::read(const std::string& prompt, std::string& line) {
  line.clear();
  const StopSignals signals(nullptr);
  if (!state_->line) {
    std::fputs(prompt.c_str(), stdout);
    std::fflush(stdout);
    int c;
    while ((c = std::getchar()) != EOF && c != '\n') line += static_cast<char>(c);
    return c == EOF && line.empty() ? Result::end : Result::line;
  }
  state_->prompt = prompt;
  state_->interrupted = false;
  el_set(state_->line, EL_PREP_TERM,
         1);  // before the prompt is seen, so that no key is taken for a signal
  int count = 0;
  const char* text = el_gets(state_->line, &count);
  if (told_to_end()) return Result::end;
  if (state_->interrupted || (stop_signal() && count <= 0))
    return Result::interrupted;  // Ctrl-C is a signal until then
  if (!text || count <= 0) return Result::end;
  line.assign(text, count);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  return Result::line;
}

void Editor::remember(const std::string& line) {
  HistEvent event;
  if (state_->history && line.find_first_not_of(" \t") != std::string::npos)
    history(state_->history, &event, H_ENTER, line.c_str());
}

}  // namespace crescent::program
