// Draft: a recipe in the making. Operands are values that are there or new inputs, often seen
// through a view; every call is inferred at once, so that what does not fit is left out.
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

  /// Axis lengths are drawn once per draft, so that shapes of different values match; a value has
  /// at most `most_elements` elements.
  Draft(Choices& choices, int64_t most_elements);
  /// A draft of a scan's body, whose values are those of `locals`.
  Draft(Draft& around, Tensors locals);

  Choices& choices;
  Recipe recipe;

  const TensorSpec& spec(int value) const { return specs_[static_cast<size_t>(value)]; }
  const Shape& shape(int value) const { return spec(value).shape; }
  DType dtype(int value) const { return spec(value).dtype; }
  int values() const { return static_cast<int>(specs_.size()); }
  bool is_inner(int value) const;
  /// The limit for the elements of a result, and for the multiplications that it takes.
  int64_t most_elements() const { return most_elements_; }

  // ---- drawing
  int64_t length();  ///< of an axis
  Shape shape_of_rank(int rank);
  DType floating();  ///< mostly the recipe's own
  int input(const TensorSpec& spec);
  /// An existing value that `accepts` allows, or a new input with a spec from `make`.
  int operand(const Accepts& accepts, const std::function<TensorSpec()>& make);
  int number();  ///< of any dtype but bool
  int fraction(int least_rank = 0);
  int whole();  ///< small integers
  int boolean();
  int same_shape(int value);  ///< as value, of its dtype
  int partner(int value);     ///< broadcasts with value, mostly of its dtype
  int positive();             ///< a fraction >= 0.5
  int unit();                 ///< a fraction within (-1, 1)
  int axis(int value);
  /// A view of the value: a part of it, its elements in another order, or repeated.
  int view(int value);
  /// Reduces the value to about as many elements as its operands had, so that graphs grow deep and
  /// not wide.
  int tame(int value);

  // ---- calling
  /// Fails as cr.ops does; then nothing was added.
  int call(const std::string& function, std::vector<Argument> arguments, size_t result = 0);
  int scan(Node node, size_t result);
  /// Marks the value as inner: only steps that know its number may use it.
  int inner(int value);

 private:
  int add(Node node, const Tensors& results);
  int seen(int value);  ///< the value itself, or a view of it

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

/// The recipe that these choices stand for.
Recipe draw_recipe(Choices& choices);

}  // namespace crescent::random_programs
