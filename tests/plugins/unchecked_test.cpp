// Checks of everything that plugins provide: results and exceptions of their ops, side effects of
// loading, files that their formats write, and messages of crashes.
#include <catch2/catch.hpp>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <fstream>

#include "crescent/io/format.h"
#include "crescent/layer/operation.h"
#include "crescent/layer/training.h"
#include "crescent/model/model.h"
#include "crescent/program/gradient.h"
#include "crescent/system/crash.h"
#include "crescent/system/process.h"
#include "support.h"

using namespace crescent;
using namespace crescent::plugin_tests;
using Catch::Contains;
using Catch::StartsWith;

namespace {

Tensor failing(const Tensor& x, const char* how) {
  const Dict arguments{{"x", Codec<Tensor>::encode(x)}, {"how", how}};
  return Codec<Tensor>::decode((*make<Operation>("failing"))(arguments));
}

/// Computes the gradient of failing(x, how), eagerly or compiled.
void differentiate(const char* how, bool is_compiled) {
  const auto f = [&](const Tensors& in) {
    GradientTape tape;
    tape.watch(in[0]);
    const Tensor y = failing(in[0], how);
    return tape.gradient(y, in);
  };
  const Tensors x{Tensor::full({2, 3}, 1)};
  is_compiled ? Function(f)(x) : f(x);
}

/// The standard error output of a fork of this process, and the signal that ended it.
std::pair<std::string, int> crash_output(const std::function<void()>& work) {
  const Descriptor error_output = memory_file("crash");
  Process process = Process::copy(
      [&] {
        report_crashes();
        work();
        return 0;
      },
      {.descriptors = {{error_output, 2}}});
  process.wait();
  return {contents_of(error_output), process.signal()};
}

ModelPtr built_model() {
  return Sequential::make({make<Layer>("Dense", {{"units", 2}, {"input_shape", List{3}}})});
}

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t files_in(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

// Whether this program tests the messages of crashes. Sanitizers install their own signal handlers,
// so with a sanitizer Crescent writes no such message.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasCrashes = false;
#else
constexpr bool kHasCrashes = true;
#endif

}  // namespace

TEST_CASE("What functions of an op throw names function, op and plugin") {
  load_plugin(library("unchecked"));
  const Tensor x = Tensor::full({2, 3}, 1);
  const std::string text = "std::out_of_range: the shelf has 3 places";
  CHECK_THROWS_WITH(
      failing(x, "infer"),
      "failing: " + text + " (in infer() of op unchecked.fails of plugin 'unchecked')");
  CHECK_THROWS_WITH(
      failing(x, "compute"),
      "failing: " + text + " (in compute() of op unchecked.fails of plugin 'unchecked')");
  CHECK_THROWS_WITH(failing(x, "operation"),
                    StartsWith(text + " (in failing of plugin 'unchecked' ("));
  CHECK_THROWS_WITH(failing(x, "message"),
                    Contains("unchecked.fails of plugin 'unchecked': expected an even number"));
  CHECK_THROWS_WITH(failing(x, "nothing"),
                    "failing: unchecked.fails of plugin 'unchecked': infer() gave no results");
  CHECK_THROWS_WITH(failing(x, "empty"),
                    Contains("unchecked.fails of plugin 'unchecked': decompose() gave no tensor as "
                             "output 1 of 1"));
  for (const bool compiled : {false, true}) {
    CHECK_THROWS_WITH(differentiate("vjp", compiled),
                      "an exception of type int (in vjp() of op unchecked.fails of plugin "
                      "'unchecked')");
    CHECK_THROWS_WITH(differentiate("count", compiled),
                      StartsWith("unchecked.fails of plugin 'unchecked': vjp() gave 0 gradients, "
                                 "expected one for each of 1 inputs"));
    CHECK_THROWS_WITH(differentiate("shape", compiled),
                      "unchecked.fails of plugin 'unchecked': vjp() gave a gradient float32() for "
                      "input 1 of 1, which is float32(2, 3)");
  }
}

TEST_CASE("compute() has to write into the memory that infer() decided on", "[P10]") {
  load_plugin(library("unchecked"));
  const Tensor x = Tensor::full({2, 3}, 1);
  CHECK(failing(x, "").to_vector() == x.to_vector());
  CHECK_THROWS_WITH(failing(x, "replaced"),
                    Contains("unchecked.fails of plugin 'unchecked': compute() replaced output 1 "
                             "of 1 by float32(2, 3)"));
}

TEST_CASE("compute() gets arrays without elements in compiled programs, too") {
  load_plugin(library("unchecked"));
  const Function twice([](const Tensors& x) {
    return Tensors{failing(failing(x[0], "ordered"), "ordered")};  // not replaced by a constant
  });
  CHECK(twice({Tensor({0, 3}, DType::float32)})[0].shape() == Shape{0, 3});
}

TEST_CASE("An error of an activation names the activation, and its layer") {
  load_plugin(library("unchecked"));
  load_plugin(library("throwing"));
  const auto dense = [](const Value& activation) {
    return make<Layer>("Dense", {{"units", 2}, {"name", "d"}, {"activation", activation}});
  };
  const Tensor x = Tensor::full({4, 3}, 1);
  CHECK_THROWS_WITH((*dense("Refuses"))(x),
                    "Layer d (Dense): activation Refuses of plugin "
                    "'unchecked': expected another tensor");
  CHECK_THROWS_WITH((*dense("InActivation"))(x),
                    StartsWith("Layer d (Dense): std::out_of_range: the shelf has 3 places (in "
                               "InActivation of plugin 'throwing' ("));
}

TEST_CASE("A crash leaves a line with layer, class and plugin", "[L09]") {
  if (!kHasCrashes) return;
  load_plugin(library("unchecked"));
  const Tensor x = Tensor::full({4, 3}, 1);
  const auto crash = [&](const char* how) {
    return crash_output([&] { (*make<Layer>("Crashes", {{"how", how}, {"name", "e"}}))(x); });
  };
  const std::string where = " in layer 'e' (Crashes of plugin 'unchecked')\n";
  CHECK(crash("write") ==
        std::pair("crescent: SIGSEGV (Segmentation fault)" + where, int{SIGSEGV}));
  CHECK(crash("deep") == std::pair("crescent: SIGSEGV (Segmentation fault)" + where, int{SIGSEGV}));
  CHECK(crash("abort") == std::pair("crescent: SIGABRT (Aborted)" + where, int{SIGABRT}));
  const auto activation_crash = crash_output([&] {
    const Dict options{{"units", 2}, {"name", "d"}, {"activation", "CrashingActivation"}};
    (*make<Layer>("Dense", options))(x);
  });
  CHECK(activation_crash.first ==
        "crescent: SIGSEGV (Segmentation fault) in activation CrashingActivation of plugin "
        "'unchecked', in layer 'd' (Dense)\n");
  const auto op = crash_output([&] { failing(x, "crash"); });
  CHECK(op.first ==
        "crescent: SIGSEGV (Segmentation fault) in op unchecked.fails, in code of "
        "plugin 'unchecked'\n");
  const auto vjp_crash = crash_output([&] { differentiate("crash in vjp", false); });
  CHECK(vjp_crash.first ==
        "crescent: SIGSEGV (Segmentation fault) in vjp() of op unchecked.fails, in code of "
        "plugin 'unchecked'\n");
}

TEST_CASE("A plugin that calls exit() leaves a line with layer, class and plugin") {
  load_plugin(library("unchecked"));
  const Tensor x = Tensor::full({4, 3}, 1);
  const auto outcome = crash_output([&] {
    report_crashes();  // twice, as in the child of check-plugin
    (*make<Layer>("Crashes", {{"how", "exit"}, {"name", "e"}}))(x);
  });
  CHECK(outcome == std::pair(std::string("crescent: exit(3) in layer 'e' (Crashes of plugin "
                                         "'unchecked')\n"),
                             0));
  CHECK(crash_output([] { std::exit(3); }).first.empty());
}

TEST_CASE("Rounding, handlers of signals and the locale are as before after a plugin was loaded") {
  const Folder folder;  // loads a new copy of the library for the first time
  fs::copy(library("modes"), folder / "modes.so");
  const auto handler_before = std::signal(SIGUSR2, SIG_IGN);
  sigset_t signals_before, signals_after;
  sigprocmask(SIG_SETMASK, nullptr, &signals_before);
  const std::string locale_before = std::setlocale(LC_ALL, nullptr);
  CHECK(load_plugin(folder / "modes.so").loaded);
  CHECK(std::fegetround() == FE_TONEAREST);
  CHECK(std::signal(SIGUSR2, handler_before) == SIG_IGN);
  sigprocmask(SIG_SETMASK, nullptr, &signals_after);
  CHECK(sigismember(&signals_after, SIGUSR1) == sigismember(&signals_before, SIGUSR1));
  CHECK(std::setlocale(LC_ALL, nullptr) == locale_before);
}

TEST_CASE("A format that stops in the middle leaves the old file, and errors name the path") {
  load_plugin(library("unchecked"));
  const Folder folder;
  const std::string path = folder / "w.halfway";
  const ModelPtr model = built_model();
  save_weights(*model, path);
  const std::string content = text_in(path);
  CHECK(content.size() > 10);
  CHECK_THROWS_WITH(
      save_weights(*model, path, {{"stop", true}}),
      StartsWith(concat("cannot save '", path, "': std::runtime_error: no more ink in ", path)));
  CHECK(text_in(path) == content);
  CHECK(files_in(folder.path()) == 1);
  save_weights(*model, path, {{"aside", true}});
  CHECK(text_in(path + ".more") == "beside");
  CHECK(files_in(folder.path()) == 2);
  CHECK_THROWS_WITH(load_weights(*model, path),
                    Contains(path) && Contains("cannot read this") && Contains("'unchecked'"));
}

TEST_CASE("A format that stops in the middle of a folder leaves the files of the old one") {
  load_plugin(library("unchecked"));
  const Folder folder;
  const std::string path = folder / "w.halfway/";
  const ModelPtr model = built_model();
  save_weights(*model, path, {{"aside", true}});
  const std::string content = text_in(path + "half.txt");
  CHECK(content.size() > 10);
  CHECK(text_in(path + "inner/more") == "beside");
  std::ofstream(path + "inner/note") << "kept";
  CHECK_THROWS_WITH(
      save_weights(*model, path, {{"stop", true}}),
      StartsWith(concat("cannot save '", path, "': std::runtime_error: no more ink in ", path)));
  CHECK(text_in(path + "half.txt") == content);
  Tensors weights = model->get_weights();
  for (Tensor& weight : weights) weight = ops::zeros_like(weight);
  model->set_weights(weights);
  save_weights(*model, path);
  CHECK(text_in(path + "half.txt") != content);
  CHECK(text_in(path + "inner/more") == "beside");
  CHECK(text_in(path + "inner/note") == "kept");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("An option of 32 bits refuses what does not fit") {
  CHECK(Codec<int>::decode(Value(int64_t{2147483647})) == 2147483647);
  CHECK_THROWS_WITH(Codec<int>::decode(Value(int64_t{2147483648})),
                    "expected an integer of 32 bits, got 2147483648");
}

TEST_CASE("a loss that gives no tensor is named") {
  load_plugin(library("rough"));
  CHECK_THROWS_WITH((*make<Loss>("NoLoss"))(Tensor(1.0), Tensor(1.0)),
                    "loss NoLoss of plugin 'rough': its call gave no tensor");
}

TEST_CASE("an op that nothing computes is named with its plugin, and a kernel of nearly its name") {
  load_plugin(library("rough"));
  const Dict arguments{{"x", Codec<Tensor>::encode(Tensor::full({3}, 1))}};
  CHECK_THROWS_WITH((*make<Operation>("no_way"))(arguments),
                    Contains("the cpu device has no way to run rough.noway of plugin 'rough' on "
                             "(float32(3,)): it has no decompose(), no compute() and no CpuKernel "
                             "that is registered as 'rough.noway' (did you mean 'rough.nowai'?)"));
}
