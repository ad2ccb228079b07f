#include "elementwise/follower.h"

namespace crescent::cpu {

std::unique_ptr<Follower> Follower::make(std::unique_ptr<Kernel>& next, int input, int before) {
  auto* kernel = dynamic_cast<Elementwise*>(next.get());
  if (!kernel || !kernel->can_follow(input)) return nullptr;
  auto follower = std::make_unique<Follower>();
  static_cast<void>(next.release());
  follower->kernel_.reset(kernel);
  follower->input_ = input, follower->before_ = before;
  return follower;
}

/// What the product is made of is read until the end, the rest where it is written over.
bool Follower::may_share(int input, int output) const {
  const int own = input - before_;
  return own >= 0 && output < kernel_->outputs() &&
         kernel_->may_share(own < input_ ? own : own + 1, output);
}

Follower::Run::Run(const Follower& follower, const Arguments& both, std::byte* scratch)
    : follower_(follower), arguments_{inputs_, both.outputs, scratch, both.pool} {
  const std::byte* const* from = both.inputs + follower.before_;
  for (int i = 0; i < follower.kernel_->inputs(); ++i)
    inputs_[i] = i == follower.input_ ? nullptr : *from++;
  follower.kernel_->begin(arguments_, cells_);
}

void Follower::Run::operator()(int64_t begin, int64_t end, const void* part) const {
  follower_.kernel_->run_range(arguments_, cells_, begin, end,
                               {follower_.input_, static_cast<const std::byte*>(part)});
}

bool Followed::follow(std::unique_ptr<Kernel>& next, int input) {
  follower_ = Follower::make(next, input, inputs_);
  if (follower_) prepare_for_follower();
  return is_followed();
}

}  // namespace crescent::cpu
