// Epilogues: an elementwise kernel that alone reads the result of a product runs within it, on rows
// of the result as soon as they are made, while they are in cache, and the result as a whole never
// goes to memory. So an optimizer updates a weight where its gradient is made.
#pragma once
#include <optional>

#include "elementwise/elementwise.h"

namespace crescent::cpu {

class Epilogue {
 public:
  /// Takes `next` over, whose input `input` is the result, if it can be run in parts; else null. In
  /// the arguments its other inputs come after the `before` ones of the product, and the outputs
  /// are its own.
  static std::unique_ptr<Epilogue> make(std::unique_ptr<Kernel>& next, int input, int before);

  size_t scratch_bytes() const { return kernel_->scratch_bytes(); }
  double flops() const { return kernel_->flops(); }
  std::string name() const { return kernel_->name(); }
  bool may_share(int input, int output) const;

  class Invocation;

 private:
  std::unique_ptr<Elementwise> kernel_;
  int input_ = 0, before_ = 0;
};

/// One run of it.
class Epilogue::Invocation {
 public:
  /// `both`: the arguments of product and epilogue; `scratch`: memory of the epilogue.
  Invocation(const Epilogue& epilogue, const Arguments& both, std::byte* scratch);
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;
  /// On elements [begin, end) of the result, which lie at `part`; any thread.
  void operator()(int64_t begin, int64_t end, const void* part) const;

 private:
  const Epilogue& epilogue_;
  const std::byte* inputs_[Elementwise::kMaxRegisters];
  Arguments arguments_;
  Elementwise::Cells cells_;
};

/// A product that may have an epilogue.
class EpilogueHost : public Kernel {
 public:
  /// Its result can be had in rows, at no great cost, and it has no epilogue yet.
  bool can_host_epilogue() const final { return !epilogue_ && has_rows(); }
  bool fuse_epilogue(std::unique_ptr<Kernel>& next, int input) final;
  bool may_share(int input, int output) const final {
    return epilogue_ && epilogue_->may_share(input, output);
  }
  size_t scratch_bytes() const final {
    return own_scratch() + (epilogue_ ? epilogue_->scratch_bytes() : 0);
  }
  std::string name() const final {
    return own_name() + (epilogue_ ? ", " + epilogue_->name() : "");
  }
  double flops() const final { return own_flops() + (epilogue_ ? epilogue_->flops() : 0); }

 protected:
  explicit EpilogueHost(const Request& request)
      : inputs_(static_cast<int>(request.inputs.size())) {}
  virtual bool has_rows() const = 0;
  virtual void prepare_for_epilogue() {}
  virtual size_t own_scratch_bytes() const = 0;
  virtual std::string own_name() const = 0;
  virtual double own_flops() const = 0;

  bool has_epilogue() const { return epilogue_ != nullptr; }
  /// Begins the epilogue, if there is one.
  using MaybeEpilogue = std::optional<Epilogue::Invocation>;
  void begin(const Arguments& a, MaybeEpilogue& invocation) const {
    if (epilogue_) invocation.emplace(*epilogue_, a, a.scratch + own_scratch());
  }

 private:
  size_t own_scratch() const { return (own_scratch_bytes() + 63) / 64 * 64; }

  int inputs_;
  std::unique_ptr<Epilogue> epilogue_;
};

}  // namespace crescent::cpu
