// einsum of one or two operands: sums, transposes and one batched product. The axes of "..." get
// letters of their own, assigned from the last axis on, so that the axes of two operands are
// matched as in broadcasting.
#include <string>

#include "ops/einsum_of_two.h"
#include "program/support.h"

namespace crescent {
namespace {

constexpr char kDots = '*';  // stands for "..." while the equation is parsed
// letters of the axes of "..."; the last letter names the last axis
constexpr std::string_view kDotLetters = "01234567";
static_assert(kDotLetters.size() == Shape::kMaxRank);

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

[[noreturn]] void fail_equation(const std::string& equation, std::string_view why) {
  fail("einsum: equation '", equation, "' ", why);
}

bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

/// Without an arrow the output has "..." and the letters that appear once, in alphabetical order.
std::string implied_output(const std::vector<std::string>& inputs) {
  std::string all_letters, output;
  for (const std::string& letters : inputs) all_letters += letters;
  std::sort(all_letters.begin(), all_letters.end());
  if (has(all_letters, kDots)) output += kDots;
  for (char c : all_letters) {
    if (c != kDots && std::count(all_letters.begin(), all_letters.end(), c) == 1) output += c;
  }
  return output;
}

Equation parse(std::string text) {
  const std::string whole_text = text;
  std::erase(text, ' ');
  if (has(text, kDots)) fail_equation(whole_text, "may hold letters, '...', commas and one '->'");
  for (size_t position = 0; (position = text.find("...", position)) != std::string::npos;
       ++position)
    text.replace(position, 3, 1, kDots);
  const size_t arrow = text.find("->");
  Equation e;
  e.inputs.emplace_back();
  for (char c : text.substr(0, arrow)) {
    if (c == ',') {
      e.inputs.emplace_back();
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == kDots) {
      if (has(e.inputs.back(), c))
        fail_equation(whole_text,
                      "repeats a letter or '...' within one operand, which is not supported");
      e.inputs.back() += c;
    } else {
      fail_equation(whole_text, "may hold letters, '...', commas and one '->'");
    }
  }
  e.output = arrow == std::string::npos ? implied_output(e.inputs) : text.substr(arrow + 2);
  for (char c : e.output) {
    const bool is_known = std::any_of(e.inputs.begin(), e.inputs.end(),
                                      [&](const std::string& in) { return has(in, c); });
    if (!is_known || std::count(e.output.begin(), e.output.end(), c) != 1)
      fail_equation(whole_text, "has a wrong output");
  }
  return e;
}

void replace_dots(std::string& letters, std::string_view axis_letters) {
  if (const size_t position = letters.find(kDots); position != std::string::npos)
    letters.replace(position, 1, axis_letters);
}

/// Replaces "..." in each input by a letter for each axis that it stands for.
void spell_out_dots(const std::string& equation, Equation& e, std::span<const Tensor> tensors) {
  size_t max_dots = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::string& letters = e.inputs[i];
    const size_t letter_count = letters.size() - has(letters, kDots),
                 rank = static_cast<size_t>(tensors[i].rank());
    if (rank < letter_count || (rank > letter_count && !has(letters, kDots)))
      fail_equation(equation, concat("gives operand ", i, " ", letter_count, " axes, its shape is ",
                                     tensors[i].shape()));
    max_dots = std::max(max_dots, rank - letter_count);
    replace_dots(letters, kDotLetters.substr(kDotLetters.size() - (rank - letter_count)));
  }
  if (max_dots > 0 && !has(e.output, kDots))
    fail_equation(equation, "has '...' in an operand and not in the output");
  replace_dots(e.output, kDotLetters.substr(kDotLetters.size() - max_dots));
}

/// Drops the axes of "..." that have size 1 in x and a larger size in the other operand, because
/// they only broadcast.
void drop_stretched(Tensor& x, std::string& letters, const Tensor& other,
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

/// Sums x over its letters that `keep` does not contain, and drops these letters from `letters`.
Tensor sum_out(const Tensor& x, std::string& letters, const std::string& keep) {
  ops::Axes axes;
  std::string kept_letters;
  for (size_t i = 0; i < letters.size(); ++i) {
    if (has(keep, letters[i])) {
      kept_letters += letters[i];
    } else {
      axes.push_back(static_cast<int>(i));
    }
  }
  letters = kept_letters;
  return axes.empty() ? x : ops::sum(x, axes);
}

Tensor arrange(const Tensor& x, const std::string& from, const std::string& to) {
  std::vector<int> axes;
  for (char c : to) axes.push_back(static_cast<int>(from.find(c)));
  return axes.empty() ? x : ops::transpose(x, axes);
}

/// Returns the letters of `a` for which test(letter) is true, in order.
template <class Test>
std::string letters_where(const std::string& a, Test test) {
  std::string letters;
  std::copy_if(a.begin(), a.end(), std::back_inserter(letters), test);
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
Tensor product(Tensor a, std::string in_a, Tensor b, std::string in_b, const std::string& output) {
  a = sum_out(a, in_a, in_b + output);
  b = sum_out(b, in_b, in_a + output);
  const std::string batch_letters =
      letters_where(in_a, [&](char c) { return has(in_b, c) && has(output, c); });
  const std::string shared_letters =
      letters_where(in_a, [&](char c) { return has(in_b, c) && !has(output, c); });
  const std::string letters_of_a_only = letters_where(in_a, [&](char c) { return !has(in_b, c); });
  const std::string letters_of_b_only = letters_where(in_b, [&](char c) { return !has(in_a, c); });
  const Shape batch_dims = dims_of(a, in_a, batch_letters),
              dims_a = dims_of(a, in_a, letters_of_a_only),
              dims_b = dims_of(b, in_b, letters_of_b_only);
  const int64_t n = known_size(batch_dims), k = known_size(dims_of(a, in_a, shared_letters));
  const Tensor x =
      ops::reshape(arrange(a, in_a, batch_letters + letters_of_a_only + shared_letters),
                   {n, known_size(dims_a), k});
  const Tensor y =
      ops::reshape(arrange(b, in_b, batch_letters + shared_letters + letters_of_b_only),
                   {n, k, known_size(dims_b)});
  const Tensor z = ops::reshape(ops::matmul(x, y), batch_dims.concat(dims_a).concat(dims_b));
  return arrange(z, batch_letters + letters_of_a_only + letters_of_b_only, output);
}

}  // namespace

Tensor einsum_of_two(const std::string& equation, std::span<const Tensor> tensors) {
  Equation e = parse(equation);
  if (e.inputs.size() != tensors.size() || tensors.size() > 2) {
    fail_equation(equation, concat("has ", e.inputs.size(), " operands for ", tensors.size(),
                                   " tensors; one or two are supported"));
  }
  spell_out_dots(equation, e, tensors);
  if (tensors.size() == 2) {
    Tensor a = tensors[0], b = tensors[1];
    drop_stretched(a, e.inputs[0], tensors[1], e.inputs[1]);
    drop_stretched(b, e.inputs[1], a, e.inputs[0]);
    for (size_t i = 0; i < e.inputs[0].size(); ++i) {
      const size_t position = e.inputs[1].find(e.inputs[0][i]);
      if (position == std::string::npos) continue;
      const int64_t x = a.dim(static_cast<int>(i)), y = b.dim(static_cast<int>(position));
      const bool is_dot = has(std::string(kDotLetters), e.inputs[0][i]);
      if (x >= 0 && y >= 0 && x != y)
        fail_equation(equation, concat("gives '", is_dot ? "..." : std::string(1, e.inputs[0][i]),
                                       "' the lengths ", x, " and ", y));
    }
    return product(a, e.inputs[0], b, e.inputs[1], e.output);
  }
  const Tensor x = sum_out(tensors[0], e.inputs[0], e.output);
  return arrange(x, e.inputs[0], e.output);
}

}  // namespace crescent
