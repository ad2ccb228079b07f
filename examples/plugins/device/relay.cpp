#include "crescent/program/device.h"

#include "crescent/plugin.h"

/// A device states which ops it has kernels for, and compiles programs of these ops to executables.
/// This device passes all work to the cpu and counts the compiled programs.
class Relay final : public crescent::Device {
 public:
  static void describe(crescent::Schema<Relay>& s) { s.doc("The cpu, with a count of programs."); }
  bool supports(const crescent::Op& op, std::span<const crescent::TensorSpec> inputs,
                std::span<const crescent::TensorSpec> outputs) const override {
    return crescent::host_device().supports(op, inputs, outputs);
  }
  std::unique_ptr<crescent::Executable> compile(const crescent::Program& program) override {
    ++compiled_count_;
    return crescent::host_device().compile(program);
  }
  crescent::Dict information() const override {
    crescent::Dict facts = crescent::host_device().information();
    facts.set("compiled", compiled_count_);
    return facts;
  }

 private:
  int64_t compiled_count_ = 0;
};

CRESCENT_PLUGIN("acme.relay", "0.1.0") { registry.add<Relay>("Relay"); }
