// Fusion: elementwise instructions that are connected and have results of one shape become one
// Fused op, so that intermediate values never leave the cache. A region grows along the edges of
// the program as long as no path leaves and re-enters it; the region would otherwise have to run
// both before and after the instructions on that path. Smaller operands stay outside and are
// broadcast, so that a scalar is computed once, by a region of scalars. The gradient of an
// embedding table (a ScatterAdd) joins the regions that read it: it is computed where it is needed
// and never stored.
//
//   %3 = subtract(%0, %1)              %3, %5 = fused(r3 = subtract r0 r1; r4 = square r3;
//   %4 = square(%3)             ->                    r5 = multiply r4 r2) %0, %1, %2
//   %5 = multiply(%4, %2)
#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <utility>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rewriting.h"
#include "crescent/device/lowered_ops.h"
#include "crescent/program/shard_ops.h"

namespace crescent::passes {
namespace {

constexpr size_t kMaxInputs = 24, kMaxFusedInstructions = 64;
// the program is divided into windows of this many instructions, and regions are formed within a
// window, so that the search takes linear time
constexpr int kWindowSize = 1024;

class BitSet {
 public:
  explicit BitSet(int count = 0) : words_(static_cast<size_t>(count + 63) / 64) {}
  bool has(int i) const { return words_[static_cast<size_t>(i) / 64] >> (i % 64) & 1; }
  void add(int i) { words_[static_cast<size_t>(i) / 64] |= uint64_t{1} << (i % 64); }
  void remove(int i) { words_[static_cast<size_t>(i) / 64] &= ~(uint64_t{1} << (i % 64)); }
  void add(const BitSet& other) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }

 private:
  std::vector<uint64_t> words_;
};

FusedStep step_of(const Op& op, DType result) {
  FusedStep step;
  step.dtype = result;
  if (auto* unary = as<Unary>(op)) step.kind = FusedStep::Kind::unary, step.unary = unary->kind;
  if (auto* binary = as<Binary>(op))
    step.kind = FusedStep::Kind::binary, step.binary = binary->kind;
  if (as<Select>(op)) step.kind = FusedStep::Kind::select;
  if (as<Cast>(op)) step.kind = FusedStep::Kind::cast;
  if (as<ScatterAdd>(op)) step.kind = FusedStep::Kind::scatter;
  return step;
}

/// Whether the op is a ScatterAdd that a region can contain. A ScatterAdd reads its operands as a
/// whole and not element by element.
bool is_scatter(const Op& op) {
  auto* scatter = as<ScatterAdd>(op);
  return scatter && scatter->axis == 0;
}

/// Partitions the instructions into regions, most of which have a single instruction. A region is
/// identified by its last instruction, the root.
class Regions {
 public:
  explicit Regions(const Program& program)
      : program_(program),
        shards_(shards_of_values(program)),
        producer_(program.values.size(), -1) {
    const int count = static_cast<int>(program.code.size());
    operands_.reserve(program.code.size());
    for (int i = 0, last_ordered = -1; i < count; ++i) {
      const bool is_ordered = at(i).op->effect() == Effect::ordered;
      previous_ordered_.push_back(is_ordered ? std::exchange(last_ordered, i) : -1);
      for (int value : at(i).outputs) producer_[value] = i;
      operands_.push_back(find_operands(i));
      roots_.push_back(i);
      members_.push_back({i});
      ancestors_.emplace_back();
    }
    for (int window_start = 0; window_start < count; window_start += kWindowSize)
      grow(window_start, std::min(window_start + kWindowSize, count));
  }

  int root(int instruction) const { return roots_[instruction]; }
  /// The instructions of a region in program order.
  const std::vector<int>& members(int root) const { return members_[root]; }
  /// For an instruction with Effect::ordered, the previous instruction with this effect; else -1.
  int previous_ordered(int instruction) const { return previous_ordered_[instruction]; }
  /// The instruction that computes the value, or -1.
  int producer(int value) const { return producer_[value]; }
  /// The operands of an instruction within a region. For an operand that is broadcast, this is the
  /// value before the broadcast, because Fused broadcasts its inputs itself.
  const std::vector<int>& operands(int instruction) const { return operands_[instruction]; }
  /// The values that a region of these instructions reads from outside.
  std::vector<int> inputs(const std::vector<int>& members) const {
    std::vector<int> inputs;
    for (int i : members) {
      for (int value : operands(i)) {
        const bool is_inside = producer(value) >= 0 &&
                               std::binary_search(members.begin(), members.end(), producer(value));
        if (!is_inside && std::find(inputs.begin(), inputs.end(), value) == inputs.end())
          inputs.push_back(value);
      }
    }
    return inputs;
  }

