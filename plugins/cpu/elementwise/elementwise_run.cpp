// Runs an elementwise program: computes the cells (scalar registers) first, then all steps for one
// block after another.
#include <algorithm>
#include <cstring>

#include "elementwise/blocks.h"

namespace crescent::cpu {
namespace {

constexpr size_t kStackBytes =
    kBlockBytes + 2 * kMaxRegisters * 64 + kMaxRegisters * kMinBlockElements * 8;
constexpr size_t kMaxChainInputs = 16;

}  // namespace

struct Elementwise::Block {
  std::byte* registers[kMaxRegisters];
  alignas(64) std::byte memory[kStackBytes];
};

/// Runs a chain over n elements. The registers of periodic inputs point to the value for the first
/// element, so that the range of elements may begin within a row.
void Elementwise::execute(const ChainCall& call, std::byte* const* registers, int64_t n) const {
  const void* inputs[kMaxChainInputs];
  void* outputs[kMaxChainInputs];
  const int64_t rows = call.columns > 0 ? n / call.columns : 0, row_elements = rows * call.columns;
  auto set_pointers = [&](int64_t first_element) {
    for (size_t i = 0; i < call.input_registers.size(); ++i)
      inputs[i] =
          registers[call.input_registers[i]] + (call.chain->is_stream[i] ? first_element * 4 : 0);
    for (size_t i = 0; i < call.output_registers.size(); ++i)
      outputs[i] = registers[call.output_registers[i]] + first_element * 4;
  };
  set_pointers(0);
  if (rows > 0)
    call.chain->row_loop(inputs, outputs, rows, call.columns), set_pointers(row_elements);
  if (row_elements < n) call.chain->loop(inputs, outputs, n - row_elements);
}

void Elementwise::execute(const Step& step, std::byte* const* registers, size_t n) const {
  if (step.chain_call >= 0)
    return execute(chain_calls_[step.chain_call], registers, static_cast<int64_t>(n));
  auto arg = [&](int i) { return registers[step.args[i]]; };
  std::byte* result = registers[step.result];
  if (step.binary)
    step.binary(arg(0), arg(1), result, n);
  else if (step.select)
    step.select(arg(0), arg(1), arg(2), result, n);
  else
    step.unary(arg(0), result, n);
  if (!step.round) return;
  alignas(64) std::byte half[kMaxBlockElements * 2];
  step.round(result, half, n);
  step.widen(half, result, n);
}

void Elementwise::compute_cells(const Arguments& a, Cells& cells) const {
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

void Elementwise::repeat_periodic_inputs(const Arguments& a) const {
  for (int i : periodic_registers_) {
    const Register& r = registers_[i];
    const size_t period = static_cast<size_t>(r.broadcast.period()) * r.bytes();
    const size_t total = static_cast<size_t>(repeated_length(r)) * r.bytes();
    std::byte* to = a.scratch + r.periodic_offset;
    std::memcpy(to, a.inputs[r.input], std::min(period, total));
    for (size_t copied_bytes = period; copied_bytes < total; copied_bytes *= 2)
      std::memcpy(to + copied_bytes, to, std::min(copied_bytes, total - copied_bytes));
  }
}

/// Sets the addresses of all registers for a range whose first block begins at element `begin` and
/// whose blocks have at most `n` elements.
void Elementwise::set_addresses(const Arguments& a, const Cells& cells, int64_t begin, int64_t n,
                                InputRange range, Block& block) const {
  const size_t block_bytes =
      (static_cast<size_t>(std::min(max_block_length_, kMaxBlockElements)) * slot_bytes_ + 63) /
      64 * 64;
  for (size_t i = 0; i < registers_.size(); ++i) {
    const Register& r = registers_[i];
    if (r.slot >= 0)
      block.registers[i] = block.memory + static_cast<size_t>(r.slot) * block_bytes;
    else if (r.is_cell())
      block.registers[i] = const_cast<std::byte*>(cells.at(i));
  }
  for (const Stream& s : streams_) {
    const Register& r = registers_[s.reg];
    if (s.reg == range.input) {
      block.registers[s.reg] = const_cast<std::byte*>(range.memory);
      continue;
    }
    std::byte* first =
        r.input >= 0 ? const_cast<std::byte*>(a.inputs[r.input]) : a.outputs[r.output];
    block.registers[s.reg] = first + static_cast<size_t>(begin) * s.bytes;
  }
  for (int i : broadcast_cells_) {
    const Register& r = registers_[i];
    const std::byte* value = cells.at(i);
    alignas(8) std::byte half[2];
    if (r.is_unconverted) cast_loop(DType::float32, r.dtype)(value, half, 1), value = half;
    fill_loop(r.is_unconverted ? size_of(r.dtype) : r.bytes())(value, block.registers[i],
                                                               static_cast<size_t>(n));
  }
}

int64_t Elementwise::block_length(int64_t begin, int64_t end) const {
  int64_t n = std::min(max_block_length_, end - begin);
  for (int64_t boundary_length : boundary_lengths_)
    n = std::min(n, boundary_length - begin % boundary_length);
  return n;
}

/// Sets the registers with Source::row or Source::column for the block of `n` elements that begins
/// at element `begin`: to an address in the input, or, for a register that is broadcast, fills its
/// block with copies of one value.
void Elementwise::set_row_addresses(const Arguments& a, int64_t begin, int64_t n,
                                    Block& block) const {
  for (int i : row_or_column_registers_) {
    const Register& r = registers_[i];
    const auto offset = static_cast<size_t>(r.broadcast.offset_of(begin));
    const std::byte* from = a.inputs[r.input] + offset * r.bytes();
    if (r.is_broadcast)
      fill_loop(r.bytes())(from, block.registers[i], static_cast<size_t>(n));
    else
      block.registers[i] = const_cast<std::byte*>(from);
  }
}

void Elementwise::load_block(const Arguments& a, int64_t begin, int64_t n, Block& block) const {
  set_row_addresses(a, begin, n, block);
  for (int i : periodic_registers_) {
    const Register& r = registers_[i];
    const size_t offset_in_period = begin % r.broadcast.period();
    block.registers[i] = a.scratch + r.periodic_offset + offset_in_period * r.bytes();
  }
  for (const Scatter& s : scatters_) sum_rows(a, s, begin, n, block.registers[s.reg]);
  for (int i : loaded_registers_) {
    const Register& r = registers_[i];
    std::byte* to = block.registers[i];
    const size_t bytes = size_of(r.dtype);
    if (!r.is_half()) {
      r.broadcast.gather(a.inputs[r.input], bytes, begin, n, to);
    } else if (r.broadcast.is_identity()) {
      const std::byte* from = a.inputs[r.input] + static_cast<size_t>(begin) * bytes;
      cast_loop(r.dtype, DType::float32)(from, to, static_cast<size_t>(n));
    } else {
      alignas(64) std::byte half[kMaxBlockElements * 2];
      r.broadcast.gather(a.inputs[r.input], bytes, begin, n, half);
      cast_loop(r.dtype, DType::float32)(half, to, static_cast<size_t>(n));
    }
  }
}

/// Computes elements [begin, begin + n) of a scatter step: row r of its result is the sum of those
/// rows of the updates whose index is r.
void Elementwise::sum_rows(const Arguments& a, const Scatter& s, int64_t begin, int64_t n,
                           std::byte* to) const {
  const auto* row_lists = reinterpret_cast<const int32_t*>(a.scratch + s.offset);
  const size_t register_bytes = registers_[s.reg].bytes(),
               stored_bytes = size_of(registers_[s.reg].dtype);
  std::memset(to, 0, static_cast<size_t>(n) * register_bytes);
  alignas(64) std::byte half[kMaxBlockElements * 2], wide[kMaxBlockElements * 4];
  for (int64_t element = begin; element < begin + n;) {
    const int64_t column = element % s.width,
                  count = std::min(s.width - column, begin + n - element);
    std::byte* sum = to + static_cast<size_t>(element - begin) * register_bytes;
    s.lists.for_each(row_lists, element / s.width, [&](int64_t i) {
      const std::byte* row =
          a.inputs[s.updates] + static_cast<size_t>(i * s.width + column) * stored_bytes;
      if (s.widen) s.widen(row, wide, count), row = wide;
      s.add(sum, row, sum, count);
    });
    element += count;
  }
  if (!s.round) return;
  s.round(to, half, n);
  s.widen(half, to, n);
}

/// Prefetches the inputs of the next block, which begins at element `begin`: the hardware
/// prefetcher does not follow steps that alternate between several arrays.
void Elementwise::fetch_ahead(const Arguments& a, int64_t begin, int64_t n,
                              int skipped_register) const {
  if (steps_.size() < 2) return;
  for (int i : prefetched_registers_) {
    if (i == skipped_register) continue;
    const Register& r = registers_[i];
    const int64_t first = r.source == Source::row ? r.broadcast.offset_of(begin) : begin;
    const size_t bytes = size_of(r.dtype);
    const std::byte* from = a.inputs[r.input] + static_cast<size_t>(first) * bytes;
    const std::byte* to = from + static_cast<size_t>(n) * bytes;
    for (; from < to; from += 64) __builtin_prefetch(from);
  }
}

void Elementwise::store_block(const Arguments& a, int64_t begin, int64_t n,
                              const Block& block) const {
  for (const Result& result : results_) {
    const Register& r = registers_[result.reg];
    std::byte* to = a.outputs[result.output] + static_cast<size_t>(begin) * size_of(r.dtype);
    if (result.convert)
      result.convert(block.registers[result.reg], to, n);
    else
      std::memcpy(to, block.registers[result.reg], static_cast<size_t>(n) * r.bytes());
  }
}

void Elementwise::run_range(const Arguments& a, const Cells& cells, int64_t begin, int64_t end,
                            InputRange range) const {
  Block block;
  set_addresses(a, cells, begin, std::min(max_block_length_, end - begin), range, block);
  for (int64_t n; begin < end; begin += n) {
    n = block_length(begin, end);
    load_block(a, begin, n, block);
    fetch_ahead(a, begin + n, block_length(begin + n, end), range.input);
    for (const Step& step : steps_) execute(step, block.registers, n);
    store_block(a, begin, n, block);
    for (const Stream& s : streams_) block.registers[s.reg] += static_cast<size_t>(n) * s.bytes;
  }
}

bool Elementwise::has_sum() const {
  if (steps_.size() != 1 || steps_[0].chain_call < 0) return false;
  const ChainCall& call = chain_calls_[0];
  return call.chain->sum &&
         std::all_of(call.input_registers.begin(), call.input_registers.end(), [&](int i) {
           return registers_[i].is_cell() || registers_[i].source == Source::memory;
         });
}

double Elementwise::sum_range(const Arguments& a, const Cells& cells, int64_t begin,
                              int64_t end) const {
  const ChainCall& call = chain_calls_[0];
  const void* inputs[kMaxChainInputs];
  for (size_t i = 0; i < call.input_registers.size(); ++i) {
    const auto reg = static_cast<size_t>(call.input_registers[i]);
    const Register& r = registers_[reg];
    inputs[i] =
        r.is_cell() ? cells.at(reg) : a.inputs[r.input] + static_cast<size_t>(begin) * r.bytes();
  }
  return call.chain->sum(inputs, end - begin);
}

bool Elementwise::can_be_epilogue(int input) const {
  const Register& r = registers_[input];
  return r.source == Source::memory && !r.is_read_by_scatter && can_be_cut();
}

void Elementwise::begin(const Arguments& a, Cells& cells) const {
  compute_cells(a, cells);
  repeat_periodic_inputs(a);
}

void Elementwise::run(const Arguments& a) const {
  if (size_ == 0) return;
  Cells cells;
  begin(a, cells);
  for (const Scatter& s : scatters_)
    s.lists.build(a.inputs[s.indices], reinterpret_cast<int32_t*>(a.scratch + s.offset));
  a.threads.blocks(size_, task_length_,
                   [&](int64_t begin, int64_t end) { run_range(a, cells, begin, end); });
}

}  // namespace crescent::cpu
