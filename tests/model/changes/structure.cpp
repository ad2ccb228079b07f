// Models whose layers change: every model that contains them follows the change, and trains the
// weights for which it was compiled.
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "changing.h"

using namespace crescent;
using namespace crescent::changing;
using Catch::Contains;

namespace {

/// Whether running f changes the layer's weights.
template <class F>
bool changes_weights(const Layer& layer, F f) {
  const Tensors weights_before = layer.get_weights();
  f();
  return !are_near(weights_before, layer.get_weights());
}

std::string temporary_path(const char* ending) {
  return concat("/tmp/crescent_structure_", getpid(), ending);
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("a model sees what is added to and taken from a model inside it") {
  const Tensor x = data(), y = data(8, 6);
  auto inner_model = Sequential::make({first_dense()}, "inner");
  const Symbol in = Input({kWidth});
  std::vector<ModelPtr> outer_models{
      Sequential::make({first_dense(), inner_model}), Functional::make({in}, {(*inner_model)(in)}),
      std::make_shared<HolderModel>(inner_model),
      Sequential::make({first_dense(), Sequential::make({inner_model}, "middle")})};
  for (const ModelPtr& outer_model : outer_models) {
    compile(*outer_model, "adam");
    outer_model->train_on_batch({x}, {y});
    outer_model->predict({x});
  }
  auto added_layer = dense(kWidth, {{"name", "added"}});
  inner_model->add(added_layer);
  for (const ModelPtr& outer_model : outer_models) {
    CAPTURE(outer_model->name());
    const Tensor outputs_before = outer_model->predict({x}).front();
    CHECK(are_near(outputs_before, (*outer_model)(x)));
    CHECK(changes_weights(*added_layer, [&] { outer_model->train_on_batch({x}, {y}); }));
    CHECK_FALSE(are_near(outputs_before, outer_model->predict({x}).front()));
    CHECK(outer_model->optimizer()->slot("momentum").size() ==
          outer_model->trainable_weights().size());
    CHECK_THAT(joined_lines(outer_model->summary({{"expand_nested", true}})),
               Contains("added") || Contains("holder_model"));
  }
  inner_model->pop();
  for (const ModelPtr& outer_model : outer_models) {
    CHECK(are_near(outer_model->predict({x}).front(), (*outer_model)(x)));
    CHECK_FALSE(changes_weights(*added_layer, [&] { outer_model->train_on_batch({x}, {y}); }));
  }
}

TEST_CASE("layers that are exchanged are seen by every model above") {
  const Tensor x = data(), y = data(8, 6);
  auto holder = std::make_shared<Holder>(dense());
  auto outer_model = Sequential::make({first_dense(), holder});
  auto model = std::make_shared<HolderModel>(dense());
  for (Model* containing_model :
       {static_cast<Model*>(outer_model.get()), static_cast<Model*>(model.get())}) {
    compile(*containing_model);
    containing_model->fit({x}, {y}, {{"verbose", 0}});
    containing_model->predict({x});
  }
  const LayerPtr old_head = holder->head(), head = dense();
  holder->set_head(head);
  model->set_head(head);
  for (Model* containing_model :
       {static_cast<Model*>(outer_model.get()), static_cast<Model*>(model.get())}) {
    CHECK(are_near(containing_model->predict({x}).front(), (*containing_model)(x)));
    CHECK(changes_weights(*head, [&] { containing_model->fit({x}, {y}, {{"verbose", 0}}); }));
    CHECK_FALSE(changes_weights(*old_head, [&] { containing_model->train_on_batch({x}, {y}); }));
  }
  model->set_head(dense(7));  // the outputs have another width, so their memory is planned anew
  CHECK(model->predict({x}).front().shape() == Shape{8, 7});
  CHECK_NOTHROW(model->train_on_batch({x}, {SeedGenerator(1).normal({8, 7})}));
}

TEST_CASE("what does not fit any more is reported with both names") {
  const Tensor x = data();
  auto inner_model = Sequential::make({first_dense()}, "inner");
  const Symbol in = Input({kWidth});
  auto graph = Functional::make({in}, {(*inner_model)(in)}, "graph");
  auto stack = Sequential::make({inner_model, dense(kWidth, {{"name", "behind"}})}, "stack");
  auto model_ending_in_inner = Sequential::make({first_dense(), inner_model}, "last");
  inner_model->add(dense(7));
  CHECK_THROWS_WITH(graph->predict({x}), Contains("inner") && Contains("graph") &&
                                             Contains("(8, 7)") && Contains("(None, 4)"));
  CHECK_THROWS_WITH(stack->predict({x}), Contains("stack") && Contains("inner") &&
                                             Contains("behind") && Contains("(None, 7)"));
  CHECK(model_ending_in_inner->output_shape().front() == Shape{-1, 7});
  CHECK(model_ending_in_inner->predict({x}).front().shape() == Shape{8, 7});
  inner_model->pop();
  for (Model* model : {static_cast<Model*>(graph.get()), static_cast<Model*>(stack.get()),
                       static_cast<Model*>(model_ending_in_inner.get())})
    CHECK(model->predict({x}).front().shape() == Shape{8, kWidth});
  inner_model->add(dense(7));
  stack->pop();  // removing the last layer again makes the model valid
  CHECK(stack->predict({x}).front().shape() == Shape{8, 7});
}

TEST_CASE("regularizers, masks, names and constraints count as structure") {
  const Tensor x = data(), y = data(8, 6);
  auto layer = first_dense();
  auto model = Sequential::make({layer});
  compile(*model);
  const double loss = model->evaluate({x}, {y}, {{"verbose", 0}}).front().second;
  layer->set_activity_regularizer(get<Regularizer>(Value("l2")));
  CHECK(model->evaluate({x}, {y}, {{"verbose", 0}}).front().second > loss);
  layer->set_activity_regularizer(nullptr);
  model->train_on_batch({x}, {y});
  layer->weights().front().set_constraint(get<Constraint>(Value("non_neg")));
  model->train_on_batch({x}, {y});
  for (double w : layer->get_weights().front().to_vector()) CHECK(w >= 0);
}

TEST_CASE("the classic GAN: a model trains as it was compiled") {
  const Warnings warning_collector;
  set_random_seed(7);
  const bool uses_fit = GENERATE(false, true), runs_eagerly = GENERATE(false, true);
  auto generator = Sequential::make({dense(8, {{"input_shape", List{2}}, {"activation", "relu"}}),
                                     dense(1, {{"activation", "linear"}})},
                                    "g");
  auto discriminator =
      Sequential::make({dense(8, {{"input_shape", List{1}}, {"activation", "relu"}}),
                        make<Layer>("BatchNormalization"), dense(1, {{"activation", "sigmoid"}})},
                       "d");
  discriminator->compile(
      {{"optimizer", "adam"}, {"loss", "binary_crossentropy"}, {"run_eagerly", runs_eagerly}});
  discriminator->set_trainable(false);
  auto gan = Sequential::make({generator, discriminator}, "gan");
  gan->compile(
      {{"optimizer", "adam"}, {"loss", "binary_crossentropy"}, {"run_eagerly", runs_eagerly}});

  SeedGenerator noise(3);
  auto train = [&](Model& model, const Tensor& x, const Tensor& y) {
    if (!uses_fit) return model.train_on_batch({x}, {y}, {}, {}, true).front().second;
    return model.fit({x}, {y}, {{"verbose", 0}})->at("loss").back();
  };
  const Tensor ones({8, 1}, DType::float32), zeros({8, 1}, DType::float32);
  const Tensor real_labels = ops::ones({8, 1}), fake_labels = ops::zeros({8, 1});
  std::vector<double> d_losses;
  for (int step = 0; step < 20; ++step) {
    const Tensor fake_samples = generator->predict({noise.normal({8, 2})}).front(),
                 real = noise.normal({8, 1}) + 3.0;
    CHECK(changes_weights(*discriminator, [&] {
      d_losses.push_back((train(*discriminator, real, real_labels) +
                          train(*discriminator, fake_samples, fake_labels)) /
                         2);
    }));
    const Tensors d = discriminator->get_weights();
    CHECK(changes_weights(*generator, [&] { train(*gan, noise.normal({8, 2}), real_labels); }));
    CHECK(are_near(d, discriminator->get_weights()));  // compares the moving statistics, too
  }
  CHECK(d_losses.back() < d_losses.front());
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings.front(),
             Contains("Discrepancy between trainable weights") && Contains("Model d "));
  CHECK_FALSE(discriminator->trainable());
  CHECK(gan->trainable_weights().size() == 4);
}

TEST_CASE("flags of compile hold for a model that is built later, and compile takes new ones") {
  const Warnings warning_collector;
  const Tensor x = data(), y = data(8, 6);
  auto body = dense(), head = dense();
  auto model = Sequential::make({body, head});
  body->set_trainable(false);
  compile(*model);
  body->set_trainable(true);
  head->set_trainable(false);
  model->train_on_batch({x}, {y});
  CHECK_FALSE(changes_weights(*body, [&] { model->train_on_batch({x}, {y}); }));
  CHECK(changes_weights(*head, [&] { model->fit({x}, {y}, {{"verbose", 0}}); }));
  CHECK(warnings.size() == 1);
  compile(*model);
  CHECK(changes_weights(*body, [&] { model->train_on_batch({x}, {y}); }));
  CHECK_FALSE(changes_weights(*head, [&] { model->train_on_batch({x}, {y}); }));
  CHECK(warnings.size() == 1);
  model->set_trainable(false);
  compile(*model);
  CHECK_FALSE(changes_weights(*model, [&] { model->train_on_batch({x}, {y}); }));
  CHECK(warnings.size() == 2);
  CHECK_THAT(warnings.back(), Contains("does not have any trainable weights"));
  body->set_trainable(true), model->set_trainable(true);
  const Variable kernel = body->weights().front();
  kernel.set_trainable(false);
  compile(*model);
  const Tensor kernel_before = kernel.value().clone();
  model->train_on_batch({x}, {y});
  CHECK(are_near(kernel_before, kernel.value()));
  CHECK(body->trainable_weights().size() == 1);
  CHECK(body->non_trainable_weights().size() == 1);
  CHECK(body->weights().front() == kernel);
}

TEST_CASE("unfreezing goes on with the same optimizer, which keeps what it knows") {
  const Tensor x = data(), y = data(8, 6);
  auto base = first_dense(), head = dense();
  auto model = Sequential::make({base, head});
  auto adam = make<Optimizer>("Adam", {{"learning_rate", 0.01}});
  base->set_trainable(false);
  model->compile({{"optimizer", Value(adam)}, {"loss", "mse"}});
  for (int i = 0; i < 3; ++i) model->train_on_batch({x}, {y});
  const Variables head_momentum = adam->slot("momentum");
  const Tensor momentum = head_momentum.front().value().clone();
  base->set_trainable(true);
  model->compile({{"optimizer", Value(adam)}, {"loss", "mse"}});
  CHECK(are_near(head_momentum.front().value(), momentum));
  CHECK(changes_weights(*base, [&] { model->train_on_batch({x}, {y}); }));
  const Variables all_momenta = adam->slot("momentum");
  REQUIRE(all_momenta.size() == 4);
  CHECK(all_momenta[2] == head_momentum[0]);
  CHECK(all_momenta[3] == head_momentum[1]);
  CHECK(all_momenta[0].shape() == base->weights().front().shape());
  base->set_trainable(false);
  model->compile({{"optimizer", Value(adam)}, {"loss", "mse"}});
  model->train_on_batch({x}, {y});
  // The optimizer has slots only for the two weights of the head, as if the base had always been
  // frozen.
  CHECK(adam->slot("momentum").size() == 2);
  base->set_trainable(true);
  model->compile({{"optimizer", Value(adam)}, {"loss", "mse"}});
  model->train_on_batch({x}, {y});
  CHECK(adam->slot("momentum").front() == all_momenta.front());
}

TEST_CASE("a Sequential built from its first data takes other sizes where its layers do") {
  auto shape = [](const ModelPtr& model, const Shape& x) {
    return model->predict({Tensor(x, DType::float32)}).front().shape();
  };
  auto layer_of = [](const char* name, Dict options = {}) { return make<Layer>(name, options); };
  auto text_model =
      Sequential::make({layer_of("Embedding", {{"input_dim", 10}, {"output_dim", 4}}),
                        layer_of("LSTM", {{"units", 3}, {"return_sequences", true}}), dense(2)});
  CHECK(shape(text_model, {2, 11}) == Shape{2, 11, 2});
  CHECK(text_model->input_shape().front() == Shape{-1, 11});
  CHECK(shape(text_model, {5, 12}) == Shape{5, 12, 2});
  CHECK(text_model->output_shape().front() == Shape{-1, -1, 2});
  compile(*text_model);
  CHECK_NOTHROW(text_model->fit({Tensor({2, 9}, DType::float32)},
                                {Tensor({2, 9, 2}, DType::float32)}, {{"verbose", 0}}));
  const Dict config = text_model->get_config();
  CHECK(to_json(config.at("build_input_shape")) == "[null, 11]");
  auto cloned_model = clone_model(*text_model);
  CHECK(shape(cloned_model, {1, 5}) == Shape{1, 5, 2});

  auto outer_model = Sequential::make(
      {Sequential::make({layer_of("Conv1D", {{"filters", 3}, {"kernel_size", 2}})}),
       layer_of("GlobalMaxPooling1D")});
  CHECK(shape(outer_model, {2, 11, 4}) == Shape{2, 3});
  CHECK(shape(outer_model, {2, 12, 4}) == Shape{2, 3});
  CHECK(shape(clone_model(*outer_model), {2, 13, 4}) == Shape{2, 3});
  CHECK_THROWS_WITH(shape(outer_model, {2, 12, 5}), Contains("(12, 5)"));

  auto flat_model = Sequential::make({layer_of("Flatten"), dense(1)});
  CHECK(shape(flat_model, {2, 11}) == Shape{2, 1});
  CHECK_THROWS_WITH(shape(flat_model, {2, 12}),
                    Contains("to have shape (11,) but got array with shape (12,)"));
  auto declared_model =
      Sequential::make({layer_of("LSTM", {{"units", 2}, {"input_shape", List{11, 4}}})});
  CHECK_THROWS_WITH(shape(declared_model, {2, 12, 4}),
                    Contains("to have shape (11, 4) but got array with shape (12, 4)"));
}

TEST_CASE("models of thousands of layers are made, saved and loaded in seconds") {
  const std::clock_t begin = std::clock();
  constexpr int kLayers = 5000;
  auto stack = Sequential::make({first_dense()});
  for (int i = 1; i < kLayers; ++i) stack->add(dense());
  const Symbol in = Input({kWidth});
  Symbol x = in;
  for (int i = 0; i < kLayers; ++i) x = (*dense())(x);
  auto graph = Functional::make({in}, {x});
  CHECK(clone_model(*graph)->summary().size() > kLayers);
  CHECK(graph->get_weights().size() == 2 * kLayers);
  const std::string path = temporary_path(".h5");
  compile(*stack, "adam");
  save_model(*stack, path);
  auto loaded_model = load_model(path);
  CHECK(are_near(loaded_model->get_weights().back(), stack->get_weights().back()));
  load_weights(*loaded_model, path, {{"by_name", true}});
  std::remove(path.c_str());
  for (int i = 1; i < kLayers; ++i) stack->pop();
  CHECK(stack->weights().size() == 2);
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC <
        30);  // limit; the ratio is about 2 on an idle machine, and would be 100 for quadratic time
}

