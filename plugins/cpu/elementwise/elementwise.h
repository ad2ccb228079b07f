// Elementwise programs: a sequence of steps over registers, executed on blocks of elements that fit
// the first-level cache. A single unary, binary, select or cast op is a program with one step.
#pragma once
#include <vector>

#include "data_movement/indexing.h"
#include "elementwise/broadcast.h"
#include "kernel/kernel.h"
#include "kernel/loops.h"

namespace crescent::cpu {

/// The steps of an elementwise op; empty for any other op.
std::vector<FusedStep> steps_of(const Op& op, DType result);

/// An input of Elementwise::run_range() of which only the elements of the range are in memory, at
/// the address `memory`.
struct InputRange {
  int input = -1;
  const std::byte* memory = nullptr;
};

class Elementwise final : public Kernel {
 public:
  /// Makes the kernel; returns null if a step has no loop for its dtype.
  static std::unique_ptr<Kernel> make(const Request& request) { return make(request, {}); }
  /// An input that is a slice of a larger array; the kernel gets the whole array as the argument.
  struct Window {
    int input;
    Shape whole_shape;
    int64_t first;  ///< element of the array at which the slice begins
  };
  /// Whether the kernel can read the window in place, in rows that are long enough to be worth it.
  static bool can_read(const Window& window, const TensorSpec& input, const Shape& result);
  static std::unique_ptr<Kernel> make(const Request& request, std::span<const Window> windows);

  void run(const Arguments& a) const override;
  std::string name() const override { return "highway"; }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  double flops() const override {
    return static_cast<double>(size_) * static_cast<double>(steps_.size());
  }
  bool in_place(int input) const override { return may_share(input, 0); }
  bool may_share(int input, int output) const override;

  static constexpr size_t kMaxRegisters = 192;
  /// The values of all cells. A cell is a register with one scalar for all elements, computed once
  /// before the blocks.
  struct Cells {
    static constexpr size_t kBytes = 64;
    std::byte* at(size_t reg) { return memory + reg * kBytes; }
    const std::byte* at(size_t reg) const { return memory + reg * kBytes; }
    alignas(kBytes) std::byte memory[kMaxRegisters * kBytes];
  };
  int input_count() const { return input_count_; }
  int output_count() const { return static_cast<int>(writing_steps_.size()); }
  int cost() const { return cost_; }  ///< the cost per element, in units of an addition
  /// The number of tasks into which the elements are divided.
  int64_t task_count() const { return size_ <= task_length_ ? 1 : pieces(size_, task_length_); }
  /// True when any range of elements can be computed separately.
  bool can_be_cut() const { return scatters_.empty(); }
  /// True when any range can be computed separately with `input` given as an InputRange.
  bool can_be_epilogue(int input) const;
  /// Prepares a computation by ranges: afterwards any threads may call run_range().
  void begin(const Arguments& a, Cells& cells) const;
  void run_range(const Arguments& a, const Cells& cells, int64_t begin, int64_t end,
                 InputRange range = {}) const;
  /// Whether sum_range() may be called: the program is a single chain that has a loop for its sum.
  bool has_sum() const;
  /// The sum of elements [begin, end) of the output (Chain::sum).
  double sum_range(const Arguments& a, const Cells& cells, int64_t begin, int64_t end) const;

 private:
  enum class Source : uint8_t {
    memory,    ///< the memory of an argument of the kernel, which is read or written in place
    block,     ///< a block in the memory of the thread
    cell,      ///< a scalar for all elements, computed before the blocks
    periodic,  ///< a periodic input, repeated in scratch memory until it is longer than a block
    row,       ///< an input that is read in place in long rows; no block crosses the end of a row
    column,    ///< an input of which each element applies to one or more whole blocks
    for_scatters,  ///< an input that is read only by scatter steps
  };
  struct Register {
    DType dtype{};  ///< the dtype in memory of arguments
    Source source = Source::block;
    /// The index of the kernel's input or output whose values the register holds; -1 if none.
    int input = -1, output = -1;
    int slot = -1;              ///< the index of the block in the thread's memory
    bool is_broadcast = false;  ///< whether a step needs the cell or column broadcast to a block
    bool is_filled_by_scatter = false;  ///< whether a scatter step fills the register
    bool is_read_by_scatter = false;
    Broadcast broadcast;
    size_t periodic_offset = 0;  ///< offset in scratch memory of a periodic input
    int last_read = -1;          ///< index of the last step that reads the register
    /// Whether loops use 16-bit values as they are stored, without conversion to float32; for a
    /// cell (one value for all elements) this applies to the block that is filled with it.
    bool is_unconverted = false;
    /// Whether a select step reads the register; a cell must then be broadcast.
    bool is_read_by_select = false;
    bool is_cell() const { return source == Source::cell; }
    bool is_column() const { return source == Source::column; }
    DType loop_dtype() const {
      return is_unconverted && !is_cell() ? dtype : compute_dtype_of(dtype);
    }
    size_t bytes() const { return size_of(loop_dtype()); }
    bool is_half() const { return loop_dtype() != dtype; }
    /// Whether the register is a cell that steps read as a float32 number; false if it is broadcast
    /// in half width.
    bool is_number() const { return is_cell() && !(is_unconverted && is_read_by_select); }
  };
  struct ChainCall {
    const Chain* chain;
    std::vector<int> input_registers, output_registers;
    int64_t columns = 0;  ///< the row length if the chain runs row by row, else 0
  };
  struct Step {
    UnaryLoop unary = nullptr;
    /// `round` rounds the result to half width, and `widen` converts it back to float32.
    UnaryLoop round = nullptr, widen = nullptr;
    BinaryLoop binary = nullptr;
    SelectLoop select = nullptr;
    std::array<int, 3> args{};
    int result = 0;
    int chain_call = -1;  ///< index in chain_calls_ if the step is a chain, else -1
  };
  struct Scatter {              ///< fills a register with sums of rows of the updates
    int reg, indices, updates;  ///< indices of the register and of two inputs
    int64_t width;              ///< elements per row
    RowLists lists;
    size_t offset;  ///< offset of the lists in scratch memory
    BinaryLoop add;
    UnaryLoop round, widen;  ///< loops for half-width rows
  };
  /// An output of the kernel that is copied from a register, whose memory is not that of the
  /// output.
  struct Result {
    int reg, output;
    UnaryLoop convert;  ///< null if the values are copied without conversion
  };
  struct Block;

