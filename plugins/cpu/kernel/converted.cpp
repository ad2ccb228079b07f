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

std::unique_ptr<Kernel> find(std::span<const KernelEntry> entries, const Request& request) {
  for (const auto& entry : entries) {
    if (entry.op != base_of(request.op).name()) continue;
    if (auto kernel = entry.make(request)) return kernel;
  }
  return nullptr;
}

std::unique_ptr<Kernel> make_cast(const TensorSpec& from, const TensorSpec& to,
                                  const Options& options) {
  Cast cast;
  cast.dtype = to.dtype;
  return find(elementwise_kernels(), {cast, {&from, 1}, {&to, 1}, options});
}

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

class ConvertedKernel final : public Kernel {
 public:
  ConvertedKernel(std::unique_ptr<Kernel> wide_kernel, const Request& r)
      : wide_kernel_(std::move(wide_kernel)) {
    wide_kernel_scratch_ = aligned(wide_kernel_->scratch_bytes());
    scratch_bytes_ = wide_kernel_scratch_;
    for (const auto& spec : r.inputs) inputs_.push_back(make_operand(spec, true, r.options));
    for (const auto& spec : r.outputs) outputs_.push_back(make_operand(spec, false, r.options));
    addresses_offset_ = scratch_bytes_;
    scratch_bytes_ += aligned((inputs_.size() + outputs_.size()) * sizeof(std::byte*));
  }
  /// Whether a kernel for the cast was found for each operand that must be cast.
  bool is_complete() const {
    auto has_needed_cast = [](const Operand& p) { return p.cast_kernel || !p.is_narrow; };
    return std::all_of(inputs_.begin(), inputs_.end(), has_needed_cast) &&
           std::all_of(outputs_.begin(), outputs_.end(), has_needed_cast);
  }

  void run(const Arguments& a) const override {
    const auto in = reinterpret_cast<const std::byte**>(a.scratch + addresses_offset_);
    const auto out = reinterpret_cast<std::byte**>(a.scratch + addresses_offset_) + inputs_.size();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      std::byte* widened = a.scratch + inputs_[i].offset;
      if (inputs_[i].is_narrow) convert(inputs_[i], a.inputs[i], widened, a);
      in[i] = inputs_[i].is_narrow ? widened : a.inputs[i];
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      out[i] = outputs_[i].is_narrow ? a.scratch + outputs_[i].offset : a.outputs[i];
    }
    wide_kernel_->run({in, out, a.scratch, a.threads});
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].is_narrow) convert(outputs_[i], out[i], a.outputs[i], a);
    }
  }
  std::string name() const override { return wide_kernel_->name() + " in " + name_of(wide_dtype_); }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  double flops() const override { return wide_kernel_->flops(); }
  bool may_fail() const override { return wide_kernel_->may_fail(); }

 private:
  struct Operand {
    bool is_narrow = false;
    size_t offset = 0;  ///< offset of the widened values in scratch memory
    std::unique_ptr<Kernel> cast_kernel;
  };

  Operand make_operand(const TensorSpec& narrow, bool is_input, const Options& options) {
    const TensorSpec widened{wider_dtype(narrow.dtype), narrow.shape};
    if (widened == narrow) return {};
    wide_dtype_ = widened.dtype;
    Operand operand{
        true, scratch_bytes_,
        is_input ? make_cast(narrow, widened, options) : make_cast(widened, narrow, options)};
    scratch_bytes_ += aligned(static_cast<size_t>(widened.bytes()));
    return operand;
  }
  static void convert(const Operand& operand, const std::byte* from, std::byte* to,
                      const Arguments& a) {
    operand.cast_kernel->run({&from, &to, a.scratch, a.threads});
  }

  std::unique_ptr<Kernel> wide_kernel_;
  size_t wide_kernel_scratch_ = 0, scratch_bytes_ = 0;
  DType wide_dtype_{};
  std::vector<Operand> inputs_, outputs_;
  /// The offset in scratch memory of the addresses of the wide kernel's inputs and outputs.
  size_t addresses_offset_ = 0;
};

template <class F>
std::unique_ptr<Kernel> make_with_wider_dtype(const Request& r, F make) {
  const TensorSpecs inputs = widened(r.inputs), outputs = widened(r.outputs);
  if (inputs == TensorSpecs(r.inputs.begin(), r.inputs.end()) &&
      outputs == TensorSpecs(r.outputs.begin(), r.outputs.end())) {
    return nullptr;
  }
  auto wide_kernel = make(Request{r.op, inputs, outputs, r.options});
  if (!wide_kernel) return nullptr;
  auto kernel = std::make_unique<ConvertedKernel>(std::move(wide_kernel), r);
  return kernel->is_complete() ? std::move(kernel) : nullptr;
}

}  // namespace

std::unique_ptr<Kernel> make_through_float32(const Request& r,
                                             std::span<const KernelEntry> entries) {
  if (has_small_integers(r)) return nullptr;
  return make_with_wider_dtype(r, [&](const Request& request) { return find(entries, request); });
}

std::unique_ptr<Kernel> make_through_int32(const Request& r) {
  return has_small_integers(r) && !is_product_of_bytes(r) ? make_with_wider_dtype(r, make_kernel)
                                                          : nullptr;
}

}  // namespace crescent::cpu
