#include "program/run_compiled.h"

#include <algorithm>
#include <cmath>

#include "crescent/base/mapped.h"
#include "crescent/device/lowering.h"
#include "crescent/program/op_types.h"
#include "program/program_cache.h"
#include "program/recording/recorder.h"
#include "program/recording/tape.h"

namespace crescent {
namespace {

/// Tensors with fewer elements stay in the cache of the processor even if ops run one by one, so
/// compiling the ops into one program has no advantage.
constexpr int64_t kMinLargeElements = 32768;

using Callee = std::function<Value(const Dict&)>;

// ---- arguments: tensors and other values

/// Stands for a tensor in arguments. Arguments with placeholders are the key of a compiled program.
struct TensorPlaceholder final : Object {
  std::string class_name() const override { return "Tensor"; }
};

const Tensor* tensor_in(const Value& value) {
  if (!value.is_object()) return nullptr;
  const auto* boxed = dynamic_cast<const BoxedTensor*>(value.as_object().get());
  return boxed ? &boxed->tensor : nullptr;
}

/// Whether predicate(leaf) is true for a leaf of the value, that is, a value that is neither a list
/// nor a dictionary.
template <class F>
bool any_leaf(const Value& value, const F& predicate) {
  const auto holds_leaf = [&](const Value& item) { return any_leaf(item, predicate); };
  const auto in_entry = [&](const DictEntry& entry) { return holds_leaf(entry.value); };
  if (value.is_list())
    return std::any_of(value.as_list().begin(), value.as_list().end(), holds_leaf);
  if (value.is_dict()) return std::any_of(value.as_dict().begin(), value.as_dict().end(), in_entry);
  return predicate(value);
}

bool is_large(const Tensor& tensor) {
  return tensor && tensor.in_memory() && tensor.shape().size() >= kMinLargeElements;
}

bool is_large_tensor(const Value& value) {
  const Tensor* tensor = tensor_in(value);
  return tensor && is_large(*tensor);
}

/// Whether the value cannot be part of a key or of a program: NaN, an object other than a tensor,
/// or a tensor without values.
bool is_unsuitable(const Value& value) {
  if (value.is_float()) return std::isnan(value.as_float());
  if (!value.is_object()) return false;
  const Tensor* tensor = tensor_in(value);
  return !tensor || !*tensor || !tensor->in_memory() || tensor->dtype() == DType::string;
}

bool is_worth_compiling(const Dict& arguments) {
  if (Recorder::current() || tapes_are_active()) return false;
  const auto any_leaf_is = [&](bool (*predicate)(const Value&)) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const DictEntry& entry) { return any_leaf(entry.value, predicate); });
  };
  return any_leaf_is(is_large_tensor) && !any_leaf_is(is_unsuitable);
}

const Value& placeholder() {
  static const Value placeholder = std::make_shared<TensorPlaceholder>();
  return placeholder;
}

/// Replaces the tensors in the value by placeholders and appends them to `tensors`.
Value extract_tensors(const Value& value, Tensors& tensors) {
  return mapped(value, [&](const Value& node) -> std::optional<Value> {
    const Tensor* tensor = tensor_in(node);
    if (!tensor) return std::nullopt;
    tensors.push_back(*tensor);
    return placeholder();
  });
}

/// Replaces placeholders by tensors; the inverse of extract_tensors().
Value insert_tensors(const Value& value, const Tensors& tensors) {
  size_t next_tensor = 0;
  return mapped(value, [&](const Value& node) -> std::optional<Value> {
    if (!(node == placeholder())) return std::nullopt;
    return Codec<Tensor>::encode(tensors[next_tensor++]);
  });
}

/// Whether the values are equal and their dictionaries have the same order, which determines the
/// order of their tensors.
bool is_same(const Value& a, const Value& b) {
  const auto same_entry = [](const DictEntry& x, const DictEntry& y) {
    return x.key == y.key && is_same(x.value, y.value);
  };
  if (a.is_list() && b.is_list()) return std::ranges::equal(a.as_list(), b.as_list(), is_same);
  if (a.is_dict() && b.is_dict()) return std::ranges::equal(a.as_dict(), b.as_dict(), same_entry);
  return a == b;
}

size_t hash_of(const Value& value) {
  auto hash = static_cast<size_t>(value.kind());
  if (value.is_bool()) detail::mix(hash, value.as_bool());
  if (value.is_number()) detail::mix(hash, detail::hash_field(value.as_float()));
  if (value.is_string()) detail::mix(hash, detail::hash_field(value.as_string()));
  if (value.is_list())
    for (const Value& item : value.as_list()) detail::mix(hash, hash_of(item));
  if (value.is_dict())
    for (const DictEntry& entry : value.as_dict()) {
      detail::mix(hash, detail::hash_field(entry.key));
      detail::mix(hash, hash_of(entry.value));
    }
  return hash;
}

