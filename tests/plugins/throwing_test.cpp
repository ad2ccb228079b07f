// Every exception of plugin code becomes an error that names the class and the plugin.
#include <catch2/catch.hpp>

#include "crescent/data/stream.h"
#include "crescent/io/format.h"
#include "crescent/model/callback.h"
#include "crescent/model/model.h"
#include "crescent/program/device.h"
#include "crescent/program/gradient.h"
#include "host/provided_datasets.h"
#include "support.h"

using namespace crescent;
using namespace crescent::plugin_tests;
using Catch::Contains;
using Catch::StartsWith;

namespace {

std::shared_ptr<Sequential> model_of(const LayerPtr& layer, const Dict& options = {}) {
  auto model = Sequential::make({layer});
  Dict compile_options{{"optimizer", "sgd"}, {"loss", "mse"}};
  for (const DictEntry& option : options) compile_options.set(option.key, option.value);
  model->compile(compile_options);
  return model;
}

void fit(const std::shared_ptr<Sequential>& model, const Dict& more_options = {}) {
  Dict options{{"verbose", 0}};
  for (const DictEntry& option : more_options) options.set(option.key, option.value);
  model->fit({Tensor::full({4, 2}, 1)}, {Tensor::full({4, 1}, 1)}, options);
}

LayerPtr dense(const Dict& more_options = {}) {
  Dict options{{"units", 1}};
  for (const DictEntry& option : more_options) options.set(option.key, option.value);
  return make<Layer>("Dense", options);
}

/// The configuration of an object as options and files have it.
Value object(const char* class_name, const std::string& what) {
  return Dict{{"class_name", class_name}, {"config", Dict{{"what", what}}}};
}

/// Saves a model whose callback has a state.
void save_after_fit_with(const Value& callback) {
  const auto model = model_of(dense());
  fit(model, {{"callbacks", List{callback}}});
  const Folder folder;
  save_model(*model, folder / "m.keras");
}

LayerPtr layer(const char* class_name, const std::string& what) {
  return make<Layer>(class_name, {{"what", what}, {"name", "e"}});
}

}  // namespace

TEST_CASE("What a plugin throws names layer, class and plugin", "[P05][L01]") {
  load_plugin(library("throwing"));
  const Tensor x = Tensor::full({4, 2}, 1);
  const std::pair<std::string, std::string> kinds[] = {
      {"std", "std::out_of_range: the shelf has 3 places"}, {"int", "an exception of type int"}};
  for (const auto& [what, text] : kinds) {
    auto error_from = [text = text](const char* class_name) {
      return Contains(concat(text, " (in ", class_name,
                             " of plugin 'throwing' (" + library("throwing") + "))"));
    };
    const std::string w = what;
    CHECK_THROWS_WITH((*layer("InCall", w))(x),
                      Catch::StartsWith("Layer e (InCall): ") && error_from("InCall"));
    CHECK_THROWS_WITH((*layer("InBuild", w))(x),
                      Catch::StartsWith("Layer e (InBuild): ") && error_from("InBuild"));
    CHECK_THROWS_WITH(layer("InConfigured", w), error_from("InConfigured"));
    CHECK_THROWS_WITH(model_of(layer("InCall", w))->predict({x}),
                      Catch::StartsWith("Layer e (InCall): ") && error_from("InCall"));
    CHECK_THROWS_WITH((*dense({{"kernel_initializer", object("InInitializer", w)}}))(x),
                      Catch::StartsWith("Layer dense") && error_from("InInitializer"));
    CHECK_THROWS_WITH((*dense({{"activity_regularizer", object("InRegularizer", w)}}))(x),
                      error_from("InRegularizer"));
    CHECK_THROWS_WITH((*dense({{"activation", object("InActivation", w)}}))(x),
                      Catch::StartsWith("Layer dense") && Contains(text));
    CHECK_THROWS_WITH(fit(model_of(dense({{"kernel_regularizer", object("InRegularizer", w)}}))),
                      error_from("InRegularizer"));
    CHECK_THROWS_WITH(fit(model_of(dense({{"kernel_constraint", object("InConstraint", w)}}))),
                      error_from("InConstraint"));
    CHECK_THROWS_WITH(fit(model_of(dense(), {{"loss", object("InLoss", w)}})),
                      error_from("InLoss"));
    CHECK_THROWS_WITH(fit(model_of(dense(), {{"metrics", List{object("InMetric", w)}}})),
                      error_from("InMetric"));
    CHECK_THROWS_WITH(fit(model_of(dense(), {{"optimizer", object("InOptimizer", w)}})),
                      error_from("InOptimizer"));
    CHECK_THROWS_WITH(fit(model_of(dense(), {{"optimizer", object("InSlots", w)}})),
                      error_from("InSlots"));
    const Value scheduled =
        Dict{{"class_name", "SGD"}, {"config", Dict{{"learning_rate", object("InSchedule", w)}}}};
    CHECK_THROWS_WITH(fit(model_of(dense(), {{"optimizer", scheduled}})), error_from("InSchedule"));
    CHECK_THROWS_WITH(fit(model_of(dense()), {{"callbacks", List{object("InCallback", w)}}}),
                      error_from("InCallback"));
    CHECK_THROWS_WITH(save_after_fit_with(object("InState", w)), error_from("InState"));
    Element element;
    CHECK_THROWS_WITH(provided_dataset("InCursor", {{"what", w}})->open()->next(element),
                      error_from("InCursor"));
    WindowOptions pairs;
    pairs.size = 2;
    CHECK_THROWS_WITH(
        model_of(dense())->fit(batch(provided_dataset("InCursor", {{"what", w}}), pairs),
                               Dict{{"verbose", 0}}),
        error_from("InCursor"));
  }
}

