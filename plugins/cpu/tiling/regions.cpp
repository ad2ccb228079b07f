// Finds the regions of a program that can go through the batch slice by slice: consecutive
// instructions that can each be cut, none of which reads a result that another one computes from
// all rows.
//
//   %4 = relu(%3)                                    %5 = sliced(%3, %1):
//   %5 = conv(%4, %1)                          ->        %4 = relu(%3)
//   %6, %7 = batch_moments(%5)                           %5 = conv(%4, %1)
//   ...                                                  %6, %7 = batch_moments(%5)
//   %9 = conv_backward_kernel(%4, %8)                ...
//
// Another region may read an elementwise result, as the gradient of the kernel reads %4. If that
// region also reads the inputs of the elementwise instruction, it computes the result again. The
// result is then never written to memory.
#include <algorithm>
#include <map>
#include <set>

#include "kernel/post_ops.h"
#include "tiling/gradient_parts.h"
#include "tiling/joined_depthwise.h"
#include "tiling/sliced.h"

namespace crescent::cpu {
namespace {

using Instruction = Program::Instruction;

/// Largest number of bytes of all arrays of a slice together, so that they fit the cache.
constexpr int64_t kMaxSliceBytes = 3 << 19;
/// Largest number of bytes of all arrays of a slice that is a single image, which cannot be divided
/// further.
constexpr int64_t kMaxImageSliceBytes = 4 << 20;

struct Region {
  size_t first, last;    ///< instructions [first, last) of the program
  int64_t rows, slices;  ///< the number of rows of a slice, and the number of slices
  /// Instructions from other regions that this region computes again.
  std::vector<Instruction> recomputed_instructions;
};

/// A region while it is collected: the indices of its instructions (inside), and those of the light
/// (cheap) instructions that are moved before the region or behind it.
struct Candidate {
  int64_t batch = 0;
  std::vector<size_t> moved_before_indices, sliced_indices, moved_after_indices;
  std::set<int> computed_values;  ///< the values that the region computes
  std::set<int>
      computed_after;  ///< the values that the instructions in `moved_after_indices` compute
  /// The values from outside of the region that the region reads, with their roles.
  std::map<int, SliceRole> read_values;
};

class RegionSlicer {
 public:
  explicit RegionSlicer(Program program)
      : program_(std::move(program)), producer_(program_.values.size(), -1) {
    for (size_t i = 0; i < program_.code.size(); ++i) {
      const Instruction& instruction = program_.code[i];
      cuts_.push_back(
          cut_of(*instruction.op, specs(instruction.inputs), specs(instruction.outputs)));
      for (int value : instruction.outputs) producer_[value] = static_cast<int>(i);
    }
  }

  std::optional<Program> run() {
    find_regions();
    if (regions_.empty()) return {};
    for (Region& region : regions_) add_recomputed(region);
    mark_needed_values();
    emit();
    return std::move(program_);
  }

 private:
  const TensorSpec& spec(int value) const { return program_.values[value]; }
  TensorSpecs specs(const std::vector<int>& values) const {
    TensorSpecs specs;
    for (int value : values) specs.push_back(spec(value));
    return specs;
  }
  int producer(int value) const { return producer_[value]; }

  /// Calls f for every input and output of an instruction, with the value and with what the cut
  /// says about this operand.
  template <class F>
  static void for_each_value(const Instruction& i, const Cut& cut, F&& f) {
    for (size_t k = 0; k < i.inputs.size(); ++k) f(i.inputs[k], cut.inputs[k]);
    for (size_t k = 0; k < i.outputs.size(); ++k) f(i.outputs[k], cut.outputs[k]);
  }
  int64_t batch_of(size_t i) const {
    int64_t batch = 0;
    for_each_value(program_.code[i], *cuts_[i], [&](int value, SliceRole role) {
      if (role == SliceRole::rows) batch = spec(value).shape[0];
    });
    return batch;
  }
  SliceRole role_of(int value) const {
    const size_t i = producer(value);
    const std::vector<int>& outputs = program_.code[i].outputs;
    const auto index = std::find(outputs.begin(), outputs.end(), value) - outputs.begin();
    return cuts_[i]->outputs[index];
  }

