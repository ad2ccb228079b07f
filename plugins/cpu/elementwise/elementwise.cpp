#include "elementwise/elementwise.h"

#include <algorithm>
#include <cstring>

namespace crescent::cpu {
namespace {

constexpr size_t kMaxRegisters = Elementwise::kMaxRegisters;
constexpr size_t kBlockMemory =
    8 << 10;  // all that the steps of a block touch: the next block has room beside it
constexpr int64_t kSmallestBlock = 64, kLargestBlock = 2048;
constexpr size_t kStackBytes =
    kBlockMemory + 2 * kMaxRegisters * 64 + kMaxRegisters * kSmallestBlock * 8;
constexpr int64_t kLongestPeriod = 512;
constexpr int64_t kPartCost = 16384;  // additions that are worth another thread
constexpr int64_t kMostParts = 128;
constexpr size_t kMostChainInputs = 16;

size_t args_of(FusedStep::Kind kind) {
  constexpr size_t kArgs[] = {1, 2, 3, 1, 2};
  return kArgs[static_cast<size_t>(kind)];
}

bool contains(const std::vector<int>& list, int x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

/// The registers that stand for those of the chain, if the steps from `first` on are its steps;
/// `next` is the register that the first of them writes. Else empty.
std::vector<int> names_in(const Chain& chain, const std::vector<FusedStep>& steps, size_t first,
                          int next) {
  if (first + chain.steps.size() > steps.size()) return {};
  std::vector<int> names(chain.scalar.size(), -1);
  for (const FusedStep& wanted : chain.steps) {
    FusedStep step = steps[first++];
    for (size_t i = 0; i < args_of(wanted.kind); ++i) {
      int& name = names[static_cast<size_t>(wanted.args[i])];
      if (name < 0) name = step.args[i];
      if (name != step.args[i]) return {};
      step.args[i] = wanted.args[i];
    }
    if (!(step == wanted)) return {};
    names.push_back(next++);
  }
  return names;
}

/// Somebody else than the `count` steps from `first` on reads the register.
bool is_seen(int reg, const std::vector<FusedStep>& steps, size_t first, size_t count,
             const std::vector<int>& outputs) {
  if (contains(outputs, reg)) return true;
  for (size_t i = first + count; i < steps.size(); ++i) {
    const auto end = steps[i].args.begin() + args_of(steps[i].kind);
    if (std::find(steps[i].args.begin(), end, reg) != end) return true;
  }
  return false;
}

/// There is a loop for bfloat16 as it lies in memory.
bool works_on_bfloat16(const FusedStep& step) {
  if (step.kind == FusedStep::Kind::unary)
    return unary_loop(step.unary, DType::bfloat16) != nullptr;
  if (step.kind == FusedStep::Kind::binary)
    return binary_loops(step.binary, DType::bfloat16).arrays != nullptr;
  return true;
}

}  // namespace

std::vector<FusedStep> steps_of(const Op& op, DType result) {
  using Kind = FusedStep::Kind;
  if (auto* fused = dynamic_cast<const Fused*>(&op)) return fused->steps;
  if (auto* unary = dynamic_cast<const Unary*>(&op))
    return {{Kind::unary, unary->kind, {}, result, {0, 0, 0}}};
  if (auto* binary = dynamic_cast<const Binary*>(&op))
    return {{Kind::binary, {}, binary->kind, result, {0, 1, 0}}};
  if (dynamic_cast<const Select*>(&op)) return {{Kind::select, {}, {}, result, {0, 1, 2}}};
  if (dynamic_cast<const Cast*>(&op)) return {{Kind::cast, {}, {}, result, {0, 0, 0}}};
  return {};
}

std::unique_ptr<Kernel> Elementwise::make(const Request& request) {
  auto kernel = std::make_unique<Elementwise>();
  auto* fused = dynamic_cast<const Fused*>(&request.op);
  std::vector<FusedStep> steps = steps_of(request.op, request.outputs[0].dtype);
  int last = static_cast<int>(request.inputs.size() + steps.size()) - 1;
  kernel->size_ = request.outputs[0].shape.size();
  kernel->inputs_ = static_cast<int>(request.inputs.size());
  bool fits = request.inputs.size() + steps.size() <= kMaxRegisters;
  if (!fits) return nullptr;
  kernel->add_inputs(request, steps);
  const std::vector<int> outputs = fused ? fused->outputs : std::vector<int>{last};
  if (!kernel->add_steps(request, steps, outputs)) return nullptr;
  kernel->add_results(outputs, request);
  kernel->assign_slots();
  kernel->lay_out();
  return kernel;
}

void Elementwise::add_inputs(const Request& request, const std::vector<FusedStep>& steps) {
  const Shape& shape = request.outputs[0].shape;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    Register& r = registers_.emplace_back();
    r.dtype = request.inputs[i].dtype;
    r.input = static_cast<int>(i);
    bool by_element = false;
    for (const FusedStep& step : steps) {
      const bool scatters = step.kind == FusedStep::Kind::scatter;
      const size_t args = args_of(step.kind);
      const bool reads = std::find(step.args.begin(), step.args.begin() + args, r.input) !=
                         step.args.begin() + args;
      (scatters ? r.read_by_scatter : by_element) |= reads;
    }
    if (r.read_by_scatter && !by_element) {
      r.source = Source::whole;
      continue;
    }
    r.broadcast = Broadcast(request.inputs[i].shape, shape);
    if (request.inputs[i].shape.size() == 1) {
      r.source = Source::cell;
    } else if (r.is_half()) {
      r.source = Source::block;
    } else if (r.broadcast.is_identity()) {
      r.source = Source::memory;
    } else if (r.broadcast.period() > 0 && r.broadcast.period() <= kLongestPeriod) {
      r.source = Source::periodic;
    }
  }
}

/// Registers of bfloat16 that are read and written as they lie in memory: all that touch them are
/// steps that can, and casts.
std::vector<bool> Elementwise::find_stored(const std::vector<FusedStep>& steps,
                                           const std::vector<int>& outputs) const {
  using Kind = FusedStep::Kind;
  const size_t inputs = registers_.size();
  std::vector<bool> stored, cell;
  std::vector<DType> dtypes;
  for (const Register& r : registers_) {
    dtypes.push_back(r.dtype), cell.push_back(r.is_cell());
    stored.push_back(r.dtype == DType::bfloat16 && !r.read_by_scatter &&
                     (r.is_cell() || r.broadcast.is_identity()));
  }
  for (const FusedStep& step : steps) {
    const bool scatters = step.kind == Kind::scatter;
    const auto end = step.args.begin() + args_of(step.kind);
    cell.push_back(!scatters && std::all_of(step.args.begin(), end,
                                            [&](int r) { return cell[static_cast<size_t>(r)]; }));
    dtypes.push_back(step.dtype), stored.push_back(step.dtype == DType::bfloat16 && !scatters);
  }
  for (int r : outputs)
    stored[static_cast<size_t>(r)] =
        stored[static_cast<size_t>(r)] && !cell[static_cast<size_t>(r)];
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t s = 0; s < steps.size(); ++s) {
      const FusedStep& step = steps[s];
      if (step.kind == Kind::cast || step.kind == Kind::scatter || cell[inputs + s]) continue;
      std::vector<size_t> touched = {inputs + s};
      for (size_t i = 0; i < args_of(step.kind); ++i)
        touched.push_back(static_cast<size_t>(step.args[i]));
      const bool spreads =
          step.kind == Kind::select;  // a number is spread to as many as there are of the others
      std::erase_if(touched, [&](size_t r) {
        return computed_as(dtypes[r]) == dtypes[r] || (cell[r] && !spreads);
      });
      if (works_on_bfloat16(step) &&
          std::all_of(touched.begin(), touched.end(), [&](size_t r) { return stored[r]; }))
        continue;
      for (size_t r : touched) changed |= stored[r], stored[r] = false;
    }
  }
  return stored;
}

