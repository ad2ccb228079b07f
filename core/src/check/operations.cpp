// Checks of operations, with tensors of usual shapes and values as arguments, and of kernels.
#include <algorithm>

#include "check/checked_layer.h"
#include "check/classes.h"
#include "crescent/layer/operation.h"
#include "crescent/ops/creation.h"
#include "layer/calls/outside_trace.h"

namespace crescent::check {
namespace {

/// The shapes and the range of values of the tensors with which operations are tried.
struct ArgumentSample {
  Shape shape;
  double low, high;
  std::vector<Shape> larger_shapes = kLargerShapes;
  bool is_definite = false;  ///< whether they are symmetric positive definite matrices

  /// Makes `count` tensors with different random values.
  Tensors tensors(size_t count, DType dtype) const { return tensors(count, dtype, shape); }
  Tensors tensors(size_t count, DType dtype, const Shape& tensor_shape) const {
    const SeedGenerator random(5);
    Tensors result;
    for (size_t i = 0; i < count; ++i) {
      Tensor x = random.uniform(tensor_shape, low, high);
      if (is_definite)
        x = (x + ops::transpose(x)) * (4.0 / static_cast<double>(tensor_shape[0])) +
            4.0 * ops::eye(tensor_shape[0]);
      result.push_back(ops::cast(x, dtype));
    }
    return result;
  }
};

const std::vector<ArgumentSample>& usual_samples() {
  static const std::vector<ArgumentSample> samples{{{3, 4}, 0.25, 0.75},
                                                   {{3, 4}, 1.25, 1.75},
                                                   {{4, 4}, 0.25, 0.75, {{17, 17}, {33, 33}}, true},
                                                   {{2, 8, 8, 3}, 0.25, 0.75, {{3, 17, 33, 3}}}};
  return samples;
}

/// Assigns tensors to the tensor parameters that `given_arguments` has no arguments for; further
/// parameters keep their defaults.
Dict arguments_for(const Signature& signature, const std::vector<Value>& tensors,
                   const Dict& given_arguments) {
  Dict arguments = given_arguments;
  size_t next_tensor = 0;
  for (const Parameter& parameter : signature.parameters)
    if (parameter.is_tensor && parameter.required && !given_arguments.contains(parameter.name)) {
      const Value& argument_value = tensors.at(next_tensor++);
      arguments.set(parameter.name,
                    parameter.is_list ? Value(List{argument_value}) : argument_value);
    }
  return arguments;
}

Tensors tensors_of(const Value& result) {
  if (!result.is_list()) return {Codec<Tensor>::decode(result)};
  Tensors tensors;
  for (const Value& item : result.as_list())
    for (const Tensor& t : tensors_of(item)) tensors.push_back(t);
  return tensors;
}

Tensors map_tensors(const Tensors& tensors, const std::function<Tensor(const Tensor&)>& f) {
  Tensors results;
  for (const Tensor& t : tensors) results.push_back(f(t));
  return results;
}

class OperationCheck {
 public:
  OperationCheck(CheckReport& report, const CheckedClass& checked)
      : report_(report), checked_(checked), operation_(crescent::make<Operation>(checked.name)) {
    for (const Parameter& parameter : operation_->schema().signature.parameters)
      tensor_count_ += parameter.is_tensor && needs_argument(parameter);
  }

  std::set<std::string> collect_ops() const {
    std::set<std::string> names;
    if (tensor_count_ == 0) return names;
    for (const ArgumentSample& sample : usual_samples()) {
      std::vector<Shape> shapes = sample.larger_shapes;
      shapes.push_back(sample.shape);
      for (const Shape& shape : shapes) {
        const Tensors inputs = sample.tensors(tensor_count_, DType::float32, shape);
        for (const AppliedOp& applied : applied_ops(f_, inputs))
          names.insert(std::string(applied.op->name()));
        collect_applied_ops(*checked_.collected_ops, f_, inputs);
      }
    }
    return names;
  }

  void run() {
    if (!add_result(report_, "call", [&] { return check_call(); })) return;
    for (const DType dtype : {DType::float32, DType::float64})
      collect_applied_ops(*checked_.collected_ops, f_, sample_->tensors(tensor_count_, dtype));
    const Tensors inputs = sample_->tensors(tensor_count_, dtype_);
    if (dtype_ == DType::float64) {
      add_result(report_, "float32", [&] { return check_float32(); });
      const auto larger_inputs = [&](const Shape& tensor_shape) {
        return sample_->tensors(tensor_count_, DType::float64, tensor_shape);
      };
      add_larger_sizes(report_, checked_,
                       {function_to_differentiate(inputs), sample_->larger_shapes, larger_inputs,
                        !stops_gradient(inputs)});
    }
    add_result(report_, "symbols", [&] { return check_symbols(inputs); });
    add_result(report_, "compiled", [&] {
      expect_traced(inputs);
      expect_compiled(f_, inputs);
      return std::string("compiled programs give what ops give one by one");
    });
    const Tensors results = f_(inputs);
    if (std::none_of(results.begin(), results.end(),
                     [](const Tensor& y) { return is_floating(y.dtype()); }))
      return;
    if (is_finite(results) && !stops_gradient(inputs))
      return add_gradients(report_, function_to_differentiate(inputs), inputs);
    add_result(report_, "gradient", [&]() -> std::string {
      if (is_finite(results)) skip("the function stops the gradient, and does nothing else");
      skip("its results are not finite for numbers between ", sample_->low, " and ", sample_->high);
    });
  }