  /// Whether instruction i can be added to the region `candidate`: it must have the same batch
  /// size, and read values of the region by rows only.
  bool can_be_added(const Candidate& candidate, size_t i) const {
    const Instruction& instruction = program_.code[i];
    if (!cuts_[i] || batch_of(i) != candidate.batch) return false;
    for (size_t k = 0; k < instruction.inputs.size(); ++k) {
      const int value = instruction.inputs[k];
      const SliceRole role = cuts_[i]->inputs[k];
      if (candidate.computed_after.count(value)) return false;
      if (candidate.computed_values.count(value)) {
        if (role_of(value) != SliceRole::rows || role != SliceRole::rows) return false;
      } else if (const auto known_role = candidate.read_values.find(value);
                 known_role != candidate.read_values.end() && known_role->second != role) {
        return false;
      }
    }
    return true;
  }
  void add_inside(Candidate& candidate, size_t i) const {
    const Instruction& instruction = program_.code[i];
    candidate.sliced_indices.push_back(i),
        candidate.computed_values.insert(instruction.outputs.begin(), instruction.outputs.end());
    for (size_t k = 0; k < instruction.inputs.size(); ++k)
      candidate.read_values.emplace(instruction.inputs[k], cuts_[i]->inputs[k]);
  }
  /// Whether an instruction is cheap enough to run before or after a region instead of inside.
  bool is_cheap(const Instruction& i) const {
    constexpr int64_t kMaxCheapBytes = 64 << 10;
    return i.op->effect() == Effect::none &&
           std::all_of(i.outputs.begin(), i.outputs.end(),
                       [&](int value) { return spec(value).bytes() <= kMaxCheapBytes; });
  }

  /// Collects a region that begins with instruction `first`, and the light instructions between its
  /// instructions. Returns whether the region is worth slicing.
  bool collect_region(size_t first, Candidate& candidate) const {
    if (!cuts_[first] || batch_of(first) < 2) return false;
    candidate.batch = batch_of(first);
    for (size_t i = first; i < program_.code.size(); ++i) {
      const Instruction& instruction = program_.code[i];
      if (can_be_added(candidate, i)) {
        add_inside(candidate, i);
      } else if (!is_cheap(instruction)) {
        break;
      } else {
        const bool reads_results =
            std::any_of(instruction.inputs.begin(), instruction.inputs.end(), [&](int value) {
              return candidate.computed_values.count(value) ||
                     candidate.computed_after.count(value);
            });
        (reads_results ? candidate.moved_after_indices : candidate.moved_before_indices)
            .push_back(i);
        if (reads_results)
          candidate.computed_after.insert(instruction.outputs.begin(), instruction.outputs.end());
      }
    }
    return is_worth_it(candidate);
  }

  void find_regions() {
    std::vector<size_t> sequence;  // the original indices of the instructions in their new order
    auto append = [&](const std::vector<size_t>& indices) {
      sequence.insert(sequence.end(), indices.begin(), indices.end());
    };
    for (size_t i = 0; i < program_.code.size();) {
      Candidate candidate;
      if (!collect_region(i, candidate)) {
        sequence.push_back(i++);
        continue;
      }
      append(candidate.moved_before_indices);
      const size_t first = sequence.size();
      append(candidate.sliced_indices);
      const int64_t rows = rows_of_slice(candidate.sliced_indices, candidate.batch);
      regions_.push_back({first, sequence.size(), rows, candidate.batch / rows, {}});
      append(candidate.moved_after_indices);
      i += candidate.moved_before_indices.size() + candidate.sliced_indices.size() +
           candidate.moved_after_indices.size();
    }
    reorder(sequence);
  }
  void reorder(const std::vector<size_t>& sequence) {
    std::vector<Instruction> code;
    std::vector<std::optional<Cut>> cuts;
    for (size_t i : sequence) {
      for (int value : program_.code[i].outputs) producer_[value] = static_cast<int>(code.size());
      code.push_back(std::move(program_.code[i])), cuts.push_back(std::move(cuts_[i]));
    }
    program_.code = std::move(code), cuts_ = std::move(cuts);
  }

