// Chunked losses: where a loss reads logits of many classes, the logits are computed for a few rows
// at a time, together with everything that reads them, so that the matrix of all rows and classes
// is never in memory. Results that are sums over rows, such as gradients of weights, are summed
// chunk by chunk.
//
//   %4 = matmul(%0, w)                   for each chunk of rows of %0, %1 and %3:
//   %5 = cross_entropy(%4, %1)             %10 = matmul(%0, w)
//   ...                                    %11 = cross_entropy(%10, %1)
//   %7 = gradient(%4, %1, %3)      ->      %12 = gradient(%10, %1, %3)
//   %8 = matmul(%7, w')                    %13 = matmul(%12, w')
//   %9 = matmul(%0', %7)                   %14 = add(%14 of the chunk before, matmul(%0', %12))
//                                        %5 = concat(all %11), %8 = concat(all %13), %9 = last %14
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "compile/passes/chunks/rows.h"
#include "compile/passes/passes.h"

namespace crescent::passes {
namespace {

/// The instructions that compute and read wide values, which have a number for each row and class.
class ChunkedLoss {
 public:
  ChunkedLoss(Program& program, int64_t max_bytes)
      : program_(program),
        max_bytes_(max_bytes),
        producers_(program.values.size(), kNone),
        readers_(program.values.size()) {
    for (size_t i = 0; i < program.code.size(); ++i) {
      for (int value : program.code[i].inputs) readers_[value].push_back(i);
      for (int value : program.code[i].outputs) producers_[value] = i;
    }
    const auto mark = [&](int value) {
      if (value >= 0) results_.insert(value);
    };
    for (int value : program.outputs) mark(value);
    for (const Program::Binding& b : program.variables) mark(b.result);
  }

