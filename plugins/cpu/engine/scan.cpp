// Scan: the body is a plan of its own, run once a step. Step inputs and outputs are read and
// written where they are, in the sequences; states go back and forth between two buffers, or
// straight along the kept states.
#include <cstring>

#include "engine/plan.h"

namespace crescent::cpu {
namespace {

size_t bytes_of(const TensorSpec& spec) {
  return static_cast<size_t>(spec.shape.size()) * size_of(spec.dtype);
}
size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

class ScanKernel final : public Kernel {
 public:
  ScanKernel(const Scan& scan, const Request& request, Pool& pool)
      : plan_(*scan.body, request.options, pool, values_),
        states_(static_cast<size_t>(scan.states)),
        sequences_(static_cast<size_t>(scan.sequences)),
        captured_(request.inputs.size() - states_ - sequences_),
        step_outputs_(scan.body->outputs.size() - states_),
        reverse_(scan.reverse),
        keep_(scan.keep_states) {
    for (int value : scan.body->inputs)
      in_bytes_.push_back(bytes_of(scan.body->values[static_cast<size_t>(value)]));
    for (int value : scan.body->outputs)
      out_bytes_.push_back(bytes_of(scan.body->values[static_cast<size_t>(value)]));
    const TensorSpec* stacked = sequences_ > 0      ? &request.inputs[states_]
                                : step_outputs_ > 0 ? &request.outputs[states_]
                                                    : nullptr;
    steps_ = stacked ? stacked->shape[0] : 0;
    for (size_t s = 0; s < states_; ++s) state_bytes_ += aligned(in_bytes_[s]);
  }

  void run(const Arguments& a) override {
    auto& memory = plan_.memory();
    for (size_t s = 0; s < states_; ++s) put_first_state(a, s);
    for (size_t c = 0; c < captured_; ++c) {
      memory.inputs[states_ + sequences_ + c] =
          const_cast<std::byte*>(a.inputs[states_ + sequences_ + c]);
    }
    for (int64_t i = 0; i < steps_; ++i) {
      size_t t = static_cast<size_t>(reverse_ ? steps_ - 1 - i : i);
      size_t offset = 0;
      for (size_t s = 0; s < states_; ++s) {
        memory.inputs[s] = state(a, s, offset, i);
        memory.outputs[s] = state(a, s, offset, i + 1);
        offset += aligned(in_bytes_[s]);
      }
      for (size_t q = states_; q < states_ + sequences_; ++q) {
        memory.inputs[q] = const_cast<std::byte*>(a.inputs[q]) + t * in_bytes_[q];
      }
      for (size_t o = states_; o < states_ + step_outputs_; ++o)
        memory.outputs[o] = a.outputs[o] + t * out_bytes_[o];
      plan_.run(a.scratch + 2 * state_bytes_);
    }
  }

  std::string name() const override { return "scan"; }
  double flops() const override { return plan_.flops() * static_cast<double>(steps_); }
  size_t scratch_bytes() const override { return 2 * state_bytes_ + plan_.arena_bytes(); }

 private:
  /// Where state s lives before step i (in the order of running).
  std::byte* state(const Arguments& a, size_t s, size_t offset, int64_t i) const {
    if (i == steps_) return a.outputs[s];
    if (!keep_) return a.scratch + (i % 2) * static_cast<int64_t>(state_bytes_) + offset;
    size_t t = static_cast<size_t>(reverse_ ? steps_ - 1 - i : i);
    return a.outputs[states_ + step_outputs_ + s] + t * in_bytes_[s];
  }

  void put_first_state(const Arguments& a, size_t s) const {
    size_t offset = 0;
    for (size_t before = 0; before < s; ++before) offset += aligned(in_bytes_[before]);
    if (in_bytes_[s] > 0) std::memcpy(state(a, s, offset, 0), a.inputs[s], in_bytes_[s]);
  }

  StableValues values_;  // of the body, which reads no variables
  Plan plan_;
  size_t states_, sequences_, captured_, step_outputs_;
  bool reverse_, keep_;
  int64_t steps_ = 0;
  std::vector<size_t> in_bytes_, out_bytes_;  // of the body's inputs and outputs
  size_t state_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_scan(const Scan& scan, const Request& request, Pool& pool) {
  return std::make_unique<ScanKernel>(scan, request, pool);
}

}  // namespace crescent::cpu