 private:
  const Instruction& at(int i) const { return program_.code[i]; }
  const Shape& shape(int i) const { return program_.values[at(i).outputs[0]].shape; }
  std::vector<int> find_operands(int instruction) const {
    std::vector<int> values = at(instruction).inputs;
    if (is_scatter(*at(instruction).op)) return values;
    for (int& value : values) {
      while (producer(value) >= 0 && as<BroadcastTo>(*at(producer(value)).op))
        value = at(producer(value)).inputs[0];
    }
    return values;
  }
  BitSet& ancestors(int root) { return ancestors_[root]; }

  /// An edge from an instruction that computes a value to one that reads it. If both are in one
  /// region, the value, which has `bytes` bytes per element, is not stored in memory.
  struct Edge {
    size_t bytes;
    int reader, producer;
    auto operator<=>(const Edge&) const = default;
  };

  /// Merges regions along edges, in descending order of the width of the values and, for equal
  /// widths, from the end of the program to its start. As a consequence, where not all edges can be
  /// fused, narrow values are stored, and values are computed near their readers.
  void grow(int begin, int end) {
    window_begin_ = begin, window_end_ = end;
    std::vector<Edge> edges;
    for (int i = begin; i < end; ++i) {
      find_ancestors(i);
      add_edges(i, edges);
    }
    std::sort(edges.begin(), edges.end(), std::greater<>());
    for (const Edge& edge : edges) {
      const auto [b, a] = std::minmax({root(edge.producer), root(edge.reader)});
      if (a != b) merge(a, b);
    }
    for (int i = begin; i < end; ++i) ancestors(i) = BitSet();
  }

  /// The logical shard to which the value belongs (shard_ops.h). A region must not contain values
  /// of two shards, because each shard may be computed by another process.
  int shard_of(int value) const { return shards_[static_cast<size_t>(value)]; }
  bool is_inside(int instruction) const { return instruction >= window_begin_; }

  void find_ancestors(int i) {
    BitSet& instruction_ancestors = ancestors(i) = BitSet(window_end_ - window_begin_);
    auto add_ancestors_of = [&](int instruction) {
      if (!is_inside(instruction)) return;
      const int producer_root = root(instruction);
      instruction_ancestors.add(ancestors(producer_root));
      instruction_ancestors.add(producer_root - window_begin_);
    };
    for (int value : at(i).inputs) add_ancestors_of(producer(value));
    add_ancestors_of(previous_ordered(i));
  }

  void add_edges(int i, std::vector<Edge>& edges) const {
    if (!is_elementwise(*at(i).op) || !shape(i).is_known()) return;
    for (int value : at(i).inputs) {
      const int producing_instruction = producer(value);
      if (!is_inside(producing_instruction) || !(shape(producing_instruction) == shape(i)))
        continue;
      if (!is_elementwise(*at(producing_instruction).op) &&
          !is_scatter(*at(producing_instruction).op))
        continue;
      if (shard_of(value) != shard_of(at(i).outputs[0])) continue;
      edges.push_back({size_of(program_.values[value].dtype), i, producing_instruction});
    }
  }

  /// Whether an instruction outside of both regions depends on one of them and is needed by the
  /// other; such regions cannot be merged.
  bool has_path_outside(int a, int b) {
    for (int region_root : {a, b}) {
      for (int i : members(region_root)) {
        for (int value : at(i).inputs) {
          if (!is_inside(producer(value))) continue;
          const int producer_root = root(producer(value));
          if (producer_root == a || producer_root == b) continue;
          if (ancestors(producer_root).has(a - window_begin_) ||
              ancestors(producer_root).has(b - window_begin_))
            return true;
        }
      }
    }
    return false;
  }

  /// Whether a ScatterAdd in one region would read a value that the other region computes. Such
  /// regions cannot be merged, because the ScatterAdd needs the whole value before it starts.
  bool scatter_reads_other_region(int a, int b) const {
    for (int region : {a, b}) {
      for (int i : members(region)) {
        if (!is_scatter(*at(i).op)) continue;
        for (int value : at(i).inputs) {
          if (producer(value) >= 0 && (root(producer(value)) == a || root(producer(value)) == b))
            return true;
        }
      }
    }
    return false;
  }

  /// Merges region b into region a, the later one, if that is allowed.
  void merge(int a, int b) {
    const auto &a_members = members(a), &b_members = members(b);
    if (a_members.size() + b_members.size() > kMaxFusedInstructions || has_path_outside(a, b) ||
        scatter_reads_other_region(a, b))
      return;
    std::vector<int> joined_members;
    std::merge(a_members.begin(), a_members.end(), b_members.begin(), b_members.end(),
               std::back_inserter(joined_members));
    if (inputs(joined_members).size() > kMaxInputs) return;
    for (int i : b_members) roots_[i] = a;
    members_[a] = std::move(joined_members);
    members_[b].clear();
    join_ancestors(a, b);
  }

