// Lowering, for authors of devices: core writes a program in what a device takes, so that a device
// needs kernels for little and may have them for much. Ops that it does not take are written in
// simpler ones, those in simpler ones again; what is simple and still not taken is computed on the
// host.
#pragma once
#include "crescent/program/program.h"

namespace crescent {

/// An op that a device leaves to the host: to Op::compute(), or to kernels of the cpu. The device
/// brings the inputs to the host before it and the outputs back behind it.
class CRESCENT_API HostCall final : public Op {
 public:
  static constexpr const char* kName = "host_call";
  /// Without an executable for the op it is computed by Op::compute().
  explicit HostCall(OpPtr op, std::shared_ptr<Executable> on_host = nullptr);
  /// The outputs are allocated; all tensors are the host's.
  void run(std::span<const Tensor> inputs, std::span<Tensor> outputs) const;

  std::string_view name() const override { return kName; }
  TensorSpecs infer(std::span<const TensorSpec> inputs) const override;
  Effect effect() const override { return op_->effect(); }
  bool equals(const Op& other) const override;
  size_t hash() const override;
  std::string text() const override;
  std::string label() const override { return op_->label(); }
  const OpPtr& op() const { return op_; }  ///< what is computed

 private:
  OpPtr op_;
  std::shared_ptr<Executable> on_host_;
};

/// The program in what the device takes: every instruction is
///   - an op that it supports(), also one of lowered_ops.h that it is capable of,
///   - a Scan that it supports(), with a lowered body,
///   - a Reshape: its result is the memory of its input under another shape, or
///   - a HostCall.
/// Checks of what the program is given come first; what is Effect::ordered keeps its order. What
/// may fail comes before new values of variables that it does not follow from: where others remain,
/// a device writes variables after it, so that a run that fails changes none. Results without
/// elements are constants. Fails naming an op that nobody can compute.
CRESCENT_API Program lower(Program program, const Device& device);

/// Whether a run of the op may fail: it looks at values, is seen outside of the program, or is
/// computed by code that is not the device's; a scan with such an op.
CRESCENT_API bool may_fail(const Op& op);

/// Lowers the program and compiles it.
CRESCENT_API std::unique_ptr<Executable> compile(const Program& program,
                                                 Device& device = crescent::device());

/// Per value, the last instruction that reads it, by itself or under another shape: behind that its
/// memory is free. -1 for one that nobody reads, the number of instructions for outputs and new
/// values of variables.
CRESCENT_API std::vector<int> last_uses(const Program& program);

}  // namespace crescent
