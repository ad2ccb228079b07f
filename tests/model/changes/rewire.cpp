// Models that rewire() makes from the layers of other models.
#include "crescent/model/rewire.h"

#include "changing.h"

using namespace crescent;
using namespace crescent::changing;
using Catch::Contains;

namespace {

/// A model of two branches whose outputs are added.
struct BranchedModel {
  BranchedModel() {
    set_random_seed(4);
    const Symbol trunk = (*body)(in), drop = (*dropout)(trunk);
    const Symbol sum =
        (*make<Layer>("Add", {{"name", "sum"}}))({(*left)(trunk), (*right)(drop)}).front();
    model = Functional::make({in}, {(*head)(sum)}, "branches");
  }
  Symbol in = Input({kWidth}, "in");
  LayerPtr body = dense(kWidth, {{"name", "body"}}), left = dense(kWidth, {{"name", "left"}}),
           right = dense(kWidth, {{"name", "right"}}), head = dense(2, {{"name", "head"}}),
           dropout = make<Layer>("Dropout", {{"rate", 0.5}, {"name", "dropout"}});
  std::shared_ptr<Functional> model;
};

}  // namespace

TEST_CASE("a head is exchanged; what is before it is shared, the old model stays") {
  const Tensor x = data();
  BranchedModel b;
  compile(*b.model);
  const Tensors outputs_before = b.model->predict({x});
  auto head = dense(3, {{"name", "new_head"}});
  auto other_model = rewire(*b.model, {{b.head, head}}, "other");
  CHECK(other_model->name() == "other");
  CHECK(other_model->predict({x}).front().shape() == Shape{8, 3});
  CHECK(are_near(b.model->predict({x}), outputs_before));
  CHECK(other_model->get_layer("body") == b.body);
  // A part of the graph that does not change is not called again.
  CHECK(b.left->inbound_nodes().size() == 1);
  compile(*other_model);
  const Tensors shared_weights = b.body->get_weights();
  other_model->train_on_batch({x}, {SeedGenerator(2).normal({8, 3})});
  CHECK_FALSE(are_near(b.body->get_weights(), shared_weights));
  CHECK_FALSE(are_near(b.model->predict({x}), outputs_before));  // both models share these weights
}

TEST_CASE("layers are left out, put in, and exchanged in the middle of branches") {
  const Tensor x = data();
  BranchedModel b;
  const Tensors outputs_before = b.model->predict({x});
  auto without_dropout = rewire(*b.model, {{b.dropout, LayerPtr()}});
  CHECK(are_near(without_dropout->predict({x}), outputs_before));
  CHECK(names(*without_dropout) ==
        std::vector<std::string>{"in", "body", "left", "right", "sum", "head"});

  const Symbol trunk = b.body->output().front();
  auto norm = make<Layer>("BatchNormalization", {{"name", "norm"}});
  auto with_norm = rewire(*b.model, {{trunk, (*norm)(trunk)}});
  CHECK(with_norm->get_layer("norm") == norm);
  // Factor by which a new BatchNormalization multiplies at inference.
  const double scale = 1 / std::sqrt(1 + 1e-3);
  auto expected_output = [&] {
    const Tensor t = (*b.body)(x)*scale;
    return (*b.head)((*b.left)(t) + (*b.right)(t));
  };
  CHECK(are_near(with_norm->predict({x}).front(), expected_output()));

  auto swapped_model = rewire(*b.model, {{b.left, dense(kWidth, {{"name", "l2"}})},
                                         {b.right, dense(kWidth, {{"name", "r2"}})}});
  CHECK(names(*swapped_model) ==
        std::vector<std::string>{"in", "body", "dropout", "l2", "r2", "sum", "head"});
  const Symbol another_input = Input({kWidth}, "another");
  auto model_with_input = rewire(*b.model, {{b.in, another_input}});
  CHECK(model_with_input->input_names() == std::vector<std::string>{"another"});
  CHECK(are_near(model_with_input->predict({x}), outputs_before));
}

TEST_CASE("every call of a shared layer is exchanged, with its arguments") {
  const Tensor x = data();
  const Symbol in = Input({kWidth});
  auto called_twice = dense(), other_layer = dense();
  CallOptions training_options;
  training_options.training = true;
  const Symbol noisy_symbol = (*make<Layer>("Dropout", {{"rate", 0.5}, {"name", "drop"}}))(
      (*called_twice)(in), training_options);
  auto model = Functional::make({in}, {(*called_twice)(noisy_symbol)});
  auto changed_model =
      rewire(*model, {{called_twice, other_layer},
                      {model->get_layer("drop"), make<Layer>("Dropout", {{"rate", 1e-9}})}});
  CHECK(are_near(changed_model->predict({x}).front(), (*other_layer)((*other_layer)(x))));
  CHECK(changed_model->layers().size() == 3);
  const NodePtr call = changed_model->layers()[2]->inbound_nodes().back();
  CHECK(call->inputs.size() == 1);
  bool keeps_training = false;
  for (const LayerPtr& layer : changed_model->layers())
    if (layer->class_name() == "Dropout")
      keeps_training = layer->inbound_nodes().front()->training == true;
  CHECK(keeps_training);
}

TEST_CASE("an optimizer goes on with the variables that stay") {
  const Tensor x = data(), y = data(8, 6);
  auto base = first_dense(), head = dense();
  auto model = Sequential::make({base, head});
  auto adam = make<Optimizer>("Adam");
  model->compile({{"optimizer", Value(adam)}, {"loss", "mse"}});
  for (int i = 0; i < 3; ++i) model->train_on_batch({x}, {y});
  const Variable momentum = adam->slot("momentum").front();
  auto other_model = rewire(*model, {{head, dense()}});
  other_model->compile({{"optimizer", Value(adam)}, {"loss", "mse"}});
  other_model->train_on_batch({x}, {y});
  CHECK(adam->slot("momentum").front() == momentum);
  CHECK(adam->slot("momentum").size() == 4);
  CHECK(adam->iterations().value().item() == 4);
}

TEST_CASE("what cannot be rewired is reported with names and shapes") {
  BranchedModel b;
  auto foreign_layer = dense(kWidth, {{"name", "lefty"}});
  CHECK_THROWS_WITH(rewire(*b.model, {{foreign_layer, dense()}}),
                    Contains("no layer 'lefty' (did you mean 'left'?)"));
  CHECK_THROWS_WITH(rewire(*b.model, {{b.body, dense(7)}}),
                    Contains("model branches") && Contains("'left'") && Contains("(None, 7)"));
  CHECK_THROWS_WITH(rewire(*b.model, {{b.model->get_layer("sum"), LayerPtr()}}),
                    Contains("'sum' has 2 and 1"));
  CHECK_THROWS_WITH(rewire(*b.model, {{b.left, dense()}, {b.left, dense()}}),
                    Contains("'left' is replaced twice"));
  CHECK_THROWS_WITH(rewire(*b.model, {{b.model->get_layer("in"), dense()}}),
                    Contains("another Input"));
  CHECK_THROWS_WITH(rewire(*b.model, {{Input({kWidth}), Input({kWidth})}}),
                    Contains("has no edge"));
  CHECK_THROWS_WITH(rewire(*b.model, {{b.body->output().front(), LayerPtr()}}),
                    Contains("expected another edge"));
  CHECK_THROWS_WITH(rewire(*b.model, {{b.body->output().front(), Input({kWidth})}}),
                    Contains("Graph disconnected"));
  CHECK_THROWS_WITH(rewire(*std::make_shared<HolderModel>(dense()), {}),
                    Contains("made of symbols"));
}
