// What follows a product: an elementwise kernel that alone reads its result. It runs on rows of the
// result as soon as they are made, while they are in cache, and the result as a whole never goes to
// memory. So an optimizer updates a weight where its gradient is made.
#pragma once
#include <optional>

#include "elementwise/elementwise.h"

namespace crescent::cpu {

class Follower {
 public:
  /// Takes `next` over, whose input `input` is the result, if it can be run in parts; else null. In
  /// the arguments its other inputs come after the `before` ones of the product, and the outputs
  /// are its own.
  static std::unique_ptr<Follower> make(std::unique_ptr<Kernel>& next, int input, int before);

  size_t scratch_bytes() const { return kernel_->scratch_bytes(); }
  double flops() const { return kernel_->flops(); }
  std::string name() const { return kernel_->name(); }
  bool may_share(int input, int output) const;

  class Run;

 private:
  std::unique_ptr<Elementwise> kernel_;
  int input_ = 0, before_ = 0;
};

/// One run of it.
class Follower::Run {
 public:
  /// `both`: the arguments of product and follower; `scratch`: memory of the follower.
  Run(const Follower& follower, const Arguments& both, std::byte* scratch);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  /// On elements [begin, end) of the result, which lie at `part`; any thread.
  void operator()(int64_t begin, int64_t end, const void* part) const;

 private:
  const Follower& follower_;
  const std::byte* inputs_[Elementwise::kMaxRegisters];
  Arguments arguments_;
  Elementwise::Cells cells_;
};

/// A product that something may follow.
class Followed : public Kernel {
 public:
  /// Its result can be had in rows, at no great cost, and nothing follows yet.
  bool may_be_followed() const final { return !follower_ && has_rows(); }
  bool follow(std::unique_ptr<Kernel>& next, int input) final;
  bool may_share(int input, int output) const final {
    return follower_ && follower_->may_share(input, output);
  }
  size_t scratch_bytes() const final {
    return own_scratch() + (follower_ ? follower_->scratch_bytes() : 0);
  }
  std::string name() const final {
    return own_name() + (follower_ ? ", " + follower_->name() : "");
  }
  double flops() const final { return own_flops() + (follower_ ? follower_->flops() : 0); }

 protected:
  explicit Followed(const Request& request) : inputs_(static_cast<int>(request.inputs.size())) {}
  virtual bool has_rows() const = 0;
  virtual void prepare_for_follower() {}
  virtual size_t own_scratch_bytes() const = 0;
  virtual std::string own_name() const = 0;
  virtual double own_flops() const = 0;

  bool is_followed() const { return follower_ != nullptr; }
  /// Begins what follows, if anything does.
  using Next = std::optional<Follower::Run>;
  void begin(const Arguments& a, Next& next) const {
    if (follower_) next.emplace(*follower_, a, a.scratch + own_scratch());
  }

 private:
  size_t own_scratch() const { return (own_scratch_bytes() + 63) / 64 * 64; }

  int inputs_;
  std::unique_ptr<Follower> follower_;
};

}  // namespace crescent::cpu