  /// Whether slicing the region makes it faster. The region must work on images, not only on
  /// weights, and must compute a large value that it also reads, or read a large value twice.
  bool is_worth_it(const Candidate& candidate) const {
    std::map<int, int> use_counts;
    for (size_t i : candidate.sliced_indices) {
      for_each_value(program_.code[i], *cuts_[i], [&](int value, SliceRole role) {
        if (role == SliceRole::rows && spec(value).bytes() >= kLargeBytes) ++use_counts[value];
      });
    }
    const bool reads_value_twice =
        std::any_of(use_counts.begin(), use_counts.end(), [](auto& use) { return use.second > 1; });
    const bool has_images =
        std::any_of(candidate.sliced_indices.begin(), candidate.sliced_indices.end(),
                    [&](size_t i) { return !is_elementwise(*program_.code[i].op); });
    return reads_value_twice && has_images &&
           rows_of_slice(candidate.sliced_indices, candidate.batch) > 0;
  }

  /// The largest number of images per slice that fits the cache and divides the batch; 0 if one
  /// image is too large.
  int64_t rows_of_slice(const std::vector<size_t>& sliced_indices, int64_t batch) const {
    std::set<int> values;
    for (size_t i : sliced_indices) {
      for_each_value(program_.code[i], *cuts_[i], [&](int value, SliceRole role) {
        if (role == SliceRole::rows) values.insert(value);
      });
    }
    int64_t image_bytes = 0;
    for (int value : values) image_bytes += spec(value).bytes() / batch;
    int64_t rows = std::clamp<int64_t>(kMaxSliceBytes / image_bytes, 1, batch);
    while (batch % rows != 0) --rows;
    return image_bytes * rows <= kMaxImageSliceBytes ? rows : 0;
  }

  /// Calls f(instruction, cut) for all instructions of a region, beginning with those of other
  /// regions that the region computes again.
  template <class F>
  void for_each_instruction(const Region& region, F&& f) const {
    for (const Instruction& i : region.recomputed_instructions)
      f(i, *cuts_[producer(i.outputs[0])]);
    for (size_t i = region.first; i < region.last; ++i) f(program_.code[i], *cuts_[i]);
  }
  bool is_inside(const Region& region, int value) const {
    const auto index = static_cast<size_t>(producer(value));
    return producer(value) >= 0 && index >= region.first && index < region.last;
  }

  /// Finds the elementwise results from outside that the region shall compute again instead of
  /// reading them, because it already reads their inputs by rows.
  void add_recomputed(Region& region) {
    std::set<int> values_read;
    for_each_instruction(region, [&](const Instruction& i, const Cut& cut) {
      for (size_t k = 0; k < i.inputs.size(); ++k) {
        if (cut.inputs[k] == SliceRole::rows && !is_inside(region, i.inputs[k]))
          values_read.insert(i.inputs[k]);
      }
    });
    for (int value : values_read) {
      const int source_index = producer(value);
      if (source_index < 0 || !cuts_[source_index]) continue;
      const Instruction& source = program_.code[source_index];
      const Cut& cut = *cuts_[source_index];
      bool is_free = is_elementwise(*source.op) && source.outputs.size() == 1;
      for (size_t k = 0; k < source.inputs.size(); ++k)
        is_free =
            is_free && (cut.inputs[k] == SliceRole::whole ? !values_read.count(source.inputs[k])
                                                          : values_read.count(source.inputs[k]));
      if (is_free) region.recomputed_instructions.push_back(source);
    }
  }

  /// Marks the values that are read outside of the instruction or region that computes them.
  void mark_needed_values() {
    is_needed_.assign(program_.values.size(), false);
    auto mark_needed = [&](int value) { is_needed_[value] = true; };
    for (int value : program_.outputs) mark_needed(value);
    for (const Program::Binding& b : program_.variables) {
      if (b.result >= 0) mark_needed(b.result);
    }
    std::vector<bool> is_cut(program_.code.size());
    for (const Region& region : regions_) {
      for (int value : read_from_outside(region)) mark_needed(value);
      std::fill(is_cut.begin() + static_cast<ptrdiff_t>(region.first),
                is_cut.begin() + static_cast<ptrdiff_t>(region.last), true);
    }
    for (size_t i = 0; i < is_cut.size(); ++i) {
      if (is_cut[i]) continue;
      for (int value : program_.code[i].inputs) mark_needed(value);
    }
  }

