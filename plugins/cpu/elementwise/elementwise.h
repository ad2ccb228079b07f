// Elementwise programs: steps over registers, run on blocks of elements that fit the first-level
// cache. A single unary, binary, select or cast op is a program of one step.
#pragma once
#include <vector>

#include "data_movement/indexing.h"
#include "elementwise/broadcast.h"
#include "kernel/kernel.h"
#include "kernel/loops.h"

namespace crescent::cpu {

/// The steps of an elementwise op; empty for any other op.
std::vector<FusedStep> steps_of(const Op& op, DType result);

/// An input that is in memory only for the range that is computed, at an address of its own.
struct InputRange {
  int input = -1;
  const std::byte* memory = nullptr;
};

class Elementwise final : public Kernel {
 public:
  /// Returns null when a step has no loop for its dtype.
  static std::unique_ptr<Kernel> make(const Request& request) { return make(request, {}); }
  /// An input that is a slice of a larger array; the array is the argument in its place.
  struct Window {
    int input;
    Shape whole;
    int64_t first;  ///< element of the array at which the slice begins
  };
  /// True when the window can be read in long rows.
  static bool reads(const Window& window, const TensorSpec& input, const Shape& result);
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
  /// The scalars that a run computes before its blocks, one per register.
  struct Cells {
    static constexpr size_t kBytes = 64;
    std::byte* at(size_t reg) { return memory + reg * kBytes; }
    const std::byte* at(size_t reg) const { return memory + reg * kBytes; }
    alignas(kBytes) std::byte memory[kMaxRegisters * kBytes];
  };
  int inputs() const { return inputs_; }
  int outputs() const { return static_cast<int>(written_at_.size()); }
  int cost() const { return cost_; }  ///< per element, in units of an addition
  /// The number of parts that a run is split into.
  int64_t parts() const { return size_ <= grain_ ? 1 : pieces(size_, grain_); }
  /// True when any range of elements can be computed separately.
  bool can_be_cut() const { return scatters_.empty(); }
  /// True when any range can be computed separately with `input` given as an InputRange.
  bool can_be_epilogue(int input) const;
  /// Begins a run by ranges, which any threads may then compute with run_range().
  void begin(const Arguments& a, Cells& cells) const;
  void run_range(const Arguments& a, const Cells& cells, int64_t begin, int64_t end,
                 InputRange range = {}) const;

 private:
  enum class Source : uint8_t {
    memory,    ///< an argument, read or written in place
    block,     ///< a block of the worker
    cell,      ///< a scalar for all elements, computed before the blocks
    periodic,  ///< a periodic input, repeated in scratch to more than a block
    row,       ///< an input of long rows, read in place; no block crosses the end of a row
    column,    ///< an input of which each element applies to one or more whole blocks
    whole,     ///< an input that only scatters read
  };
  struct Register {
    DType dtype{};  ///< dtype in the arguments
    Source source = Source::block;
    int input = -1, output = -1;  ///< index of the argument, -1 for none
    int slot = -1;                ///< index of the worker's block
    bool spread = false;          ///< a cell or column that a step reads as a block
    bool scattered = false;       ///< filled by a scatter
    bool read_by_scatter = false;
    Broadcast broadcast;
    size_t periodic_offset = 0;  ///< offset in scratch
    int last_read = -1;          ///< the last step that reads it
    /// Whether loops use half-width values without conversion; of a cell: where it is broadcast.
    bool stored = false;
    bool selected = false;  ///< whether a select reads it, which needs a cell to be broadcast
    bool is_cell() const { return source == Source::cell; }
    bool is_column() const { return source == Source::column; }
    DType form() const { return stored && !is_cell() ? dtype : computed_as(dtype); }
    size_t bytes() const { return size_of(form()); }
    bool is_half() const { return form() != dtype; }
    /// True for a cell that steps read as a float32 scalar; false for a cell that is broadcast in
    /// half width.
    bool is_number() const { return is_cell() && !(stored && selected); }
  };
  struct ChainCall {
    const Chain* chain;
    std::vector<int> inputs, outputs;
    int64_t columns = 0;  ///< row length where it runs row by row, else 0
  };
  struct Step {
    UnaryLoop unary = nullptr, round = nullptr;  ///< round: to half width and back to float32
    UnaryLoop widen = nullptr;
    BinaryLoop binary = nullptr;
    SelectLoop select = nullptr;
    std::array<int, 3> args{};
    int result = 0;
    int chain_call = -1;  ///< index in chain_calls_ of several steps as one, -1 for none
  };
  struct Scatter {              ///< fills a register with sums of rows of updates
    int reg, indices, updates;  ///< a register and two inputs
    int64_t width;              ///< elements per row
    RowLists lists;
    size_t offset;  ///< offset of the lists in scratch
    BinaryLoop add;
    UnaryLoop round, widen;  ///< for half-width rows
  };
  struct Result {  ///< an output whose register is not the output's own memory
    int reg, output;
    UnaryLoop convert;  ///< null: a copy
  };
  struct Block;

