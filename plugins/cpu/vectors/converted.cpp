#include "vectors/converted.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace crescent::cpu {
namespace {

bool is_half(DType dtype) { return dtype == DType::bfloat16 || dtype == DType::float16; }

TensorSpecs widened(std::span<const TensorSpec> specs) {
  TensorSpecs wide(specs.begin(), specs.end());
  for (auto& spec : wide) spec.dtype = is_half(spec.dtype) ? DType::float32 : spec.dtype;
  return wide;
}

std::unique_ptr<Kernel> find(std::span<const KernelRow> rows, const Request& request) {
  for (const auto& row : rows) {
    if (row.op != base_of(request.op).name()) continue;
    if (auto kernel = row.make(request)) return kernel;
  }
  return nullptr;
}

std::unique_ptr<Kernel> caster(const TensorSpec& from, const TensorSpec& to,
                               const Options& options) {
  Cast cast;
  cast.dtype = to.dtype;
  return find(elementwise_kernels(), {cast, {&from, 1}, {&to, 1}, options});
}

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

class Converted final : public Kernel {
 public:
  Converted(std::unique_ptr<Kernel> inner, const Request& r) : inner_(std::move(inner)) {
    inner_scratch_ = aligned(inner_->scratch_bytes());
    scratch_ = inner_scratch_;
    for (const auto& spec : r.inputs) inputs_.push_back(make_port(spec, true, r.options));
    for (const auto& spec : r.outputs) outputs_.push_back(make_port(spec, false, r.options));
    addresses_in_.resize(inputs_.size()), addresses_out_.resize(outputs_.size());
  }
  /// Whether every half-width operand can be converted.
  bool complete() const {
    auto ready = [](const Port& p) { return p.cast || !p.half; };
    return std::all_of(inputs_.begin(), inputs_.end(), ready) &&
           std::all_of(outputs_.begin(), outputs_.end(), ready);
  }

  void run(const Arguments& a) override {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      std::byte* wide = a.scratch + inputs_[i].offset;
      if (inputs_[i].half) convert(inputs_[i], a.inputs[i], wide, a);
      addresses_in_[i] = inputs_[i].half ? wide : a.inputs[i];
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      addresses_out_[i] = outputs_[i].half ? a.scratch + outputs_[i].offset : a.outputs[i];
    }
    inner_->run({addresses_in_.data(), addresses_out_.data(), a.scratch, a.pool});
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].half) convert(outputs_[i], addresses_out_[i], a.outputs[i], a);
    }
  }
  std::string name() const override { return inner_->name() + " in float32"; }
  size_t scratch_bytes() const override { return scratch_; }
  double flops() const override { return inner_->flops(); }

 private:
  struct Port {
    bool half = false;
    size_t offset = 0;  ///< of the wide values in scratch
    std::unique_ptr<Kernel> cast;
  };

  Port make_port(const TensorSpec& narrow, bool input, const Options& options) {
    if (!is_half(narrow.dtype)) return {};
    const TensorSpec wide{DType::float32, narrow.shape};
    Port port{true, scratch_,
              input ? caster(narrow, wide, options) : caster(wide, narrow, options)};
    scratch_ += aligned(static_cast<size_t>(wide.shape.size()) * size_of(wide.dtype));
    return port;
  }
  static void convert(const Port& port, const std::byte* from, std::byte* to, const Arguments& a) {
    port.cast->run({&from, &to, a.scratch, a.pool});
  }

  std::unique_ptr<Kernel> inner_;
  size_t inner_scratch_ = 0, scratch_ = 0;
  std::vector<Port> inputs_, outputs_;
  std::vector<const std::byte*> addresses_in_;
  std::vector<std::byte*> addresses_out_;
};

}  // namespace

std::unique_ptr<Kernel> make_through_float32(const Request& r, std::span<const KernelRow> rows) {
  const TensorSpecs inputs = widened(r.inputs), outputs = widened(r.outputs);
  if (inputs == TensorSpecs(r.inputs.begin(), r.inputs.end()) &&
      outputs == TensorSpecs(r.outputs.begin(), r.outputs.end())) {
    return nullptr;
  }
  auto inner = find(rows, {r.op, inputs, outputs, r.options});
  if (!inner) return nullptr;
  auto kernel = std::make_unique<Converted>(std::move(inner), r);
  return kernel->complete() ? std::move(kernel) : nullptr;
}

}  // namespace crescent::cpu