 private:
  bool needs_argument(const Parameter& parameter) const {
    return parameter.required && !checked_.options.contains(parameter.name);
  }

  std::string check_call() {
    const auto& parameters = operation_->schema().signature.parameters;
    if (tensor_count_ == 0 ||
        std::any_of(parameters.begin(), parameters.end(),
                    [&](const Parameter& p) { return needs_argument(p) && !p.is_tensor; }))
      skip("it has parameters that are no tensors, for which \"options\" can have arguments");
    for (const DType dtype : {DType::float64, DType::float32})
      for (const ArgumentSample& sample : usual_samples()) {
        const Tensors inputs = sample.tensors(tensor_count_, dtype);
        if (!accepts(f_, inputs)) continue;
        const bool is_finite_result = is_finite(f_(inputs));
        if (!sample_ || is_finite_result) sample_ = &sample, dtype_ = dtype;
        if (is_finite_result) return specs_text(f_(inputs));
      }
    if (sample_) return specs_text(f_(sample_->tensors(tensor_count_, dtype_)));
    return explain_refusal();
  }

  /// Called if the operation rejects all usual samples. Fails if shape inference accepts a sample
  /// that the computation rejects, or if an exception is no Error; else skips the check and reports
  /// the error.
  std::string explain_refusal() {
    for (const ArgumentSample& sample : usual_samples())
      if (const Tensors inputs = sample.tensors(tensor_count_, DType::float32);
          accepts([&](const Tensors& x) { return run_abstractly(f_, x); }, inputs))
        return specs_text(f_(inputs));
    try {
      f_(usual_samples().front().tensors(tensor_count_, DType::float32));
    } catch (const Error& error) {
      if (is_of_exception(error)) throw;
      skip("which arguments it wants is not known; of the usual ones it said: ", error.what());
    }
    return "";
  }

  bool stops_gradient(const Tensors& inputs) const {
    const std::vector<AppliedOp> ops = applied_ops(f_, inputs);
    return !ops.empty() && std::all_of(ops.begin(), ops.end(), [](const AppliedOp& applied) {
      return applied.op->name() == StopGradient::kName;
    });
  }

  /// A function of symmetric matrices may read only one triangle, while its gradient is divided
  /// between both triangles. Such a function is differentiated as a function of the symmetric part
  /// of its arguments.
  TensorFunction function_to_differentiate(const Tensors& inputs) const {
    if (!reads_one_triangle(inputs)) return f_;
    return [this](const Tensors& x) {
      return f_(map_tensors(x, [](const Tensor& t) { return (t + ops::transpose(t)) * 0.5; }));
    };
  }

  bool reads_one_triangle(const Tensors& inputs) const {
    if (!sample_->is_definite) return false;
    const Tensors full_results = f_(inputs);
    const auto reads_only = [&](const Tensors& triangle) {
      return accepts(f_, triangle) && have_same_bits(f_(triangle), full_results);
    };
    return reads_only(map_tensors(inputs, [](const Tensor& t) { return ops::tril(t); })) ||
           reads_only(map_tensors(inputs, [](const Tensor& t) { return ops::triu(t); }));
  }

  std::string check_float32() const {
    const Tensors float32_inputs = sample_->tensors(tensor_count_, DType::float32),
                  actual = f_(float32_inputs);
    const Tensors expected_results = f_(with_float_dtype(float32_inputs, DType::float64));
    expect_near(actual, expected_results, 1e-4, "float32 beside float64");
    return specs_text(actual);
  }

  std::string check_symbols(const Tensors& inputs) const {
    expect_traced(inputs);
    const Shape& shape = sample_->shape;
    std::vector<int64_t> sample_sizes(shape.begin() + 1, shape.end());
    try {
      call_on(Input({.shape = Shape(sample_sizes), .dtype = dtype_}));
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
      call_on(Input({.batch_shape = shape, .dtype = dtype_}));
      return "a call on symbols whose sizes are all known makes a layer of the graph";
    }
    return "a call on symbols makes a layer of the graph";
  }

  void call_on(const Symbol& symbol) const {
    const Value boxed_symbol(std::make_shared<BoxedSymbol>(symbol));
    (*operation_)(arguments_for(operation_->schema().signature,
                                std::vector<Value>(tensor_count_, boxed_symbol), checked_.options));
  }

  /// Skips the check if the sizes of results depend on values, so that the operation cannot be
  /// recorded.
  void expect_traced(const Tensors& inputs) const {
    try {
      run_abstractly(f_, inputs);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      skip("it is not recorded: ", error.what());
    }
  }

  CheckReport& report_;
  const CheckedClass& checked_;
  std::shared_ptr<Operation> operation_;
  size_t tensor_count_ = 0;
  const TensorFunction f_ = [this](const Tensors& x) {
    std::vector<Value> boxed_tensors;
    for (const Tensor& t : x) boxed_tensors.push_back(Codec<Tensor>::encode(t));
    return tensors_of((*operation_)(
        arguments_for(operation_->schema().signature, boxed_tensors, checked_.options)));
  };
  const ArgumentSample* sample_ = nullptr;  ///< the kind of arguments that it takes
  DType dtype_ = DType::float32;
};

}  // namespace

std::set<std::string> note_operation(const CheckedClass& checked) {
  CheckReport empty_report;
  return OperationCheck(empty_report, checked).collect_ops();
}

void add_operation_rows(CheckReport& report, const CheckedClass& checked) {
  if (crescent::make<Operation>(checked.name)->schema().result == OperationResult::host_value)
    return;
  OperationCheck(report, checked).run();
}

}  // namespace crescent::check
