// Draft: a random program (recipe) to which calls are added. Operands are earlier values or new
// inputs, often through a view. Every call is shape-checked at once, and calls that fail are left
// out.
#pragma once
#include <functional>
#include <set>

#include "crescent/base/error.h"
#include "crescent/program/op.h"
#include "random/choices.h"
#include "random/recipe.h"

namespace crescent::random_programs {

class Draft {
 public:
  using Accepts = std::function<bool(const TensorSpec&)>;

  /// The lengths of axes come from a few lengths that are drawn at the beginning, so that shapes
  /// often match. Shapes have at most `max_elements` elements.
  Draft(Choices& choices, int64_t max_elements);
  /// A draft of the body of a scan, with the values `locals`.
  Draft(Draft& enclosing, Tensors locals);

  Choices& choices;
  Recipe recipe;

  const TensorSpec& spec(int value) const { return specs_[static_cast<size_t>(value)]; }
  const Shape& shape(int value) const { return spec(value).shape; }
  DType dtype(int value) const { return spec(value).dtype; }
  int value_count() const { return static_cast<int>(specs_.size()); }
  bool is_internal(int value) const;
  /// The largest number of elements that a result may have, and of multiplications that computing
  /// it may take.
  int64_t max_elements() const { return max_elements_; }

  // ---- drawing
  int64_t axis_length();  ///< length of an axis
  Shape shape_of_rank(int rank);
  DType floating_dtype();  ///< usually the main dtype of the recipe
  int input(const TensorSpec& spec);
  /// A random earlier value for which `accepts` is true, or a new input with the spec that `make`
  /// returns.
  int operand(const Accepts& accepts, const std::function<TensorSpec()>& make);
  int numeric_value();  ///< a value of any dtype except bool
  int floating_value(int min_rank = 0);
  int integer_value();  ///< a value of small integers
  int boolean_value();
  int same_shape(int value);  ///< a value with the shape and dtype of `value`
  /// A value that broadcasts with `value`, usually of its dtype.
  int broadcasting_value(int value);
  int positive_value();  ///< a floating-point value >= 0.5
  int value_below_1();   ///< a floating-point value within (-1, 1)
  int axis(int value);
  /// A view of the value: a slice, a permutation or a repetition of it.
  int view_of(int value);
  /// The value made smaller (times 1/8, or tanh), for results that would otherwise grow along the
  /// graph.
  int damped_value(int value);

  // ---- calling
  /// Adds a call and returns its result. If cr.ops refuses the call, fails with its error.
  int call(const std::string& function, std::vector<Argument> arguments, size_t result = 0);
  int scan(Node node, size_t result);
  /// Excludes the value from the random operands of later calls.
  int mark_internal(int value);

 private:
  int add(Node node, const Tensors& results);
  int value_or_view(int value);  ///< the value, or at random a view of it

  Tensors abstract_tensors_;
  TensorSpecs specs_;
  std::vector<int64_t> axis_lengths_;
  int64_t max_elements_;
  DType floating_dtype_ = DType::float32;
};

/// A way to extend a draft: draws operands and adds a call of a function.
struct CallGenerator {
  std::string function;
  std::function<int(Draft&)> add;
};
const std::vector<CallGenerator>& call_generators();
std::vector<CallGenerator> regular_generators();
std::vector<CallGenerator> shape_generators();
std::vector<CallGenerator> indexing_generators();
std::vector<CallGenerator> product_generators();
std::vector<CallGenerator> image_generators();
std::vector<CallGenerator> nested_generators();
std::vector<CallGenerator> matrix_generators();
std::vector<CallGenerator> signal_generators();
std::vector<CallGenerator> sampling_generators();
std::vector<CallGenerator> special_generators();  ///< matrices, signals and sampling
std::vector<CallGenerator> edge_generators();

/// Makes a random program from choices.
Recipe draw_recipe(Choices& choices);

}  // namespace crescent::random_programs
