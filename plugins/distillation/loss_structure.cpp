#include "loss_structure.h"

#include <algorithm>

#include "crescent/base/structure.h"
#include "crescent/ops/ops.h"

namespace crescent {
namespace {

bool is_nested(const Value& losses) { return losses.is_list() || losses.is_dict(); }

Value decoded(const Value& value) {
  if (value.is_null() || value == Value(false)) return {};
  if (value.is_list()) {
    List items;
    for (const Value& item : value.as_list()) items.push_back(decoded(item));
    return items;
  }
  if (value.is_dict() && !value.as_dict().contains("class_name")) {
    Dict entries;
    for (const DictEntry& entry : value.as_dict()) entries.set(entry.key, decoded(entry.value));
    return entries;
  }
  const auto loss = get<Loss>(value);
  return value.is_string() ? value : Value(loss);
}

Value encoded(const Value& losses) {
  if (const auto loss = losses.object_as<Loss>()) return serialize(loss.get());
  if (losses.is_list()) {
    List items;
    for (const Value& item : losses.as_list()) items.push_back(encoded(item));
    return items;
  }
  if (!losses.is_dict()) return losses;
  Dict entries;
  for (const DictEntry& entry : losses.as_dict()) entries.set(entry.key, encoded(entry.value));
  return entries;
}

bool are_nested_alike(const Value& losses, const Value& outputs) {
  if (losses.is_list()) {
    if (!outputs.is_list()) return false;
    const List &items = losses.as_list(), &output_items = outputs.as_list();
    return std::equal(items.begin(), items.end(), output_items.begin(), output_items.end(),
                      are_nested_alike);
  }
  if (!losses.is_dict()) return !is_nested(outputs);
  if (!outputs.is_dict() || losses.as_dict().size() != outputs.as_dict().size()) return false;
  const Dict& output_entries = outputs.as_dict();
  return std::all_of(losses.as_dict().begin(), losses.as_dict().end(), [&](const DictEntry& entry) {
    const Value* output = output_entries.find(entry.key);
    return output && are_nested_alike(entry.value, *output);
  });
}

/// Appends the results of `compute` to `terms`; the arguments are nested alike.
void append_losses(const Value& losses, const Value& teacher, const Value& student,
                   const ComputeOutputLoss& compute, Tensors& terms) {
  if (losses.is_list()) {
    for (size_t i = 0; i < losses.as_list().size(); ++i)
      append_losses(losses.as_list()[i], teacher.as_list()[i], student.as_list()[i], compute,
                    terms);
  } else if (losses.is_dict()) {
    for (const DictEntry& entry : losses.as_dict())
      append_losses(entry.value, teacher.as_dict().at(entry.key), student.as_dict().at(entry.key),
                    compute, terms);
  } else if (!losses.is_null()) {
    terms.push_back(compute({get<Loss>(losses), losses.is_string()}, Codec<Tensor>::decode(teacher),
                            Codec<Tensor>::decode(student)));
  }
}

}  // namespace

LossStructure Codec<LossStructure>::decode(const Value& value) { return {decoded(value)}; }
Value Codec<LossStructure>::encode(const LossStructure& member) { return encoded(member.losses); }
std::string Codec<LossStructure>::type() { return "a loss or a structure of losses"; }

Tensor OutputLoss::operator()(const Tensor& teacher, const Tensor& student) const {
  return ops::mean(is_function ? loss->call(teacher, student) : (*loss)(teacher, student));
}

bool has_loss(const Value& losses) {
  const List leaves = leaves_of(losses);
  return std::any_of(leaves.begin(), leaves.end(),
                     [](const Value& leaf) { return !leaf.is_null(); });
}

void expect_same_nesting(const Value& losses, const Value& outputs) {
  if (!are_nested_alike(losses, outputs))
    fail("Loss structure mismatch. Loss structure: ", encoded(losses),
         ", Output structure: ", structure_text(structure_of(outputs)));
}

Tensor sum_of_losses(const LossStructure& structure, const Value& teacher_outputs,
                     const Value& student_outputs, const ComputeOutputLoss& compute) {
  expect_same_nesting(structure.losses, teacher_outputs);
  expect_same_nesting(structure.losses, student_outputs);
  Tensors terms;
  append_losses(structure.losses, teacher_outputs, student_outputs, compute, terms);
  return terms.size() == 1 ? terms.front() : ops::add_n(terms);
}

}  // namespace crescent
