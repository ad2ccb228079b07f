// Losses that layers add: regularization of weights and outputs, add_loss.
#include <catch2/catch.hpp>

#include "small_model.h"

using namespace crescent;
using namespace crescent::small;

TEST_CASE("an activity regularizer is a mean over the samples") {
  set_random_seed(1);
  auto model = Sequential::make({make<Layer>(
      "Dense",
      {{"units", 2},
       {"input_shape", List{3}},
       {"kernel_initializer", "ones"},
       {"activity_regularizer", Dict{{"class_name", "L2"}, {"config", Dict{{"l2", 0.5}}}}}})});
  model->compile({{"optimizer", "sgd"}});
  for (int64_t count : {1, 4, 9})
    CHECK(model->test_on_batch({Tensor::full({count, 3}, 1)}, {}).front().second ==
          Approx(0.5 * 2 * 9));
}

TEST_CASE("penalties of attention with heads are on what its projections give") {
  const Dict l1{{"class_name", "L1"}, {"config", Dict{{"l1", 1}}}};
  const auto losses = [&](const char* name, Dict options) {
    options.set("activity_regularizer", l1);
    options.set("kernel_initializer", "ones");
    const LayerPtr layer = make<Layer>(name, options);
    const Tensor x = Tensor::full({2, 3, 1}, 1);
    (*layer)({x, x});
    std::vector<double> loss_values;
    for (const Tensor& loss : layer->losses()) loss_values.push_back(loss.item());
    std::sort(loss_values.begin(), loss_values.end());
    return loss_values;
  };
  CHECK(losses("MultiHeadAttention", {{"num_heads", 1}, {"key_dim", 2}}) ==
        // Sums over three steps: 3 * 2 for each of query, key and value, whose width is 2 and whose
        // values are 1, and 3 * 1 * 2 for the output, whose width is 1 and whose values are 2.
        std::vector<double>{6, 6, 6, 6});
  CHECK(losses("GroupQueryAttention",
               {{"head_dim", 2}, {"num_query_heads", 2}, {"num_key_value_heads", 1}}) ==
        std::vector<double>{6, 6, 12, 12, 12});
}

TEST_CASE("regularizers and add_loss are part of the loss") {
  set_random_seed(1);
  auto model = Sequential::make({make<Layer>(
      "Dense",
      {{"units", 1},
       {"input_shape", List{3}},
       {"kernel_initializer", "ones"},
       {"kernel_regularizer", Dict{{"class_name", "L2"}, {"config", Dict{{"l2", 0.5}}}}}})});
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  const Tensor x = data(4);
  CHECK(model->evaluate({x}, {targets(x)}, {{"verbose", 0}}).front().second ==
        Approx(1.5).epsilon(1e-4));
  CHECK(model->losses().size() == 1);
  CHECK(model->losses().front().item() == Approx(1.5));
}

TEST_CASE("a model may train by the losses of its layers alone") {
  set_random_seed(1);
  auto model = Sequential::make({make<Layer>("Dense", {{"units", 2}, {"input_shape", List{3}}}),
                                 make<Layer>("ActivityRegularization", {{"l2", 0.1}})});
  model->compile({{"optimizer", "sgd"}});
  const auto losses = model->fit({data(8)}, {}, {{"epochs", 3}, {"verbose", 0}})->at("loss");
  CHECK(losses[2] < losses[0]);
}
