// Epilogues: if only one elementwise kernel reads the result of a matrix product, this kernel runs
// within the product, on rows of the result as soon as they are computed and while they are in the
// cache; the whole result is never written to memory. In this way an optimizer updates a weight
// where its gradient is computed.
#pragma once
#include <optional>

#include "elementwise/elementwise.h"

namespace crescent::cpu {

class Epilogue {
 public:
  /// Makes an epilogue of the kernel `next_kernel`, whose input `input` is the product's result.
  /// Returns null and leaves `next_kernel` unchanged if the kernel cannot run range by range. In
  /// the arguments, the other inputs of the epilogue follow the `product_input_count` inputs of the
  /// product; the outputs are those of the epilogue.
  static std::unique_ptr<Epilogue> make(std::unique_ptr<Kernel>& next_kernel, int input,
                                        int product_input_count);

  size_t scratch_bytes() const { return kernel_->scratch_bytes(); }
  double flops() const { return kernel_->flops(); }
  std::string name() const { return kernel_->name(); }
  bool may_share(int input, int output) const;

  class Invocation;

 private:
  std::unique_ptr<Elementwise> kernel_;
  int input_index_ = 0, product_input_count_ = 0;
};

/// One run of an epilogue.
class Epilogue::Invocation {
 public:
  /// `joint_arguments` are the arguments of the product and the epilogue; `scratch` is memory for
  /// the epilogue.
  Invocation(const Epilogue& epilogue, const Arguments& joint_arguments, std::byte* scratch);
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;
  /// Computes elements [begin, end) of the epilogue; `product_part` is the address of these
  /// elements of the product's result. Any thread may call this.
  void operator()(int64_t begin, int64_t end, const void* product_part) const;

 private:
  const Epilogue& epilogue_;
  const std::byte* inputs_[Elementwise::kMaxRegisters];
  Arguments arguments_;
  Elementwise::Cells cells_;
};

/// The base of matrix-product kernels that can have an epilogue.
class EpilogueHost : public Kernel {
 public:
  /// Whether the product can have an epilogue: it can pass on its result in rows at little cost and
  /// has no epilogue yet.
  bool can_host_epilogue() const final { return !epilogue_ && can_pass_rows(); }
  bool fuse_epilogue(std::unique_ptr<Kernel>& next_kernel, int input) final;
  bool may_share(int input, int output) const final {
    return epilogue_ && epilogue_->may_share(input, output);
  }
  size_t scratch_bytes() const final {
    return aligned_product_scratch() + (epilogue_ ? epilogue_->scratch_bytes() : 0);
  }
  std::string name() const final {
    return product_name() + (epilogue_ ? ", " + epilogue_->name() : "");
  }
  double flops() const final { return product_flops() + (epilogue_ ? epilogue_->flops() : 0); }

 protected:
  explicit EpilogueHost(const Request& request)
      : input_count_(static_cast<int>(request.inputs.size())) {}
  virtual bool can_pass_rows() const = 0;
  virtual void prepare_for_epilogue() {}
  virtual size_t product_scratch_bytes() const = 0;
  virtual std::string product_name() const = 0;
  virtual double product_flops() const = 0;

  bool has_epilogue() const { return epilogue_ != nullptr; }
  using MaybeEpilogue = std::optional<Epilogue::Invocation>;
  /// Prepares the epilogue, if there is one, for a run of the product.
  void begin(const Arguments& a, MaybeEpilogue& invocation) const {
    if (epilogue_) invocation.emplace(*epilogue_, a, a.scratch + aligned_product_scratch());
  }

 private:
  size_t aligned_product_scratch() const { return (product_scratch_bytes() + 63) / 64 * 64; }

  int input_count_;
  std::unique_ptr<Epilogue> epilogue_;
};

}  // namespace crescent::cpu