bool Elementwise::add_steps(const Request& request, const std::vector<FusedStep>& steps,
                            const std::vector<int>& outputs) {
  const std::vector<bool> stored = find_stored(steps, outputs);
  for (size_t i = 0; i < registers_.size(); ++i) {
    registers_[i].stored = stored[i];
    if (stored[i] && !registers_[i].is_cell()) registers_[i].source = Source::memory;
  }
  for (size_t i = 0; i < steps.size();) {
    const auto all = chains();
    const auto chain = std::find_if(all.begin(), all.end(),
                                    [&](const Chain& c) { return add_run(c, steps, i, outputs); });
    if (chain != all.end()) {
      i += chain->steps.size();
      continue;
    }
    const FusedStep& step = steps[i++];
    const bool scatters = step.kind == FusedStep::Kind::scatter;
    if (!(scatters ? add_scatter(request, step) : add_step(step, stored[registers_.size()])))
      return false;
  }
  return true;
}

/// Adds the steps from `first` on as one, if they are those of the chain, its results are outputs,
/// and nobody sees what is in between.
bool Elementwise::add_run(const Chain& chain, const std::vector<FusedStep>& steps, size_t first,
                          const std::vector<int>& outputs) {
  const std::vector<int> names = names_in(chain, steps, first, static_cast<int>(registers_.size()));
  if (names.empty()) return false;
  Run run{
      &chain,
      std::vector<int>(names.begin(), names.begin() + static_cast<ptrdiff_t>(chain.scalar.size())),
      {}};
  for (int r : chain.outputs) run.outputs.push_back(names[static_cast<size_t>(r)]);
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    if (registers_[static_cast<size_t>(run.inputs[i])].is_cell() != chain.scalar[i]) return false;
  }
  for (size_t i = run.inputs.size(); i < names.size(); ++i) {
    const bool is_result = contains(run.outputs, names[i]);
    if (is_result ? !contains(outputs, names[i])
                  : is_seen(names[i], steps, first, chain.steps.size(), outputs))
      return false;
  }
  for (int r : run.inputs) {
    if (int& last = registers_[static_cast<size_t>(r)].last_read;
        !registers_[static_cast<size_t>(r)].is_cell()) {
      last = static_cast<int>(steps_.size());
    }
  }
  for (const FusedStep& step : chain.steps) {
    registers_.emplace_back().dtype = step.dtype;
    cost_ += step.kind == FusedStep::Kind::unary ? cost_of(step.unary) : cost_of(step.binary);
  }
  Step& step = steps_.emplace_back();
  step.run = static_cast<int>(runs_.size());
  runs_.push_back(std::move(run));
  return true;
}

