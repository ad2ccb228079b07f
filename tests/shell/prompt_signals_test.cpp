// Ctrl-C and other signals at the prompt and in scripts.
#include "prompt_terminal.h"

using namespace crescent::prompt_tests;

namespace {

#ifdef __SANITIZE_THREAD__  // ThreadSanitizer delays signals until the program calls the C library
const std::string kEndlessLoop = "while true do os.time() end";
#else
const std::string kEndlessLoop = "while true do end";
#endif

/// Defines a generator that prints a message after some batches, and continues forever.
const std::string kEndlessGenerator =
    "local n = 0 function source() n = n + 1 if n % 1000 == 500 then print('it is ' .. 'running') "
    "end return x, y end ";

}  // namespace

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
  terminal.expect("Epoch 3/");  // the next call of fit counts epochs from 1 again
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
  terminal.enter(kModel + kEndlessGenerator);
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
  for (int signal_number : {SIGTERM, SIGHUP}) {
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
    terminal.signal(signal_number);
    CHECK(terminal.end() == 128 + signal_number);
    CHECK(fs::exists(state.path / "crescent" / "history"));
  }
}

TEST_CASE("Ctrl-C ends a script, in a loop and while it trains") {
  StateFolder state;
  Terminal loop_terminal(state, {"-e", "print('re' .. 'ady') " + kEndlessLoop});
  loop_terminal.expect("ready");
  loop_terminal.send("\x03");
  loop_terminal.expect("interrupted!");
  CHECK(loop_terminal.end() == 130);
  Terminal training_terminal(
      state, {"-e",
              "local m = cr.Sequential{ cr.layers.Dense(1, {input_shape = {4}}) } "
              "m:compile{ loss = 'mse' } "
              "m:fit(cr.zeros{64, 4}, cr.zeros{64, 1}, {epochs = 100000000, verbose = 2}) "
              "print('went ' .. 'on')"});
  training_terminal.expect("Epoch 3/");
  training_terminal.signal(SIGINT);
  training_terminal.expect("fit: interrupted after");
  training_terminal.expect("interrupted!");
  CHECK(training_terminal.end() == 130);
  CHECK(training_terminal.shown_text().find("went on") == std::string::npos);
  Terminal evaluation_terminal(
      state, {"-e", kModel + kEndlessGenerator +
                        "model:evaluate(source, {verbose = 0}) print('went ' .. 'on')"});
  evaluation_terminal.expect("it is running");
  evaluation_terminal.signal(SIGINT);
  evaluation_terminal.expect("evaluate: interrupted after batch");
  CHECK(evaluation_terminal.end() == 130);
  CHECK(evaluation_terminal.shown_text().find("went on") == std::string::npos);
}

TEST_CASE("signals end a script after the batch, whatever it catches; its files are written") {
  const std::string fit_code = "model:fit(x, y, {epochs = 100000000, verbose = 2}) ";
  for (const std::string& code :
       {fit_code, "while true do pcall(function() " + fit_code + "end) end ",
        "print('Epoch' .. ' 3/') " + kEndlessLoop + " "}) {
    for (int signal_number : {SIGTERM, SIGHUP, SIGINT}) {
      StateFolder state;
      const std::string file_path = state.path / "written";
      Terminal script_terminal(
          state, {"-e", kModel + "file = io.open('" + file_path +
                            "', 'w') file:write('all of it') " + code + "print('went ' .. 'on')"});
      script_terminal.expect("Epoch 3/");
      script_terminal.signal(signal_number);
      if (signal_number == SIGINT && code.find("pcall") != std::string::npos) {
        script_terminal.expect("Epoch 3/");
        script_terminal.signal(signal_number);
        script_terminal.signal(signal_number);
      }
      CHECK(script_terminal.end() == 128 + signal_number);
      CHECK(script_terminal.shown_text().find("went on") == std::string::npos);
      std::string text;
      std::getline(std::ifstream(file_path), text);
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

namespace {

/// The process id of the HDF5 reader that the program has started.
pid_t reader_of(pid_t program) {
  for (int try_count = 0; try_count < 300; ++try_count, usleep(10000)) {
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
  const std::string file_path = state.path / "x.h5";
  Terminal terminal(state);
  terminal.expect("> ");
  terminal.enter("cr.data.write_hdf5('" + file_path +
                 // Booleans are read, while other dtypes are mapped into memory.
                 "', {y = cr.zeros{64, 1}:cast 'bool'})");
  terminal.enter(kModel + "print('rea' .. 'dy')");
  terminal.expect("ready");
  for (const char* call :
       {"open:clone()", "model:fit(x, open, {epochs = 100000000, verbose = 0})"}) {
    INFO(call);
    terminal.enter("open = nil collectgarbage() open = cr.data.open_hdf5('" + file_path +
                   "', 'y') print('ope' .. 'ned')");
    terminal.expect("opened");
    const pid_t reader = reader_of(terminal.process());
    REQUIRE(reader > 0);
    kill(reader, SIGSTOP);
    terminal.enter(std::string("print('wai' .. 'ting') part = ") + call);
    terminal.expect("waiting");
    usleep(300000);
    const time_t start_time = time(nullptr);
    terminal.signal(SIGINT);
    terminal.expect("interrupted", 5);
    CHECK(time(nullptr) - start_time <= 3);
    terminal.enter("'still ' .. 'here'");
    terminal.expect("still here");
  }
  terminal.enter("open:clone()");
  terminal.expect("open the file again");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have their own handlers
TEST_CASE("A crash of the prompt names the last saved file and the history", "[L09]") {
  StateFolder state;
  Terminal terminal(state);
  const std::string file = state.path / "kept.weights.h5";
  terminal.enter("model = cr.Sequential{ cr.layers.Dense(1, {input_shape = {4}}) }");
  terminal.enter("model:save_weights('" + file + "') os.execute('kill -SEGV $PPID')");
  terminal.expect("crescent: SIGSEGV (Segmentation fault)");
  terminal.expect("crescent: last saved: '" + file + "'");
  terminal.expect("crescent: the inputs of this session are in '" + state.path.string() +
                  "/crescent/history'");
  std::ifstream history(state.path / "crescent" / "history");
  const std::string text((std::istreambuf_iterator<char>(history)), {});
  CHECK(text.find("model:save_weights(") != text.npos);
}
#endif
