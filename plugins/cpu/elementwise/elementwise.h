// Elementwise programs: registers and steps over blocks of elements that stay in the first-level
// cache. A single unary, binary, select or cast is a program of one step.
#pragma once
#include <vector>

#include "data_movement/indexing.h"
#include "elementwise/broadcast.h"
#include "kernel/kernel.h"
#include "kernel/loops.h"

namespace crescent::cpu {

/// The steps of any elementwise op; empty for another op.
std::vector<FusedStep> steps_of(const Op& op, DType result);

/// The memory of an input of which only the range that is computed is there.
struct InputRange {
  int input = -1;
  const std::byte* memory = nullptr;
};

class Elementwise final : public Kernel {
 public:
  /// Null when a step has no loop for its dtype.
  static std::unique_ptr<Kernel> make(const Request& request) { return make(request, {}); }
  /// An input that is cut out of a larger array, which is the argument in its place.
  struct Window {
    int input;
    Shape whole;
    int64_t first;  ///< where it begins
  };
  /// Whether such an input can be read in long rows.
  static bool reads(const Window& window, const TensorSpec& input, const Shape& result);
  static std::unique_ptr<Kernel> make(const Request& request, std::span<const Window> windows);

  void run(const Arguments& a) override;
  std::string name() const override { return "highway"; }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  double flops() const override {
    return static_cast<double>(size_) * static_cast<double>(steps_.size());
  }
  bool in_place(int input) const override { return may_share(input, 0); }
  bool may_share(int input, int output) const override;

  static constexpr size_t kMaxRegisters = 192;
  /// The numbers that a run works out before its blocks, one a register.
  struct Cells {
    static constexpr size_t kBytes = 64;
    std::byte* at(size_t reg) { return memory + reg * kBytes; }
    const std::byte* at(size_t reg) const { return memory + reg * kBytes; }
    alignas(kBytes) std::byte memory[kMaxRegisters * kBytes];
  };
  int inputs() const { return inputs_; }
  int outputs() const { return static_cast<int>(written_at_.size()); }
  int cost() const { return cost_; }  ///< of an element, in units of an addition
  /// Into so many a run is cut.
  int64_t parts() const { return size_ <= grain_ ? 1 : pieces(size_, grain_); }
  /// It can be run range by range.
  bool can_be_cut() const { return scatters_.empty(); }
  /// The same, this input being an InputRange.
  bool can_be_epilogue(int input) const;
  /// A run in ranges of any sizes: begins once, then any thread does any range.
  void begin(const Arguments& a, Cells& cells) const;
  void run_range(const Arguments& a, const Cells& cells, int64_t begin, int64_t end,
                 InputRange range = {}) const;

 private:
  enum class Source : uint8_t {
    memory,    ///< an argument, read or written where it is
    block,     ///< a block of the worker
    cell,      ///< one number for all elements, worked out before the blocks
    periodic,  ///< an input that repeats, written out once for more than a block
    row,       ///< an input of long rows, each read where it is by blocks that end where it does
    column,    ///< an input of which a number is read by a whole block, or by several
    whole,     ///< an input that scatters alone read
  };
  struct Register {
    DType dtype{};  ///< as stored in the arguments
    Source source = Source::block;
    int input = -1, output = -1;  ///< arguments
    int slot = -1;                ///< block of the worker
    bool spread = false;          ///< a cell or a column that a step reads as a block
    bool scattered = false;       ///< filled by a scatter
    bool read_by_scatter = false;
    Broadcast broadcast;
    size_t periodic_offset = 0;  ///< in scratch
    int last_read = -1;          ///< step
    bool stored =
        false;  ///< half-width, and loops take it as it lies in memory; a cell: when it is spread
    bool selected = false;  ///< a select reads it, and so wants a cell spread
    bool is_cell() const { return source == Source::cell; }
    bool is_column() const { return source == Source::column; }
    DType form() const { return stored && !is_cell() ? dtype : computed_as(dtype); }
    size_t bytes() const { return size_of(form()); }
    bool is_half() const { return form() != dtype; }
    /// Where steps read it as a number it is float32: not where it lies spread, as it is stored.
    bool is_number() const { return is_cell() && !(stored && selected); }
  };
  struct ChainCall {
    const Chain* chain;
    std::vector<int> inputs, outputs;
    int64_t columns = 0;  ///< of rows that it goes through; 0: no rows
  };
  struct Step {
    UnaryLoop unary = nullptr, round = nullptr;  ///< round: the result to half width and back
    UnaryLoop widen = nullptr;
    BinaryLoop binary = nullptr;
    SelectLoop select = nullptr;
    std::array<int, 3> args{};
    int result = 0;
    int chain_call = -1;  ///< several steps as one: of chain_calls_
  };
  struct Scatter {              ///< fills a register with sums of rows
    int reg, indices, updates;  ///< a register, two inputs
    int64_t width;              ///< elements of a row
    RowLists lists;
    size_t offset;  ///< of the lists in scratch
    BinaryLoop add;
    UnaryLoop round, widen;  ///< of half-width rows
  };
  struct Result {  ///< an output that does not lie where a register is written
    int reg, output;
    UnaryLoop convert;  ///< null: copied
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
  bool add_run(const Chain& chain, const std::vector<FusedStep>& steps, size_t first,
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
  bool has_rows_ = false;  ///< nothing but a run of rows
  std::vector<Register> registers_;
  std::vector<Step> cell_steps_, steps_;
  std::vector<ChainCall> chain_calls_;
  std::vector<Scatter> scatters_;
  std::vector<int> to_load_,
      to_spread_;  ///< registers filled before the steps of a block, and once a range
  struct Stream {  ///< a register in memory
    int reg;
    size_t bytes;  ///< of an element
  };
  std::vector<Stream> streams_;
  std::vector<int> to_fetch_;  ///< inputs that are read element by element
  std::vector<int> periodic_;  ///< registers of that source
  std::vector<int> pointed_;   ///< rows and columns
  std::vector<int64_t> cuts_;  ///< no block goes beyond a multiple of one of these
  std::vector<Result> results_;
  std::vector<int> written_at_;  ///< per output: the step that writes the caller's memory
  int inputs_ = 0, slots_ = 0, cost_ = 0;
  size_t slot_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace crescent::cpu