TEST_CASE("what is nested as deep as JSON goes is saved and loaded, deeper is refused") {
  const Tensor x = data(2);
  const std::string path = temporary_path(".h5"), weights = temporary_path(".weights.h5");
  LayerPtr nested_layer = first_dense();
  for (int i = 0; i < 320; ++i) nested_layer = Sequential::make({nested_layer});
  auto model = std::dynamic_pointer_cast<Model>(nested_layer);
  const Tensor expected_outputs = model->predict({x}).front();
  save_model(*model, path);
  auto loaded_model = load_model(path);
  CHECK(are_near(loaded_model->predict({x}).front(), expected_outputs));
  // HDF5 follows the path of each group from the root, so weight files of such deep models take
  // long. This model has fewer levels.
  LayerPtr less_nested_layer = first_dense();
  for (int i = 0; i < 60; ++i) less_nested_layer = Sequential::make({less_nested_layer});
  model = std::dynamic_pointer_cast<Model>(less_nested_layer);
  save_weights(*model, weights);
  const Tensors values = model->get_weights();
  model->set_weights({Tensor({kWidth, kWidth}, DType::float32), Tensor({kWidth}, DType::float32)});
  load_weights(*model, weights);
  CHECK(are_near(model->get_weights(), values));
  for (int i = 0; i < 20; ++i) nested_layer = Sequential::make({nested_layer});
  CHECK_THROWS_WITH(save_model(*std::dynamic_pointer_cast<Model>(nested_layer), path),
                    Contains("1000 deep"));
  for (int i = 0; i < 200; ++i) nested_layer = Sequential::make({nested_layer});
  CHECK_THROWS_WITH(save_weights(*std::dynamic_pointer_cast<Model>(nested_layer), weights),
                    Contains("1000 groups deep"));
  std::remove(path.c_str());
  std::remove(weights.c_str());
}
