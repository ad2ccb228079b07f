// Compiles an elementwise op: assigns registers and chooses a loop for each step.
#include <algorithm>

#include "elementwise/blocks.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kMaxPeriod = 512;
// The shortest runs (Broadcast::run) of an input that is read in place, without a copy to a block.
constexpr int64_t kMinRowLength = 256, kMinColumnLength = 128;

size_t arg_count(FusedStep::Kind kind) {
  constexpr size_t kArgs[] = {1, 2, 3, 1, 2};
  return kArgs[static_cast<size_t>(kind)];
}

bool contains(const std::vector<int>& list, int x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

/// Matches the steps from `first` on with the steps of `chain`. Returns, for each register of the
/// chain, the corresponding register of the program; empty if the steps differ. `next_register` is
/// the register that step `first` writes.
std::vector<int> match_registers(const Chain& chain, const std::vector<FusedStep>& steps,
                                 size_t first, int next_register) {
  if (first + chain.steps.size() > steps.size()) return {};
  // the register that the first step of the chain writes; registers with lower indices are inputs
  // of the chain
  const int first_result = next_register;
  std::vector<int> program_registers(chain.is_scalar.size(), -1);
  for (const FusedStep& chain_step : chain.steps) {
    FusedStep step = steps[first++];
    for (size_t i = 0; i < arg_count(chain_step.kind); ++i) {
      int& program_register = program_registers[chain_step.args[i]];
      if (program_register < 0 && step.args[i] < first_result) program_register = step.args[i];
      if (program_register != step.args[i]) return {};
      step.args[i] = chain_step.args[i];
    }
    if (!(step == chain_step)) return {};
    program_registers.push_back(next_register++);
  }
  return program_registers;
}

/// True when register `reg` is an output of the program, or is read by a step that follows the
/// `count` steps from `first` on.
bool is_needed_later(int reg, const std::vector<FusedStep>& steps, size_t first, size_t count,
                     const std::vector<int>& outputs) {
  if (contains(outputs, reg)) return true;
  for (size_t i = first + count; i < steps.size(); ++i) {
    const auto end = steps[i].args.begin() + arg_count(steps[i].kind);
    if (std::find(steps[i].args.begin(), end, reg) != end) return true;
  }
  return false;
}

/// For each register, whether a select step reads it.
std::vector<bool> find_registers_of_selects(const std::vector<FusedStep>& steps, size_t registers) {
  std::vector<bool> is_read(registers);
  for (const FusedStep& step : steps) {
    if (step.kind != FusedStep::Kind::select) continue;
    for (int r : step.args) is_read[r] = true;
  }
  return is_read;
}

/// Whether there is a loop for the step that reads and writes bfloat16 directly.
bool has_bfloat16_loop(const FusedStep& step) {
  if (step.kind == FusedStep::Kind::unary)
    return unary_loop(step.unary, DType::bfloat16) != nullptr;
  if (step.kind == FusedStep::Kind::binary)
    return binary_loops(step.binary, DType::bfloat16).arrays != nullptr;
  return true;
}

}  // namespace

std::vector<FusedStep> steps_of(const Op& op, DType result) {
  using Kind = FusedStep::Kind;
  if (auto* fused_op = dynamic_cast<const Fused*>(&op)) return fused_op->steps;
  if (auto* unary = dynamic_cast<const Unary*>(&op))
    return {{Kind::unary, unary->kind, {}, result, {0, 0, 0}}};
  if (auto* binary = dynamic_cast<const Binary*>(&op))
    return {{Kind::binary, {}, binary->kind, result, {0, 1, 0}}};
  if (dynamic_cast<const Select*>(&op)) return {{Kind::select, {}, {}, result, {0, 1, 2}}};
  if (dynamic_cast<const Cast*>(&op)) return {{Kind::cast, {}, {}, result, {0, 0, 0}}};
  return {};
}

