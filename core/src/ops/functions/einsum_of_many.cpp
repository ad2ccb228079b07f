// einsum of any number of operands, which may repeat a letter.
#include "crescent/ops/creation.h"
#include "ops/einsum_of_two.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

/// Replaces axes with the same letter by their diagonal until no letter is repeated.
void replace_by_diagonals(std::string& letters, Tensor& x) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t repeat_position = letters.find(letters[i], i + 1);
    if (letters[i] == '.' || repeat_position == std::string::npos) continue;
    if (letters.find('.') != std::string::npos)
      fail("einsum: a letter twice beside '...' is not supported, got '", letters, "'");
    x = ops::diagonal(x, 0, static_cast<int>(i), static_cast<int>(repeat_position));
    letters += letters[i];
    letters.erase(repeat_position, 1);
    letters.erase(i--, 1);
  }
}

struct Subscripts {
  std::vector<std::string> inputs;
  std::string output;
};

Subscripts subscripts_of(const std::string& subscripts, size_t operand_count) {
  std::string text;
  for (char c : subscripts)
    if (c != ' ') text += c;
  const size_t arrow_index = text.find("->");
  Subscripts equation;
  std::string left_side = text.substr(0, arrow_index);
  for (size_t comma_index; (comma_index = left_side.find(',')) != std::string::npos;
       left_side.erase(0, comma_index + 1))
    equation.inputs.push_back(left_side.substr(0, comma_index));
  equation.inputs.push_back(left_side);
  if (equation.inputs.size() != operand_count)
    fail("einsum: '", subscripts, "' is for ", equation.inputs.size(), " operands, got ",
         operand_count);
  if (arrow_index != std::string::npos) {
    equation.output = text.substr(arrow_index + 2);
    return equation;
  }
  // If the equation has no "->", the output has the letters that occur once, in alphabetical order.
  std::string all_letters;
  for (const std::string& input : equation.inputs) all_letters += input;
  if (all_letters.find("...") != std::string::npos) equation.output = "...";
  std::sort(all_letters.begin(), all_letters.end());
  for (char c : all_letters)
    if (c != '.' && std::count(all_letters.begin(), all_letters.end(), c) == 1)
      equation.output += c;
  return equation;
}

}  // namespace

Tensor einsum(const std::string& subscripts, std::span<const Tensor> tensors) {
  Tensors operands = promoted(tensors);
  Subscripts equation = subscripts_of(subscripts, operands.size());
  auto& inputs = equation.inputs;
  for (size_t i = 0; i < operands.size(); ++i) replace_by_diagonals(inputs[i], operands[i]);
  while (operands.size() > 2) {
    // Contracts the first two operands; the result keeps the letters that other operands or the
    // output contain, and the axes of '...'.
    const std::string contracted_letters = inputs[0] + inputs[1];
    std::string needed_letters = equation.output;
    std::string kept_letters = contracted_letters.find('.') == std::string::npos ? "" : "...";
    for (size_t i = 2; i < inputs.size(); ++i) needed_letters += inputs[i];
    for (char c : contracted_letters)
      if (c != '.' && needed_letters.find(c) != std::string::npos &&
          kept_letters.find(c) == std::string::npos)
        kept_letters += c;
    operands[1] = einsum_of_two(inputs[0] + "," + inputs[1] + "->" + kept_letters,
                                Tensors{operands[0], operands[1]});
    inputs[1] = kept_letters;
    inputs.erase(inputs.begin());
    operands.erase(operands.begin());
  }
  std::string text = inputs.front();
  if (inputs.size() > 1) text += "," + inputs[1];
  const Tensor result = einsum_of_two(text + "->" + equation.output, operands);
  const bool keeps_dtype = tensors.size() == 1 && tensors.front().dtype() != DType::int8;
  return keeps_dtype ? ops::cast(result, tensors.front().dtype()) : result;
}

}  // namespace crescent::ops
