// Checks of optimizers: in models, and on a quadratic function, whose minimum they must approach.
#include "check/checked_layer.h"
#include "check/classes.h"
#include "crescent/io/format.h"
#include "crescent/program/gradient.h"

namespace crescent::check {
namespace {

/// Half the squared distance of variables from random targets. The variables start at zero, and
/// each row of a variable has a minimum of its own.
class Quadratic {
 public:
  Quadratic() {
    const SeedGenerator random(11);
    for (const Shape& shape : {Shape{3}, Shape{17, 33}, Shape{33, 2}}) {
      variables_.push_back(
          Variable(ops::zeros(shape), {.name = concat("v", variables_.size() + 1)}));
      const Tensor sign = ops::sign(random.uniform(shape, -1, 1));
      targets_.push_back(sign * random.uniform(shape, 0.5, 1.5));
    }
  }

  void step(Optimizer& optimizer) const {
    GradientTape tape;
    Tensor loss = Tensor::scalar(0);
    for (const Tensor& row_losses : losses()) loss = loss + ops::sum(row_losses);
    loss = optimizer.scale_loss(loss);
    tape.stop();
    optimizer.apply(tape.gradient(loss, std::span(variables_)), variables_);
  }

  /// For each variable, the losses of its rows.
  Tensors losses() const {
    Tensors result;
    for (size_t i = 0; i < variables_.size(); ++i)
      result.push_back(ops::sum(ops::square(variables_[i].value() - targets_[i]), {-1}) * 0.5);
    return result;
  }
  Tensors values() const {
    Tensors result;
    for (const Variable& variable : variables_) result.push_back(variable.value().clone());
    return result;
  }

 private:
  Variables variables_;
  Tensors targets_;
};

std::string check_descent(const CheckedClass& checked) {
  const auto optimizer = checked.make<Optimizer>();
  const Quadratic quadratic;
  const Tensors losses_before = quadratic.losses();
  for (int step = 0; step < 20; ++step) quadratic.step(*optimizer);
  const Tensors losses_after = quadratic.losses();
  for (size_t i = 0; i < losses_after.size(); ++i) {
    const auto old_values = losses_before[i].to_vector(), new_values = losses_after[i].to_vector();
    for (size_t row = 0; row < new_values.size(); ++row)
      expect(new_values[row] < old_values[row],
             "20 steps on half the squared distance from a target changed that of ",
             specs_text({quadratic.values()[i]}), ", row ", row + 1, ", from ", old_values[row],
             " to ", new_values[row], ", expected less");
  }
  return "steps on a quadratic function go down";
}

std::string check_learning_rate(const CheckedClass& checked) {
  const auto values_with = [&](double factor) {
    const auto optimizer = checked.make<Optimizer>();
    const double rate = optimizer->learning_rate().value().item();
    try {
      optimizer->set_learning_rate(rate * factor);
    } catch (const Error& error) {
      skip("the rate cannot be set: ", error.what());
    }
    const Quadratic quadratic;
    for (int step = 0; step < 3; ++step) quadratic.step(*optimizer);
    return quadratic.values();
  };
  const Tensors base_values = values_with(1), other_values = values_with(2);
  for (size_t i = 0; i < base_values.size(); ++i)
    expect(!have_same_bits({base_values[i]}, {other_values[i]}), "three steps on ",
           specs_text({base_values[i]}), " give the same with twice the learning rate");
  return "twice the learning rate makes other steps";
}

}  // namespace

void add_optimizer_rows(CheckReport& report, const CheckedClass& checked) {
  const auto trained_model = [&](bool runs_eagerly) {
    const auto model = small_model(
        {{"optimizer", Value(checked.make<Optimizer>())}, {"run_eagerly", runs_eagerly}});
    train(*model);
    return model;
  };
  add_result(report, "training", [&] {
    const auto model = trained_model(false);
    const Tensor kernel = model->get_weights()[0];
    expect_finite(model->get_weights(), "weights after training");
    bool changed = false;
    for (const double value : kernel.to_vector()) changed = changed || value != 1;
    expect(changed, "training leaves the weights as they were");
    return std::string("weights change and stay finite");
  });
  add_result(report, "compiled", [&] {
    expect_near(trained_model(false)->get_weights(), trained_model(true)->get_weights(), 1e-5,
                "weights trained by compiled steps beside those trained op by op");
    return std::string("compiled steps train as ops do one by one");
  });
  add_result(report, "descent", [&] { return check_descent(checked); });
  add_result(report, "learning rate", [&] { return check_learning_rate(checked); });
  for (const char* ending : {".keras", ".h5"})
    add_result(report, concat(ending, " file"), [&] {
      const TemporaryFile file(ending);
      const auto model = trained_model(false);
      save_model(*model, file.path());
      const ModelPtr loaded_model = load_model(file.path());
      train(*model), train(*loaded_model);
      expect_near(loaded_model->get_weights(), model->get_weights(), 1e-6,
                  "training that goes on from a file, beside that which was not interrupted");
      return std::string("training goes on from the file");
    });
}

}  // namespace crescent::check