template <class F>
void Elementwise::each_result(const Step& step, F&& f) const {
  if (step.run < 0) return f(step.result);
  for (int r : runs_[static_cast<size_t>(step.run)].outputs) f(r);
}

/// Its register is filled before the steps of a block, like one that is loaded.
bool Elementwise::add_scatter(const Request& request, const FusedStep& step) {
  const TensorSpec &indices = request.inputs[static_cast<size_t>(step.args[0])],
                   &updates = request.inputs[static_cast<size_t>(step.args[1])];
  const int64_t rows = request.outputs[0].shape[0];
  const DType computed = computed_as(step.dtype);
  Scatter s{static_cast<int>(registers_.size()),
            step.args[0],
            step.args[1],
            rows > 0 ? size_ / rows : 0,
            RowLists(indices, rows),
            0,
            binary_loops(BinaryKind::add, computed).arrays,
            nullptr,
            nullptr};
  if (!s.lists.possible() || !s.add) return false;
  if (computed != step.dtype)
    s.round = cast_loop(computed, step.dtype), s.widen = cast_loop(step.dtype, computed);
  cost_ += 1 + static_cast<int>(updates.shape.size() / std::max<int64_t>(size_, 1));
  scatters_.push_back(s);
  Register& result = registers_.emplace_back();
  result.dtype = step.dtype, result.scattered = true;
  return true;
}

