// The backward pass computes the values of a segment again from the values that were kept, here %2
// from %0:
//
//   %1 = matmul(%0, w1)                %1 = matmul(%0, w1)
//   %2 = tanh(%1)                      %2 = tanh(%1)
//   %3 = matmul(%2, w2)        ->      %3 = matmul(%2, w2)
//   ... backward ...                   ... backward ...
//   %8 = multiply(%7, %2)              %9 = rematerialized(%0)
//                                      %10 = matmul(%9, w1)
//                                      %11 = tanh(%10)
//                                      %8 = multiply(%7, %11)
#include "program/recording/rematerialization.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace crescent {
namespace {

using Instruction = Program::Instruction;

class Rematerialization {
 public:
  Rematerialization(Program& program, size_t backward)
      : program_(program),
        backward_(backward),
        values_(program.values.size()),
        read_by_backward_bytes_(backward + 1),
        crossing_bytes_(backward + 1) {
    find_producers();
    find_reads();
    sum_bytes();
  }

  /// Tries segments of many sizes and returns the cuts for which the peak of the memory is
  /// smallest. Returns no cuts if none make the peak much smaller.
  std::vector<size_t> best_cuts() const {
    constexpr int kSegmentSizeCount = 48;
    constexpr double kSegmentRatio = 1.2, kMinGain = 0.1;
    const auto total_bytes = static_cast<double>(read_by_backward_bytes_.back());
    double lowest_peak = total_bytes * (1 - kMinGain), segment = total_bytes;
    std::vector<size_t> best_cut_positions;
    for (int i = 0; i < kSegmentSizeCount; ++i) {
      segment /= kSegmentRatio;
      std::vector<size_t> cuts = cuts_for(static_cast<int64_t>(segment));
      const auto peak = static_cast<double>(peak_with(cuts));
      if (peak >= lowest_peak) continue;
      lowest_peak = peak;
      best_cut_positions = std::move(cuts);
    }
    return best_cut_positions;
  }

