// Nodes and symbols: the calls that a layer records.
#include <catch2/catch.hpp>

#include "sample_layers.h"

using namespace crescent;
using namespace crescent::samples;
using Catch::Contains;

TEST_CASE("each call on symbols is a node") {
  const Symbol a = Input({32}, "input_a"), b = Input({32}, "input_b");
  CHECK(a.layer()->inbound_nodes().size() == 1);
  CHECK(a.tensor_index() == 0);
  auto dense = std::make_shared<Linear>(16, "dense_1");
  const Symbol a2 = (*dense)(a), b2 = (*dense)(b);
  CHECK(dense->inbound_nodes().size() == 2);
  CHECK(dense->outbound_nodes().empty());
  CHECK(dense->inbound_nodes()[0]->inputs.front() == a);
  CHECK(dense->inbound_nodes()[1]->inbound_layers().front() == b.layer());
  CHECK(a.layer()->outbound_nodes().size() == 1);
  CHECK(a2.node_index() == 0);
  CHECK(b2.node_index() == 1);
  CHECK(a2.shape() == Shape{-1, 16});
  CHECK(dense->get_input_at(0).front() == a);
  CHECK(dense->get_output_at(1).front() == b2);
  CHECK(dense->input_shape().front() == Shape{-1, 32});
  CHECK_THROWS_WITH(dense->input(),
                    "Layer dense_1 has multiple inbound nodes, hence the notion of \"layer input\" "
                    "is ill-defined. "
                    "Use `get_input_at(node_index)` instead.");
  CHECK_THROWS_WITH(dense->get_output_at(2),
                    "Asked to get output at node 2, but the layer has only 2 inbound nodes.");
  CHECK_THROWS_WITH(Linear(3, "lonely").input(),
                    "Layer lonely is not connected, no input to return.");
  CHECK_THROWS_WITH(Linear(3, "lonely").output_shape(),
                    "The layer has never been called and thus has no defined output shape.");
  CHECK_THROWS_WITH(dense->output_mask(),
                    "Layer dense_1 has 2 inbound nodes, hence the notion of \"layer output mask\" "
                    "is ill-defined.");
  CHECK_THROWS_WITH(Linear(3, "lonely").input_mask(),
                    "Layer lonely has never been called and thus has no input mask.");
}

TEST_CASE("nodes go when nobody needs them, and the rest is counted anew") {
  auto dense = std::make_shared<Linear>(2);
  const Symbol a = Input({3});
  (void)(*dense)(a);
  const Symbol second_call = (*dense)(a);
  CHECK(dense->inbound_nodes().size() == 1);
  CHECK(second_call.node_index() == 0);
  CHECK(to_text(second_call)
            .find("shape=(None, 2) dtype=float32 (created by layer '" + dense->name() + "')") !=
        std::string::npos);
}

TEST_CASE("a layer on symbols is shared") {
  Linear layer(2, "local");
  CHECK_THROWS_WITH(layer(Input({3})),
                    "Layer local can only be called on symbols when a shared pointer holds it");
}

TEST_CASE("a very long graph goes without recursion") {
  auto layer = std::make_shared<Linear>(1);
  Symbol end = Input({1});
  for (int i = 0; i < 20000; ++i) {
    end = (*layer)(end);
    if (i % 5000 == 0) layer = std::make_shared<Linear>(1);
  }
  CHECK(end.shape() == Shape{-1, 1});
}

TEST_CASE("names count up per class, and start again") {
  clear_session();
  CHECK(unique_name("dense") == "dense_1");
  CHECK(unique_name("dense") == "dense_2");
  CHECK(unique_name("conv2d") == "conv2d_1");
  clear_session();
  CHECK(unique_name("dense") == "dense_1");
  CHECK(to_snake_case("ConvLSTM2D") == "conv_lst_m2d");
  CHECK(to_snake_case("ReLU") == "re_lu");
  CHECK(to_snake_case("GlobalAveragePooling1D") == "global_average_pooling1d");
}

TEST_CASE("Input wants a shape") {
  CHECK_THROWS_WITH(
      Input(InputOptions{}),
      Contains("Please provide to Input either a `shape` or a `batch_shape` argument."));
  InputOptions options;
  options.shape = Shape{4};
  options.batch_size = 8;
  options.dtype = DType::int32;
  const Symbol s = Input(options);
  CHECK(s.shape() == Shape{8, 4});
  CHECK(s.dtype() == DType::int32);
  CHECK(s.layer()->get_config().keys() ==
        std::vector<std::string>{"batch_input_shape", "dtype", "sparse", "name"});
}

TEST_CASE("an input spec reads like Keras' and checks in its order") {
  InputSpec spec;
  spec.dtype = DType::float32;
  spec.shape = Shape{-1, 3};
  spec.axes = {{-1, 3}};
  CHECK(to_text(spec) == "InputSpec(dtype=float32, shape=(None, 3), ndim=2, axes={-1: 3})");
  CHECK_NOTHROW(spec.check(0, "l", {DType::float32, {7, 3}}));
  CHECK_THROWS_WITH(
      spec.check(0, "l", {DType::float32, {3}}),
      "Input 0 is incompatible with layer l: expected ndim=2, found ndim=1. "
      "Full shape received: (3,); x:expand_dims(0) adds a batch axis to a single sample");
  CHECK_THROWS_WITH(
      spec.check(1, "l", {DType::int32, {7, 3}}),
      "Input 1 is incompatible with layer l: expected dtype=float32, found dtype=int32");
  CHECK_THROWS_WITH(InputSpec::with_ndim(4).check(0, "c", {DType::float32, {-1, 8, 8}}),
                    "Input 0 is incompatible with layer c: expected ndim=4, found ndim=3. "
                    "Full shape received: (None, 8, 8)");
}
