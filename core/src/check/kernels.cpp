// Checks of kernels of the cpu for ops of plugins. A kernel has the name of the op that it
// computes. Each application of this op by operations and layers of the plugin is computed twice:
// by the kernel, in guarded memory, and by decompose() or compute() of the op.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "check/checked_layer.h"
#include "check/classes.h"
#include "check/isolation/guarded_memory.h"
#include "crescent/device/cpu_kernel.h"
#include "crescent/system/process.h"

namespace crescent::check {
namespace {

/// A thread pool that runs all parts on the calling thread, in order or, if `last_first` is true,
/// in reverse order.
class SequentialThreads final : public CpuThreads {
 public:
  SequentialThreads(int threads, bool last_first)
      : threads_(threads), runs_last_part_first_(last_first) {}
  int threads() const override { return threads_; }
  void run(int64_t parts, Body body, void* context, int max_threads) override {
    const int thread_count = std::max(1, std::min(threads_, max_threads));
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t part = runs_last_part_first_ ? parts - 1 - i : i;
      body(context, part, static_cast<int>(part % thread_count));
    }
  }

 private:
  int threads_;
  bool runs_last_part_first_;
};

using Placement = GuardedMemory::Placement;

/// The conditions of a run of a kernel: the pool, the byte that fills the memory before the run,
/// the input that shares its memory with the first output (-1: none), and the position of inputs
/// and outputs in their memory.
struct Conditions {
  int threads = 1;
  bool runs_last_part_first = false;
  std::byte initial_byte{0};
  int in_place_input = -1;
  Placement placement = Placement::aligned;
};

std::string text_of_specs(const TensorSpecs& specs) {
  std::vector<std::string> texts;
  for (const TensorSpec& spec : specs) texts.push_back(to_text(spec));
  return join(texts);
}

/// Numbers for an input of a kernel. A kernel does not check integers, which may be indices, so
/// they are zeros.
Tensor values_for(const TensorSpec& spec, int64_t seed) {
  if (!is_floating(spec.dtype)) return Tensor(spec);
  return ops::cast(SeedGenerator(seed).uniform(spec.shape, 0.25, 0.75), spec.dtype);
}

/// One application of an op, computed by its kernel.
class KernelRuns {
 public:
  KernelRuns(const CheckedClass& checked, const AppliedOp& applied)
      : applied_op_(applied), kernel_(checked.make<CpuKernel>()) {
    for (size_t i = 0; i < applied.input_specs.size(); ++i)
      inputs_.push_back(values_for(applied.input_specs[i], static_cast<int64_t>(i) + 5));
    accepts_op_ = kernel_->prepare({*applied.op, applied.input_specs, applied.output_specs, true});
  }
  bool accepts_op() const { return accepts_op_; }

  Tensors run(const Conditions& conditions) {
    std::vector<GuardedMemory> input_memory, output_memory;
    for (const Tensor& input : inputs_) {
      input_memory.emplace_back(input.bytes(), std::byte{0}, conditions.placement);
      if (input.bytes()) std::memcpy(input_memory.back().data(), input.raw(), input.bytes());
    }
    for (const TensorSpec& spec : applied_op_.output_specs)
      output_memory.emplace_back(spec.bytes(), conditions.initial_byte, conditions.placement);
    GuardedMemory scratch(kernel_->scratch_bytes(), conditions.initial_byte);
    std::vector<const std::byte*> sources;
    std::vector<std::byte*> destinations;
    for (const GuardedMemory& memory : input_memory) sources.push_back(memory.data());
    for (const GuardedMemory& memory : output_memory) destinations.push_back(memory.data());
    if (conditions.in_place_input >= 0)
      destinations[0] = input_memory[static_cast<size_t>(conditions.in_place_input)].data();
    SequentialThreads threads(conditions.threads, conditions.runs_last_part_first);
    kernel_->run({sources.data(), destinations.data(), scratch.data(), threads});
    for (const GuardedMemory& memory : input_memory) expect_intact(memory, "an input");
    for (const GuardedMemory& memory : output_memory) expect_intact(memory, "an output");
    expect_intact(scratch, "its scratch memory");
    for (size_t i = 0; i < input_memory.size(); ++i)
      if (static_cast<int>(i) != conditions.in_place_input)
        expect(std::equal(input_memory[i].data(), input_memory[i].data() + inputs_[i].bytes(),
                          bytes_of(inputs_[i])),
               "of ", text(), " it changed input ", i + 1);
    Tensors results;
    for (size_t i = 0; i < destinations.size(); ++i)
      results.push_back(Tensor::from_bytes(destinations[i], applied_op_.output_specs[i].bytes(),
                                           applied_op_.output_specs[i]));
    return results;
  }