  void add_inputs(const Request& request, const std::vector<FusedStep>& steps,
                  std::span<const Window> windows);
  std::vector<bool> find_unconverted_steps(const std::vector<FusedStep>& steps,
                                           const std::vector<int>& outputs) const;
  bool add_steps(const Request& request, const std::vector<FusedStep>& steps,
                 const std::vector<int>& outputs);
  bool add_step(const FusedStep& step, bool is_unconverted, bool is_shared);
  BinaryLoop choose_loop(const FusedStep& step, DType dtype, bool all_args_are_cells);
  bool add_scatter(const Request& request, const FusedStep& step);
  bool add_chain(const Chain& chain, const std::vector<FusedStep>& steps, size_t first,
                 const std::vector<int>& outputs);
  template <class F>
  void for_each_result(const Step& step, F&& f) const;
  void add_results(const std::vector<int>& outputs, const Request& request);
  void assign_slots();
  int64_t columns_of(const ChainCall& call) const;
  int64_t repeated_length(const Register& r) const;
  void choose_layout();
  void compute_cells(const Arguments& a, Cells& cells) const;
  void repeat_periodic_inputs(const Arguments& a) const;
  void set_addresses(const Arguments& a, const Cells& cells, int64_t begin, int64_t n,
                     InputRange range, Block& block) const;
  int64_t block_length(int64_t begin, int64_t end) const;
  void set_row_addresses(const Arguments& a, int64_t begin, int64_t n, Block& block) const;
  void load_block(const Arguments& a, int64_t begin, int64_t n, Block& block) const;
  void sum_rows(const Arguments& a, const Scatter& s, int64_t begin, int64_t n,
                std::byte* to) const;
  void fetch_ahead(const Arguments& a, int64_t begin, int64_t n, int skipped_register) const;
  void store_block(const Arguments& a, int64_t begin, int64_t n, const Block& block) const;
  void execute(const ChainCall& call, std::byte* const* registers, int64_t n) const;
  void execute(const Step& step, std::byte* const* registers, size_t n) const;

  int64_t size_ = 0, max_block_length_ = 0, task_length_ = 0;
  bool has_rows_ = false;  ///< whether the program is a single chain that runs row by row
  std::vector<Register> registers_;
  std::vector<Step> cell_steps_, steps_;
  std::vector<ChainCall> chain_calls_;
  std::vector<Scatter> scatters_;
  /// The registers that are loaded into a block before each block is computed.
  std::vector<int> loaded_registers_;
  /// The cells that are broadcast to a block once per range.
  std::vector<int> broadcast_cells_;
  struct Stream {  ///< a register with Source::memory
    int reg;
    size_t bytes;  ///< bytes per element
  };
  std::vector<Stream> streams_;
  /// Input registers that are prefetched because the elements of each block are read from memory.
  std::vector<int> prefetched_registers_;
  std::vector<int> periodic_registers_;       ///< registers with Source::periodic
  std::vector<int> row_or_column_registers_;  ///< registers with Source::row or Source::column
  /// Lengths in elements; no block crosses a multiple of one of these lengths.
  std::vector<int64_t> boundary_lengths_;
  std::vector<Result> results_;
  /// For each output, the index of the step that writes directly to its memory; -1 if the output is
  /// copied from a register.
  std::vector<int> writing_steps_;
  int input_count_ = 0, slot_count_ = 0, cost_ = 0;
  size_t slot_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace crescent::cpu
