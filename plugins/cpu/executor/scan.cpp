// Scan: the body is compiled to a separate plan, which runs once per time step. The inputs and
// outputs of a step are read and written in place, in the sequences; states alternate between two
// buffers, or are written directly to the array of the states of all steps. Values that are the
// same for all steps are prepared once per run. If the rows of the batch are independent, the batch
// is split into parts that go through time separately, without waiting for each other: each thread
// has a plan for the number of rows of a part. The split depends on shapes only. Concurrent runs
// use different plans, because a plan contains the values that are prepared once per run.
#include <cstring>
#include <utility>

#include "executor/plan.h"
#include "memory/object_pool.h"
#include "tiling/rows.h"

namespace crescent::cpu {
namespace {

size_t bytes_of_value(const Program& program, int value) {
  return static_cast<size_t>(program.values[value].bytes());
}
size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// The number of rows per part: about 16 parts, but not fewer rows than matrix products need to be
/// efficient; for bfloat16 these are 32, the rows of two AMX tiles.
int64_t rows_of_part(const Program& body, int64_t batch) {
  constexpr int64_t kTargetParts = 16, kMinRows = 8, kTileRows = 32, kMaxFactor = 2;
  const bool is_half = std::any_of(body.values.begin(), body.values.end(),
                                   [](const auto& spec) { return spec.dtype == DType::bfloat16; });
  const int64_t min_rows = is_half ? kTileRows : kMinRows;
  return std::clamp(pieces(batch, kTargetParts), min_rows, kMaxFactor * min_rows);
}

/// The plans, frames and buffers for one run of a scan at a time.
class ScanLoop {
 public:
  ScanLoop(const Scan& scan, const Request& request, Pool& pool)
      : options_(request.options),
        state_count_(scan.states),
        stepped_input_count_(state_count_ + static_cast<size_t>(scan.sequences)),
        step_output_count_(scan.body->outputs.size() - state_count_),
        is_reversed_(scan.reverse),
        keeps_states_(scan.keep_states),
        is_split_by_rows_(scan.body->inputs.size(), false),
        shared_inputs_(scan.body->inputs.size()) {
    for (int value : scan.body->inputs) in_bytes_.push_back(bytes_of_value(*scan.body, value));
    for (int value : scan.body->outputs) out_bytes_.push_back(bytes_of_value(*scan.body, value));
    const TensorSpec* stacked_spec = stepped_input_count_ > state_count_
                                         ? &request.inputs[state_count_]
                                     : step_output_count_ > 0 ? &request.outputs[state_count_]
                                                              : nullptr;
    step_count_ = stacked_spec ? stacked_spec->shape[0] : 0;
    for (size_t s = 0; s < state_count_; ++s) state_bytes_ += aligned(in_bytes_[s]);
    if (!divide_into_parts(*scan.body))
      plans_.push_back(
          std::make_unique<PlanWithFrame>(with_shared_variables(*scan.body), *this, pool));
  }

  void run(const Arguments& a) {
    if (part_count_ > 1) make_plans(a.threads.threads());
    ++run_count_;
    for (const auto& plan : plans_) begin(a, *plan);
    if (remainder_plan_) begin(a, *remainder_plan_);
    // Without time steps the body does not run, and neither must the checks in it.
    if (step_count_ > 0) plans_[0]->plan.prepare(plans_[0]->frame, arena(a, 0));
    if (part_count_ == 1) return run_part(a, *plans_[0], 0);
    a.threads.parallel(
        part_count_,
        [&](int64_t part, int worker) {
          const bool is_remainder = remainder_plan_ && part + 1 == part_count_;
          run_part(a, is_remainder ? *remainder_plan_ : *plans_[worker], part);
        },
        static_cast<int>(plans_.size()));
  }

  double flops() const {
    const double full_parts_flops =
        plans_[0]->plan.flops() * static_cast<double>(part_count_ - (remainder_plan_ ? 1 : 0));
    return (full_parts_flops + (remainder_plan_ ? remainder_plan_->plan.flops() : 0)) *
           static_cast<double>(step_count_);
  }
  size_t scratch_bytes() const {
    return 2 * state_bytes_ + static_cast<size_t>(part_count_) * arena_bytes();
  }