  /// Makes the ancestors of both regions ancestors of the merged region and of every region that
  /// depends on it.
  void join_ancestors(int a, int b) {
    BitSet& joined_ancestors = ancestors(a);
    joined_ancestors.add(ancestors(b));
    joined_ancestors.remove(a - window_begin_);
    joined_ancestors.remove(b - window_begin_);
    for (int i = window_begin_; i < window_end_; ++i) {
      BitSet& later_ancestors = ancestors(i);
      if (root(i) != i || i == a ||
          !(later_ancestors.has(a - window_begin_) || later_ancestors.has(b - window_begin_)))
        continue;
      later_ancestors.add(joined_ancestors);
      later_ancestors.add(a - window_begin_);
    }
  }

  const Program& program_;
  std::vector<int> shards_;            ///< indexed by value: the logical shard it belongs to
  std::vector<int> producer_;          ///< indexed by value: the instruction that computes it
  std::vector<int> previous_ordered_;  ///< indexed by instruction: as previous_ordered() returns it
  std::vector<std::vector<int>> operands_;  ///< indexed by instruction: as operands() returns them
  std::vector<int> roots_;                  ///< indexed by instruction: the root of its region
  std::vector<std::vector<int>> members_;   ///< indexed by root: the instructions of its region
  std::vector<BitSet> ancestors_;  ///< indexed by root: roots in the window that precede it
  /// The window consists of the instructions [window_begin_, window_end_).
  int window_begin_ = 0, window_end_ = 0;
};

/// Writes the instructions of the program again, with a Fused op for each region. A region is
/// placed at its last instruction, or before the first instruction that needs it.
class Emission {
 public:
  Emission(Program& program, const Regions& regions)
      : program_(program),
        regions_(regions),
        is_done_(program.code.size()),
        is_needed_outside_(program.values.size()),
        registers_(program.values.size(), -1) {
    find_needed_outside();
    for (int i = 0; i < static_cast<int>(program.code.size()); ++i) {
      if (regions.root(i) == i) emit(i);
    }
    program.code = std::move(code_);
  }

 private:
  Instruction& at(int i) { return program_.code[i]; }
  int& register_of(int value) { return registers_[value]; }

  void find_needed_outside() {
    auto mark_needed = [&](int value) { is_needed_outside_[value] = true; };
    for (int i = 0; i < static_cast<int>(program_.code.size()); ++i) {
      for (int value : at(i).inputs) {
        const int producer = regions_.producer(value);
        if (producer >= 0 && regions_.root(producer) != regions_.root(i)) mark_needed(value);
      }
    }
    std::for_each(program_.outputs.begin(), program_.outputs.end(), mark_needed);
    for (const Program::Binding& b : program_.variables) {
      if (b.result >= 0) mark_needed(b.result);
    }
  }

  void emit(int root) {
    if (is_done_[root]) return;
    is_done_[root] = true;
    const auto& members = regions_.members(root);
    const bool is_single = members.size() == 1;
    const std::vector<int> inputs = is_single ? at(root).inputs : regions_.inputs(members);
    for (int value : inputs) {
      if (regions_.producer(value) >= 0) emit(regions_.root(regions_.producer(value)));
    }
    if (regions_.previous_ordered(root) >= 0) emit(regions_.previous_ordered(root));
    code_.push_back(is_single ? at(root) : make_fused(members, inputs));
  }

  Instruction make_fused(const std::vector<int>& members, const std::vector<int>& inputs) {
    Instruction result{nullptr, inputs, {}, at(members.back()).scope};
    auto op = std::make_shared<Fused>();
    op->shape = program_.values[at(members.back()).outputs[0]].shape;
    for (size_t i = 0; i < inputs.size(); ++i) register_of(inputs[i]) = static_cast<int>(i);
    for (int i : members) {
      const int output = at(i).outputs[0];
      FusedStep step = step_of(*at(i).op, program_.values[output].dtype);
      const std::vector<int>& operands = regions_.operands(i);
      for (size_t a = 0; a < operands.size(); ++a) step.args[a] = register_of(operands[a]);
      const auto equal_step = std::find(op->steps.begin(), op->steps.end(), step);
      register_of(output) =
          static_cast<int>(inputs.size() + static_cast<size_t>(equal_step - op->steps.begin()));
      if (equal_step == op->steps.end()) op->steps.push_back(step);
      if (!is_needed_outside_[output]) continue;
      op->outputs.push_back(register_of(output));
      result.outputs.push_back(output);
    }
    result.op = std::move(op);
    return result;
  }

  Program& program_;
  const Regions& regions_;
  std::vector<Instruction> code_;
  std::vector<bool> is_done_;            ///< indexed by root: whether the region is written
  std::vector<bool> is_needed_outside_;  ///< indexed by value: whether another region reads it
  std::vector<int> registers_;  ///< indexed by value: its register in the region being written
};

}  // namespace

bool fusion(Program& program) {
  const size_t old_size = program.code.size();
  const Regions regions(program);
  Emission(program, regions);
  return program.code.size() < old_size;
}

}  // namespace crescent::passes
