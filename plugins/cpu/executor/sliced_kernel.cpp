// The kernel of the op Sliced (tiling/sliced.h), whose body runs once per slice of the batch. The
// body is a separate plan, with a frame for each thread. Slices are divided among a fixed number of
// lanes (independent parts of the work). Each lane adds up the results of its slices, and the sums
// of the lanes are added in a fixed order.
#include "executor/sliced_kernel.h"

#include <algorithm>

#include "executor/plan.h"
#include "kernel/composed.h"
#include "kernel/loops.h"
#include "matmul/matmul.h"
#include "memory/object_pool.h"
#include "memory/prepack_cache.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kMaxLanes = 32;

class SlicedKernel final : public ComposedKernel {
 public:
  SlicedKernel(const Sliced& op, const Request& r)
      : op_(op), options_(r.options), lane_count_(std::min(op.slices, kMaxLanes)) {
    for (int value : op.body->inputs) input_bytes_.push_back(bytes(value));
    size_t scratch_size = 0;
    for (size_t i = 0; i < op.body->outputs.size(); ++i) {
      const SliceRole role = op.cut.outputs[i];
      const size_t size = bytes(op.body->outputs[i]), padded_size = (size + 63) / 64 * 64;
      const int64_t copy_count = role == SliceRole::rows  ? 0
                                 : role == SliceRole::sum ? lane_count_
                                                          : op.slices;
      const bool is_in_thread_memory = role == SliceRole::rows || role == SliceRole::sum;
      outputs_.push_back({role, size, scratch_size, padded_size, thread_memory_bytes_});
      scratch_size += static_cast<size_t>(copy_count) * padded_size;
      if (is_in_thread_memory) thread_memory_bytes_ += padded_size;
    }
    scratch_bytes_ = scratch_size;
    plan_ = std::make_unique<Plan>(*op_.body, options_, single_thread_pool_, cache_);
  }