bool Elementwise::add_step(const FusedStep& step, bool stored) {
  using Kind = FusedStep::Kind;
  Step s;
  s.args = step.args;
  s.result = static_cast<int>(registers_.size());
  Register result;
  result.dtype = step.dtype, result.stored = stored;
  auto arg = [&](size_t i) -> Register& { return registers_[static_cast<size_t>(step.args[i])]; };
  const size_t args = args_of(step.kind);
  bool cells = true;
  for (size_t i = 0; i < args; ++i) cells &= arg(i).is_cell();
  if (cells) result.source = Source::cell;
  const DType in = arg(step.kind == Kind::binary && arg(0).is_cell() ? 1 : 0).form();
  if (step.kind == Kind::unary) {
    s.unary = unary_loop(step.unary, in);
    cost_ += cost_of(step.unary);
  } else if (step.kind == Kind::binary) {
    BinaryLoops loops = binary_loops(step.binary, in);
    s.binary = cells || arg(0).is_cell() == arg(1).is_cell() ? loops.arrays
               : arg(0).is_cell()                            ? loops.first_scalar
                                                             : loops.second_scalar;
    cost_ += cost_of(step.binary);
  } else if (step.kind == Kind::select) {
    s.select = select_loop(result.bytes());
    for (size_t i = 0; i < args; ++i) arg(i).spread |= arg(i).is_cell() && !cells;
    cost_ += 1;
  } else {
    s.unary = cast_loop(in, result.form());
    if (result.is_half()) {
      s.round = cast_loop(DType::float32, step.dtype);
      s.widen = cast_loop(step.dtype, DType::float32);
    }
    cost_ += 1;
  }
  if (!s.unary && !s.binary && !s.select) return false;
  for (size_t i = 0; i < args; ++i)
    arg(i).last_read = cells ? arg(i).last_read : static_cast<int>(steps_.size());
  registers_.push_back(result);
  (cells ? cell_steps_ : steps_).push_back(s);
  return true;
}

/// An output is the memory of the register when it can be; else it is copied, converted or filled
/// after each block.
void Elementwise::add_results(const std::vector<int>& outputs, const Request& request) {
  written_at_.assign(outputs.size(), -1);
  for (size_t o = 0; o < outputs.size(); ++o) {
    Register& r = registers_[static_cast<size_t>(outputs[o])];
    if (r.input < 0 && r.output < 0 && r.source == Source::block && !r.is_half()) {
      r.source = Source::memory;
      r.output = static_cast<int>(o);
    } else {
      r.last_read = static_cast<int>(steps_.size());
      r.spread |= r.is_cell();
      UnaryLoop convert =
          r.is_half() ? cast_loop(DType::float32, request.outputs[o].dtype) : nullptr;
      results_.push_back({outputs[o], static_cast<int>(o), convert});
    }
  }
  for (size_t s = 0; s < steps_.size(); ++s) {
    each_result(steps_[s], [&](int result) {
      const Register& r = registers_[static_cast<size_t>(result)];
      if (r.output >= 0) written_at_[static_cast<size_t>(r.output)] = static_cast<int>(s);
    });
  }
}

/// Blocks are reused once their register has been read for the last time.
void Elementwise::assign_slots() {
  std::vector<int> free;
  auto take = [&](Register& r) {
    if (free.empty()) free.push_back(slots_++);
    r.slot = free.back();
    free.pop_back();
    slot_bytes_ = std::max(slot_bytes_, r.bytes());
  };
  std::vector<std::vector<int>> ends(steps_.size() + 1);
  for (size_t i = 0; i < registers_.size(); ++i) {
    Register& r = registers_[i];
    bool loaded = (r.input >= 0 || r.scattered) && r.source == Source::block;
    if (loaded && !r.scattered) to_load_.push_back(static_cast<int>(i));
    if (r.spread) to_spread_.push_back(static_cast<int>(i));
    if (loaded || r.spread) take(r);
    if (loaded && r.last_read >= 0) ends[static_cast<size_t>(r.last_read)].push_back(r.slot);
  }
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (steps_[s].run >= 0) {  // its results are in memory
      free.insert(free.end(), ends[s].begin(), ends[s].end());
      continue;
    }
    Register& r = registers_[static_cast<size_t>(steps_[s].result)];
    if (r.source == Source::block)
      take(r);  // before the arguments end: loops must not overlap partly
    free.insert(free.end(), ends[s].begin(), ends[s].end());
    if (r.source != Source::block) continue;
    if (r.last_read < 0)
      free.push_back(r.slot);  // nobody reads it
    else
      ends[static_cast<size_t>(r.last_read)].push_back(r.slot);
  }
}