  /// Returns the results of the op without the kernel; none if the op has neither decompose() nor
  /// compute().
  Tensors expected_results() const {
    Tensors results = applied_op_.op->decompose(inputs_);
    if (!results.empty()) return results;
    for (const TensorSpec& spec : applied_op_.output_specs) results.emplace_back(spec);
    return applied_op_.op->compute(inputs_, results) ? results : Tensors();
  }

  /// The inputs whose memory the kernel may write its first output to.
  std::vector<int> inputs_in_place() const {
    std::vector<int> input_positions;
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (kernel_->in_place(static_cast<int>(i)) &&
          inputs_[i].bytes() == static_cast<size_t>(applied_op_.output_specs[0].bytes()))
        input_positions.push_back(static_cast<int>(i));
    return input_positions;
  }
  std::string text() const { return text_of_specs(applied_op_.input_specs); }
  double tolerance() const { return size_of(applied_op_.output_specs[0].dtype) == 2 ? 2e-2 : 1e-4; }

 private:
  static const std::byte* bytes_of(const Tensor& t) {
    return static_cast<const std::byte*>(t.raw());
  }
  void expect_intact(const GuardedMemory& memory, const char* what) const {
    expect(memory.is_intact(), "of ", text(), " it wrote beyond ", what);
  }

  const AppliedOp& applied_op_;
  std::shared_ptr<CpuKernel> kernel_;
  Tensors inputs_;
  bool accepts_op_ = false;
};

/// Runs f on each application that the kernel takes; skips the check if there is none.
std::string for_each_application(const CheckedClass& checked,
                                 const std::function<void(KernelRuns&)>& f) {
  std::vector<std::string> checked_applications;
  for (const AppliedOp& applied : *checked.collected_ops) {
    if (applied.op->name() != checked.name) continue;
    KernelRuns runs(checked, applied);
    if (!runs.accepts_op()) continue;
    f(runs);
    checked_applications.push_back(runs.text());
  }
  if (checked_applications.empty())
    skip("of the operations and layers of the plugin, none applies the op ", checked.name,
         " to what the kernel takes");
  return join(checked_applications, "; ");
}

void expect_same_as_without_kernel(KernelRuns& runs) {
  const Tensors expected_results = runs.expected_results();
  if (!expected_results.empty())
    expect_near(runs.run({}), expected_results, runs.tolerance(),
                concat("of ", runs.text(), ", beside the op without the kernel"));
}

void expect_repeatable(KernelRuns& runs) {
  const Tensors first_results = runs.run({});
  const auto expect_same = [&](const Conditions& conditions, std::string_view what) {
    expect_same_bits(runs.run(conditions), first_results, concat("of ", runs.text(), ", ", what));
  };
  expect_same({}, "run again");
  expect_same({.threads = 3}, "with 3 threads");
  expect_same({.threads = 2, .runs_last_part_first = true}, "with the parts in the reverse order");
  expect_same({.initial_byte = std::byte{0xff}}, "in memory that held other bytes before");
  for (const int input : runs.inputs_in_place())
    expect_same({.in_place_input = input}, concat("in the memory of input ", input + 1));
}

/// Runs the kernel in two child processes: in memory directly before a page that cannot be
/// accessed, and directly after one. A read or write beyond the memory ends the child.
void expect_within_memory(KernelRuns& runs) {
  runs.run({});
  for (const Placement placement : {Placement::at_last_page, Placement::at_first_page}) {
    Process child = Process::copy(
        [&] {
          runs.run({.placement = placement});
          return 0;
        },
        {.descriptors = {{ProcessOptions::kNowhere, STDERR_FILENO}}});
    child.wait();
    expect(child.signal() == 0, "of ", runs.text(), " it ", child.ending(), " in memory that ",
           placement == Placement::at_last_page ? "ends before" : "begins behind",
           " a page that cannot be accessed: it reads or writes beyond an input or output");
  }
}

}  // namespace

void add_kernel_rows(CheckReport& report, const CheckedClass& checked) {
  const bool is_within_memory = add_result(report, kMemoryCheck, [&] {
    for_each_application(checked, expect_within_memory);
    return std::string("it reads and writes nothing beyond its inputs and outputs");
  });
  if (!is_within_memory) return;
  add_result(report, "results",
             [&] { return for_each_application(checked, expect_same_as_without_kernel); });
  add_result(report, "repeatable", [&] {
    for_each_application(checked, expect_repeatable);
    return std::string("the same bits for any threads, order of parts and memory");
  });
}

}  // namespace crescent::check
