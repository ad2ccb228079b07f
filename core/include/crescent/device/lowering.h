// Lowering, for authors of devices: core rewrites a program so that it contains only what a device
// supports. A device needs kernels for few ops and may have kernels for many. An unsupported op is
// decomposed into simpler ones, recursively; a simple op that is not supported is computed on the
// host.
#pragma once
#include "crescent/program/program.h"

namespace crescent {

/// An op that a device leaves to the host, where Op::compute() or a kernel of the cpu computes it.
/// The device copies the inputs to the host before the call and the outputs back after it. It may
/// call run() on any thread, one call at a time for each HostCall.
class CRESCENT_API HostCall final : public Op {
 public:
  static constexpr const char* kName = "host_call";
  /// `on_host` is the op compiled for the cpu; without it, Op::compute() computes the op.
  explicit HostCall(OpPtr op, std::shared_ptr<Executable> on_host = nullptr);
  /// Computes the op. The outputs are allocated by the caller; all tensors are in host memory.
  void run(std::span<const Tensor> inputs, std::span<Tensor> outputs) const;

  std::string_view name() const override { return kName; }
  TensorSpecs infer(std::span<const TensorSpec> inputs) const override;
  Effect effect() const override { return op_->effect(); }
  bool equals(const Op& other) const override;
  size_t hash() const override;
  std::string text() const override;
  std::string label() const override { return op_->label(); }
  const OpPtr& op() const { return op_; }  ///< the op that is computed on the host

 private:
  OpPtr op_;
  std::shared_ptr<Executable> on_host_;
};

/// Rewrites the program so that every instruction is one of:
/// - an op that the device supports(), such as an op of lowered_ops.h that its capabilities name,
/// - a Scan that the device supports(), with a lowered body,
/// - a Reshape, whose result is the memory of its input under another shape, or
/// - a HostCall.
/// Checks of the program's inputs come first; instructions with Effect::ordered keep their order.
/// An instruction that may fail is placed before the instructions that compute new values of
/// variables. If it depends on one of these, the device must write the variables after it, so that
/// a failed run changes no variable. Results without elements become constants. Fails if neither
/// the device nor the host can compute an op; the message names the op.
CRESCENT_API Program lower(Program program, const Device& device);

/// Whether a run of the op may fail: it checks values, has effects outside of the program, or is
/// computed by code outside of the device. A scan may fail when an op of its body may.
CRESCENT_API bool may_fail(const Op& op);

/// Lowers the program and compiles it. The executable belongs to the caller and keeps no reference
/// to the program.
CRESCENT_API std::unique_ptr<Executable> compile(const Program& program,
                                                 Device& device = crescent::device());

/// For each value, the index of the last instruction that reads it, directly or through a Reshape;
/// after that instruction the value's memory is free. -1 for a value that is never read; the number
/// of instructions for outputs and for new values of variables.
CRESCENT_API std::vector<int> last_uses(const Program& program);

}  // namespace crescent
