// Training in the background at the prompt, and the tour `crescent demo`.
#include "prompt_terminal.h"

using namespace crescent::prompt_tests;

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
  terminal.send("run:stat\t");  // keys and completion work before the training ends
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
