// Model::profile: the rows of a profile add up to its total and name a layer; profiling does not
// change the model.
#include <algorithm>
#include <catch2/catch.hpp>

#include "crescent/crescent.h"
#include "small_model.h"

using namespace crescent;
using Catch::Contains;
using small::data;

namespace {

std::shared_ptr<Sequential> network() {
  set_random_seed(3);
  return Sequential::make(
      {make<Layer>(
           "Dense",
           {{"units", 64}, {"activation", "relu"}, {"input_shape", List{32}}, {"name", "first"}}),
       make<Layer>("Dropout", {{"rate", 0.5}, {"name", "drop"}}),
       make<Layer>("Dense", {{"units", 4}, {"name", "last"}})});
}

std::shared_ptr<Sequential> compiled_network() {
  auto model = network();
  model->compile({{"optimizer", "adam"}, {"loss", "mse"}, {"metrics", List{"mae"}}});
  return model;
}

std::string joined_lines(const std::vector<std::string>& lines) { return join(lines, "\n"); }

/// All state that a training step may change.
std::vector<double> state_of(const Model& model) {
  Variables variables = model.weights();
  for (const Variable& v : model.optimizer()->state()) variables.push_back(v);
  std::vector<double> numbers;
  for (const Variable& v : variables)
    for (double x : v.value().to_vector()) numbers.push_back(x);
  return numbers;
}

}  // namespace

TEST_CASE("time goes to the layer with the longest name that fits") {
  auto model = Sequential::make(
      {make<Layer>("Dense", {{"units", 4}, {"input_shape", Value(List{8})}, {"name", "a"}}),
       make<Layer>("Dense", {{"units", 4}, {"name", "a/b"}})});
  const std::string text = joined_lines(model->profile({data(4, 8)}, {}, {{"by", "layer"}}).lines);
  INFO(text);
  CHECK_THAT(text, Contains("\na (Dense)") && Contains("\na/b (Dense)"));
}

TEST_CASE("a profile of training has a row for each instruction of a layer, forward and backward") {
  auto model = compiled_network();
  const Profile profile =
      model->profile({data(100, 32)}, {data(100, 4)}, {{"batch_size", 20}, {"steps", 3}});
  CHECK(profile.batch_size == 20);
  CHECK(profile.seconds > 0);
  double flops_of_first = 0;
  std::vector<std::string> scopes;
  for (const ProfileEntry& row : profile.rows) {
    CHECK(row.calls > 0);
    CHECK(row.seconds > 0);
    CHECK(!row.op.empty());
    CHECK(!row.kernel.empty());
    CHECK_THAT(row.shapes, Contains(" -> "));
    scopes.push_back(row.scope);
    if (row.scope == model->name() + "/first" && row.op.starts_with("matmul"))
      flops_of_first += row.flops;
  }
  CHECK(flops_of_first ==
        2 * 2.0 * 20 * 32 * 64);  // the flops of the product and of the kernel's gradient
  CHECK(std::find(scopes.begin(), scopes.end(), "optimizer") != scopes.end());
}

TEST_CASE("a profile leaves the model as it was") {
  const Tensor x = data(40, 32), y = data(40, 4);
  auto profiled_model = compiled_network(), unprofiled_model = compiled_network();
  for (auto& model : {profiled_model, unprofiled_model})
    model->fit({x}, {y}, {{"verbose", 0}, {"shuffle", false}});
  const std::vector<double> state_before = state_of(*profiled_model);
  profiled_model->profile({x}, {y}, {{"steps", 2}});
  profiled_model->profile({x});
  CHECK(state_of(*profiled_model) == state_before);
  CHECK(profiled_model->test_on_batch({x}, {y}) == unprofiled_model->test_on_batch({x}, {y}));
  for (auto& model : {profiled_model, unprofiled_model})
    model->fit({x}, {y}, {{"verbose", 0}, {"shuffle", false}, {"epochs", 2}});
  // Dropout draws the same numbers as it would without the profile.
  CHECK(state_of(*profiled_model) == state_of(*unprofiled_model));
}

TEST_CASE("predict is profiled without compile, on as many samples as there are") {
  auto model = network();
  const Profile profile = model->profile({data(3, 32)});
  CHECK(profile.batch_size == 3);
  CHECK(profile.rows.size() >= 2);
}

TEST_CASE("the tables of a profile") {
  auto model = compiled_network();
  const Tensor x = data(8, 32), y = data(8, 4);
  auto profile_text = [&](Dict options) {
    options.set("steps", 1);
    return joined_lines(model->profile({x}, {y}, options).lines);
  };
  const std::string text_of_both = profile_text({});
  for (const char* part : {"Model: \"", "Layer (type)", "first (Dense)", "optimizer", "Calls",
                           "Time (us)", "Share", "GFLOP/s", "GB/s", "Kernel", "matmul ab+bias+relu",
                           "Total: ", "8 samples", "On 4, 8, 16, 32 cores at most "})
    CHECK_THAT(text_of_both, Contains(part));
  CHECK_THAT(profile_text({{"by", "layer"}}), Contains("first (Dense)") && !Contains("matmul ab"));
  CHECK_THAT(profile_text({{"by", "op"}}), !Contains("first (Dense)") && Contains("matmul ab"));
  CHECK_THAT(profile_text({{"by", "instruction"}}), Contains("8x32, 32x64, 64 -> 8x64"));
  const std::string text_in_order = profile_text({{"by", "layer"}, {"sort", "order"}});
  CHECK(text_in_order.find("first (Dense)") < text_in_order.find("last (Dense)"));
  CHECK(text_in_order.find("last (Dense)") < text_in_order.find("optimizer"));
  for (const std::string& line :
       model->profile({x}, {y}, {{"steps", 1}, {"by", "instruction"}, {"line_length", 80}}).lines)
    if (line.find("samples/s") == line.npos) CHECK(line.size() <= 80);
}

TEST_CASE("with op determinism the step of fit is profiled, which computes logical shards") {
  auto model = compiled_network();
  const auto ops_of = [&](const Tensors& y) {
    std::vector<std::string> ops;
    for (const ProfileEntry& row : model->profile({data(40, 32)}, y, {{"steps", 1}}).rows)
      ops.push_back(row.op);
    return join(ops);
  };
  CHECK_THAT(ops_of({data(40, 4)}), !Contains("shard_reduce"));
  set_device("cpu", {{"deterministic", true}});
  CHECK_THAT(ops_of({data(40, 4)}), Contains("shard_reduce") && Contains("shard_concat"));
  CHECK_THAT(ops_of({}), !Contains("shard"));
  set_device("cpu", {{"deterministic", false}});
}

TEST_CASE("what cannot be profiled is said") {
  auto model = network();
  const Tensor x = data(8, 32), y = data(8, 4);
  CHECK_THROWS_WITH(model->profile({x}, {y}), "You must compile your model before using it.");
  CHECK_THROWS_WITH(model->profile({x}, {}, {{"by", "colour"}}),
                    Contains("by") && Contains("layer"));
  model->compile({{"loss", "mse"}, {"run_eagerly", true}});
  CHECK_THROWS_WITH(model->profile({x}, {y}), Contains("eagerly"));
}