 private:
  /// A plan, and the frame with which it always runs.
  struct PlanWithFrame {
    PlanWithFrame(const Program& program, ScanLoop& loop, Pool& pool)
        : plan(program, loop.options_, pool, loop.cache_) {}
    Plan plan;
    Plan::Frame frame{plan};
  };
  /// Makes plans for parts of the batch if it can be split and splitting makes the scan faster;
  /// returns whether the plans were made.
  bool divide_into_parts(const Program& body) {
    // fewest operations of a part for which a further thread is worth its overhead
    constexpr double kMinPartFlops = 60e3;
    const std::optional<RowwiseProgram> rowwise = as_rowwise(body, stepped_input_count_);
    const int64_t rows = rowwise ? rows_of_part(body, rowwise->batch) : 0;
    if (!rowwise || rows >= rowwise->batch) return false;
    const int64_t remaining_rows = rowwise->batch % rows;
    for (size_t i = 0; i < is_split_by_rows_.size(); ++i)
      is_split_by_rows_[i] = rowwise->input(i) == SliceRole::rows;
    batch_ = rowwise->batch, rows_per_part_ = rows, part_count_ = pieces(batch_, rows);
    part_body_ = with_shared_variables(rowwise->of(rows));
    const Program last_part =
        remaining_rows > 0 ? with_shared_variables(rowwise->of(remaining_rows)) : Program();
    if (has_kernels(part_body_) && has_kernels(last_part)) {
      make_plans(1);
      if (remaining_rows > 0)
        remainder_plan_ = std::make_unique<PlanWithFrame>(last_part, *this, single_thread_pool_);
      if (flops() >= kMinPartFlops * static_cast<double>(part_count_)) return true;
    }
    plans_.clear(), remainder_plan_.reset();
    batch_ = part_count_ = 1, is_split_by_rows_.assign(is_split_by_rows_.size(), false);
    return false;
  }
  bool has_kernels(const Program& program) const {
    return std::all_of(program.code.begin(), program.code.end(), [&](const auto& i) {
      return i.op->name() == Reshape::kName ||
             has_kernel({*i.op, program.specs_of(i.inputs), program.specs_of(i.outputs), options_});
    });
  }
  void make_plans(int threads) {
    const auto count = static_cast<size_t>(std::min<int64_t>(threads, part_count_));
    while (plans_.size() < count)
      plans_.push_back(std::make_unique<PlanWithFrame>(part_body_, *this, single_thread_pool_));
  }

  bool is_shared(size_t input) const {
    return input >= stepped_input_count_ && !is_split_by_rows_[input];
  }
  /// Returns the body with variables in place of those inputs that all steps and parts share,
  /// because kernels can prepare variables (Kernel::prepare).
  Program with_shared_variables(Program body) {
    const std::vector<int> inputs = std::exchange(body.inputs, {});
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!is_shared(i)) {
        body.inputs.push_back(inputs[i]);
        continue;
      }
      if (!shared_inputs_[i]) shared_inputs_[i] = Variable(Tensor(TensorSpec{}));
      body.variables.push_back({shared_inputs_[i], inputs[i]});
    }
    return body;
  }
  void begin(const Arguments& a, PlanWithFrame& part_plan) const {
    Plan::Memory& memory = part_plan.frame.memory();
    size_t variable = 0;
    for (size_t i = stepped_input_count_; i < in_bytes_.size(); ++i) {
      if (!is_shared(i)) continue;
      memory.variables[variable] = const_cast<std::byte*>(a.inputs[i]);
      memory.contents[variable++] = {1, run_count_, 0};
    }
  }

  size_t arena_bytes() const {
    return aligned(std::max(plans_[0]->plan.arena_bytes(),
                            remainder_plan_ ? remainder_plan_->plan.arena_bytes() : 0));
  }
  std::byte* arena(const Arguments& a, int64_t part) const {
    return a.scratch + 2 * state_bytes_ + static_cast<size_t>(part) * arena_bytes();
  }
  /// The byte offset of the first row of `part` in an array of `bytes` bytes with one row per
  /// sample of the batch.
  size_t row_offset(size_t bytes, int64_t part) const {
    return bytes / static_cast<size_t>(batch_) * static_cast<size_t>(part * rows_per_part_);
  }
  std::byte* input(const Arguments& a, size_t i, int64_t part) const {
    return const_cast<std::byte*>(a.inputs[i]) +
           (is_split_by_rows_[i] ? row_offset(in_bytes_[i], part) : 0);
  }

