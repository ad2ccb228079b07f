// einsum of one or two operands: sums, transposes and one batched product. Each axis of "..." gets
// a letter of its own. The last axis gets the same letter in both operands, and so on backwards, so
// that the axes are matched as in broadcasting.
#include <string>

#include "ops/einsum_of_two.h"
#include "program/support.h"

namespace crescent {
namespace {

constexpr char kDotsLetter = '*';  // stands for "..." while the equation is parsed
// the letters that stand for the axes of "..."; the last letter stands for the last axis
constexpr std::string_view kDotLetters = "01234567";
static_assert(kDotLetters.size() == Shape::kMaxRank);

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

[[noreturn]] void fail_equation(const std::string& equation, std::string_view why) {
  fail("einsum: equation '", equation, "' ", why);
}

bool contains(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

/// The output of an equation without "->": "...", if an input has it, and the letters that appear
/// once, in alphabetical order.
std::string implied_output(const std::vector<std::string>& inputs) {
  std::string all_letters, output;
  for (const std::string& letters : inputs) all_letters += letters;
  std::sort(all_letters.begin(), all_letters.end());
  if (contains(all_letters, kDotsLetter)) output += kDotsLetter;
  for (char c : all_letters) {
    if (c != kDotsLetter && std::count(all_letters.begin(), all_letters.end(), c) == 1) output += c;
  }
  return output;
}

Equation parse(std::string text) {
  const std::string whole_text = text;
  std::erase(text, ' ');
  if (contains(text, kDotsLetter))
    fail_equation(whole_text, "may hold letters, '...', commas and one '->'");
  for (size_t position = 0; (position = text.find("...", position)) != std::string::npos;
       ++position)
    text.replace(position, 3, 1, kDotsLetter);
  const size_t arrow_index = text.find("->");
  Equation parsed_equation;
  parsed_equation.inputs.emplace_back();
  for (char c : text.substr(0, arrow_index)) {
    if (c == ',') {
      parsed_equation.inputs.emplace_back();
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == kDotsLetter) {
      if (contains(parsed_equation.inputs.back(), c))
        fail_equation(whole_text,
                      "repeats a letter or '...' within one operand, which is not supported");
      parsed_equation.inputs.back() += c;
    } else {
      fail_equation(whole_text, "may hold letters, '...', commas and one '->'");
    }
  }
  parsed_equation.output = arrow_index == std::string::npos ? implied_output(parsed_equation.inputs)
                                                            : text.substr(arrow_index + 2);
  for (char c : parsed_equation.output) {
    const bool is_input_letter =
        std::any_of(parsed_equation.inputs.begin(), parsed_equation.inputs.end(),
                    [&](const std::string& in) { return contains(in, c); });
    if (!is_input_letter ||
        std::count(parsed_equation.output.begin(), parsed_equation.output.end(), c) != 1)
      fail_equation(whole_text, "has a wrong output");
  }
  return parsed_equation;
}

void replace_dots(std::string& letters, std::string_view axis_letters) {
  if (const size_t position = letters.find(kDotsLetter); position != std::string::npos)
    letters.replace(position, 1, axis_letters);
}

/// Replaces "..." in each input by a letter for each axis that it stands for.
void spell_out_dots(const std::string& equation, Equation& parsed_equation,
                    std::span<const Tensor> tensors) {
  size_t max_dot_axes = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::string& letters = parsed_equation.inputs[i];
    const size_t letter_count = letters.size() - contains(letters, kDotsLetter),
                 rank = static_cast<size_t>(tensors[i].rank());
    if (rank < letter_count || (rank > letter_count && !contains(letters, kDotsLetter)))
      fail_equation(equation, concat("gives operand ", i, " ", letter_count, " axes, its shape is ",
                                     tensors[i].shape()));
    max_dot_axes = std::max(max_dot_axes, rank - letter_count);
    replace_dots(letters, kDotLetters.substr(kDotLetters.size() - (rank - letter_count)));
  }
  if (max_dot_axes > 0 && !contains(parsed_equation.output, kDotsLetter))
    fail_equation(equation, "has '...' in an operand and not in the output");
  replace_dots(parsed_equation.output, kDotLetters.substr(kDotLetters.size() - max_dot_axes));
}

/// Drops the axes of "..." that have size 1 in x and a larger size in the other operand, because
/// they only broadcast.
void drop_broadcast_axes(Tensor& x, std::string& letters, const Tensor& other,
                         const std::string& other_letters) {
  for (size_t i = letters.size(); i-- > 0;) {
    const size_t position = kDotLetters.find(letters[i]) == std::string::npos
                                ? std::string::npos
                                : other_letters.find(letters[i]);
    if (position == std::string::npos || x.dim(static_cast<int>(i)) != 1 ||
        other.dim(static_cast<int>(position)) == 1)
      continue;
    x = ops::squeeze(x, static_cast<int>(i));
    letters.erase(i, 1);
  }
}

/// Sums x over the axes whose letters `target_letters` does not contain, and drops these letters
/// from `letters`.
Tensor sum_out(const Tensor& x, std::string& letters, const std::string& target_letters) {
  ops::Axes axes;
  std::string kept_letters;
  for (size_t i = 0; i < letters.size(); ++i) {
    if (contains(target_letters, letters[i])) {
      kept_letters += letters[i];
    } else {
      axes.push_back(static_cast<int>(i));
    }
  }
  letters = kept_letters;
  return axes.empty() ? x : ops::sum(x, axes);
}

Tensor with_axis_order(const Tensor& x, const std::string& source_letters,
                       const std::string& target_letters) {
  std::vector<int> axes;
  for (char c : target_letters) axes.push_back(static_cast<int>(source_letters.find(c)));
  return axes.empty() ? x : ops::transpose(x, axes);
}

/// Returns the letters of `a` for which is_wanted(letter) is true, in order.
template <class Test>
std::string letters_where(const std::string& a, Test is_wanted) {
  std::string letters;
  std::copy_if(a.begin(), a.end(), std::back_inserter(letters), is_wanted);
  return letters;
}

Shape dims_of(const Tensor& x, const std::string& letters, const std::string& target_letters) {
  Shape shape;
  for (char c : target_letters) shape.append(x.dim(static_cast<int>(letters.find(c))));
  return shape;
}

/// Multiplies a (batch..., own axes of a..., shared...) by b (batch..., shared..., own axes of
/// b...) as one batched matrix product. Shared axes are summed over; batch axes are in both
/// operands and in the output.
Tensor product(Tensor a, std::string letters_a, Tensor b, std::string letters_b,
               const std::string& output) {
  a = sum_out(a, letters_a, letters_b + output);
  b = sum_out(b, letters_b, letters_a + output);
  const std::string batch_letters = letters_where(
      letters_a, [&](char c) { return contains(letters_b, c) && contains(output, c); });
  const std::string shared_letters = letters_where(
      letters_a, [&](char c) { return contains(letters_b, c) && !contains(output, c); });
  const std::string letters_of_a_only =
      letters_where(letters_a, [&](char c) { return !contains(letters_b, c); });
  const std::string letters_of_b_only =
      letters_where(letters_b, [&](char c) { return !contains(letters_a, c); });
  const Shape batch_dims = dims_of(a, letters_a, batch_letters),
              dims_a = dims_of(a, letters_a, letters_of_a_only),
              dims_b = dims_of(b, letters_b, letters_of_b_only);
  const int64_t n = known_size(batch_dims), k = known_size(dims_of(a, letters_a, shared_letters));
  const Tensor x = ops::reshape(
      with_axis_order(a, letters_a, batch_letters + letters_of_a_only + shared_letters),
      {n, known_size(dims_a), k});
  const Tensor y = ops::reshape(
      with_axis_order(b, letters_b, batch_letters + shared_letters + letters_of_b_only),
      {n, k, known_size(dims_b)});
  const Tensor z = ops::reshape(ops::matmul(x, y), batch_dims.concat(dims_a).concat(dims_b));
  return with_axis_order(z, batch_letters + letters_of_a_only + letters_of_b_only, output);
}

}  // namespace

Tensor einsum_of_two(const std::string& equation, std::span<const Tensor> tensors) {
  Equation parsed_equation = parse(equation);
  if (parsed_equation.inputs.size() != tensors.size() || tensors.size() > 2) {
    fail_equation(equation, concat("has ", parsed_equation.inputs.size(), " operands for ",
                                   tensors.size(), " tensors; one or two are supported"));
  }
  spell_out_dots(equation, parsed_equation, tensors);
  if (tensors.size() == 2) {
    Tensor a = tensors[0], b = tensors[1];
    drop_broadcast_axes(a, parsed_equation.inputs[0], tensors[1], parsed_equation.inputs[1]);
    drop_broadcast_axes(b, parsed_equation.inputs[1], a, parsed_equation.inputs[0]);
    for (size_t i = 0; i < parsed_equation.inputs[0].size(); ++i) {
      const size_t position = parsed_equation.inputs[1].find(parsed_equation.inputs[0][i]);
      if (position == std::string::npos) continue;
      const int64_t x = a.dim(static_cast<int>(i)), y = b.dim(static_cast<int>(position));
      const bool is_dot = contains(std::string(kDotLetters), parsed_equation.inputs[0][i]);
      if (x >= 0 && y >= 0 && x != y)
        fail_equation(
            equation,
            concat("gives '", is_dot ? "..." : std::string(1, parsed_equation.inputs[0][i]),
                   "' the lengths ", x, " and ", y));
    }
    return product(a, parsed_equation.inputs[0], b, parsed_equation.inputs[1],
                   parsed_equation.output);
  }
  const Tensor x = sum_out(tensors[0], parsed_equation.inputs[0], parsed_equation.output);
  return with_axis_order(x, parsed_equation.inputs[0], parsed_equation.output);
}

}  // namespace crescent
