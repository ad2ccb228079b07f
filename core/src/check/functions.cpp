// Checks of classes that are functions of tensors: activations, losses, penalties.
#include "check/checked_layer.h"
#include "check/classes.h"
#include "check/isolation/progress.h"
#include "crescent/layer/training.h"
#include "crescent/program/program.h"

namespace crescent::check {

void add_gradients(CheckReport& report, const TensorFunction& f, const Tensors& inputs) {
  if (ExcludedChecks::contain("gradients")) return;
  announce("gradients");
  for (CheckResult result : check_gradient(f, inputs).results) {
    result.name = "gradient " + result.name;
    report.results.push_back(std::move(result));
  }
}

void expect_compiled(const TensorFunction& f, const Tensors& inputs) {
  expect_near(Function(f)(inputs), f(inputs), 1e-5, "compiled beside op by op");
}

bool accepts(const TensorFunction& f, const Tensors& inputs) try {
  f(inputs);
  return true;
} catch (const Interrupted&) {
  throw;
} catch (const Error&) {
  return false;
}

namespace {

Tensor random_numbers(const Shape& shape, DType dtype = DType::float32, double low = -1,
                      double high = 1) {
  return ops::cast(SeedGenerator(5).uniform(shape, low, high), dtype);
}

/// The shape with its last axis halved, the result shape of a gated activation.
Shape with_halved_last_axis(Shape shape) {
  shape.set(-1, shape[-1] / 2);
  return shape;
}

/// Shapes with which the function can be called; some penalties take only matrices.
std::vector<Shape> shapes_for(const TensorFunction& f, bool is_penalty) {
  std::vector<Shape> shapes{Shape{3, 4}};
  for (const Shape& other_shape : {Shape{6}, Shape{2, 3, 2}})
    if (!is_penalty || accepts(f, {random_numbers(other_shape)})) shapes.push_back(other_shape);
  return shapes;
}

/// Adds the checks that apply to every function of one tensor.
template <class T>
void add_function_rows(CheckReport& report, const CheckedClass& checked, bool gives_scalar) {
  const auto object = checked.make<T>();
  const auto f = [&](const Tensors& x) { return Tensors{(*object)(x[0])}; };
  add_result(report, "shapes and dtypes", [&] {
    for (const Shape& shape : shapes_for(f, gives_scalar))
      for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
        const Tensor x = random_numbers(shape, dtype), y = f({x})[0];
        expect(bool(y), "it gave no tensor");
        const Shape expected_shape = gives_scalar ? Shape{} : shape;
        const bool has_expected_shape =
            y.shape() == expected_shape ||
            (!gives_scalar && y.shape() == with_halved_last_axis(shape));
        expect(has_expected_shape && (gives_scalar || y.dtype() == dtype), "of ", x.spec(),
               " it made ", y.spec(), ", expected ", TensorSpec{dtype, expected_shape});
      }
    return std::string(gives_scalar ? "a scalar of any tensor" : "those of what it is given");
  });
  add_result(report, "zeros", [&] {
    expect_finite(f({Tensor(Shape{3, 4}, DType::float32)}), "a tensor of zeros");
    return std::string("zeros give finite results");
  });
  add_result(report, "empty and large", [&] {
    for (const int64_t rows : {int64_t{0}, int64_t{1000}})
      expect_compiled(f, {random_numbers({rows, 4})});
    return std::string("tensors of 0 and of 4000 elements");
  });
  add_result(report, "compiled", [&] {
    expect_compiled(f, {random_numbers({3, 4})});
    return std::string("compiled programs give what ops give one by one");
  });
  collect_applied_ops(*checked.collected_ops, f, {random_numbers({3, 4})});
  const auto inputs = [](const Shape& shape) {
    return Tensors{random_numbers(shape, DType::float64)};
  };
  add_larger_sizes(report, checked, {f, kLargerShapes, inputs});
}

}  // namespace

void add_activation_rows(CheckReport& report, const CheckedClass& checked) {
  add_function_rows<Activation>(report, checked, false);
  const auto object = checked.make<Activation>();
  add_gradients(report, [&](const Tensors& x) { return Tensors{(*object)(x[0])}; },
                {random_numbers({3, 4}, DType::float64, -2, 2)});
}

void add_regularizer_rows(CheckReport& report, const CheckedClass& checked) {
  add_function_rows<Regularizer>(report, checked, true);
  const auto object = checked.make<Regularizer>();
  add_gradients(report, [&](const Tensors& x) { return Tensors{(*object)(x[0])}; },
                {random_numbers({3, 4}, DType::float64)});
}

void add_constraint_rows(CheckReport& report, const CheckedClass& checked) {
  add_function_rows<Constraint>(report, checked, false);
}

// ---- losses

