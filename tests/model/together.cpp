// Two processes that train one model together stop at the same batch, whichever process has a
// reason to stop.
#include "pair.h"
#include "small_model.h"

using namespace crescent;

namespace {

/// A layer that computes a mean over both processes; a process that runs the layer alone would wait
/// forever.
class MeanOverProcesses final : public Layer {
 public:
  Tensors call(const Tensors& inputs, const Call&) override {
    return {ops::all_reduce(inputs[0], ReduceKind::mean)};
  }
};

/// Calls `action` at the end of the given batch, counted over epochs, or at the end of every epoch.
class ActionAtBatch final : public Callback {
 public:
  ActionAtBatch(int64_t batch, std::function<void(Model&)> action)
      : batch_(batch), action_(std::move(action)) {}
  void on_train_batch_end(int64_t, const Logs&) override {
    if (++batches_ == batch_) action_(*model_);
  }
  void on_epoch_end(int64_t, Logs&) override {
    if (batch_ == 0) action_(*model_);
  }

 private:
  int64_t batch_, batches_ = 0;
  std::function<void(Model&)> action_;
};

/// Records whether the run counted as interrupted when it ended.
class InterruptionAtEnd final : public Callback {
 public:
  void on_train_end(const Logs&) override { was_interrupted = interrupted(); }
  bool was_interrupted = false;
};

struct FitResult {
  int64_t batches, epochs;  ///< trained batches, completed epochs
  bool operator==(const FitResult&) const = default;
};
std::ostream& operator<<(std::ostream& out, const FitResult& o) {
  return out << o.batches << " batches, " << o.epochs << " epochs";
}

/// Trains for three epochs of at most `batches` batches; each is followed by a validation of two
/// batches.
FitResult fit(int64_t batches, Dict options = {}) {
  set_random_seed(3);
  auto model = Sequential::make({make<Layer>("Dense", {{"units", 1}, {"input_shape", List{3}}}),
                                 std::make_shared<MeanOverProcesses>()});
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  const Tensor x = small::data(batches * 4), y = small::targets(x);
  const Tensor validation_inputs = small::data(8);
  options.set("epochs", 3);
  options.set("batch_size", 4);
  options.set("verbose", 0);
  options.set("validation_data", List{small::boxed(validation_inputs),
                                      small::boxed(small::targets(validation_inputs))});
  model->fit({x}, {y}, options);
  const double steps = model->optimizer()->iterations().value().item();
  return {static_cast<int64_t>(steps), model->epochs_trained()};
}

/// Options with a callback that calls `action` at the end of this batch, in the process with this
/// rank only.
Dict options_at(int rank, int64_t batch, std::function<void(Model&)> action) {
  if (communicator()->rank() != rank) return {};
  return {{"callbacks", std::make_shared<ActionAtBatch>(batch, std::move(action))}};
}

/// Whether a callback of this process saw an interruption that only the process with rank
/// `acting_rank` got at the end of this batch.
bool sees_interruption(int acting_rank, int64_t batch) {
  const auto end_callback = std::make_shared<InterruptionAtEnd>();
  Value callbacks = List{Value(end_callback)};
  if (communicator()->rank() == acting_rank)
    callbacks = List{Value(end_callback),
                     Value(std::make_shared<ActionAtBatch>(batch, [](Model&) { interrupt(); }))};
  fit(3, {{"callbacks", callbacks}});
  return end_callback->was_interrupted;
}

void run_together() {
  const int rank = communicator()->rank();
  const auto stop_training = [](Model& model) { model.stop_training = true; };
  const auto interrupt_run = [](Model&) { interrupt(); };
  CHECK(fit(3) == FitResult{9, 3});
  CHECK(fit(rank == 0 ? 5 : 3) == FitResult{9, 3});
  CHECK(fit(rank == 0 ? 3 : 5) == FitResult{9, 3});
  CHECK(fit(rank == 0 ? 5 : 3, {{"steps_per_epoch", 4}}) == FitResult{6, 3});
  for (int acting_rank : {0, 1}) {
    CHECK(fit(3, options_at(acting_rank, 2, stop_training)) == FitResult{2, 1});
    // There is no validation after the last batch of the stopped run.
    CHECK(fit(3, options_at(acting_rank, 3, stop_training)) == FitResult{3, 1});
    CHECK(fit(3, options_at(acting_rank, 0, stop_training)) == FitResult{3, 1});
    CHECK(fit(3, options_at(acting_rank, 4, interrupt_run)) == FitResult{4, 1});
    CHECK(fit(3, options_at(acting_rank, 0, interrupt_run)) == FitResult{3, 1});
    CHECK(sees_interruption(acting_rank, 0));
    CHECK(sees_interruption(acting_rank, 2));
  }
}

[[noreturn]] void fail_run(Model&) { fail("the disk is full"); }
void kill_process(Model&) { raise(SIGKILL); }

}  // namespace

TEST_CASE("the second of two processes that train", "[.][second]") {
  be_second_of_two();
  run_together();
}

TEST_CASE("processes that train together stop together") {
  const FirstOfTwo first("[second]");
  run_together();
}

TEST_CASE("the second of two, which fails", "[.][fails]") {
  be_second_of_two();
  CHECK_THROWS_WITH(fit(3, options_at(1, 2, fail_run)), Catch::Contains("the disk is full"));
}

TEST_CASE("a process that fails in training takes the others out of their waiting") {
  const FirstOfTwo first("[fails]");
  CHECK_THROWS_WITH(fit(3), Catch::Contains("the process of rank 1 left: ") &&
                                Catch::Contains("the disk is full"));
  CHECK_THROWS_WITH(communicator()->barrier(), Catch::Contains("rank 1"));
}

TEST_CASE("the second of two, which is killed", "[.][killed]") {
  be_second_of_two();
  fit(3, options_at(1, 2, kill_process));
}

TEST_CASE("nobody waits for a process that was killed") {
  const FirstOfTwo first("[killed]", SIGKILL);
  CHECK_THROWS_WITH(fit(3), Catch::Contains("the process of rank 1 "));
}

TEST_CASE("the second of two, which hangs", "[.][hangs]") {
  be_second_of_two();
  fit(3, options_at(1, 2, [](Model&) { pause(); }));
}

TEST_CASE("a process that hangs is waited for as long as the communicator's option says") {
  FirstOfTwo first("[hangs]", SIGKILL, 0.5);
  CHECK_THROWS_WITH(fit(3), Catch::Contains("the process of rank 1 did not come within 0.5 "
                                            "seconds (option 'timeout' of the communicator "
                                            "'pair')"));
  first.second().kill();
}

TEST_CASE("what ends with the first of two", "[.][left_alone]") {
  be_second_of_two();
  CHECK_THROWS_WITH(fit(3), Catch::Contains("the process of rank 0 left: ") &&
                                Catch::Contains("the disk is full"));
}

TEST_CASE("the first of two processes may be the one that fails") {
  const FirstOfTwo second("[left_alone]");
  CHECK_THROWS_WITH(fit(3, options_at(0, 3, fail_run)), Catch::Contains("the disk is full"));
}
