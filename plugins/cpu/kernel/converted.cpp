#include "kernel/converted.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace crescent::cpu {
namespace {

/// The wider dtype in which values of `dtype` are computed if there is no kernel for `dtype`.
DType wider_dtype(DType dtype) {
  switch (dtype) {
    case DType::bfloat16:
    case DType::float16:
      return DType::float32;
    case DType::int8:
    case DType::int16:
      return DType::int32;
    default:
      return dtype;
  }
}

bool has_small_integers(const Request& r) {
  const auto is_small = [](const TensorSpec& spec) {
    return spec.dtype == DType::int8 || spec.dtype == DType::int16;
  };
  return std::any_of(r.inputs.begin(), r.inputs.end(), is_small) ||
         std::any_of(r.outputs.begin(), r.outputs.end(), is_small);
}

/// Whether the request is a matrix product of int8, for which a special kernel with int32 results
/// is faster than converting the operands to int32.
bool is_product_of_bytes(const Request& r) {
  return base_of(r.op).name() == Matmul::kName && r.inputs[0].dtype == DType::int8 &&
         r.inputs[1].dtype == DType::int8;
}

TensorSpecs widened(std::span<const TensorSpec> specs) {
  TensorSpecs result(specs.begin(), specs.end());
  for (auto& spec : result) spec.dtype = wider_dtype(spec.dtype);
  return result;
}

std::unique_ptr<Kernel> find(std::span<const KernelEntry> rows, const Request& request) {
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

class ConvertedKernel final : public Kernel {
 public:
  ConvertedKernel(std::unique_ptr<Kernel> inner, const Request& r) : inner_(std::move(inner)) {
    inner_scratch_ = aligned(inner_->scratch_bytes());
    scratch_ = inner_scratch_;
    for (const auto& spec : r.inputs) inputs_.push_back(make_port(spec, true, r.options));
    for (const auto& spec : r.outputs) outputs_.push_back(make_port(spec, false, r.options));
    addresses_ = scratch_;
    scratch_ += aligned((inputs_.size() + outputs_.size()) * sizeof(std::byte*));
  }
  /// Whether a kernel for the cast was found for each operand that must be cast.
  bool is_complete() const {
    auto ready = [](const Port& p) { return p.cast || !p.is_narrow; };
    return std::all_of(inputs_.begin(), inputs_.end(), ready) &&
           std::all_of(outputs_.begin(), outputs_.end(), ready);
  }

  void run(const Arguments& a) const override {
    const auto in = reinterpret_cast<const std::byte**>(a.scratch + addresses_);
    const auto out = reinterpret_cast<std::byte**>(a.scratch + addresses_) + inputs_.size();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      std::byte* widened = a.scratch + inputs_[i].offset;
      if (inputs_[i].is_narrow) convert(inputs_[i], a.inputs[i], widened, a);
      in[i] = inputs_[i].is_narrow ? widened : a.inputs[i];
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      out[i] = outputs_[i].is_narrow ? a.scratch + outputs_[i].offset : a.outputs[i];
    }
    inner_->run({in, out, a.scratch, a.threads});
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].is_narrow) convert(outputs_[i], out[i], a.outputs[i], a);
    }
  }
  std::string name() const override { return inner_->name() + " in " + name_of(wide_); }
  size_t scratch_bytes() const override { return scratch_; }
  double flops() const override { return inner_->flops(); }
  bool may_fail() const override { return inner_->may_fail(); }

 private:
  struct Port {
    bool is_narrow = false;
    size_t offset = 0;  ///< offset of the widened values in scratch memory
    std::unique_ptr<Kernel> cast;
  };

  Port make_port(const TensorSpec& narrow, bool input, const Options& options) {
    const TensorSpec widened{wider_dtype(narrow.dtype), narrow.shape};
    if (widened == narrow) return {};
    wide_ = widened.dtype;
    Port port{true, scratch_,
              input ? caster(narrow, widened, options) : caster(widened, narrow, options)};
    scratch_ += aligned(static_cast<size_t>(widened.bytes()));
    return port;
  }
  static void convert(const Port& port, const std::byte* from, std::byte* to, const Arguments& a) {
    port.cast->run({&from, &to, a.scratch, a.threads});
  }

  std::unique_ptr<Kernel> inner_;
  size_t inner_scratch_ = 0, scratch_ = 0;
  DType wide_{};
  std::vector<Port> inputs_, outputs_;
  /// Offset in scratch memory of the addresses of the inner kernel's inputs and outputs.
  size_t addresses_ = 0;
};

template <class F>
std::unique_ptr<Kernel> make_wider(const Request& r, F make) {
  const TensorSpecs inputs = widened(r.inputs), outputs = widened(r.outputs);
  if (inputs == TensorSpecs(r.inputs.begin(), r.inputs.end()) &&
      outputs == TensorSpecs(r.outputs.begin(), r.outputs.end())) {
    return nullptr;
  }
  auto inner = make(Request{r.op, inputs, outputs, r.options});
  if (!inner) return nullptr;
  auto kernel = std::make_unique<ConvertedKernel>(std::move(inner), r);
  return kernel->is_complete() ? std::move(kernel) : nullptr;
}

}  // namespace

std::unique_ptr<Kernel> make_through_float32(const Request& r, std::span<const KernelEntry> rows) {
  if (has_small_integers(r)) return nullptr;
  return make_wider(r, [&](const Request& request) { return find(rows, request); });
}

std::unique_ptr<Kernel> make_through_int32(const Request& r) {
  return has_small_integers(r) && !is_product_of_bytes(r) ? make_wider(r, make_kernel) : nullptr;
}

}  // namespace crescent::cpu