  void run(std::vector<size_t> cuts) {
    cuts_ = std::move(cuts);
    if (cuts_.empty()) return;
    copies_.resize(backward_);
    const auto backward_begin = program_.code.begin() + static_cast<ptrdiff_t>(backward_);
    std::vector<Instruction> backward_pass(backward_begin, program_.code.end());
    program_.code.erase(backward_begin, program_.code.end());
    for (Instruction& instruction : backward_pass) {
      for (int& value : instruction.inputs) value = value_for_backward(value);
      program_.code.push_back(std::move(instruction));
    }
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  struct ValueInfo {
    size_t producer = kNone;  ///< index of the instruction of the forward pass that computes it
    size_t last_read = 0;     ///< index of the last instruction of the forward pass that reads it
    bool is_repeatable = false;  ///< whether its producer may run twice
    bool is_read_by_backward = false;
    bool is_constant = false;
    bool is_variable = false;
  };
  /// The values that a repeated instruction computes: the backward pass repeats instructions of the
  /// forward pass. Empty for an instruction that is not repeated yet.
  using Copies = std::vector<int>;

  void find_producers() {
    for (const Program::Constant& c : program_.constants) values_[c.value].is_constant = true;
    for (const Program::Binding& b : program_.variables) values_[b.value].is_variable = true;
    for (size_t i = 0; i < backward_; ++i) {
      const Instruction& instruction = program_.code[i];
      const bool is_repeatable =
          instruction.op->effect() == Effect::none && !instruction.inputs.empty();
      for (int value : instruction.outputs) {
        values_[value].producer = i;
        values_[value].is_repeatable = is_repeatable;
      }
    }
    const auto exclude = [&](int value) {
      if (value >= 0) values_[value].is_repeatable = false;
    };
    for (int value : program_.outputs) exclude(value);
    for (const Program::Binding& b : program_.variables) exclude(b.result);
  }

  void find_reads() {
    for (size_t i = 0; i < program_.code.size(); ++i)
      for (int value : program_.code[i].inputs)
        if (i < backward_)
          values_[value].last_read = i;
        else
          values_[value].is_read_by_backward = true;
  }

  /// For each position in the forward pass, sums the bytes of two kinds of values that are computed
  /// before the position: those that the backward pass reads, and those that the forward pass reads
  /// after the position. A value of the second kind that the backward pass does not read counts
  /// twice, since a cut would keep it in memory.
  void sum_bytes() {
    std::vector<int64_t> byte_changes(backward_ + 1);
    for (size_t v = 0; v < values_.size(); ++v) {
      const ValueInfo& value = values_[v];
      if (value.producer == kNone) continue;
      const int64_t bytes = program_.values[v].bytes();
      if (value.is_read_by_backward) read_by_backward_bytes_[value.producer + 1] += bytes;
      if (value.last_read <= value.producer) continue;
      const int64_t weight = value.is_read_by_backward ? 1 : 2;
      byte_changes[value.producer + 1] += weight * bytes;
      byte_changes[value.last_read + 1] -= weight * bytes;
    }
    std::partial_sum(byte_changes.begin(), byte_changes.end(), crossing_bytes_.begin());
    std::partial_sum(read_by_backward_bytes_.begin(), read_by_backward_bytes_.end(),
                     read_by_backward_bytes_.begin());
  }

  /// Cuts the forward pass into segments. A segment contains at most `max_bytes` bytes that the
  /// backward pass reads, and at least half as many; within these limits, the cut lies where the
  /// fewest bytes cross it.
  std::vector<size_t> cuts_for(int64_t max_bytes) const {
    std::vector<size_t> cuts;
    size_t begin = 0, best_position = kNone;
    for (size_t i = 1; i <= backward_; ++i) {
      const int64_t bytes = read_by_backward_bytes_[i] - read_by_backward_bytes_[begin];
      if (bytes > max_bytes && best_position != kNone) {
        cuts.push_back(best_position);
        begin = i = best_position;
        best_position = kNone;
      } else if (2 * bytes >= max_bytes && i < backward_) {
        if (best_position == kNone || crossing_bytes_[i] <= crossing_bytes_[best_position])
          best_position = i;
      }
    }
    return cuts;
  }

  /// The segment of a position: the number of cuts at or before it.
  static size_t segment_of(const std::vector<size_t>& cuts, size_t position) {
    return static_cast<size_t>(std::upper_bound(cuts.begin(), cuts.end(), position) - cuts.begin());
  }

  /// Whether the value stays in memory until the backward pass: the forward pass reads it in a
  /// later segment, it is in the last segment, or it cannot be computed again.
  bool is_kept(const ValueInfo& value, const std::vector<size_t>& cuts) const {
    const size_t segment = segment_of(cuts, value.producer);
    return !value.is_repeatable || segment == cuts.size() ||
           segment_of(cuts, value.last_read) > segment;
  }

  /// The estimated peak of the memory in bytes. When the backward pass reaches a segment, two kinds
  /// of values are in memory: the kept values of this and of earlier segments, and the values of
  /// this segment that are computed again.
  int64_t peak_with(const std::vector<size_t>& cuts) const {
    std::vector<int64_t> kept_bytes(cuts.size() + 1), repeated_bytes(cuts.size() + 1);
    for (size_t v = 0; v < values_.size(); ++v) {
      const ValueInfo& value = values_[v];
      if (value.producer == kNone) continue;
      const size_t segment = segment_of(cuts, value.producer);
      const bool crosses_segments = segment_of(cuts, value.last_read) > segment;
      if (!value.is_read_by_backward && !crosses_segments) continue;
      (is_kept(value, cuts) ? kept_bytes : repeated_bytes)[segment] += program_.values[v].bytes();
    }
    int64_t peak = 0, total_kept_bytes = 0;
    for (size_t s = 0; s < kept_bytes.size(); ++s) {
      total_kept_bytes += kept_bytes[s];
      peak = std::max(peak, total_kept_bytes + repeated_bytes[s]);
    }
    return peak;
  }

  bool is_repeated(int value) const {
    const ValueInfo& info = values_[value];
    return info.producer != kNone && !is_kept(info, cuts_);
  }

  /// Returns the value that the backward pass reads in place of `value`: `value` itself if it is
  /// kept, else a copy. The instructions that compute the copy are added to the code.
  int value_for_backward(int value) {
    if (static_cast<size_t>(value) >= values_.size() || !is_repeated(value)) return value;
    std::vector<size_t> missing_instructions, waiting_instructions{values_[value].producer};
    std::vector<bool> is_visited(backward_);
    while (!waiting_instructions.empty()) {
      const size_t producer = waiting_instructions.back();
      waiting_instructions.pop_back();
      if (is_visited[producer] || !copies_[producer].empty()) continue;
      is_visited[producer] = true;
      missing_instructions.push_back(producer);
      for (int input : program_.code[producer].inputs)
        if (is_repeated(input)) waiting_instructions.push_back(values_[input].producer);
    }
    std::sort(missing_instructions.begin(), missing_instructions.end());
    for (size_t producer : missing_instructions) add_copy(producer);
    return copy_of(value);
  }

  int copy_of(int value) const {
    const size_t producer = values_[value].producer;
    const std::vector<int>& originals = program_.code[producer].outputs;
    const auto position = std::find(originals.begin(), originals.end(), value) - originals.begin();
    return copies_[producer][static_cast<size_t>(position)];
  }

  void add_copy(size_t producer) {
    Instruction copy = program_.code[producer];
    bool has_other_input = false;  // whether an input differs from that of the original instruction
    const auto replace_input_if = [&](int& input, const bool condition) {
      if (condition) input = rematerialized_input(input, copy.scope), has_other_input = true;
    };
    for (int& input : copy.inputs) {
      const ValueInfo& info = values_[input];
      if (is_repeated(input))
        input = copy_of(input), has_other_input = true;
      else
        replace_input_if(input, !info.is_constant && !info.is_variable);
    }
    if (!has_other_input)
      for (int& input : copy.inputs) replace_input_if(input, values_[input].is_variable);
    for (int& output : copy.outputs)
      output = program_.add_value(TensorSpec(program_.values[output]));
    copies_[producer] = copy.outputs;
    program_.code.push_back(std::move(copy));
  }

  /// Returns the result of a Rematerialized op whose input is the kept value.
  int rematerialized_input(int value, int scope) {
    const auto [entry, is_new] = rematerialized_inputs_.try_emplace(value, -1);
    if (is_new) {
      entry->second = program_.add_value(TensorSpec(program_.values[value]));
      program_.code.push_back(
          {std::make_shared<const Rematerialized>(), {value}, {entry->second}, scope});
    }
    return entry->second;
  }

  Program& program_;
  size_t backward_;
  std::vector<ValueInfo> values_;
  std::vector<int64_t> read_by_backward_bytes_, crossing_bytes_;  ///< indexed by position
  std::vector<size_t> cuts_;                                      ///< positions, ascending
  std::vector<Copies> copies_;  ///< indexed by instruction of the forward pass
  /// maps a kept value to the result of its Rematerialized op
  std::map<int, int> rematerialized_inputs_;
};

}  // namespace

Program rematerialized(Program program, size_t backward) {
  Rematerialization pass(program, std::min(backward, program.code.size()));
  pass.run(pass.best_cuts());
  return program;
}

Program rematerialized(Program program, size_t backward, std::vector<size_t> cuts) {
  Rematerialization(program, std::min(backward, program.code.size())).run(std::move(cuts));
  return program;
}

}  // namespace crescent
