// Draft: a recipe under construction. Operands are existing values or new inputs, often seen
// through a view; every call is inferred at once, so that invalid calls are left out.
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

  /// Axis lengths are drawn once, so that shapes match, and shapes have at most `most_elements`
  /// elements.
  Draft(Choices& choices, int64_t most_elements);
  /// A draft of a scan's body, with the given local values.
  Draft(Draft& around, Tensors locals);

  Choices& choices;
  Recipe recipe;

  const TensorSpec& spec(int value) const { return specs_[static_cast<size_t>(value)]; }
  const Shape& shape(int value) const { return spec(value).shape; }
  DType dtype(int value) const { return spec(value).dtype; }
  int values() const { return static_cast<int>(specs_.size()); }
  bool is_inner(int value) const;
  /// The maximum number of elements of a result, and of multiplications for it.
  int64_t most_elements() const { return most_elements_; }

  // ---- drawing
  int64_t length();  ///< the length of an axis
  Shape shape_of_rank(int rank);
  DType floating();  ///< mostly the dtype of the recipe
  int input(const TensorSpec& spec);
  /// An existing value that is accepted, or an input of that dtype with a shape that `make`
  /// returns.
  int operand(const Accepts& accepts, const std::function<TensorSpec()>& make);
  int number();  ///< of any dtype but bool
  int fraction(int least_rank = 0);
  int whole();  ///< small integers
  int boolean();
  int same_shape(int value);  ///< a value with the shape and dtype of `value`
  int partner(int value);     ///< a value that broadcasts with `value`, mostly of its dtype
  int positive();             ///< a fraction >= 0.5
  int unit();                 ///< a fraction within (-1, 1)
  int axis(int value);
  /// A part of the value, or its elements in another order, or repeated.
  int view(int value);
  /// Limits the number of elements, so that graphs grow deep instead of wide.
  int tame(int value);

  // ---- calling
  /// Adds a call; fails as cr.ops does, without adding anything.
  int call(const std::string& function, std::vector<Argument> arguments, size_t result = 0);
  int scan(Node node, size_t result);
  /// Marks the value as inner: only operations that know its number can read it from now on.
  int inner(int value);

 private:
  int add(Node node, const Tensors& results);
  int seen(int value);  ///< the value, possibly through views

  Tensors abstract_;
  TensorSpecs specs_;
  std::vector<int64_t> lengths_;
  int64_t most_elements_;
  DType floating_ = DType::float32;
};

/// A kind of step: draws operands and calls a function.
struct Row {
  std::string function;
  std::function<int(Draft&)> add;
};
const std::vector<Row>& rows();
std::vector<Row> regular_rows();
std::vector<Row> shape_rows();
std::vector<Row> indexing_rows();
std::vector<Row> product_rows();
std::vector<Row> image_rows();
std::vector<Row> nested_rows();
std::vector<Row> matrix_rows();
std::vector<Row> signal_rows();
std::vector<Row> sampling_rows();
std::vector<Row> special_rows();  ///< these three
std::vector<Row> edge_rows();

/// Makes the recipe that the choices determine.
Recipe draw_recipe(Choices& choices);

}  // namespace crescent::random_programs
