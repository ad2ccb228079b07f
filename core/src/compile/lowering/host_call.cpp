// HostCall: runs on the host an op for which the device has no kernel.
#include <algorithm>
#include <array>

#include "compile/lowering/lowering.h"
#include "crescent/device/cpu_kernel.h"
#include "crescent/system/crash.h"
#include "program/op_blame.h"
#include "program/op_program.h"

namespace crescent {

namespace {

/// Remembers the addresses of the outputs, because compute() must write into their memory. If it
/// has replaced an output by another tensor, whose values would be lost, expect_kept() fails.
class OutputAddresses {
 public:
  explicit OutputAddresses(std::span<const Tensor> outputs) {
    for (size_t i = 0; i < std::min(outputs.size(), output_addresses_.size()); ++i)
      output_addresses_[i] = outputs[i].raw();
  }
  void expect_kept(const Op& op, std::span<const Tensor> outputs) const {
    for (size_t i = 0; i < std::min(outputs.size(), output_addresses_.size()); ++i)
      if (!outputs[i] || outputs[i].raw() != output_addresses_[i])
        fail(op_description(op), ": compute() replaced output ", i + 1, " of ", outputs.size(),
             outputs[i] ? concat(" by ", outputs[i].spec()) : "",
             "; it has to write into the memory of the tensor that it is given");
  }

 private:
  // only the first 8 outputs are checked; few ops have more
  std::array<const void*, 8> output_addresses_;
};

}  // namespace

HostCall::HostCall(OpPtr op, std::shared_ptr<Executable> on_host)
    : op_(std::move(op)), on_host_(std::move(on_host)) {}

void HostCall::run(std::span<const Tensor> inputs, std::span<Tensor> outputs) const {
  if (on_host_) return on_host_->run(inputs, {}, outputs);
  const Running running("op", "", op_->name(), "");
  const OutputAddresses addresses(outputs);
  if (!blaming(*op_, "compute", [&] { return op_->compute(inputs, outputs); }))
    fail(op_description(*op_), ": compute() did not compute this");
  addresses.expect_kept(*op_, outputs);
}

TensorSpecs HostCall::infer(std::span<const TensorSpec> inputs) const { return op_->infer(inputs); }

bool HostCall::equals(const Op& other) const {
  auto* other_op = dynamic_cast<const HostCall*>(&other);
  return other_op && op_->equals(*other_op->op_);
}

size_t HostCall::hash() const {
  return op_->hash() ^ detail::hash_bytes(kName, sizeof "host_call");
}

std::string HostCall::text() const { return "host_call(" + op_->text() + ")"; }

namespace lowering {
namespace {

/// Says, for an op that cannot be computed, which functions or kernel are missing, and suggests a
/// registered kernel with a similar name.
std::string missing_implementations(const Op& op) {
  if (registry().find(CpuKernel::kKind, op.name()))
    return "its kernel does not take this, and it has neither decompose() nor compute()";
  return concat("it has no decompose(), no compute() and no CpuKernel that is registered as '",
                op.name(), "'", did_you_mean(op.name(), registry().names(CpuKernel::kKind)));
}

[[noreturn]] void fail_without_kernel(const Op& op, const TensorSpecs& in, const Device& device) {
  fail("the ", device.class_name(), " device has no way to run ", op_description(op), " on ",
       text_of(in), ": ", missing_implementations(op));
}

}  // namespace

std::string text_of(const TensorSpecs& specs) {
  std::vector<std::string> texts;
  for (const TensorSpec& spec : specs) texts.push_back(to_text(spec));
  return "(" + join(texts) + ")";
}

OpPtr leave_to_host(OpPtr op, const TensorSpecs& inputs, const TensorSpecs& outputs,
                    const Device& device) {
  if (op->computes()) return std::make_shared<const HostCall>(op);
  Device& host = host_device();
  if (&device == &host) fail_without_kernel(*op, inputs, device);
  std::shared_ptr<Executable> on_host = compile(program_of_op(op, inputs, outputs), host);
  return std::make_shared<const HostCall>(op, std::move(on_host));
}

}  // namespace lowering
}  // namespace crescent