// ---- cached programs

/// A compiled call and its key.
struct CompiledCall final : CachedProgram {
  CompiledCall(const Device& target_device, std::shared_ptr<const void> callee_id,
               Value call_arguments, const Tensors& inputs)
      : device(&target_device),
        function_id(std::move(callee_id)),
        arguments(std::move(call_arguments)),
        input_specs(specs_of(inputs)) {}
  size_t bytes() const override {
    constexpr size_t kArgumentBytes = 512;  // estimated bytes of the arguments
    return sizeof *this + kArgumentBytes +
           (input_specs.size() + output_specs.size()) * sizeof(TensorSpec) +
           (executable ? executable->bytes() : 0);
  }
  bool is_for(const CompiledCall& new_call) const {
    return device == new_call.device && function_id == new_call.function_id &&
           input_specs == new_call.input_specs && is_same(arguments, new_call.arguments);
  }
  size_t hash() const {
    size_t hash = hash_of(arguments);
    detail::mix(hash, detail::hash_field(function_id.get()));
    for (const TensorSpec& spec : input_specs) mix(hash, spec);
    return hash;
  }

  const Device* device;
  std::shared_ptr<const void> function_id;
  Value arguments;  ///< the arguments, with placeholders in place of tensors
  Value result;     ///< the result, with placeholders in place of tensors
  TensorSpecs input_specs, output_specs;
  std::unique_ptr<Executable> executable;  ///< null if single ops are as fast
};

/// The table is never destroyed, because threads of the device that its programs need may have
/// ended when static objects are destroyed.
ProgramTable& table() {
  static auto* table = new ProgramTable;
  return *table;
}

/// Whether the program has several ops that compute, and none with effects. Reshapes do not count.
bool has_several_pure_ops(const Program& program) {
  int64_t op_count = 0;
  for (const Program::Instruction& instruction : program.code) {
    if (instruction.op->effect() >= Effect::state) return false;
    op_count += instruction.op->name() != Reshape::kName;
  }
  return op_count > 1 && program.variables.empty();
}

void compile(CompiledCall& target_call, const Callee& call, Device& device) {
  const auto body = [&](const Tensors& inputs) {
    Tensors outputs;
    target_call.result =
        extract_tensors(call(insert_tensors(target_call.arguments, inputs).as_dict()), outputs);
    return outputs;
  };
  Program program = trace(body, target_call.input_specs);
  if (!has_several_pure_ops(program)) return;
  program = optimize(std::move(program));
  target_call.output_specs = program.specs_of(program.outputs);
  target_call.executable = crescent::compile(program, device);
}

/// Traces and compiles the call. If that fails, no program is stored: the call runs op by op and
/// raises its own error.
void compile_if_traceable(CompiledCall& target_call, const Callee& call, Device& device) {
  try {
    compile(target_call, call, device);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
  }
}

std::shared_ptr<CompiledCall> compiled_call(std::shared_ptr<CompiledCall> new_call,
                                            const Callee& call, Device& device) {
  const size_t hash = new_call->hash();
  return table().find_or_make<CompiledCall>(
      hash, [&](const CompiledCall& cached_call) { return cached_call.is_for(*new_call); },
      [&] {
        compile_if_traceable(*new_call, call, device);
        return std::move(new_call);
      });
}

}  // namespace

Value run_compiled(const std::shared_ptr<const void>& function_id, const Dict& arguments,
                   const Callee& call) {
  if (!is_worth_compiling(arguments)) return call(arguments);
  Device& device = crescent::device();
  Tensors inputs, outputs;
  Value key_value = extract_tensors(arguments, inputs);
  const auto program = compiled_call(
      std::make_shared<CompiledCall>(device, function_id, std::move(key_value), inputs), call,
      device);
  if (!program->executable) return call(arguments);
  Memory* const memory = device.memory();
  for (const TensorSpec& spec : program->output_specs)
    outputs.push_back(Tensor::uninitialized(spec, memory));
  for (Tensor& input : inputs) input = memory ? input.to(memory) : input;
  program->executable->run(inputs, {}, outputs);
  return insert_tensors(program->result, outputs);
}

Tensor run_compiled(const char* name, std::initializer_list<double> numbers, const Tensors& inputs,
                    const std::function<Tensor(const Tensors&)>& body) {
  if (std::none_of(inputs.begin(), inputs.end(), is_large)) return body(inputs);
  const std::shared_ptr<const void> function_id(std::shared_ptr<const void>(), name);
  const Dict arguments{{"numbers", List(numbers.begin(), numbers.end())},
                       {"inputs", Codec<Tensors>::encode(inputs)}};
  return Codec<Tensor>::decode(
      run_compiled(function_id, arguments, [&](const Dict& call_arguments) {
        return Codec<Tensor>::encode(body(Codec<Tensors>::decode(call_arguments.at("inputs"))));
      }));
}

}  // namespace crescent
