// The prompt as someone at a terminal sees it, through a pseudo-terminal.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

#ifdef __SANITIZE_THREAD__  // which holds signals back until the program calls the C library
const std::string kEndlessLoop = "while true do os.time() end";
#else
const std::string kEndlessLoop = "while true do end";
#endif

/// A folder for the history of the sessions of one test.
class StateFolder {
 public:
  StateFolder() {
    std::string name = fs::temp_directory_path() / "crescent-prompt-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~StateFolder() { fs::remove_all(path); }
  fs::path path;
};

/// The program on a terminal of its own.
class Terminal {
 public:
  explicit Terminal(const StateFolder& state, std::vector<std::string> arguments = {}) {
    const winsize size{40, kColumns, 0, 0};
    child_ = forkpty(&terminal_, nullptr, nullptr, &size);
    REQUIRE(child_ >= 0);
    if (child_ > 0) return;
    setenv("XDG_STATE_HOME", state.path.c_str(), 1);
    setenv("CRESCENT_INIT", "", 1);
    setenv("TERM", "vt100", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    const std::string program = CRESCENT_PROGRAM;
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    execv(program.c_str(), words.data());
    _exit(127);
  }
  ~Terminal() {
    if (!ended_) kill(child_, SIGKILL), waitpid(child_, nullptr, 0);
    close(terminal_);
  }

  void send(const std::string& text) {
    REQUIRE(write(terminal_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  /// The same of a text that may be longer than the terminal takes before it is read from.
  void send_and_read(const std::string& text) {
    const int flags = fcntl(terminal_, F_GETFL);
    fcntl(terminal_, F_SETFL, flags | O_NONBLOCK);
    for (size_t at = 0; at < text.size();) {
      const ssize_t count = write(terminal_, text.data() + at, text.size() - at);
      if (count > 0) at += static_cast<size_t>(count);
      while (read_some(count > 0 ? 0 : 1)) continue;
    }
    fcntl(terminal_, F_SETFL, flags);
  }
  void enter(const std::string& line) { send(line + "\r"); }

  /// Reads until the text appears in what came since the last call; what came before it is dropped.
  void expect(const std::string& text, int seconds = 30) {
    size_t searched = 0;
    for (const time_t end = time(nullptr) + seconds; time(nullptr) <= end; read_some(100)) {
      if (const size_t at = seen_.find(text, searched); at != std::string::npos) {
        seen_.erase(0, at + text.size());
        return;
      }
      searched = seen_.size() - std::min(seen_.size(), text.size());
    }
    const std::string last = seen_.substr(seen_.size() - std::min<size_t>(seen_.size(), 2000));
    FAIL("no '" << text << "' within " << seconds << " s in what the terminal showed:\n" << last);
  }
  /// As Ctrl-C sends SIGINT, but the terminal does not forget what the program shows meanwhile.
  void signal(int number) { REQUIRE(kill(child_, number) == 0); }
  pid_t process() const { return child_; }
  /// Seconds that the first thread of the program has computed.
  double computed() const {
    double nanoseconds = 0;
    std::ifstream("/proc/" + std::to_string(child_) + "/schedstat") >> nanoseconds;
    return nanoseconds * 1e-9;
  }

  /// The exit status, once the program has ended.
  int end(int seconds = 30) {
    int status = 0;
    for (int waited = 0; waited < seconds * 10; ++waited) {
      read_some(100);
      if (waitpid(child_, &status, WNOHANG) == child_) {
        ended_ = true;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
    }
    FAIL("the program did not end; it showed:\n" << seen_);
    return -1;
  }
  const std::string& seen() const { return seen_; }

 private:
  static constexpr unsigned short kColumns = 120;

  bool read_some(int milliseconds) {
    pollfd ready{terminal_, POLLIN, 0};
    if (poll(&ready, 1, milliseconds) <= 0) return false;
    char buffer[4096];
    const ssize_t count = read(terminal_, buffer, sizeof buffer);
    if (count <= 0) return usleep(1000 * milliseconds), false;  // the other side is closed
    seen_.append(buffer, static_cast<size_t>(count));
    remove_row_starts();
    return true;
  }
  /// What the editor writes to be at the start of a row.
  void remove_row_starts() {
    const std::string start = "\x1b[7m%\x1b[m" + std::string(kColumns - 1, ' ') + "\r\x1b[K";
    for (size_t at; (at = seen_.find(start)) != std::string::npos;) seen_.erase(at, start.size());
  }

  int terminal_ = -1;
  pid_t child_ = -1;
  bool ended_ = false;
  std::string seen_;
};

}  // namespace

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
  for (const std::string begin : {"", "t = {", "do", "s = [["}) {
    const std::string line = begin == "t = {"    ? "1,\r"
                             : begin == "s = [[" ? "text\r"
                                                 : "n = n + 1\r";
    terminal.enter("n = 0");
    std::string text = begin + "\r";
    for (int i = 0; i < 10000; ++i) text += line;
    text += begin == "t = {"    ? "} n = #t"
            : begin == "do"     ? "end"
            : begin == "s = [[" ? "]] n = #s / 5"
                                : "";
    const double before = terminal.computed();
    terminal.send_and_read(text + "\r");
    terminal.enter("'lines: ' .. n // 1 .. ' of ' .. [[" + begin + "]]");
    terminal.expect("lines: 10000");
    const double seconds = terminal.computed() - before;
    INFO("'" << begin << "' " << seconds << " s");
    CHECK(seconds < (begin.empty() ? 1.0 : 0.3));  // line by line, each is run
  }
}

TEST_CASE("the prompt completes names, fields, methods and options") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.send("cr.layers.Conv2DTr\t");
  terminal.expect("anspose");  // only what is new is written
  terminal.send("{ kernel_s\t");
  terminal.expect("ize");
  terminal.send("\x03");
  terminal.expect("> ");
  terminal.enter("model = cr.Sequential()");
  terminal.send("model:summ\t");
  terminal.expect("ary");
}

TEST_CASE("Ctrl-C clears the line, stops a loop, and stops training without losing the model") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.send("garbage (");
  terminal.send("\x03");
  terminal.expect("> ");
  terminal.enter("1000 + 1");
  terminal.expect("1001");
  terminal.enter("print('loo' .. 'ping') " + kEndlessLoop);
  terminal.expect("looping");
  terminal.send("\x03");
  terminal.expect("interrupted!");
  terminal.enter("x, y = cr.zeros{64, 4}, cr.zeros{64, 1}");
  terminal.enter("model = cr.Sequential{ cr.layers.Dense(1, {input_shape = {4}}) }");
  terminal.enter("model:compile{ optimizer = 'sgd', loss = 'mse' }");
  terminal.enter("history = model:fit(x, y, {epochs = 100000000, verbose = 2})");
  terminal.expect("Epoch 3/");
  terminal.send("\x03");
  terminal.expect("> ");
  terminal.enter("'epochs: ' .. tostring(#history.history.loss > 1) .. ' ' .. #model:predict(x)");
  terminal.expect("epochs: true 64");
  terminal.enter("#model:fit(x, y, {epochs = 2, verbose = 0}).epoch + 5");
  terminal.expect("7");
}

namespace {

const std::string kModel =
    "x, y = cr.zeros{64, 4}, cr.zeros{64, 1} model = cr.Sequential{ cr.layers.Dense(1, "
    "{input_shape = {4}}) } "
    "model:compile{ optimizer = 'sgd', loss = 'mse' } ";
/// Tells after some batches that it runs, and goes on for ever.
const std::string kSource =
    "local n = 0 function source() n = n + 1 if n % 1000 == 500 then print('it is ' .. 'running') "
    "end return x, y end ";

}  // namespace

TEST_CASE("a second Ctrl-C leaves the loop around fit, and the session stays") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.enter(kModel);
  terminal.enter(
      "rounds = 0 while true do rounds = rounds + 1 model:fit(x, y, {epochs = 100000000, verbose = "
      "2}) end");
  terminal.expect("Epoch 3/");
  terminal.signal(SIGINT);
  terminal.expect("fit: interrupted after");
  terminal.expect("Epoch 3/");  // of the next round
  terminal.signal(SIGINT);
  terminal.expect("interrupted!");
  terminal.enter("'rounds: ' .. rounds");
  terminal.expect("rounds: 2");
  terminal.enter(
      "while true do pcall(model.fit, model, x, y, {epochs = 100000000, verbose = 2}) end");
  for (int i = 0; i < 2; ++i) {
    terminal.expect("Epoch 3/");
    terminal.signal(SIGINT);
  }
  terminal.expect("interrupted!");
  terminal.enter("print('loo' .. 'ping') for i = 1, 1e18 do model:train_on_batch(x, y) end");
  terminal.expect("looping");
  terminal.signal(SIGINT);
  terminal.expect("interrupted!");
  terminal.enter("'epochs: ' .. #model:fit(x, y, {epochs = 2, verbose = 0}).epoch");
  terminal.expect("epochs: 2");
}

TEST_CASE("Ctrl-C in evaluate and predict is an error, not a part of the result") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.enter(kModel + kSource);
  for (const char* call : {"evaluate", "predict"}) {
    terminal.enter(std::string("part = model:") + call + "(source, {verbose = 0})");
    terminal.expect("it is running");
    terminal.signal(SIGINT);
    terminal.expect(std::string(call) + ": interrupted after batch");
    terminal.enter("'the part: ' .. tostring(part)");
    terminal.expect("the part: nil");
  }
}