  /// Chunks the computation of these logits; returns false if that is impossible, or if all rows
  /// fit into one chunk.
  bool run(int logits) {
    wide_size_ = program_.values[logits].shape.size();
    if (!add_connected(logits) || !has_product_of_narrow_rows() || !find_order() ||
        !choose_chunks())
      return false;
    emit();
    return true;
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  using ValueMap = std::map<int, int>;  ///< maps values of the program to those of a chunk

  const Shape& shape(int value) const { return program_.values[value].shape; }
  bool is_wide(int value) const { return shape(value).size() >= wide_size_; }
  bool is_inside(size_t instruction) const { return roles_.count(instruction) > 0; }
  bool is_made_inside(int value) const {
    return producers_[value] != kNone && is_inside(producers_[value]);
  }

  // ---- choice of the instructions that are chunked

  /// Adds the producers and readers of the value and of all wide values that are connected with it
  /// by instructions. Returns false if one of these instructions cannot be chunked.
  bool add_connected(int value) {
    std::vector<int> waiting_values{value};
    std::set<int> visited_values;
    while (!waiting_values.empty()) {
      const int waiting_value = waiting_values.back();
      waiting_values.pop_back();
      if (!visited_values.insert(waiting_value).second || !is_wide(waiting_value)) continue;
      const size_t producer = producers_[waiting_value];
      if (producer == kNone || !add(producer, waiting_values)) {
        if (waiting_value == value) return false;
        continue;
      }
      if (results_.count(waiting_value) > 0) return false;
      for (size_t reader : readers_[waiting_value])
        if (!add(reader, waiting_values)) return false;
    }
    return has_consistent_roles();
  }

  /// Adds an instruction to the chunked ones, and appends its inputs and outputs with RowRole::rows
  /// to `waiting_values`. Returns false if the instruction cannot be chunked.
  bool add(size_t instruction, std::vector<int>& waiting_values) {
    if (is_inside(instruction)) return true;
    const Instruction& i = program_.code[instruction];
    const std::optional<RowRoles> roles = row_roles(program_, i);
    if (!roles) return false;
    for (size_t k = 0; k < i.inputs.size(); ++k)
      if (roles->inputs[k] == RowRole::rows) waiting_values.push_back(i.inputs[k]);
    for (size_t k = 0; k < i.outputs.size(); ++k)
      if (roles->outputs[k] == RowRole::rows) waiting_values.push_back(i.outputs[k]);
    roles_.emplace(instruction, *roles);
    return true;
  }

  /// Whether each value that one chunked instruction computes and another one reads has
  /// RowRole::rows in both. It cannot be a sum over rows, which is known only after the last chunk.
  bool has_consistent_roles() const {
    for (const auto& [instruction, roles] : roles_) {
      const std::vector<int>& inputs = program_.code[instruction].inputs;
      for (size_t k = 0; k < inputs.size(); ++k)
        if (is_made_inside(inputs[k]) &&
            (roles.inputs[k] != RowRole::rows || role_of_result(inputs[k]) != RowRole::rows))
          return false;
    }
    return true;
  }
  RowRole role_of_result(int value) const {
    const size_t producer = producers_[value];
    const std::vector<int>& outputs = program_.code[producer].outputs;
    const auto k = std::find(outputs.begin(), outputs.end(), value) - outputs.begin();
    return roles_.at(producer).outputs[static_cast<size_t>(k)];
  }

  /// Whether a matrix product computes wide values from narrower rows; otherwise wide values are in
  /// memory anyway.
  bool has_product_of_narrow_rows() const {
    return std::any_of(roles_.begin(), roles_.end(), [&](const auto& entry) {
      const Instruction& i = program_.code[entry.first];
      return as<Matmul>(*i.op) && entry.second.outputs[0] == RowRole::rows &&
             is_wide(i.outputs[0]) && !is_wide(i.inputs[0]);
    });
  }

  // ---- the position of the chunks

  /// Finds the instructions between the first and the last chunked one that depend on results of
  /// the chunks and therefore must follow the chunks. Returns false if a chunked instruction reads
  /// a result of these instructions, or if instructions with effects would change their order.
  bool find_order() {
    std::set<int> late_values;
    bool has_late_effect = false;
    for (size_t i = roles_.begin()->first; i <= roles_.rbegin()->first; ++i) {
      const Instruction& instruction = program_.code[i];
      const auto any_input = [&](const auto& test) {
        return std::any_of(instruction.inputs.begin(), instruction.inputs.end(), test);
      };
      const bool reads_late = any_input([&](int value) { return late_values.count(value) > 0; });
      if (is_inside(i)) {
        if (reads_late) return false;
        continue;
      }
      const bool has_effect = instruction.op->effect() >= Effect::state;
      if (reads_late || any_input([&](int value) { return is_made_inside(value); })) {
        followers_.insert(i);
        late_values.insert(instruction.outputs.begin(), instruction.outputs.end());
        has_late_effect |= has_effect;
      } else if (has_effect && has_late_effect) {
        return false;
      }
    }
    return true;
  }

  /// Chooses as few chunks as keep the largest value within the limit. A chunk consists of units,
  /// the equal parts into which block_of() divides each value. If possible, the chunks are equal;
  /// otherwise their sizes differ by one unit. Returns false if there is only one chunk.
  bool choose_chunks() {
    find_depths();
    int64_t max_value_bytes = 0;
    for (const auto& [value, depth] : depths_)
      max_value_bytes = std::max(max_value_bytes, program_.values[value].bytes());
    const int64_t min_chunks = (max_value_bytes + max_bytes_ - 1) / max_bytes_;
    for (chunks_ = units_ = min_chunks; units_ < 2 * min_chunks; chunks_ = ++units_)
      if (can_cut_all()) return true;
    units_ = 0;
    for (const auto& [value, depth] : depths_) {
      const auto varies = [](int64_t n) { return n != 1; };
      const auto batch_axis = std::find_if(shape(value).begin(), shape(value).end(), varies);
      units_ = std::gcd(units_, batch_axis == shape(value).end() ? 1 : *batch_axis);
    }
    const int64_t units_per_chunk = std::max<int64_t>(1, max_bytes_ / (max_value_bytes / units_));
    chunks_ = (units_ + units_per_chunk - 1) / units_per_chunk;
    return chunks_ > 1 && can_cut_all();
  }

  void find_depths() {
    for (const auto& [instruction, roles] : roles_) {
      const int depth = roles.depth;
      const auto limit_depths = [&](const std::vector<int>& values,
                                    const std::vector<RowRole>& value_roles) {
        for (size_t k = 0; k < value_roles.size(); ++k) {
          if (value_roles[k] != RowRole::rows) continue;
          int& min_depth = depths_.try_emplace(values[k], depth).first->second;
          min_depth = std::min(min_depth, depth);
        }
      };
      limit_depths(program_.code[instruction].inputs, roles.inputs);
      limit_depths(program_.code[instruction].outputs, roles.outputs);
    }
  }

  bool can_cut_all() const {
    return std::all_of(depths_.begin(), depths_.end(),
                       [&](const auto& entry) { return block(entry.first, 0, 1).has_value(); });
  }
  std::optional<Block> block(int value, int64_t begin, int64_t end) const {
    return block_of(shape(value), depths_.at(value), begin, end, units_);
  }

  // ---- emission

  void emit() {
    std::vector<Instruction> code = std::exchange(program_.code, {});
    const size_t last_chunked = roles_.rbegin()->first;
    const auto move_to_program = [&](size_t begin, size_t end, const auto& test) {
      for (size_t i = begin; i < end; ++i)
        if (test(i)) program_.code.push_back(code[i]);
    };
    move_to_program(0, last_chunked,
                    [&](size_t i) { return !is_inside(i) && followers_.count(i) == 0; });
    for (int64_t c = 0; c < chunks_; ++c)
      emit_chunk(code, units_ * c / chunks_, units_ * (c + 1) / chunks_);
    join_results(code[last_chunked].scope);
    move_to_program(0, last_chunked, [&](size_t i) { return followers_.count(i) > 0; });
    move_to_program(last_chunked + 1, code.size(), [](size_t) { return true; });
  }

  /// Adds the instructions that compute the units [begin, end) of every value with rows.
  void emit_chunk(const std::vector<Instruction>& code, int64_t begin, int64_t end) {
    ValueMap chunk;
    for (const auto& [instruction_index, roles] : roles_) {
      Instruction i = code[instruction_index];
      for (size_t k = 0; k < i.inputs.size(); ++k)
        if (roles.inputs[k] == RowRole::rows)
          i.inputs[k] = rows_of(i.inputs[k], begin, end, i.scope, chunk);
      if (as<Reshape>(*i.op)) {
        Reshape op;
        op.shape = block(i.outputs[0], begin, end)->size;
        i.op = std::make_shared<const Reshape>(std::move(op));
      }
      const std::vector<int> results = add_instruction(i.op, i.inputs, i.scope);
      for (size_t k = 0; k < results.size(); ++k) {
        const int whole_value = i.outputs[k];
        if (roles.outputs[k] == RowRole::sum) {
          add_term(whole_value, results[k], i.scope);
        } else {
          chunk[whole_value] = results[k];
          if (is_read_outside(whole_value)) chunk_values_[whole_value].push_back(results[k]);
        }
      }
    }
  }

  bool is_read_outside(int value) const {
    return results_.count(value) > 0 ||
           std::any_of(readers_[value].begin(), readers_[value].end(),
                       [&](size_t reader) { return !is_inside(reader); });
  }

  /// The rows of a chunk of a value: a result of the chunk, or a slice of a value from outside.
  int rows_of(int value, int64_t begin, int64_t end, int scope, ValueMap& chunk) {
    if (const auto chunk_value = chunk.find(value); chunk_value != chunk.end())
      return chunk_value->second;
    const Block rows = *block(value, begin, end);
    Slice slice;
    slice.start = rows.start;
    slice.size.assign(rows.size.begin(), rows.size.end());
    slice.stride.assign(rows.start.size(), 1);
    return chunk[value] = add_op(std::move(slice), {value}, scope);
  }

  /// Adds a term to a sum over chunks. Numbers of half width are summed in float32.
  void add_term(int whole_value, int term, int scope) {
    const DType dtype = program_.values[term].dtype;
    if (is_floating(dtype) && size_of(dtype) == 2) term = cast(term, DType::float32, scope);
    const auto [sum, is_first] = sums_.try_emplace(whole_value, term);
    if (is_first) return;
    Binary add;
    add.kind = BinaryKind::add;
    sum->second = add_op(add, {sum->second, term}, scope);
  }

  /// Adds instructions that compute the values that are read outside of the chunks: the rows of all
  /// chunks are concatenated, and sums over chunks get the dtype of the original value.
  void join_results(int scope) {
    for (const auto& [whole_value, chunk_values] : chunk_values_) {
      Concat concat;
      concat.axis = block(whole_value, 0, 1)->axis;
      Reshape op;
      op.shape = shape(whole_value);
      add_op(op, {add_op(concat, chunk_values, scope)}, scope, whole_value);
    }
    for (const auto& [whole_value, sum] : sums_)
      cast(sum, program_.values[whole_value].dtype, scope, whole_value);
  }

  int cast(int value, DType dtype, int scope, int result = kNewValue) {
    Cast op;
    op.dtype = dtype;
    return add_op(op, {value}, scope, result);
  }

  std::vector<int> add_instruction(OpPtr op, std::vector<int> inputs, int scope) {
    program_.code.push_back(new_instruction(program_, std::move(op), std::move(inputs), scope));
    return program_.code.back().outputs;
  }
  /// Adds an op with one result, which is `result` unless that is kNewValue.
  template <class T>
  int add_op(T op, std::vector<int> inputs, int scope, int result = kNewValue) {
    const int result_value =
        add_instruction(std::make_shared<const T>(std::move(op)), std::move(inputs), scope)[0];
    if (result == kNewValue) return result_value;
    program_.code.back().outputs[0] = result;
    return result;
  }
  static constexpr int kNewValue = -1;

  Program& program_;
  int64_t max_bytes_, wide_size_ = 0;
  int64_t units_ = 0;   ///< number of equal parts of the rows, the least that a chunk may have
  int64_t chunks_ = 0;  ///< number of chunks, each of one or more units
  std::map<int, int> depths_;      ///< for values with rows, how many first axes may be cut
  std::vector<size_t> producers_;  ///< indexed by value; kNone for inputs, variables and constants
  std::vector<std::vector<size_t>> readers_;  ///< indexed by value
  std::set<int> results_;                     ///< outputs and new values of variables
  std::map<size_t, RowRoles> roles_;          ///< the roles of the chunked instructions
  std::set<size_t> followers_;                ///< instructions that move behind the chunks
  /// for values read outside, the values of the chunks
  std::map<int, std::vector<int>> chunk_values_;
  std::map<int, int> sums_;  ///< for sums over rows, the sum up to the last chunk
};

bool has_many_rows_and_classes(const Program& program, const Instruction& i, int64_t max_bytes) {
  const bool is_loss = as<SoftmaxCrossEntropy>(*i.op) || as<SoftmaxCrossEntropyBackward>(*i.op);
  return is_loss && program.values[i.inputs[0]].shape.is_known() &&
         program.values[i.inputs[0]].bytes() > max_bytes;
}

}  // namespace

bool chunked_losses(Program& program, int64_t max_bytes) {
  bool changed = false;
  std::set<int> tried_values;
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Instruction& loss = program.code[i];
    if (!has_many_rows_and_classes(program, loss, max_bytes)) continue;
    const int logits = loss.inputs[0];
    if (!tried_values.insert(logits).second) continue;
    if (ChunkedLoss(program, max_bytes).run(logits)) changed = true, i = 0;
  }
  return changed;
}

}  // namespace crescent::passes