/// Block length, work of a part, and the memory that repeating inputs are written out to.
void Elementwise::lay_out() {
  size_t arrays = 0, periodic = 0;
  for (size_t i = 0; i < registers_.size(); ++i) {
    const Register& r = registers_[i];
    const bool is_half_input =
        r.input >= 0 && r.is_half() && r.source == Source::block && r.broadcast.is_identity();
    if (r.source == Source::memory)
      streams_.push_back({static_cast<int>(i), r.bytes()}), arrays += r.bytes();
    if ((r.source == Source::memory && r.input >= 0) || is_half_input)
      to_fetch_.push_back(static_cast<int>(i));
    if (r.source == Source::periodic)
      periodic_.push_back(static_cast<int>(i)), periodic += r.bytes();
  }
  bool round =
      std::any_of(steps_.begin(), steps_.end(), [](const Step& s) { return s.round != nullptr; });
  size_t slots = static_cast<size_t>(slots_) * slot_bytes_ + (round ? 2 : 0);
  if (slots == 0 && periodic == 0) {
    block_ = 8 * kLargestBlock;
  } else if (slots == 0) {  // what repeats is to stay in the cache
    block_ = std::min<int64_t>(
        4 * kBlockMemory / (arrays + periodic) / kSmallestBlock * kSmallestBlock, kLargestBlock);
  } else {
    block_ =
        static_cast<int64_t>(kBlockMemory / (slots + arrays)) / kSmallestBlock * kSmallestBlock;
    block_ = std::clamp(block_, kSmallestBlock, kLargestBlock);
  }
  for (int i : periodic_) {
    Register& r = registers_[static_cast<size_t>(i)];
    r.periodic_offset = scratch_bytes_;
    size_t elements = static_cast<size_t>(std::min(block_, size_) + r.broadcast.period());
    scratch_bytes_ += (elements * r.bytes() + 63) / 64 * 64;
  }
  for (Scatter& s : scatters_) {
    s.offset = scratch_bytes_;
    scratch_bytes_ += (s.lists.bytes() + 63) / 64 * 64;
  }
  grain_ = std::max({kPartCost / std::max(cost_, 1), size_ / kMostParts, int64_t{1024}});
  grain_ = (grain_ + block_ - 1) / block_ * block_;
}

/// Input and output are the same elements, and no step reads the input after the output has been
/// written.
bool Elementwise::may_share(int input, int output) const {
  const Register& r = registers_[static_cast<size_t>(input)];
  const int written = written_at_[static_cast<size_t>(output)];
  return r.source == Source::memory && !r.read_by_scatter && written >= 0 && r.last_read <= written;
}

struct Elementwise::Block {
  std::byte* registers[kMaxRegisters];
  alignas(64) std::byte memory[kStackBytes];
};

void Elementwise::execute(const Step& step, std::byte* const* registers, size_t n) const {
  if (step.run >= 0) {
    const Run& run = runs_[static_cast<size_t>(step.run)];
    const void* inputs[kMostChainInputs];
    void* outputs[kMostChainInputs];
    for (size_t i = 0; i < run.inputs.size(); ++i) inputs[i] = registers[run.inputs[i]];
    for (size_t i = 0; i < run.outputs.size(); ++i) outputs[i] = registers[run.outputs[i]];
    return run.chain->loop(inputs, outputs, n);
  }
  auto at = [&](int i) { return registers[step.args[static_cast<size_t>(i)]]; };
  std::byte* result = registers[step.result];
  if (step.binary) return step.binary(at(0), at(1), result, n);
  if (step.select) return step.select(at(0), at(1), at(2), result, n);
  step.unary(at(0), result, n);
  if (!step.round) return;
  alignas(64) std::byte half[kLargestBlock * 2];
  step.round(result, half, n);
  step.widen(half, result, n);
}

void Elementwise::run_cells(const Arguments& a, Cells& cells) const {
  std::byte* pointers[kMaxRegisters];
  for (size_t i = 0; i < registers_.size(); ++i) {
    const Register& r = registers_[i];
    if (!r.is_cell()) continue;
    pointers[i] = cells.at(i);
    if (r.input < 0) continue;
    const std::byte* value = a.inputs[r.input];
    if (r.is_half())
      cast_loop(r.dtype, DType::float32)(value, pointers[i], 1);
    else
      std::memcpy(pointers[i], value, r.bytes());
  }
  for (const Step& step : cell_steps_) execute(step, pointers, 1);
}