bool Elementwise::can_read(const Window& window, const TensorSpec& input, const Shape& result) {
  const Broadcast broadcast(input.shape, result, window.whole_shape, window.first);
  const bool is_periodic = broadcast.period() > 0 && broadcast.period() <= kMaxPeriod;
  return compute_dtype_of(input.dtype) == input.dtype && !is_periodic &&
         !broadcast.is_constant_along_run() && broadcast.run() >= kMinRowLength;
}

std::unique_ptr<Kernel> Elementwise::make(const Request& request, std::span<const Window> windows) {
  auto kernel = std::make_unique<Elementwise>();
  auto* fused_op = dynamic_cast<const Fused*>(&request.op);
  std::vector<FusedStep> steps = steps_of(request.op, request.outputs[0].dtype);
  int last_register = static_cast<int>(request.inputs.size() + steps.size()) - 1;
  kernel->size_ = request.outputs[0].shape.size();
  kernel->input_count_ = static_cast<int>(request.inputs.size());
  bool fits = request.inputs.size() + steps.size() <= kMaxRegisters;
  if (!fits) return nullptr;
  kernel->add_inputs(request, steps, windows);
  const std::vector<int> outputs = fused_op ? fused_op->outputs : std::vector<int>{last_register};
  if (!kernel->add_steps(request, steps, outputs)) return nullptr;
  kernel->add_results(outputs, request);
  kernel->assign_slots();
  kernel->choose_layout();
  return kernel;
}

void Elementwise::add_inputs(const Request& request, const std::vector<FusedStep>& steps,
                             std::span<const Window> windows) {
  const Shape& shape = request.outputs[0].shape;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    Register& r = registers_.emplace_back();
    r.dtype = request.inputs[i].dtype;
    r.input = static_cast<int>(i);
    bool is_read_by_element = false;
    for (const FusedStep& step : steps) {
      const bool is_scatter = step.kind == FusedStep::Kind::scatter;
      const size_t step_arg_count = arg_count(step.kind);
      const bool is_read = std::find(step.args.begin(), step.args.begin() + step_arg_count,
                                     r.input) != step.args.begin() + step_arg_count;
      (is_scatter ? r.is_read_by_scatter : is_read_by_element) |= is_read;
    }
    if (r.is_read_by_scatter && !is_read_by_element) {
      r.source = Source::for_scatters;
      continue;
    }
    const auto window = std::find_if(windows.begin(), windows.end(),
                                     [&](const Window& w) { return w.input == r.input; });
    r.broadcast = window == windows.end() ? Broadcast(request.inputs[i].shape, shape)
                                          : Broadcast(request.inputs[i].shape, shape,
                                                      window->whole_shape, window->first);
    if (request.inputs[i].shape.size() == 1) {
      r.source = Source::cell;
    } else if (r.is_half()) {
      r.source = Source::block;
    } else if (r.broadcast.is_identity()) {
      r.source = Source::memory;
    } else if (r.broadcast.period() > 0 && r.broadcast.period() <= kMaxPeriod) {
      r.source = Source::periodic;
    } else if (r.broadcast.run() >=
               (r.broadcast.is_constant_along_run() ? kMinColumnLength : kMinRowLength)) {
      r.source = r.broadcast.is_constant_along_run() ? Source::column : Source::row;
    }
  }
}

