#include "compile/passes/rewriting/rewriting.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "tensor/elements.h"

namespace crescent::passes {
namespace {

constexpr size_t kMaxScannedBytes = 64 << 10;

/// The number after conversion to the dtype; empty for dtypes without numbers.
std::optional<double> converted_number(double number, DType dtype) {
  if (dtype == DType::complex64 || dtype == DType::string) return {};
  return with_element_type(dtype,
                           [&]<class T>(T* type) { return number_of(element_of(number, type)); });
}

/// The number that all elements of the constant have, if they are equal.
std::optional<double> only_number(const Tensor& constant) {
  const size_t bytes = constant.bytes(), element_bytes = size_of(constant.dtype());
  if (bytes == 0 || bytes > kMaxScannedBytes) return {};
  if (constant.dtype() == DType::complex64 || constant.dtype() == DType::string) return {};
  const auto* first_element = static_cast<const std::byte*>(constant.raw());
  if (std::memcmp(first_element, first_element + element_bytes, bytes - element_bytes) != 0)
    return {};
  const double number = with_element_type(constant.dtype(), [&]<class T>(T*) {
    return number_of(*reinterpret_cast<const T*>(first_element));
  });
  if (is_integer(constant.dtype()) && std::abs(number) >= 0x1p53) return {};
  return number;
}

}  // namespace

std::vector<bool> values_read(const Program& program) {
  std::vector<bool> is_read(program.values.size(), false);
  auto mark = [&](int value) { is_read[value] = true; };
  for (const Program::Instruction& i : program.code)
    std::for_each(i.inputs.begin(), i.inputs.end(), mark);
  std::for_each(program.outputs.begin(), program.outputs.end(), mark);
  for (const Program::Binding& b : program.variables) {
    if (b.result >= 0) mark(b.result);
  }
  return is_read;
}

bool rewrite_each(Program& program, const Rewrite& rewrite) {
  Rewriting rewriting(program);
  for (Instruction& instruction : std::exchange(program.code, {}))
    rewriting.visit(std::move(instruction), rewrite);
  rewriting.finish();
  return rewriting.has_changed_;
}

Rewriting::Rewriting(Program& program)
    : program_(program),
      producers_(program.values.size()),
      replacements_(program.values.size()),
      read_counts_(program.values.size()),
      constant_indices_(program.values.size(), -1),
      is_fixed_between_writes_(program.values.size()) {
  std::iota(replacements_.begin(), replacements_.end(), 0);
  auto add_reads = [&](int value, int read_count) { read_counts_[value] += read_count; };
  for (const Instruction& i : program.code) {
    for (int value : i.inputs) add_reads(value, 1);
  }
  // An output counts as read twice, so that read_once() is false.
  for (int value : program.outputs) add_reads(value, 2);
  for (const Program::Binding& b : program.variables) {
    if (b.result >= 0) add_reads(b.result, 2);
    is_fixed_between_writes_[b.value] = b.result < 0;
  }
  for (size_t c = 0; c < program.constants.size(); ++c) {
    constant_indices_[program.constants[c].value] = static_cast<int>(c);
    is_fixed_between_writes_[program.constants[c].value] = true;
  }
}

std::optional<double> Rewriting::uniform(int value) const {
  if (auto* fill = defining_op<Fill>(value)) return converted_number(fill->value, fill->dtype);
  const int constant = constant_indices_[value];
  if (constant < 0) return {};
  return only_number(program_.constants[constant].tensor);
}

void Rewriting::visit(Instruction instruction, const Rewrite& rewrite) {
  for (int& value : instruction.inputs) value = replacements_[value];
  scope_ = instruction.scope;
  const int value = rewrite(*this, instruction);
  value == kKeep ? keep(std::move(instruction)) : replace(instruction, value);
}

void Rewriting::keep(Instruction instruction) {
  code_.push_back(std::move(instruction));
  const auto& inputs = code_.back().inputs;
  const bool is_fixed = std::all_of(inputs.begin(), inputs.end(),
                                    [&](int value) { return is_fixed_between_writes(value); });
  for (int value : code_.back().outputs) {
    producers_[value] = &code_.back(), is_fixed_between_writes_[value] = is_fixed;
  }
}

void Rewriting::replace(const Instruction& instruction, int value) {
  const size_t old_value = instruction.outputs[0];
  assert(instruction.outputs.size() == 1 && spec(value) == spec(instruction.outputs[0]));
  replacements_[old_value] = value;
  read_counts_[value] += read_counts_[old_value];
  for (int input : instruction.inputs) --read_counts_[input];
  has_changed_ = true;
}

Instruction new_instruction(Program& program, OpPtr op, std::vector<int> inputs, int scope) {
  const TensorSpecs specs = program.specs_of(inputs);
  Instruction instruction{std::move(op), std::move(inputs), {}, scope};
  for (const TensorSpec& spec : instruction.op->infer(specs))
    instruction.outputs.push_back(program.add_value(spec));
  return instruction;
}

int Rewriting::add(OpPtr op, std::vector<int> inputs) {
  for (int value : inputs) ++read_counts_[value];
  Instruction instruction = new_instruction(program_, std::move(op), std::move(inputs), scope_);
  for (int value : instruction.outputs) {
    replacements_.push_back(value);
    producers_.push_back(nullptr);
    read_counts_.push_back(0);
    constant_indices_.push_back(-1);
    is_fixed_between_writes_.push_back(false);
  }
  const int first_output = instruction.outputs[0];
  keep(std::move(instruction));
  return first_output;
}

int Rewriting::add_unary(UnaryKind kind, int x) {
  Unary op;
  op.kind = kind;
  return add(op, {x});
}

int Rewriting::add_binary(BinaryKind kind, int a, int b) {
  Binary op;
  op.kind = kind;
  return add(op, {a, b});
}

int Rewriting::add_scalar(double number, DType dtype) {
  Fill op;
  op.dtype = dtype;
  op.value = number;
  return add(op, {});
}

int Rewriting::reshaped(int value, const Shape& shape) {
  if (this->shape(value) == shape) return value;
  Reshape op;
  op.shape = shape;
  return add(op, {value});
}

int Rewriting::broadcast_value(int value, const TensorSpec& target_spec) {
  if (spec(value) == target_spec) return value;
  if (dtype(value) != target_spec.dtype || !target_spec.shape.is_known()) return kKeep;
  BroadcastTo op;
  op.shape = target_spec.shape;
  return add(op, {value});
}

void Rewriting::finish() {
  auto rename = [&](int& value) { value = replacements_[value]; };
  for (int& value : program_.outputs) rename(value);
  for (Program::Binding& b : program_.variables) {
    if (b.result >= 0) rename(b.result);
  }
  program_.code.assign(std::make_move_iterator(code_.begin()),
                       std::make_move_iterator(code_.end()));
}

}  // namespace crescent::passes