void Elementwise::write_periodic(const Arguments& a) const {
  for (int i : periodic_) {
    const Register& r = registers_[static_cast<size_t>(i)];
    const size_t period = static_cast<size_t>(r.broadcast.period()) * r.bytes();
    const size_t total =
        (static_cast<size_t>(std::min(block_, size_) + r.broadcast.period())) * r.bytes();
    std::byte* to = a.scratch + r.periodic_offset;
    std::memcpy(to, a.inputs[r.input], std::min(period, total));
    for (size_t done = period; done < total; done *= 2)
      std::memcpy(to + done, to, std::min(done, total - done));
  }
}

/// Where the registers of a range are: its first block is at `begin`, none is longer than `n`.
void Elementwise::place(const Arguments& a, const Cells& cells, int64_t begin, int64_t n,
                        Elsewhere elsewhere, Block& block) const {
  const size_t slot =
      (static_cast<size_t>(std::min(block_, kLargestBlock)) * slot_bytes_ + 63) / 64 * 64;
  for (size_t i = 0; i < registers_.size(); ++i) {
    const Register& r = registers_[i];
    if (r.slot >= 0)
      block.registers[i] = block.memory + static_cast<size_t>(r.slot) * slot;
    else if (r.is_cell())
      block.registers[i] = const_cast<std::byte*>(cells.at(i));
  }
  for (const Stream& s : streams_) {
    const Register& r = registers_[static_cast<size_t>(s.reg)];
    if (s.reg == elsewhere.input) {
      block.registers[s.reg] = const_cast<std::byte*>(elsewhere.memory);
      continue;
    }
    std::byte* first =
        r.input >= 0 ? const_cast<std::byte*>(a.inputs[r.input]) : a.outputs[r.output];
    block.registers[s.reg] = first + static_cast<size_t>(begin) * s.bytes;
  }
  for (int i : to_spread_) {
    const Register& r = registers_[static_cast<size_t>(i)];
    const std::byte* value = cells.at(static_cast<size_t>(i));
    alignas(8) std::byte half[2];
    if (r.stored) cast_loop(DType::float32, r.dtype)(value, half, 1), value = half;
    fill_loop(r.stored ? size_of(r.dtype) : r.bytes())(value, block.registers[i],
                                                       static_cast<size_t>(n));
  }
}

void Elementwise::load(const Arguments& a, int64_t begin, int64_t n, Block& block) const {
  for (int i : periodic_) {
    const Register& r = registers_[static_cast<size_t>(i)];
    const size_t phase = static_cast<size_t>(begin % r.broadcast.period());
    block.registers[i] = a.scratch + r.periodic_offset + phase * r.bytes();
  }
  for (const Scatter& s : scatters_) sum_rows(a, s, begin, n, block.registers[s.reg]);
  for (int i : to_load_) {
    const Register& r = registers_[static_cast<size_t>(i)];
    std::byte* to = block.registers[i];
    const size_t bytes = size_of(r.dtype);
    if (!r.is_half()) {
      r.broadcast.gather(a.inputs[r.input], bytes, begin, n, to);
    } else if (r.broadcast.is_identity()) {
      const std::byte* from = a.inputs[r.input] + static_cast<size_t>(begin) * bytes;
      cast_loop(r.dtype, DType::float32)(from, to, static_cast<size_t>(n));
    } else {
      alignas(64) std::byte half[kLargestBlock * 2];
      r.broadcast.gather(a.inputs[r.input], bytes, begin, n, half);
      cast_loop(r.dtype, DType::float32)(half, to, static_cast<size_t>(n));
    }
  }
}