/// Finds the bfloat16 registers whose values need no conversion to float32, because only casts and
/// steps with bfloat16 loops read and write them.
std::vector<bool> Elementwise::find_unconverted_steps(const std::vector<FusedStep>& steps,
                                                      const std::vector<int>& outputs) const {
  using Kind = FusedStep::Kind;
  const size_t inputs = registers_.size();
  std::vector<bool> is_unconverted, is_cell;
  std::vector<DType> dtypes;
  for (const Register& r : registers_) {
    dtypes.push_back(r.dtype), is_cell.push_back(r.is_cell());
    is_unconverted.push_back(r.dtype == DType::bfloat16 && !r.is_read_by_scatter &&
                             (r.is_cell() || r.broadcast.is_identity()));
  }
  for (const FusedStep& step : steps) {
    const bool is_scatter = step.kind == Kind::scatter;
    const auto end = step.args.begin() + arg_count(step.kind);
    is_cell.push_back(!is_scatter &&
                      std::all_of(step.args.begin(), end, [&](int r) { return is_cell[r]; }));
    dtypes.push_back(step.dtype),
        is_unconverted.push_back(step.dtype == DType::bfloat16 && !is_scatter);
  }
  for (int r : outputs) is_unconverted[r] = is_unconverted[r] && !is_cell[r];
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (size_t s = 0; s < steps.size(); ++s) {
      const FusedStep& step = steps[s];
      if (step.kind == Kind::cast || step.kind == Kind::scatter || is_cell[inputs + s]) continue;
      std::vector<size_t> registers = {inputs + s};
      for (size_t i = 0; i < arg_count(step.kind); ++i)
        registers.push_back(static_cast<size_t>(step.args[i]));
      std::erase_if(registers, [&](size_t r) { return compute_dtype_of(dtypes[r]) == dtypes[r]; });
      // A loop can read a cell (a scalar register) as a float32 number, except the loop of a
      // select, for which the cell is broadcast to a block.
      const auto fits = [&](size_t r) {
        return is_unconverted[r] || (is_cell[r] && step.kind != Kind::select);
      };
      if (has_bfloat16_loop(step) && std::all_of(registers.begin(), registers.end(), fits))
        continue;
      for (size_t r : registers) has_changed |= is_unconverted[r], is_unconverted[r] = false;
    }
  }
  return is_unconverted;
}

bool Elementwise::add_steps(const Request& request, const std::vector<FusedStep>& steps,
                            const std::vector<int>& outputs) {
  const std::vector<bool> is_unconverted = find_unconverted_steps(steps, outputs),
                          is_read_by_select =
                              find_registers_of_selects(steps, is_unconverted.size());
  for (size_t i = 0; i < registers_.size(); ++i) {
    registers_[i].is_unconverted = is_unconverted[i],
    registers_[i].is_read_by_select = is_read_by_select[i];
    if (is_unconverted[i] && !registers_[i].is_cell()) registers_[i].source = Source::memory;
  }
  for (size_t i = 0; i < steps.size();) {
    const auto known_chains = chains();
    const auto chain = std::find_if(known_chains.begin(), known_chains.end(), [&](const Chain& c) {
      return add_chain(c, steps, i, outputs);
    });
    if (chain != known_chains.end()) {
      i += chain->steps.size();
      continue;
    }
    const FusedStep& step = steps[i++];
    const bool is_scatter = step.kind == FusedStep::Kind::scatter;
    const size_t result_register = registers_.size();
    const bool is_shared = contains(outputs, static_cast<int>(result_register)) &&
                           is_needed_later(static_cast<int>(result_register), steps, i, 0, {});
    if (!(is_scatter ? add_scatter(request, step)
                     : add_step(step, is_unconverted[result_register], is_shared)))
      return false;
    registers_[result_register].is_read_by_select = is_read_by_select[result_register];
  }
  return true;
}

