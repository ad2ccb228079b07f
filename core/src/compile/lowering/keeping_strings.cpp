// Keeps interned texts alive while a program with strings runs.
#include <algorithm>

#include "compile/lowering/lowering.h"
#include "compile/lowering/wrapped_executable.h"
#include "compile/passes/rewriting/rewriting.h"
#include "tensor/strings.h"

namespace crescent::lowering {
namespace {

bool has_strings(const Program& program) {
  const auto is_string = [](const TensorSpec& spec) { return spec.dtype == DType::string; };
  const auto has_strings_in_body = [](const Program::Instruction& i) {
    auto* scan = passes::as<Scan>(*i.op);
    return scan && has_strings(*scan->body);
  };
  return std::any_of(program.values.begin(), program.values.end(), is_string) ||
         std::any_of(program.code.begin(), program.code.end(), has_strings_in_body);
}

void keep_constant_strings(const Program& program) {
  for (const Program::Constant& constant : program.constants)
    if (constant.tensor.dtype() == DType::string) keep_strings(constant.tensor);
  for (const Program::Instruction& i : program.code)
    if (auto* scan = passes::as<Scan>(*i.op)) keep_constant_strings(*scan->body);
}

class StringsKeepingExecutable final : public WrappedExecutable {
 public:
  using WrappedExecutable::WrappedExecutable;
  void run(std::span<const Tensor> inputs, std::span<Tensor> variables,
           std::span<Tensor> outputs) override {
    const StringsInUse strings_in_use;
    WrappedExecutable::run(inputs, variables, outputs);
  }
};

}  // namespace

std::unique_ptr<Executable> keep_strings_alive(const Program& program,
                                               std::unique_ptr<Executable> executable) {
  if (!has_strings(program)) return executable;
  keep_constant_strings(program);
  return std::make_unique<StringsKeepingExecutable>(std::move(executable));
}

}  // namespace crescent::lowering