/// Elements [begin, begin + n) of the rows that are sums of updates.
void Elementwise::sum_rows(const Arguments& a, const Scatter& s, int64_t begin, int64_t n,
                           std::byte* to) const {
  const auto* lists = reinterpret_cast<const int32_t*>(a.scratch + s.offset);
  const size_t bytes = registers_[static_cast<size_t>(s.reg)].bytes(),
               own = size_of(registers_[static_cast<size_t>(s.reg)].dtype);
  std::memset(to, 0, static_cast<size_t>(n) * bytes);
  alignas(64) std::byte half[kLargestBlock * 2], wide[kLargestBlock * 4];
  for (int64_t at = begin; at < begin + n;) {
    const int64_t column = at % s.width, count = std::min(s.width - column, begin + n - at);
    std::byte* sum = to + static_cast<size_t>(at - begin) * bytes;
    s.lists.each(lists, at / s.width, [&](int64_t i) {
      const std::byte* row = a.inputs[s.updates] + static_cast<size_t>(i * s.width + column) * own;
      if (s.widen) s.widen(row, wide, static_cast<size_t>(count)), row = wide;
      s.add(sum, row, sum, static_cast<size_t>(count));
    });
    at += count;
  }
  if (!s.round) return;
  s.round(to, half, static_cast<size_t>(n));
  s.widen(half, to, static_cast<size_t>(n));
}

/// Steps that switch between arrays read what the processor does not foresee: the next block, from
/// `begin` on, is asked for.
void Elementwise::fetch_ahead(const Arguments& a, int64_t begin, int64_t n, int except) const {
  if (steps_.size() < 2) return;
  for (int i : to_fetch_) {
    if (i == except) continue;
    const size_t bytes = size_of(registers_[static_cast<size_t>(i)].dtype);
    const std::byte* from =
        a.inputs[registers_[static_cast<size_t>(i)].input] + static_cast<size_t>(begin) * bytes;
    const std::byte* to = from + static_cast<size_t>(n) * bytes;
    for (; from < to; from += 64) __builtin_prefetch(from);
  }
}

void Elementwise::store(const Arguments& a, int64_t begin, int64_t n, const Block& block) const {
  for (const Result& result : results_) {
    const Register& r = registers_[static_cast<size_t>(result.reg)];
    std::byte* to = a.outputs[result.output] + static_cast<size_t>(begin) * size_of(r.dtype);
    if (result.convert)
      result.convert(block.registers[result.reg], to, static_cast<size_t>(n));
    else
      std::memcpy(to, block.registers[result.reg], static_cast<size_t>(n) * r.bytes());
  }
}

void Elementwise::run_range(const Arguments& a, const Cells& cells, int64_t begin, int64_t end,
                            Elsewhere elsewhere) const {
  Block block;
  place(a, cells, begin, std::min(block_, end - begin), elsewhere, block);
  for (; begin < end; begin += block_) {
    const int64_t n = std::min(block_, end - begin);
    load(a, begin, n, block);
    fetch_ahead(a, begin + n, std::min(block_, end - begin - n), elsewhere.input);
    for (const Step& step : steps_) execute(step, block.registers, static_cast<size_t>(n));
    store(a, begin, n, block);
    for (const Stream& s : streams_) block.registers[s.reg] += static_cast<size_t>(n) * s.bytes;
  }
}

bool Elementwise::can_follow(int input) const {
  const Register& r = registers_[static_cast<size_t>(input)];
  return r.source == Source::memory && !r.read_by_scatter && scatters_.empty();
}

void Elementwise::begin(const Arguments& a, Cells& cells) const {
  run_cells(a, cells);
  write_periodic(a);
}

void Elementwise::run(const Arguments& a) {
  if (size_ == 0) return;
  Cells cells;
  begin(a, cells);
  for (const Scatter& s : scatters_)
    s.lists.build(a.inputs[s.indices], reinterpret_cast<int32_t*>(a.scratch + s.offset));
  a.pool.blocks(size_, grain_,
                [&](int64_t begin, int64_t end) { run_range(a, cells, begin, end); });
}

std::span<const KernelRow> elementwise_kernels() {
  static constexpr KernelRow rows[] = {{"unary", Elementwise::make},
                                       {"binary", Elementwise::make},
                                       {"select", Elementwise::make},
                                       {"cast", Elementwise::make},
                                       {"fused", Elementwise::make}};
  return rows;
}

}  // namespace crescent::cpu