  void add_inputs(const Request& request, const std::vector<FusedStep>& steps,
                  std::span<const Window> windows);
  std::vector<bool> find_stored(const std::vector<FusedStep>& steps,
                                const std::vector<int>& outputs) const;
  bool add_steps(const Request& request, const std::vector<FusedStep>& steps,
                 const std::vector<int>& outputs);
  bool add_step(const FusedStep& step, bool stored, bool is_shared);
  BinaryLoop choose_loop(const FusedStep& step, DType dtype, bool cells);
  bool add_scatter(const Request& request, const FusedStep& step);
  bool add_chain(const Chain& chain, const std::vector<FusedStep>& steps, size_t first,
                 const std::vector<int>& outputs);
  template <class F>
  void each_result(const Step& step, F&& f) const;
  void add_results(const std::vector<int>& outputs, const Request& request);
  void assign_slots();
  int64_t columns_of(const ChainCall& call) const;
  int64_t written_out(const Register& r) const;
  void lay_out();
  void run_cells(const Arguments& a, Cells& cells) const;
  void write_periodic(const Arguments& a) const;
  void place(const Arguments& a, const Cells& cells, int64_t begin, int64_t n, InputRange range,
             Block& block) const;
  int64_t block_length(int64_t begin, int64_t end) const;
  void point(const Arguments& a, int64_t begin, int64_t n, Block& block) const;
  void load(const Arguments& a, int64_t begin, int64_t n, Block& block) const;
  void sum_rows(const Arguments& a, const Scatter& s, int64_t begin, int64_t n,
                std::byte* to) const;
  void fetch_ahead(const Arguments& a, int64_t begin, int64_t n, int except) const;
  void store(const Arguments& a, int64_t begin, int64_t n, const Block& block) const;
  void execute(const ChainCall& call, std::byte* const* registers, int64_t n) const;
  void execute(const Step& step, std::byte* const* registers, size_t n) const;

  int64_t size_ = 0, block_ = 0, grain_ = 0;
  bool has_rows_ = false;  ///< the program is one chain that runs row by row
  std::vector<Register> registers_;
  std::vector<Step> cell_steps_, steps_;
  std::vector<ChainCall> chain_calls_;
  std::vector<Scatter> scatters_;
  std::vector<int> to_load_,
      to_spread_;  ///< registers that are broadcast to a block: before each block; once per range
  struct Stream {  ///< a register in memory
    int reg;
    size_t bytes;  ///< per element
  };
  std::vector<Stream> streams_;
  std::vector<int> to_fetch_;  ///< inputs that are read element by element
  std::vector<int> periodic_;  ///< registers with Source::periodic
  std::vector<int> pointed_;   ///< registers with Source::row or Source::column
  std::vector<int64_t> cuts_;  ///< block ends: no block crosses a multiple of one of these
  std::vector<Result> results_;
  std::vector<int> written_at_;  ///< per output that is written directly: the step that writes it
  int inputs_ = 0, slots_ = 0, cost_ = 0;
  size_t slot_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace crescent::cpu