  void run(const Arguments& a) const override {
    const ObjectPool<Frames>::Lease frames(frames_, [] { return std::make_unique<Frames>(); });
    make_frames(*frames, a.threads.threads());
    a.threads.parallel(
        lane_count_,
        [&](int64_t lane, int worker) {
          run_lane(a, lane, (*frames)[static_cast<size_t>(worker)]);
        },
        static_cast<int>(frames->size()));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].role == SliceRole::sum) add_lanes(a, i);
      if (outputs_[i].role == SliceRole::mean) combine_statistics(a, i);
    }
  }
  std::string name() const override { return "by slices"; }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  double flops() const override { return plan_->flops() * static_cast<double>(op_.slices); }
  void profile(bool on) override { plan_->profile(on, false); }
  std::vector<ProfileEntry> rows() const override {
    std::vector<ProfileEntry> rows = plan_->rows();
    for (ProfileEntry& row : rows) row.kernel += concat(", in ", op_.slices, " slices");
    return rows;
  }

 private:
  using Frames = std::vector<Plan::Frame>;  ///< one frame per thread
  struct Output {
    SliceRole role;
    size_t bytes;  ///< size in bytes of the output of one slice
    /// If scratch memory has a copy of the output for each lane or for each slice: the offset of
    /// the first copy, and the distance between copies.
    size_t offset, stride;
    /// For outputs with SliceRole::rows or SliceRole::sum, the offset in the memory of a thread at
    /// which the output of one slice is computed.
    size_t thread_memory_offset;
  };

  size_t bytes(int value) const { return static_cast<size_t>(op_.body->values[value].bytes()); }
  /// Makes a frame for each thread; adds frames if there are more threads than in any earlier run.
  void make_frames(Frames& frames, int threads) const {
    const auto count =
        std::min<size_t>(static_cast<size_t>(threads), static_cast<size_t>(lane_count_));
    while (frames.size() < count) frames.emplace_back(*plan_);
  }

  std::byte* copy_address(const Arguments& a, const Output& output, int64_t i) const {
    return a.scratch + output.offset + static_cast<size_t>(i) * output.stride;
  }

  void run_lane(const Arguments& a, int64_t lane, Plan::Frame& frame) const {
    const size_t aligned_arena_bytes = (plan_->arena_bytes() + 63) / 64 * 64;
    std::byte* memory = slice_scratch(aligned_arena_bytes + thread_memory_bytes_);
    const int64_t first = op_.slices * lane / lane_count_,
                  last = op_.slices * (lane + 1) / lane_count_;
    for (int64_t slice = first; slice < last; ++slice) {
      set_addresses(a, slice, memory + aligned_arena_bytes, frame.memory());
      plan_->run(frame, memory, plan_->is_observed());
      store_results(a, slice, lane, slice == first, memory + aligned_arena_bytes);
    }
  }
  /// Sets the addresses of the inputs and outputs of the body for a slice; `thread_memory` is the
  /// thread's memory for results.
  void set_addresses(const Arguments& a, int64_t slice, std::byte* thread_memory,
                     Plan::Memory& memory) const {
    for (size_t i = 0; i < input_bytes_.size(); ++i) {
      const bool is_cut = op_.cut.inputs[i] == SliceRole::rows;
      memory.inputs[i] = const_cast<std::byte*>(a.inputs[i]) +
                         (is_cut ? static_cast<size_t>(slice) * input_bytes_[i] : 0);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Output& o = outputs_[i];
      const bool is_in_thread_memory = o.role == SliceRole::rows || o.role == SliceRole::sum;
      memory.outputs[i] =
          is_in_thread_memory ? thread_memory + o.thread_memory_offset : copy_address(a, o, slice);
    }
  }
  void store_results(const Arguments& a, int64_t slice, int64_t lane, bool is_first,
                     const std::byte* thread_memory) const {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Output& o = outputs_[i];
      const auto* from = reinterpret_cast<const float*>(thread_memory + o.thread_memory_offset);
      const size_t count = o.bytes / sizeof(float);
      auto* sum = reinterpret_cast<float*>(copy_address(a, o, lane));
      if (o.role == SliceRole::rows)
        stream(from, a.out<float>(static_cast<int>(i)) + static_cast<size_t>(slice) * count, count);
      else if (o.role == SliceRole::sum && is_first)
        std::copy(from, from + count, sum);
      else if (o.role == SliceRole::sum)
        accumulate(sum, from, static_cast<int64_t>(count));
    }
  }

  void add_lanes(const Arguments& a, size_t i) const {
    const Output& o = outputs_[i];
    a.threads.blocks(static_cast<int64_t>(o.bytes / sizeof(float)), 4096,
                     [&](int64_t begin, int64_t end) {
                       float* sum = a.out<float>(static_cast<int>(i));
                       std::copy(lane_of(a, o, 0) + begin, lane_of(a, o, 0) + end, sum + begin);
                       for (int64_t lane = 1; lane < lane_count_; ++lane)
                         accumulate(sum + begin, lane_of(a, o, lane) + begin, end - begin);
                     });
  }
  const float* lane_of(const Arguments& a, const Output& o, int64_t lane) const {
    return reinterpret_cast<const float*>(copy_address(a, o, lane));
  }

  /// Combines the means and variances of all slices, which have equal numbers of rows: output i is
  /// the mean, output i + 1 the variance.
  void combine_statistics(const Arguments& a, size_t i) const {
    const Output &mean = outputs_[i], &variance = outputs_[i + 1];
    const int64_t channels = static_cast<int64_t>(mean.bytes / sizeof(float)),
                  stride = static_cast<int64_t>(mean.stride / sizeof(float));
    const float *means = lane_of(a, mean, 0), *variances = lane_of(a, variance, 0);
    const double slices = static_cast<double>(op_.slices);
    for (int64_t c = 0; c < channels; ++c) {
      double common_mean = 0, variance_sum = 0;
      for (int64_t s = 0; s < op_.slices; ++s) common_mean += means[s * stride + c];
      common_mean /= slices;
      for (int64_t s = 0; s < op_.slices; ++s) {
        const double difference = means[s * stride + c] - common_mean;
        variance_sum += variances[s * stride + c] + difference * difference;
      }
      a.out<float>(static_cast<int>(i))[c] = static_cast<float>(common_mean);
      a.out<float>(static_cast<int>(i + 1))[c] = static_cast<float>(variance_sum / slices);
    }
  }

  Sliced op_;
  Options options_;
  int64_t lane_count_;
  Pool single_thread_pool_{1};  // the pool of the plan, each run of which uses one thread
  // the prepack cache that the plan requires; the plan reads no variables, so nothing in it becomes
  // out of date
  PrepackCache cache_;
  std::unique_ptr<Plan> plan_;
  mutable ObjectPool<Frames> frames_;  ///< one set of frames per concurrent run
  std::vector<size_t> input_bytes_;    ///< size in bytes of each input
  std::vector<Output> outputs_;
  size_t thread_memory_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_sliced(const Sliced& op, const Request& request) {
  return std::make_unique<SlicedKernel>(op, request);
}

}  // namespace crescent::cpu
