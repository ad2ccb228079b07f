#include "program/together.h"

#include <algorithm>

#include "crescent/lowering.h"
#include "program/program_cache.h"
#include "program/recorder.h"
#include "program/tape.h"

namespace crescent {
namespace {

constexpr int64_t kLarge = 32768;  ///< elements; of fewer the single ops stay in the cache as well

using Body = std::function<Tensor(const Tensors&)>;

/// What is compiled, and for whom.
struct CompiledTogether final : CachedProgram {
  CompiledTogether(const Device& on, const char* of, std::span<const double> by,
                   const Tensors& inputs)
      : device(&on), name(of), numbers(by.begin(), by.end()) {
    for (const Tensor& input : inputs) in.push_back(input.spec());
  }
  void compile(const Body& body, Device& on) {
    const Program program = optimize(trace([&](const Tensors& x) { return Tensors{body(x)}; }, in));
    executable = crescent::compile(program, on);
    result = program.values[static_cast<size_t>(program.outputs.front())];
  }
  size_t bytes() const override {
    return sizeof *this + in.size() * sizeof(TensorSpec) + executable->bytes();
  }
  bool is_for(const CompiledTogether& wanted) const {
    return device == wanted.device && name == wanted.name && numbers == wanted.numbers &&
           in == wanted.in;
  }
  size_t hash() const {
    size_t hash = detail::hash_bytes(&name, sizeof name);
    for (double number : numbers) detail::mix(hash, detail::hash_field(number));
    for (const TensorSpec& spec : in) mix(hash, spec);
    return hash;
  }

  const Device* device;
  const char* name;
  std::vector<double> numbers;
  TensorSpecs in;
  TensorSpec result;
  std::unique_ptr<Executable> executable;
};

/// Never destroyed: the device's threads may be gone when static objects are.
ProgramTable& table() {
  static auto* table = new ProgramTable;
  return *table;
}

bool pays(const Tensors& inputs) {
  if (Recorder::current() || tapes_are_active()) return false;
  const auto is_there = [](const Tensor& x) { return !x.is_abstract(); };
  const auto is_large = [](const Tensor& x) { return x.shape().size() >= kLarge; };
  return std::all_of(inputs.begin(), inputs.end(), is_there) &&
         std::any_of(inputs.begin(), inputs.end(), is_large);
}

}  // namespace

Tensor together(const char* name, std::initializer_list<double> numbers, const Tensors& inputs,
                const Body& body) {
  if (!pays(inputs)) return body(inputs);
  Device& device = crescent::device();
  auto wanted = std::make_shared<CompiledTogether>(device, name, numbers, inputs);
  const size_t hash = wanted->hash();
  auto program = table().find<CompiledTogether>(
      hash, [&](const CompiledTogether& known) { return known.is_for(*wanted); });
  if (!program) {
    wanted->compile(body, device);
    table().add(hash, program = wanted);
  }
  Memory* const memory = device.memory();
  Tensors brought, outputs{Tensor::uninitialized(program->result, memory)};
  for (const Tensor& input : inputs) brought.push_back(memory ? input.to(memory) : input);
  program->executable->run(brought, {}, outputs);
  return outputs.front();
}

}  // namespace crescent
