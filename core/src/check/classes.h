// Checks of classes of all kinds except layers. Each function adds results to a report.
#pragma once
#include <set>

#include "check/applied_ops.h"
#include "check/results.h"
#include "crescent/model/model.h"

namespace crescent::check {

/// The class that is checked, and the options of its objects.
struct CheckedClass {
  std::string kind, name;
  Dict options;
  /// The ops that the operations and layers checked so far apply; checks of kernels run these ops.
  std::vector<AppliedOp>* collected_ops = nullptr;

  /// Makes an object of the class. Skips the check if the class has the kind of T but is not
  /// derived from T, such as OptimizerMap, whose objects are only options of optimizers.
  template <class T>
  std::shared_ptr<T> make() const {
    auto object = crescent::make<T>(name, options);
    if (!object) skip("its objects are only options of others of this kind");
    return object;
  }
};

using AddRows = void (*)(CheckReport& report, const CheckedClass& checked);

void add_activation_rows(CheckReport& report, const CheckedClass& checked);
void add_loss_rows(CheckReport& report, const CheckedClass& checked);
void add_metric_rows(CheckReport& report, const CheckedClass& checked);
void add_initializer_rows(CheckReport& report, const CheckedClass& checked);
void add_regularizer_rows(CheckReport& report, const CheckedClass& checked);
void add_constraint_rows(CheckReport& report, const CheckedClass& checked);
void add_optimizer_rows(CheckReport& report, const CheckedClass& checked);
void add_schedule_rows(CheckReport& report, const CheckedClass& checked);
void add_callback_rows(CheckReport& report, const CheckedClass& checked);
void add_operation_rows(CheckReport& report, const CheckedClass& checked);
void add_format_rows(CheckReport& report, const CheckedClass& checked);
void add_dataset_rows(CheckReport& report, const CheckedClass& checked);
void add_communicator_rows(CheckReport& report, const CheckedClass& checked);
void add_kernel_rows(CheckReport& report, const CheckedClass& checked);

/// The name of the check that a kernel uses no memory beyond its own.
constexpr const char* kMemoryCheck = "within its memory";

/// Traces an operation on typical arguments, without computing anything, and adds the ops found to
/// those with which kernels are checked; returns the names of these ops.
std::set<std::string> note_operation(const CheckedClass& checked);

/// Whether a call on these inputs raises no Error.
bool accepts(const TensorFunction& f, const Tensors& inputs);
/// Expects that a compiled call gives the same results as a call op by op.
void expect_compiled(const TensorFunction& f, const Tensors& inputs);
/// Shapes whose sizes are no multiples of the sizes of the vectors, tiles and blocks of kernels;
/// some sizes are larger than a vector, tile or block.
inline const std::vector<Shape> kLargerShapes{{17, 33}, {17, 34}, {257, 5}, {257, 6}};
/// A function that is checked for inputs of larger shapes.
struct LargerSizes {
  TensorFunction f;
  /// The shapes that are tried; a shape that f rejects is left out.
  std::vector<Shape> shapes;
  std::function<Tensors(const Shape&)> inputs;  ///< makes inputs in float64
  bool has_gradient = true;
};
/// Adds the result of the check with larger shapes to the report. Adds the ops that f applies to
/// these shapes to `checked.collected_ops`.
void add_larger_sizes(CheckReport& report, const CheckedClass& checked,
                      const LargerSizes& larger_sizes);
/// Adds the results of check_gradient to the report, with "gradient" before their names.
void add_gradients(CheckReport& report, const TensorFunction& f, const Tensors& inputs);

/// A model with a dense layer of known weights, compiled with these options besides SGD and the
/// mean squared error.
ModelPtr small_model(const Dict& compile = {});
/// Trains a small_model() for three epochs on data that are the same each time; `targets`, if
/// given, are those of 8 samples.
void train(Model& model, const Dict& fit_options = {}, const Tensor& targets = {});
/// Calls f with usual targets for predictions of shape (rows, classes): first values for each
/// class, then class numbers. Returns the first targets for which f raises no Error; if there are
/// none, the check is skipped.
Tensor accepted_targets(const std::function<void(const Tensor& targets)>& f, int64_t rows,
                        int64_t classes);
Tensor usual_targets(bool are_class_numbers, int64_t rows, int64_t classes);

/// Checks that an object made from the configuration of another one has the same configuration.
std::string check_configuration(const CheckedClass& checked);

}  // namespace crescent::check