namespace {

/// Probabilities that sum to less than one in each sample, because some losses have a kink at the
/// sum one.
Tensor random_probabilities(int64_t samples, int64_t classes) {
  return ops::softmax(random_numbers({samples, classes}, DType::float64, -2, 1), -1) * 0.9375;
}

/// Expects that three samples at the start, in the middle and at the end of a batch have the same
/// losses as in a batch of these three samples alone.
std::string check_samples_apart(const Loss& loss, const Tensor& targets,
                                const Tensor& predictions) {
  const Tensor batch_losses = loss.call(targets, predictions);
  if (batch_losses.rank() == 0) skip("the loss is one number for all samples");
  for (const int64_t first : {int64_t{0}, predictions.dim(0) / 2, predictions.dim(0) - 3}) {
    const auto three_rows = [&](const Tensor& t) { return t.view_rows(first, 3); };
    expect_near({three_rows(batch_losses)},
                {loss.call(three_rows(targets), three_rows(predictions))}, 1e-5,
                concat("samples ", first + 1, " to ", first + 3, " of ", predictions.dim(0),
                       ", beside the same samples alone"));
  }
  return "the loss of a sample does not depend on the others of its batch";
}

/// Expects that a batch in which every sample occurs twice has the same loss as the batch in which
/// every sample occurs once.
std::string check_reduction(const Loss& loss, const Tensor& targets, const Tensor& predictions) {
  const auto twice_as_long = [](const Tensor& t) { return ops::concatenate(Tensors{t, t}, 0); };
  expect_near({loss(twice_as_long(targets), twice_as_long(predictions))},
              {loss(targets, predictions)}, 1e-4,
              "a batch that has each sample twice, beside one that has each once");
  return "that of a batch does not depend on its size";
}

}  // namespace

void add_loss_rows(CheckReport& report, const CheckedClass& checked) {
  const auto loss = checked.make<Loss>();
  const Tensor predictions = random_probabilities(5, 4);
  Tensor true_values;
  add_result(report, "targets", [&] {
    true_values =
        accepted_targets([&](const Tensor& targets) { loss->call(targets, predictions); }, 5, 4);
    return to_text(true_values.spec());
  });
  if (!true_values) return;
  add_result(report, "one for each sample", [&] {
    const Tensor values = loss->call(true_values, predictions);
    expect(bool(values), "call gave no tensor");
    expect(values.rank() == 0 || values.dim(0) == 5, "call gave ", values.spec(),
           " for 5 samples, expected a value for each of them, or one for all");
    return to_text(values.spec());
  });
  add_result(report, "a scalar, weighted", [&] {
    const Tensor value = (*loss)(true_values, predictions),
                 zero = (*loss)(true_values, predictions, ops::zeros({5}));
    expect(value.rank() == 0, "the loss of a batch is ", value.spec(), ", expected a scalar");
    expect_finite({value}, "the loss of a batch");
    expect(zero.item() == 0, "with sample weights of zero the loss is ", zero.item());
    return concat("weights of zero give no loss");
  });
  const bool are_class_numbers = true_values.rank() == 1;
  const Tensor many_targets = usual_targets(are_class_numbers, 257, 4);
  add_result(report, "samples apart", [&] {
    return check_samples_apart(*loss, many_targets, random_probabilities(257, 4));
  });
  if (!checked.options.contains("reduction"))
    add_result(report, "reduction",
               [&] { return check_reduction(*loss, true_values, predictions); });
  add_result(report, "compiled", [&] {
    expect_compiled([&](const Tensors& y) { return Tensors{(*loss)(y[0], y[1])}; },
                    {true_values, predictions});
    return std::string("compiled programs give what ops give one by one");
  });
  const TensorFunction f = [&](const Tensors& y) {
    return Tensors{(*loss)(usual_targets(are_class_numbers, y[0].dim(0), y[0].dim(1)), y[0])};
  };
  const auto inputs = [](const Shape& shape) {
    return Tensors{random_probabilities(shape[0], shape[1])};
  };
  add_larger_sizes(report, checked, {f, kLargerShapes, inputs});
  add_gradients(report, f, {predictions});
}

void add_initializer_rows(CheckReport& report, const CheckedClass& checked) {
  const auto object = checked.make<Initializer>();
  add_result(report, "shapes and dtypes", [&] {
    std::vector<Shape> shapes{{3, 4}, {4, 4}, {2, 3, 3, 2}};
    std::erase_if(shapes, [&](const Shape& shape) {
      return !accepts([&](const Tensors&) { return Tensors{(*object)(shape, DType::float32)}; },
                      {});
    });
    if (shapes.empty())
      skip("which shapes it fills is not known; it refuses (3, 4) and (2, 3, 3, 2)");
    for (const Shape& shape : shapes)
      for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
        const Tensor value = (*object)(shape, dtype);
        const TensorSpec expected_spec{dtype, shape};
        expect(value && value.spec() == expected_spec, "for ", expected_spec, " it gave ",
               value ? to_text(value.spec()) : "no tensor");
        expect_finite({value}, "initial values");
      }
    return std::string("those that are asked for");
  });
}

void add_schedule_rows(CheckReport& report, const CheckedClass& checked) {
  const auto object = checked.make<Schedule>();
  add_result(report, "rates", [&] {
    for (const double step : {0.0, 1.0, 10.0, 1e6}) {
      const Tensor rate = (*object)(Tensor::scalar(step, DType::int64));
      expect(rate && rate.rank() == 0 && is_floating(rate.dtype()), "for a step it gave ",
             rate ? to_text(rate.spec()) : "no tensor", ", expected a scalar");
      expect_finite({rate}, concat("the rate of step ", step));
    }
    return std::string("scalars for steps from 0 to a million");
  });
  add_result(report, "compiled", [&] {
    expect_compiled([&](const Tensors& x) { return Tensors{(*object)(x[0])}; },
                    {Tensor::scalar(7, DType::int64)});
    return std::string("compiled programs give what ops give one by one");
  });
}

}  // namespace crescent::check