TEST_CASE("SIGTERM and SIGHUP end the prompt, its history kept") {
  for (int number : {SIGTERM, SIGHUP}) {
    StateFolder state;
    Terminal terminal(state);
    terminal.expect("> ");
    terminal.enter("'remem' .. 'bered'");
    terminal.expect("remembered\r\n[");
    SECTION("between commands") {}
    SECTION("in fit") {
      terminal.enter(kModel);
      terminal.enter(
          "while true do pcall(model.fit, model, x, y, {epochs = 100000000, verbose = 2}) end");
      terminal.expect("Epoch 3/");
    }
    terminal.signal(number);
    CHECK(terminal.end() == 128 + number);
    CHECK(fs::exists(state.path / "crescent" / "history"));
  }
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
  CHECK(terminal.seen().find("adapt:") == std::string::npos);
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

TEST_CASE("Ctrl-C ends a script, in a loop and while it trains") {
  StateFolder state;
  Terminal looping(state, {"-e", "print('re' .. 'ady') " + kEndlessLoop});
  looping.expect("ready");
  looping.send("\x03");
  looping.expect("interrupted!");
  CHECK(looping.end() == 130);
  Terminal training(state,
                    {"-e",
                     "local m = cr.Sequential{ cr.layers.Dense(1, {input_shape = {4}}) } "
                     "m:compile{ loss = 'mse' } "
                     "m:fit(cr.zeros{64, 4}, cr.zeros{64, 1}, {epochs = 100000000, verbose = 2}) "
                     "print('went ' .. 'on')"});
  training.expect("Epoch 3/");
  training.signal(SIGINT);
  training.expect("fit: interrupted after");
  training.expect("interrupted!");
  CHECK(training.end() == 130);
  CHECK(training.seen().find("went on") == std::string::npos);
  Terminal evaluating(
      state,
      {"-e", kModel + kSource + "model:evaluate(source, {verbose = 0}) print('went ' .. 'on')"});
  evaluating.expect("it is running");
  evaluating.signal(SIGINT);
  evaluating.expect("evaluate: interrupted after batch");
  CHECK(evaluating.end() == 130);
  CHECK(evaluating.seen().find("went on") == std::string::npos);
}

TEST_CASE("signals end a script after the batch, whatever it catches; its files are written") {
  const std::string fit = "model:fit(x, y, {epochs = 100000000, verbose = 2}) ";
  for (const std::string& body : {fit, "while true do pcall(function() " + fit + "end) end ",
                                  "print('Epoch' .. ' 3/') " + kEndlessLoop + " "}) {
    for (int number : {SIGTERM, SIGHUP, SIGINT}) {
      StateFolder state;
      const std::string file = state.path / "written";
      Terminal script(
          state, {"-e", kModel + "file = io.open('" + file + "', 'w') file:write('all of it') " +
                            body + "print('went ' .. 'on')"});
      script.expect("Epoch 3/");
      script.signal(number);
      if (number == SIGINT && body.find("pcall") != std::string::npos) {
        script.expect("Epoch 3/");
        script.signal(number);
        script.signal(number);
      }
      CHECK(script.end() == 128 + number);
      CHECK(script.seen().find("went on") == std::string::npos);
      std::string text;
      std::getline(std::ifstream(file), text);
      CHECK(text == "all of it");
    }
  }
}

TEST_CASE("signals that were ignored stay so") {
  StateFolder state;
  const std::string command =
      std::string("trap '' HUP INT TERM; exec ") + CRESCENT_PROGRAM + " -e \"" + kModel +
      "print('rea' .. 'dy') model:fit(x, y, {epochs = 3000, verbose = 0}) print('went ' .. 'on')\"";
  Terminal terminal(state, {"-e", "os.execute [[" + command + "]]"});
  terminal.expect("ready");
  terminal.send("\x03");
  terminal.expect("went on");
}

TEST_CASE("-i gives a prompt after the script, and its variables") {
  StateFolder state;
  Terminal terminal(state, {"-i", "-e", "answer = 41"});
  terminal.expect("> ");
  terminal.enter("answer + 1");
  terminal.expect("42");
}

namespace {

/// The reader process of the program.
pid_t reader_of(pid_t program) {
  for (int tries = 0; tries < 300; ++tries, usleep(10000)) {
    std::ifstream children("/proc/" + std::to_string(program) + "/task/" + std::to_string(program) +
                           "/children");
    for (pid_t child; children >> child;) {
      std::string name;
      std::getline(std::ifstream("/proc/" + std::to_string(child) + "/comm"), name);
      if (name == "crescent-h5read") return child;
    }
  }
  return -1;
}

}  // namespace

TEST_CASE("Ctrl-C is answered at once while a reader process hangs") {
  StateFolder state;
  const std::string file = state.path / "x.h5";
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.enter("cr.data.write_hdf5('" + file +
                 "', {y = cr.zeros{64, 1}:cast 'bool'})");  // read, not mapped
  terminal.enter(kModel + "print('rea' .. 'dy')");
  terminal.expect("ready");
  for (const char* call :
       {"open:clone()", "model:fit(x, open, {epochs = 100000000, verbose = 0})"}) {
    INFO(call);
    terminal.enter("open = nil collectgarbage() open = cr.data.open_hdf5('" + file +
                   "', 'y') print('ope' .. 'ned')");
    terminal.expect("opened");
    const pid_t reader = reader_of(terminal.process());
    REQUIRE(reader > 0);
    kill(reader, SIGSTOP);
    terminal.enter(std::string("print('wai' .. 'ting') part = ") + call);
    terminal.expect("waiting");
    usleep(300000);
    const time_t before = time(nullptr);
    terminal.signal(SIGINT);
    terminal.expect("interrupted", 5);
    CHECK(time(nullptr) - before <= 3);
    terminal.enter("'still ' .. 'here'");
    terminal.expect("still here");
  }
  terminal.enter("open:clone()");
  terminal.expect("open the file again");
}

TEST_CASE("the program hints at what was meant, and shows tables that are errors") {
  StateFolder state;
  Terminal script(state, {"-e", "cr.layers.Dense(units=10)"});
  script.expect("options go in a table: cr.layers.Dense { units = 10 }");
  CHECK(script.end() == 1);
  Terminal table(state, {"-e", "error { code = 5 }"});
  table.expect("(error object is a table value) { code = 5 }");
  CHECK(table.end() == 1);
  const std::string file = state.path / "model.onnx";
  std::ofstream(file) << "nothing";
  Terminal inspected(state, {"inspect", file});
  inspected.expect("files of format onnx are only written; inspect reads those of archive");
  CHECK(inspected.end() == 1);
}

TEST_CASE("a run in the background trains while the prompt waits for keys") {
  StateFolder state;
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.enter(kModel + "x, y = cr.ones{256, 4}, cr.ones{256, 1}; function at(run) local s = " +
                 "run:status() return s.epoch * 8 + s.batch end print('rea' .. 'dy')");
  terminal.expect("ready");
  terminal.enter("run = model:fit_async(x, y, { epochs = 100000000 }); 'beg' .. 'un'");
  terminal.expect("begun");
  terminal.enter("before = at(run); 'loo' .. 'ked'");
  terminal.expect("looked");
  usleep(300000);
  terminal.enter("print('advanced', at(run) > before + 10)");
  terminal.expect("advanced\ttrue");
  terminal.send("run:stat\t");  // keys and completion need not wait for the end
  terminal.expect("run:status");
  terminal.send("\x03");
  terminal.expect("^C");
  terminal.enter("still = run:status().state; print('st' .. 'ate', still)");
  terminal.expect("state\trunning");
  terminal.enter("run:pause(); here = at(run); 'pau' .. 'sed'");
  terminal.expect("paused");
  usleep(100000);
  terminal.enter("run:step(3); print('steps', at(run) - here)");
  terminal.expect("steps\t3");
  terminal.enter("run:resume(); run:wait()");
  usleep(300000);
  terminal.signal(SIGINT);
  terminal.expect("the run goes on");
  terminal.enter("run:stop(); print('now', run.state)");
  terminal.expect("now\tended");
  terminal.enter("run = model:fit_async(x, y, { callbacks = cr.callbacks.LambdaCallback { " +
                 std::string("on_train_batch_end = function() error('pla' .. 'nted') end } })"));
  usleep(300000);
  terminal.enter("'anoth' .. 'er'");
  terminal.expect("fit_async: model");
  terminal.expect("planted");
  terminal.expect("another");
  terminal.enter("run = model:fit_async(x, y, { epochs = 100000000 }); 'beg' .. 'un'");
  terminal.expect("begun");
  usleep(100000);
  terminal.send("\x04");
  CHECK(terminal.end() == 0);
}

TEST_CASE("the demo types its entries, a key goes on, q and Ctrl-C end it") {
  for (const char* end : {"q", "\x03"}) {
    StateFolder state;
    Terminal terminal(state, {"demo"});
    terminal.expect("q ends");
    terminal.send(" ");
    terminal.expect("[1]> ");
    terminal.send(" ");
    terminal.expect("<int32(3, 4)>");
    terminal.send(" ");
    terminal.expect("spirals");
    terminal.send(end);
    terminal.expect("That was the tour");
    CHECK(terminal.end() == 0);
  }
}
