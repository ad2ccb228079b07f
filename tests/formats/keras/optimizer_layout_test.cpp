// The order of optimizer state in files of each version of Keras: to which slot each array belongs,
// and which states cannot be written.
#include "keras/model/optimizer_layout.h"

#include "keras/vocabulary/origin.h"

#include "models.h"

namespace crescent::keras {
namespace {

using hdf5::contains;

/// Two kernels of the same shape, so that arrays in the wrong order would not be noticed by their
/// shapes.
Variables two_equal_kernels() {
  Variables variables;
  for (const char* path : {"dense/kernel", "dense_1/kernel"}) {
    variables.push_back(Variable(Tensor({4, 4}, DType::float32)));
    variables.back().set_path(path);
  }
  return variables;
}

std::vector<TensorSpec> specs_of(const std::vector<std::string>& names) {
  std::vector<TensorSpec> specs;
  for (const std::string& name : names) {
    const bool is_number = name.find("iter") != name.npos || name.find("rate") != name.npos ||
                           name.find("scale") != name.npos || name.find("counter") != name.npos;
    const bool is_unused = name.find("vhat") != name.npos;
    specs.push_back({DType::float32, is_number ? Shape{} : is_unused ? Shape{1} : Shape{4, 4}});
  }
  return specs;
}

std::string slot_text(const StateLayout& layout) {
  std::string text;
  for (const StateEntry& entry : layout)
    text += concat(text.empty() ? "" : " ", entry.variable ? entry.slot : "-",
                   entry.owner ? entry.owner.path() == "dense/kernel" ? "0" : "1" : "");
  return text;
}

struct BuiltOptimizer {
  Variables variables_ = two_equal_kernels();
  std::shared_ptr<Optimizer> optimizer;
  BuiltOptimizer(const std::string& name, const Dict& options)
      : optimizer(make<Optimizer>(name, options)) {
    optimizer->build(variables_);
  }
  MatchedState match_state(const std::vector<std::string>& names) const {
    return match_optimizer_state(*optimizer, variables_, variables_, names, specs_of(names));
  }
};

const Dict kDecay{
    {"class_name", "ExponentialDecay"},
    {"config", Dict{{"initial_learning_rate", 0.1}, {"decay_steps", 2}, {"decay_rate", 0.5}}}};

TEST_CASE("entries of every generation are placed by their order") {
  struct PlacedEntries {
    const char* optimizer;
    Dict options;
    std::vector<std::string> names;
    const char* expected_slots;
  };
  const PlacedEntries rows[] = {
      {"Adam",
       {},
       {"Adam/iterations", "training/Adam/m_0", "training/Adam/m_1", "training/Adam/v_0",
        "training/Adam/v_1", "training/Adam/vhat_0", "training/Adam/vhat_1"},
       "iteration momentum0 momentum1 velocity0 velocity1 -0 -1"},
      {"Adam",
       {},
       {"Adam/iter:0", "Adam/dense/kernel/m:0", "Adam/dense_1/kernel/m:0", "Adam/dense/kernel/v:0",
        "Adam/dense_1/kernel/v:0"},
       "iteration momentum0 momentum1 velocity0 velocity1"},
      {"Adam",
       {},
       {"iteration:0", "Adam/m/dense/kernel:0", "Adam/v/dense/kernel:0", "Adam/m/dense_1/kernel:0",
        "Adam/v/dense_1/kernel:0"},
       "iteration momentum0 velocity0 momentum1 velocity1"},
      {"Adam",
       {{"learning_rate", kDecay}},
       {"adam/iteration", "adam/dense_kernel_momentum", "adam/dense_kernel_velocity",
        "adam/dense_1_kernel_momentum", "adam/dense_1_kernel_velocity"},
       "iteration momentum0 velocity0 momentum1 velocity1"},
      {"Adam",
       {{"amsgrad", true}},
       {"adam/iteration", "adam/learning_rate", "adam/dense_kernel_momentum",
        "adam/dense_kernel_velocity", "adam/dense_1_kernel_momentum",
        "adam/dense_1_kernel_velocity", "adam/dense_kernel_velocity_hat",
        "adam/dense_1_kernel_velocity_hat"},
       "iteration learning_rate momentum0 velocity0 momentum1 velocity1 velocity_hat0 "
       "velocity_hat1"},

      {"RMSprop",
       {{"momentum", 0.5}, {"centered", true}},
       {"r/iteration", "r/learning_rate", "r/a_velocity", "r/b_velocity", "r/a_momentum",
        "r/b_momentum", "r/a_average_gradient", "r/b_average_gradient"},
       "iteration learning_rate velocity0 velocity1 momentum0 momentum1 average_gradient0 "
       "average_gradient1"},
      {"RMSprop",
       {},
       {"training/RMSprop/Variable:0", "training/RMSprop/Variable_1:0"},
       "velocity0 velocity1"},
      {"SGD",
       {},
       {"SGD/iterations", "training/SGD/moment_0", "training/SGD/moment_1"},
       "iteration -0 -1"},
      {"SGD", {}, {"sgd/iteration", "sgd/learning_rate"}, "iteration learning_rate"},
      {"SGD",
       {{"momentum", 0.9}, {"use_ema", true}, {"gradient_accumulation_steps", 2}},
       {"sgd/iteration", "sgd/learning_rate", "sgd/a_average", "sgd/b_average",
        "sgd/a_gradient_accumulator", "sgd/b_gradient_accumulator", "sgd/a_momentum",
        "sgd/b_momentum"},
       "iteration learning_rate average0 average1 gradient_accumulator0 gradient_accumulator1 "
       "momentum0 momentum1"},
      {"Adadelta",
       {},
       {"Adadelta/iterations", "t/a/accumulator_0", "t/a/accumulator_1", "t/a/delta_accumulator_0",
        "t/a/delta_accumulator_1"},
       "iteration accumulated_grad0 accumulated_grad1 accumulated_delta_var0 "
       "accumulated_delta_var1"},
      {"LossScaleOptimizer",
       {{"inner_optimizer", Dict{{"class_name", "SGD"}, {"config", Dict{{"momentum", 0.9}}}}}},
       {"l/iteration", "l/learning_rate", "l/step_counter", "l/dynamic_scale", "sgd/iteration",
        "sgd/learning_rate", "sgd/a_momentum", "sgd/b_momentum"},
       "- - step_counter dynamic_scale iteration learning_rate momentum0 momentum1"},
  };
  for (const PlacedEntries& placed_entries : rows) {
    INFO(placed_entries.optimizer << ": " << join(placed_entries.names));
    const MatchedState state = BuiltOptimizer(placed_entries.optimizer, placed_entries.options)
                                   .match_state(placed_entries.names);
    CHECK(state.problem == "");
    CHECK(slot_text(state.layout) == placed_entries.expected_slots);
  }
}

TEST_CASE("Keras before 2.0.6 lists the trained weights by their names") {
  CHECK(Origin{"1", ""}.sorts_trained_by_name());
  CHECK(Origin{"2.0.5", "tensorflow"}.sorts_trained_by_name());
  CHECK_FALSE(Origin{"2.0.6", "tensorflow"}.sorts_trained_by_name());
  CHECK_FALSE(Origin{"2.0.4-tf", "tensorflow"}.sorts_trained_by_name());
  const BuiltOptimizer adam("Adam", {});
  const Variables reversed_variables(adam.variables_.rbegin(), adam.variables_.rend());
  const std::vector<std::string> file_names{"Adam/iterations:0", "Variable:0", "Variable_1:0",
                                            "Variable_2:0", "Variable_3:0"};
  const MatchedState state = match_optimizer_state(
      *adam.optimizer, adam.variables_, reversed_variables, file_names, specs_of(file_names));
  CHECK(state.problem.empty());
  CHECK(slot_text(state.layout) == "iteration momentum1 momentum0 velocity1 velocity0");
}

TEST_CASE("numbers that Keras keeps and we compute have their places, and are written") {
  const BuiltOptimizer nadam("Nadam", {});
  CHECK(slot_text(nadam
                      .match_state({"nadam/iteration", "nadam/learning_rate", "nadam/a_momentum",
                                    "nadam/a_velocity", "nadam/b_momentum", "nadam/b_velocity",
                                    "nadam/learning_rate_product"})
                      .layout) ==
        "iteration learning_rate momentum0 velocity0 momentum1 velocity1 -");
  nadam.optimizer->iterations().assign(Tensor::scalar(2, DType::int64));
  const double first_momentum = 0.9 * (1 - 0.5 * 0.96),
               second_momentum = 0.9 * (1 - 0.5 * 0.96 * 0.96);
  const StateEntry product_entry =
      optimizer_layout(*nadam.optimizer, nadam.variables_, "keras3").back();
  CHECK(product_entry.slot == "u_product");
  CHECK(product_entry.number == Approx(first_momentum * second_momentum));
  CHECK(optimizer_layout(*nadam.optimizer, nadam.variables_, "keras2")[1].slot == "m_schedule");
  const BuiltOptimizer accumulating_optimizer("Nadam", {{"gradient_accumulation_steps", 3}});
  // With accumulation over 3 batches, 8 batches are two updates; the last two batches are not
  // applied yet.
  accumulating_optimizer.optimizer->iterations().assign(Tensor::scalar(8, DType::int64));
  CHECK(optimizer_layout(*accumulating_optimizer.optimizer, accumulating_optimizer.variables_,
                         "keras3")
            .back()
            .number == Approx(first_momentum * second_momentum));

  Variables variables_ = two_equal_kernels();
  variables_.push_back(Variable(Tensor({4}, DType::float32)));
  auto adafactor = make<Optimizer>("Adafactor", {});
  adafactor->build(variables_);
  std::string ranks;
  for (const StateEntry& entry : optimizer_layout(*adafactor, variables_, "keras3"))
    ranks += concat(entry.spec.shape.rank());
  CHECK(ranks ==
        "00"
        "112"
        "112"
        "001");  // ranks of slots for rows, columns, elements: 112 for a matrix, 001 for a vector
}

TEST_CASE("a LossScaleOptimizer hides what Keras does not track of its inner optimizer") {
  const auto scaled = [](const std::string& inner_class) {
    return Dict{{"inner_optimizer", Dict{{"class_name", inner_class}, {"config", Dict{}}}}};
  };
  const std::string inner_slots = "iteration learning_rate momentum0 velocity0 momentum1 velocity1";
  const BuiltOptimizer nadam("LossScaleOptimizer", scaled("Nadam")), plain("Nadam", {});
  CHECK(slot_text(optimizer_layout(*nadam.optimizer, nadam.variables_, "keras3")) ==
        "- - step_counter dynamic_scale " + inner_slots);
  CHECK(slot_text(inner_optimizer_layout(*nadam.optimizer, nadam.variables_)) == inner_slots);
  CHECK(slot_text(optimizer_layout(*plain.optimizer, plain.variables_, "keras3")) ==
        inner_slots + " -");
  CHECK(inner_optimizer_layout(*plain.optimizer, plain.variables_).empty());
  // Files that also contain the product of Nadam's momenta can be read as well.
  std::vector<std::string> names(11);
  std::vector<TensorSpec> specs(11, {DType::float32, {4, 4}});
  for (size_t i = 0; i < names.size(); ++i) names[i] = concat(i);
  for (size_t i : {0, 1, 2, 3, 4, 5, 10}) specs[i].shape = Shape{};
  CHECK(slot_text(match_optimizer_state(*nadam.optimizer, nadam.variables_, nadam.variables_, names,
                                        specs)
                      .layout) == "- - step_counter dynamic_scale " + inner_slots + " -");

  const auto adafactor = make<Optimizer>("LossScaleOptimizer", scaled("Adafactor"));
  const Variables variables_{Variable(Tensor({4, 5}, DType::float32)),
                             Variable(Tensor({5}, DType::float32))};
  adafactor->build(variables_);
  std::string ranks;
  for (const StateEntry& entry : optimizer_layout(*adafactor, variables_, "keras3"))
    ranks += concat(entry.spec.shape.rank());
  CHECK(ranks ==
        "0000"
        "00"
        "112"
        "1");
}

TEST_CASE("without names the order is Keras 3's") {
  const BuiltOptimizer adam("Adam", {{"amsgrad", true}});
  const std::vector<std::string> names{"0", "1", "2", "3", "4", "5", "6", "7"};
  std::vector<TensorSpec> specs(8, {DType::float32, {4, 4}});
  specs[0].shape = specs[1].shape = Shape{};
  const MatchedState state =
      match_optimizer_state(*adam.optimizer, adam.variables_, adam.variables_, names, specs);
  CHECK(slot_text(state.layout) ==
        "iteration learning_rate momentum0 velocity0 momentum1 velocity1 velocity_hat0 "
        "velocity_hat1");
  const BuiltOptimizer rms_prop("RMSprop", {{"momentum", 0.5}, {"centered", true}});
  CHECK(slot_text(match_optimizer_state(*rms_prop.optimizer, rms_prop.variables_,
                                        rms_prop.variables_, names, specs)
                      .layout) ==
        "iteration learning_rate velocity0 velocity1 momentum0 momentum1 average_gradient0 "
        "average_gradient1");
}

TEST_CASE("names that tell other slots decide where shapes do not") {
  const BuiltOptimizer adam("Adam", {});
  CHECK(slot_text(adam.match_state({"adam/iteration", "adam/learning_rate", "adam/a_momentum",
                                    "adam/b_momentum", "adam/a_velocity", "adam/b_velocity"})
                      .layout) ==
        "iteration learning_rate momentum0 momentum1 velocity0 velocity1");
}

TEST_CASE("what cannot be placed for certain is refused with the reason") {
  const BuiltOptimizer adam("Adam", {}), sgd("SGD", {{"momentum", 0.9}});
  CHECK(adam.match_state({"adam/iteration", "adam/learning_rate", "adam/a_momentum",
                          "adam/b_momentum", "adam/a_momentum", "adam/b_velocity"})
            .problem == "expected velocity of dense/kernel, the file has 'adam/b_momentum'");
  CHECK(adam.match_state({"adam/iteration", "adam/learning_rate"}).problem ==
        "expected 6 arrays, the file has 2");
  CHECK(contains(
      sgd.match_state({"sgd/iteration", "sgd/learning_rate", "sgd/a_vhat", "sgd/b_momentum"})
          .problem,
      "expected momentum of dense/kernel of shape (4, 4), the file has 'sgd/a_vhat' of "
      "shape (1,)"));
}

TEST_CASE("what is written is placed again, in Keras' order and by its names") {
  struct WrittenEntries {
    const char* optimizer;
    Dict options;
    const char *target, *names;
  };
  const WrittenEntries rows[] = {
      {"Adam",
       {},
       "keras3",
       "adam/iteration adam/learning_rate adam/dense_kernel_momentum adam/dense_kernel_velocity "
       "adam/dense_1_kernel_momentum adam/dense_1_kernel_velocity"},
      {"Adam",
       {},
       "keras2",
       "Adam/iterations:0 training/Adam/m_0:0 training/Adam/m_1:0 training/Adam/v_0:0 "
       "training/Adam/v_1:0 training/Adam/vhat_0:0 training/Adam/vhat_1:0"},
      {"SGD", {}, "keras2", "SGD/iterations:0 training/SGD/moment_0:0 training/SGD/moment_1:0"},
      {"SGD", {{"learning_rate", kDecay}}, "keras3", "sgd/iteration"},
      {"RMSprop",
       {{"centered", true}},
       "keras3",
       "rm_sprop/iteration rm_sprop/learning_rate rm_sprop/dense_kernel_velocity "
       "rm_sprop/dense_1_kernel_velocity rm_sprop/dense_kernel_average_gradient "
       "rm_sprop/dense_1_kernel_average_gradient"},
      {"RMSprop",
       {{"momentum", 0.5}, {"centered", true}},
       "keras3",
       "rm_sprop/iteration rm_sprop/learning_rate rm_sprop/dense_kernel_velocity "
       "rm_sprop/dense_1_kernel_velocity rm_sprop/dense_kernel_momentum "
       "rm_sprop/dense_1_kernel_momentum rm_sprop/dense_kernel_average_gradient "
       "rm_sprop/dense_1_kernel_average_gradient"},
  };
  for (const WrittenEntries& row : rows) {
    INFO(row.optimizer << " for " << row.target);
    const BuiltOptimizer built_optimizer(row.optimizer, row.options);
    const StateLayout layout =
        optimizer_layout(*built_optimizer.optimizer, built_optimizer.variables_, row.target);
    const std::vector<std::string> names =
        layout_names(*built_optimizer.optimizer, layout, row.target);
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    CHECK(text == row.names);
    std::vector<TensorSpec> specs;
    for (const StateEntry& entry : layout) specs.push_back(entry.spec);
    const MatchedState matched_again =
        match_optimizer_state(*built_optimizer.optimizer, built_optimizer.variables_,
                              built_optimizer.variables_, names, specs);
    CHECK(matched_again.problem == "");
    CHECK(slot_text(matched_again.layout) == slot_text(layout));
  }
}

}  // namespace
}  // namespace crescent::keras