/// Adds the steps from `first` on as one step, if they are the steps of `chain`, all results of the
/// chain are outputs of the program, and no other step reads the chain's intermediate registers.
bool Elementwise::add_chain(const Chain& chain, const std::vector<FusedStep>& steps, size_t first,
                            const std::vector<int>& outputs) {
  const std::vector<int> program_registers =
      match_registers(chain, steps, first, static_cast<int>(registers_.size()));
  if (program_registers.empty()) return false;
  ChainCall call{
      &chain,
      std::vector<int>(program_registers.begin(),
                       program_registers.begin() + static_cast<ptrdiff_t>(chain.is_scalar.size())),
      {}};
  for (int r : chain.outputs) call.output_registers.push_back(program_registers[r]);
  for (size_t i = 0; i < call.input_registers.size(); ++i) {
    if (registers_[call.input_registers[i]].is_cell() != chain.is_scalar[i]) return false;
  }
  for (size_t i = call.input_registers.size(); i < program_registers.size(); ++i) {
    const bool is_result = contains(call.output_registers, program_registers[i]);
    if (is_result
            ? !contains(outputs, program_registers[i])
            : is_needed_later(program_registers[i], steps, first, chain.steps.size(), outputs))
      return false;
  }
  for (int i : call.input_registers) {
    Register& r = registers_[i];
    r.is_broadcast |= r.is_column();
    if (!r.is_cell()) r.last_read = static_cast<int>(steps_.size());
  }
  for (const FusedStep& step : chain.steps) {
    registers_.emplace_back().dtype = step.dtype;
    cost_ += step.kind == FusedStep::Kind::unary ? cost_of(step.unary) : cost_of(step.binary);
  }
  Step& step = steps_.emplace_back();
  step.chain_call = static_cast<int>(chain_calls_.size());
  chain_calls_.push_back(std::move(call));
  return true;
}

template <class F>
void Elementwise::for_each_result(const Step& step, F&& f) const {
  if (step.chain_call < 0) return f(step.result);
  for (int r : chain_calls_[step.chain_call].output_registers) f(r);
}

/// Adds a scatter step. The register of its result is filled before the other steps of a block run,
/// like the register of an input that is loaded.
bool Elementwise::add_scatter(const Request& request, const FusedStep& step) {
  const TensorSpec &indices = request.inputs[step.args[0]], &updates = request.inputs[step.args[1]];
  const int64_t rows = request.outputs[0].shape[0];
  const DType computed_dtype = compute_dtype_of(step.dtype);
  Scatter s{static_cast<int>(registers_.size()),
            step.args[0],
            step.args[1],
            rows > 0 ? size_ / rows : 0,
            RowLists(indices, rows),
            0,
            binary_loops(BinaryKind::add, computed_dtype).arrays,
            nullptr,
            nullptr};
  if (!s.lists.is_possible() || !s.add) return false;
  if (computed_dtype != step.dtype)
    s.round = cast_loop(computed_dtype, step.dtype),
    s.widen = cast_loop(step.dtype, computed_dtype);
  cost_ += 1 + static_cast<int>(updates.shape.size() / std::max<int64_t>(size_, 1));
  scatters_.push_back(s);
  Register& result = registers_.emplace_back();
  result.dtype = step.dtype, result.is_filled_by_scatter = true;
  return true;
}

/// Adds a step. If a half-width result is an output and is also read by later steps, these steps
/// get the rounded value. For example, a comparison that looks for zeros must find a value that
/// becomes 0 by rounding.
bool Elementwise::add_step(const FusedStep& step, bool is_unconverted, bool is_shared) {
  using Kind = FusedStep::Kind;
  Step s;
  s.args = step.args;
  s.result = static_cast<int>(registers_.size());
  Register result;
  result.dtype = step.dtype, result.is_unconverted = is_unconverted;
  auto arg = [&](size_t i) -> Register& { return registers_[step.args[i]]; };
  const size_t step_arg_count = arg_count(step.kind);
  bool all_args_are_cells = true;
  for (size_t i = 0; i < step_arg_count; ++i) all_args_are_cells &= arg(i).is_cell();
  if (all_args_are_cells) result.source = Source::cell;
  const DType in = arg(step.kind == Kind::binary && arg(0).is_cell() ? 1 : 0).loop_dtype();
  if (step.kind == Kind::unary) {
    s.unary = unary_loop(step.unary, in);
    cost_ += cost_of(step.unary);
  } else if (step.kind == Kind::binary) {
    s.binary = choose_loop(step, in, all_args_are_cells);
    cost_ += cost_of(step.binary);
  } else if (step.kind == Kind::select) {
    s.select = select_loop(result.bytes());
    for (size_t i = 0; i < step_arg_count; ++i)
      arg(i).is_broadcast |= arg(i).is_cell() && !all_args_are_cells;
    cost_ += 1;
  } else {
    s.unary = cast_loop(in, result.loop_dtype());
    cost_ += 1;
  }
  if (result.is_half() && (step.kind == Kind::cast || is_shared)) {
    s.round = cast_loop(DType::float32, step.dtype);
    s.widen = cast_loop(step.dtype, DType::float32);
  }
  if (!s.unary && !s.binary && !s.select) return false;
  for (size_t i = 0; i < step_arg_count && !s.binary; ++i)
    arg(i).is_broadcast |= arg(i).is_column();
  for (size_t i = 0; i < step_arg_count; ++i)
    arg(i).last_read = all_args_are_cells ? arg(i).last_read : static_cast<int>(steps_.size());
  registers_.push_back(result);
  (all_args_are_cells ? cell_steps_ : steps_).push_back(s);
  return true;
}

