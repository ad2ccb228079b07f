// einsum of one or two operands, as transposes, one batched matmul and reshapes.
#include <algorithm>

#include "crescent/ops.h"

namespace crescent {
namespace {

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

/// Letters that stand for "...": upper half of the byte range, so that they meet no letter of the user.
std::string dots(int count) {
  std::string letters;
  for (int i = 0; i < count; ++i) letters += char(0x80 + Shape::kMaxRank - count + i);
  return letters;
}

/// "..." replaced by as many letters as the operand has axes left.
std::string expand(const std::string& term, int rank, const std::string& equation) {
  const size_t at = term.find("...");
  if (at == std::string::npos) {
    if (int(term.size()) != rank) fail("einsum: \"", equation, "\" names ", term.size(), " axes for an operand of ", rank);
    return term;
  }
  const int rest = rank - int(term.size() - 3);
  if (rest < 0) fail("einsum: \"", equation, "\" names more axes than an operand of ", rank, " has");
  return term.substr(0, at) + dots(rest) + term.substr(at + 3);
}

Equation parse(const std::string& text, std::span<const Tensor> tensors) {
  std::string plain;
  for (char c : text)
    if (c != ' ') plain += c;
  const size_t arrow = plain.find("->");
  if (arrow == std::string::npos) fail("einsum: expected an equation with \"->\", got \"", text, "\"");
  Equation equation;
  std::string terms = plain.substr(0, arrow) + ",";
  for (size_t comma; (comma = terms.find(',')) != std::string::npos; terms.erase(0, comma + 1))
    equation.inputs.push_back(terms.substr(0, comma));
  if (equation.inputs.size() != tensors.size() || tensors.size() > 2 || tensors.empty())
    fail("einsum: \"", text, "\" has ", equation.inputs.size(), " operands, got ", tensors.size(), " tensors (1 or 2 are supported)");
  int most_dots = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string& term = equation.inputs[i];
    if (term.find("...") != std::string::npos) most_dots = std::max(most_dots, tensors[i].rank() - int(term.size()) + 3);
    equation.inputs[i] = expand(term, tensors[i].rank(), text);
  }
  equation.output = plain.substr(arrow + 2);
  if (const size_t at = equation.output.find("..."); at != std::string::npos) equation.output.replace(at, 3, dots(most_dots));
  for (const std::string& term : equation.inputs)
    for (size_t i = 0; i < term.size(); ++i)
      if (term.find(term[i], i + 1) != std::string::npos) fail("einsum: \"", text, "\" repeats an axis within one operand");
  for (char c : equation.output)
    if (std::none_of(equation.inputs.begin(), equation.inputs.end(), [c](const std::string& t) { return t.find(c) != std::string::npos; }))
      fail("einsum: output axis '", c, "' of \"", text, "\" is in no operand");
  return equation;
}

bool in(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

/// Sums the axes that neither the output nor the other operand has.
Tensor sum_unused(const Tensor& x, std::string& letters, const std::string& others) {
  ops::Axes axes;
  std::string kept;
  for (size_t i = 0; i < letters.size(); ++i) (in(others, letters[i]) ? (void)(kept += letters[i]) : axes.push_back(int(i)));
  letters = kept;
  return axes.empty() ? x : ops::sum(x, axes);
}

Tensor ordered(const Tensor& x, const std::string& from, const std::string& to) {
  std::vector<int> axes;
  for (char c : to) axes.push_back(int(from.find(c)));
  return from == to ? x : ops::transpose(x, axes);
}

int64_t dim_of(char c, const Equation& e, std::span<const Tensor> tensors) {
  int64_t dim = -1;
  for (size_t i = 0; i < e.inputs.size(); ++i)
    if (const size_t at = e.inputs[i].find(c); at != std::string::npos) {
      const int64_t here = tensors[i].dim(int(at));
      if (dim >= 0 && here >= 0 && dim != here) fail("einsum: an axis has sizes ", dim, " and ", here, " in shapes ", tensors[0].shape(), " and ", tensors[1].shape());
      if (dim < 0) dim = here;
    }
  return dim;
}

Shape shape_of(const std::string& letters, const Equation& e, std::span<const Tensor> tensors) {
  Shape shape;
  for (char c : letters) shape.append(dim_of(c, e, tensors));
  return shape;
}

Tensor product(const Equation& e, std::span<const Tensor> tensors) {
  std::string a = e.inputs[0], b = e.inputs[1];
  const Tensor x = sum_unused(tensors[0], a, b + e.output), y = sum_unused(tensors[1], b, a + e.output);
  std::string batch, summed, left, right;
  for (char c : a) (!in(b, c) ? left : in(e.output, c) ? batch : summed) += c;
  for (char c : b)
    if (!in(a, c)) right += c;
  const Shape batch_shape = shape_of(batch, e, tensors), left_shape = shape_of(left, e, tensors), right_shape = shape_of(right, e, tensors);
  const int64_t m = left_shape.size(), k = shape_of(summed, e, tensors).size(), n = right_shape.size();
  const Tensor p = ops::reshape(ordered(x, a, batch + left + summed), batch_shape.concat({m, k}));
  const Tensor q = ops::reshape(ordered(y, b, batch + summed + right), batch_shape.concat({k, n}));
  const Tensor z = ops::reshape(ops::matmul(p, q), batch_shape.concat(left_shape).concat(right_shape));
  return ordered(z, batch + left + right, e.output);
}

}  // namespace

Tensor ops::einsum(const std::string& text, std::span<const Tensor> tensors) {
  const Equation e = parse(text, tensors);
  const Shape shape = shape_of(e.output, e, tensors);
  for (const Tensor& tensor : tensors)
    if (!tensor.shape().is_known()) return Tensor::abstract({tensors[0].dtype(), shape});
  if (tensors.size() == 2) return product(e, tensors);
  std::string letters = e.inputs[0];
  const Tensor x = sum_unused(tensors[0], letters, e.output);
  return ordered(x, letters, e.output);
}

}  // namespace crescent