  void run_part(const Arguments& a, PlanWithFrame& part_plan, int64_t part) const {
    auto& memory = part_plan.frame.memory();
    for (size_t s = 0; s < state_count_; ++s) copy_first_state(a, s, part);
    size_t next_input = stepped_input_count_;
    for (size_t c = stepped_input_count_; c < in_bytes_.size(); ++c) {
      if (!is_shared(c)) memory.inputs[next_input++] = input(a, c, part);
    }
    for (int64_t i = 0; i < step_count_; ++i) {
      const size_t t = step(i);
      for (size_t s = 0; s < state_count_; ++s)
        memory.inputs[s] = state(a, s, i, part), memory.outputs[s] = state(a, s, i + 1, part);
      for (size_t q = state_count_; q < stepped_input_count_; ++q)
        memory.inputs[q] = input(a, q, part) + t * in_bytes_[q];
      for (size_t o = state_count_; o < out_bytes_.size(); ++o)
        memory.outputs[o] = a.outputs[o] + t * out_bytes_[o] + row_offset(out_bytes_[o], part);
      part_plan.plan.run(part_plan.frame, arena(a, part));
    }
  }

  /// The time index of the step that is executed as number i.
  size_t step(int64_t i) const {
    return static_cast<size_t>(is_reversed_ ? step_count_ - 1 - i : i);
  }
  /// The address of state s of `part` before step i.
  std::byte* state(const Arguments& a, size_t s, int64_t i, int64_t part) const {
    const size_t first = row_offset(in_bytes_[s], part);
    if (i == step_count_) return a.outputs[s] + first;
    if (keeps_states_)
      return a.outputs[state_count_ + step_output_count_ + s] + step(i) * in_bytes_[s] + first;
    size_t offset = static_cast<size_t>(i % 2) * state_bytes_ + first;
    for (size_t previous = 0; previous < s; ++previous) offset += aligned(in_bytes_[previous]);
    return a.scratch + offset;
  }
  void copy_first_state(const Arguments& a, size_t s, int64_t part) const {
    const size_t first = row_offset(in_bytes_[s], part),
                 last = part + 1 < part_count_ ? row_offset(in_bytes_[s], part + 1) : in_bytes_[s];
    if (last > first) std::memcpy(state(a, s, 0, part), a.inputs[s] + first, last - first);
  }

  Options options_;
  // the pool of the plans for parts of the batch, each of which runs on one thread
  Pool single_thread_pool_{1};
  PrepackCache cache_;  // the prepacked values of the plans
  /// Numbers of states, of states and sequences together, and of outputs per step.
  size_t state_count_, stepped_input_count_, step_output_count_;
  bool is_reversed_, keeps_states_;
  /// For each input of the body, whether it is split by rows of the batch.
  std::vector<bool> is_split_by_rows_;
  /// For each input of the body that all steps and parts share, the variable that replaces it.
  std::vector<Variable> shared_inputs_;
  std::vector<size_t> in_bytes_, out_bytes_;  ///< sizes in bytes of the body's inputs and outputs
  size_t state_bytes_ = 0;
  int64_t step_count_ = 0, batch_ = 1, rows_per_part_ = 1, part_count_ = 1;
  Program part_body_;  ///< the body for a part of the batch that has rows_per_part_ rows
  std::vector<std::unique_ptr<PlanWithFrame>>
      plans_;  ///< one plan, or one per thread if the batch is split
  std::unique_ptr<PlanWithFrame>
      remainder_plan_;  ///< the plan for the last part, if it has fewer rows
  uint64_t run_count_ = 0;
};

class ScanKernel final : public Kernel {
 public:
  ScanKernel(const Scan& scan, const Request& request, Pool& pool)
      : scan_(scan),
        in_(request.inputs.begin(), request.inputs.end()),
        out_(request.outputs.begin(), request.outputs.end()),
        options_(request.options),
        pool_(pool) {
    const ObjectPool<ScanLoop>::Lease first(loops_, [&] { return new_loop(); });
    flops_ = first->flops(), scratch_bytes_ = first->scratch_bytes();
  }
  void run(const Arguments& a) const override {
    const ObjectPool<ScanLoop>::Lease loop(loops_, [&] { return new_loop(); });
    loop->run(a);
  }
  std::string name() const override { return "scan"; }
  double flops() const override { return flops_; }
  size_t scratch_bytes() const override { return scratch_bytes_; }

 private:
  std::unique_ptr<ScanLoop> new_loop() const {
    return std::make_unique<ScanLoop>(scan_, Request(scan_, in_, out_, options_), pool_);
  }

  Scan scan_;
  TensorSpecs in_, out_;
  Options options_;
  Pool& pool_;
  mutable ObjectPool<ScanLoop> loops_;
  double flops_ = 0;
  size_t scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_scan(const Scan& scan, const Request& request, Pool& pool) {
  return std::make_unique<ScanKernel>(scan, request, pool);
}

}  // namespace crescent::cpu