/// Chooses the loop of a binary step and marks the registers that must be broadcast to a block. A
/// register is an array (a number per element), a column (a number per block) or a cell (one number
/// for all blocks). If the operands are of different kinds, a loop with a scalar operand, if there
/// is one, gets the operand with fewer numbers as the scalar. All other columns are broadcast, and
/// so are all other cells unless both operands are cells.
BinaryLoop Elementwise::choose_loop(const FusedStep& step, DType dtype, bool all_args_are_cells) {
  Register &a = registers_[step.args[0]], &b = registers_[step.args[1]];
  const BinaryLoops loops = binary_loops(step.binary, dtype);
  const bool has_cell = a.is_cell() || b.is_cell();
  const bool first_is_scalar = has_cell ? a.is_number() : a.is_column(),
             second_is_scalar = has_cell ? b.is_number() : b.is_column();
  const bool has_one_scalar = !all_args_are_cells && first_is_scalar != second_is_scalar;
  const BinaryLoop loop_beside_scalar = !has_one_scalar   ? nullptr
                                        : first_is_scalar ? loops.first_scalar
                                                          : loops.second_scalar;
  const auto broadcast_if_needed = [&](Register& r, bool is_scalar_operand) {
    r.is_broadcast |= (r.is_column() || (r.is_cell() && !all_args_are_cells)) &&
                      !(is_scalar_operand && loop_beside_scalar);
  };
  broadcast_if_needed(a, first_is_scalar), broadcast_if_needed(b, second_is_scalar);
  return loop_beside_scalar ? loop_beside_scalar : loops.arrays;
}

/// Lets the register of an output use the memory of the output if possible; other outputs are
/// copied, converted or filled after each block.
void Elementwise::add_results(const std::vector<int>& outputs, const Request& request) {
  writing_steps_.assign(outputs.size(), -1);
  for (size_t o = 0; o < outputs.size(); ++o) {
    Register& r = registers_[outputs[o]];
    if (r.input < 0 && r.output < 0 && r.source == Source::block && !r.is_half()) {
      r.source = Source::memory;
      r.output = static_cast<int>(o);
    } else {
      r.last_read = static_cast<int>(steps_.size());
      r.is_broadcast |= r.is_cell() || r.is_column();
      UnaryLoop convert =
          r.is_half() ? cast_loop(DType::float32, request.outputs[o].dtype) : nullptr;
      results_.push_back({outputs[o], static_cast<int>(o), convert});
    }
  }
  for (size_t s = 0; s < steps_.size(); ++s) {
    for_each_result(steps_[s], [&](int result) {
      const Register& r = registers_[result];
      if (r.output >= 0) writing_steps_[r.output] = static_cast<int>(s);
    });
  }
}

std::span<const KernelEntry> elementwise_kernels() {
  static constexpr KernelEntry entries[] = {{"unary", Elementwise::make},
                                            {"binary", Elementwise::make},
                                            {"select", Elementwise::make},
                                            {"cast", Elementwise::make},
                                            {"fused", Elementwise::make}};
  return entries;
}

}  // namespace crescent::cpu
