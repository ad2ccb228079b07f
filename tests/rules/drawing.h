// Draws random programs that match the left side of a rewrite rule: its function calls get random
// options; its variables (letters) become inputs of random shapes or, for rules about products,
// products.
#pragma once
#include <map>

#include "compile/passes/rewriting/rules.h"
#include "rules/dice.h"

namespace crescent::rules {

class Drawing {
 public:
  /// Common properties of the values in a program: every letter of the rule broadcasts to `shape`.
  struct CommonProperties {
    Shape shape;
    DType dtype;
    bool may_have_products;  ///< whether letters x and z may be products and convolutions
  };
  Drawing(Dice& dice, CommonProperties common) : dice_(dice), common_(std::move(common)) {}

  /// A program with one result, for this term. Throws an Error if the drawn dtypes or shapes are
  /// invalid.
  Program program(const passes::Term& term);

 private:
  int value(const passes::Term& term, DType dtype);
  int letter(char name, DType dtype);
  int call(const passes::Term& term, DType dtype);
  int elementwise(const passes::Term& term, DType dtype);
  int movement(const passes::Term& term, DType dtype);
  int pooling(const passes::Term& term, DType dtype);
  int any_operands(const passes::Term& term, DType dtype);
  int batch_norm_backward(DType dtype);
  int product(DType dtype, bool may_have_more = true);
  int with_bias(int value, DType dtype);
  int convolution(DType dtype);
  int with_post_ops(DType dtype);

  int input(const Shape& shape, DType dtype);
  int number(double number, DType dtype);
  int add(OpPtr op, std::vector<int> inputs);
  template <class T>
  int add(T op, std::vector<int> inputs) {
    return add(OpPtr(std::make_shared<const T>(std::move(op))), std::move(inputs));
  }
  Shape broadcastable_shape(const Shape& shape);
  Shape shape(int value) const { return program_.values[static_cast<size_t>(value)].shape; }

  Dice& dice_;
  CommonProperties common_;
  Program program_;
  std::map<char, int> letters_;
};

}  // namespace crescent::rules
