// HostCall: runs an op without a kernel on the device on the host.
#include "compile/lowering/lowering.h"
#include "program/op_program.h"

namespace crescent {

HostCall::HostCall(OpPtr op, std::shared_ptr<Executable> on_host)
    : op_(std::move(op)), on_host_(std::move(on_host)) {}

void HostCall::run(std::span<const Tensor> inputs, std::span<Tensor> outputs) const {
  if (on_host_) return on_host_->run(inputs, {}, outputs);
  if (!op_->compute(inputs, outputs)) fail(op_->name(), ": compute() did not compute this");
}

TensorSpecs HostCall::infer(std::span<const TensorSpec> inputs) const { return op_->infer(inputs); }

bool HostCall::equals(const Op& other) const {
  auto* same = dynamic_cast<const HostCall*>(&other);
  return same && op_->equals(*same->op_);
}

size_t HostCall::hash() const {
  return op_->hash() ^ detail::hash_bytes(kName, sizeof "host_call");
}

std::string HostCall::text() const { return "host_call(" + op_->text() + ")"; }

namespace lowering {
namespace {

[[noreturn]] void fail_without_kernel(const Op& op, const TensorSpecs& in, const Device& device) {
  fail("the ", device.class_name(), " device has no way to run ", op.name(), " on ", text_of(in));
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