  std::set<int> read_from_outside(const Region& region) const {
    std::set<int> values_read, computed_values;
    for_each_instruction(region, [&](const Instruction& i, const Cut&) {
      for (int value : i.inputs) {
        if (!computed_values.count(value)) values_read.insert(value);
      }
      computed_values.insert(i.outputs.begin(), i.outputs.end());
    });
    return values_read;
  }

  void emit() {
    std::vector<Instruction> code;
    auto region = regions_.begin();
    for (size_t i = 0; i < program_.code.size(); ++i) {
      if (region == regions_.end() || i != region->first) {
        code.push_back(program_.code[i]);
        continue;
      }
      code.push_back(sliced_instruction(*region));
      i = region->last - 1;
      ++region;
    }
    program_.code = std::move(code);
  }

  Instruction sliced_instruction(const Region& region) const {
    auto op = std::make_shared<Sliced>();
    op->rows = region.rows, op->slices = region.slices;
    auto body = std::make_shared<Program>();
    body->scopes = program_.scopes;
    std::map<int, int> body_values;
    auto body_value = [&](int value, SliceRole role) {
      const auto [entry, is_new] = body_values.try_emplace(value, 0);
      if (!is_new) return std::pair(entry->second, false);
      TensorSpec slice_spec = spec(value);
      if (role == SliceRole::rows) slice_spec.shape.set(0, op->rows);
      return std::pair(entry->second = body->add_value(slice_spec), true);
    };
    Instruction result{op, {}, {}, program_.code[region.last - 1].scope};
    for_each_instruction(region, [&](const Instruction& i, const Cut& cut) {
      Instruction slice{with_rows(i.op, op->rows), {}, {}, i.scope};
      for (size_t k = 0; k < i.inputs.size(); ++k) {
        const auto [value, is_new] = body_value(i.inputs[k], cut.inputs[k]);
        slice.inputs.push_back(value);
        if (!is_new) continue;
        body->inputs.push_back(value), result.inputs.push_back(i.inputs[k]);
        op->cut.inputs.push_back(cut.inputs[k]);
      }
      for (size_t k = 0; k < i.outputs.size(); ++k) {
        const int value = body_value(i.outputs[k], cut.outputs[k]).first;
        slice.outputs.push_back(value);
        const bool is_kept = is_inside(region, i.outputs[k]) &&
                             (is_needed_[i.outputs[k]] || cut.outputs[k] != SliceRole::rows);
        if (!is_kept) continue;
        body->outputs.push_back(value), result.outputs.push_back(i.outputs[k]);
        op->cut.outputs.push_back(cut.outputs[k]);
      }
      op->op_names += (op->op_names.empty() ? "" : ", ") + i.op->label();
      body->code.push_back(std::move(slice));
    });
    join_depthwise(*body);
    op->body = std::move(body);
    return result;
  }

  Program program_;
  /// For each instruction its cut; nullopt if it cannot be cut.
  std::vector<std::optional<Cut>> cuts_;
  /// For each value, the index of the instruction that computes it, or -1.
  std::vector<int> producer_;
  std::vector<Region> regions_;
  /// For each value, whether it is read outside of the region that computes it.
  std::vector<bool> is_needed_;
};

bool is_large_convolution(const Program& program, const Instruction& i) {
  const auto is_large = [&](int value) { return program.values[value].bytes() >= kLargeBytes; };
  return base_of(*i.op).name() == Conv::kName && (is_large(i.inputs[0]) || is_large(i.outputs[0]));
}

}  // namespace

std::optional<Program> by_slices(const Program& program) {
  if (std::none_of(program.code.begin(), program.code.end(),
                   [&](const Instruction& i) { return is_large_convolution(program, i); }))
    return {};
  Program parts = program;
  split_batch_norm_gradients(parts);
  return RegionSlicer(std::move(parts)).run();
}

}  // namespace crescent::cpu
