#include "elementwise/epilogue.h"

namespace crescent::cpu {

std::unique_ptr<Epilogue> Epilogue::make(std::unique_ptr<Kernel>& next_kernel, int input,
                                         int product_input_count) {
  auto* kernel = dynamic_cast<Elementwise*>(next_kernel.get());
  if (!kernel || !kernel->can_be_epilogue(input)) return nullptr;
  auto epilogue = std::make_unique<Epilogue>();
  static_cast<void>(next_kernel.release());
  epilogue->kernel_.reset(kernel);
  epilogue->input_index_ = input, epilogue->product_input_count_ = product_input_count;
  return epilogue;
}

/// Whether an output may use the memory of input `input`. It may only use an input of the
/// epilogue's own kernel, if this kernel allows it, because the inputs of the product are read
/// until the product is complete.
bool Epilogue::may_share(int input, int output) const {
  const int epilogue_input = input - product_input_count_;
  return epilogue_input >= 0 && output < kernel_->output_count() &&
         kernel_->may_share(epilogue_input < input_index_ ? epilogue_input : epilogue_input + 1,
                            output);
}

Epilogue::Invocation::Invocation(const Epilogue& epilogue, const Arguments& joint_arguments,
                                 std::byte* scratch)
    : epilogue_(epilogue),
      arguments_{inputs_, joint_arguments.outputs, scratch, joint_arguments.threads} {
  const std::byte* const* from = joint_arguments.inputs + epilogue.product_input_count_;
  for (int i = 0; i < epilogue.kernel_->input_count(); ++i)
    inputs_[i] = i == epilogue.input_index_ ? nullptr : *from++;
  epilogue.kernel_->begin(arguments_, cells_);
}

void Epilogue::Invocation::operator()(int64_t begin, int64_t end, const void* product_part) const {
  epilogue_.kernel_->run_range(
      arguments_, cells_, begin, end,
      {epilogue_.input_index_, static_cast<const std::byte*>(product_part)});
}

bool EpilogueHost::fuse_epilogue(std::unique_ptr<Kernel>& next_kernel, int input) {
  epilogue_ = Epilogue::make(next_kernel, input, input_count_);
  if (epilogue_) prepare_for_epilogue();
  return has_epilogue();
}

}  // namespace crescent::cpu