TEST_CASE(
    "an optimizer that reads a slot which it has not named gets an error that says how to name "
    "it") {
  load_plugin(library("careless"));
  const auto train = [](const char* optimizer, bool eagerly) {
    fit(model_of(dense(), {{"optimizer", optimizer}, {"run_eagerly", eagerly}}));
  };
  for (const bool eagerly : {false, true}) {
    CHECK_THROWS_WITH(train("ForgetsSlots", eagerly),
                      "optimizer ForgetsSlots of plugin 'careless': update() reads slots[0], but "
                      "the variable has no slots. slots() returns their names: "
                      "std::vector<std::string> slots() const override { return {\"momentum\"}; }");
    CHECK_THROWS_WITH(train("NamesOneSlot", eagerly),
                      StartsWith("optimizer NamesOneSlot of plugin 'careless': update() reads "
                                 "slots[1], but the variable has 1 of them. "));
  }
}

TEST_CASE("an optimizer that gives two slots one name gets an error") {
  load_plugin(library("careless"));
  CHECK_THROWS_WITH(fit(model_of(dense(), {{"optimizer", "NamesSlotTwice"}})),
                    "optimizer NamesSlotTwice of plugin 'careless': slots() returns the name "
                    "'momentum' twice");
}

TEST_CASE("a device that makes no executable, or throws, is named") {
  load_plugin(library("careless"));
  set_device("NoExecutable");
  const Tensor x = Tensor::full({4, 2}, 1);
  CHECK_THROWS_WITH(ops::cos(x), Contains("device NoExecutable of plugin 'careless': compile() "
                                          "gave no executable"));
  CHECK_THROWS_WITH(x + x, Contains("an exception of type int (in NoExecutable of plugin "
                                    "'careless'"));
  CHECK_THROWS_WITH(ops::sin(x), Contains("std::out_of_range: the shelf has 3 places (in "
                                          "NoExecutable of plugin 'careless'"));
  set_device("cpu");
}

TEST_CASE("a layer that gives no tensor is named with its plugin") {
  load_plugin(library("careless"));
  CHECK_THROWS_WITH((*make<Layer>("NoOutput", {{"name", "e"}}))(Tensor::full({4, 2}, 1)),
                    Contains("should return a Tensor or a list of Tensors, not None (layer: e, "
                             "NoOutput of plugin 'careless' ("));
}
