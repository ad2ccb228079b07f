#include "reduction/reduction.h"

#include <algorithm>

#include "data_movement/sort_topk.h"
#include "kernel/converted.h"
#include "threads/thread_scratch.h"

namespace crescent::cpu {

ReduceGeometry::ReduceGeometry(const Shape& shape, const std::vector<int>& axes) {
  struct MergedAxis {
    int64_t size;
    bool is_reduced;
  };
  std::vector<MergedAxis>
      merged;  // the merged axes, from the outermost one, without axes of size 1
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    const bool is_reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!merged.empty() && merged.back().is_reduced == is_reduced)
      merged.back().size *= shape[axis];
    else
      merged.push_back({shape[axis], is_reduced});
  }
  if (merged.empty()) return;
  width_ = merged.back().size;
  reduces_last_axis_ = merged.back().is_reduced;
  int64_t stride = width_;
  for (size_t i = merged.size() - 1; i-- > 0;) {
    auto& list = merged[i].is_reduced ? reduced_axes_ : kept_axes_;
    (merged[i].is_reduced ? rows_ : outer_) *= merged[i].size;
    list.insert(list.begin(), {merged[i].size, stride});
    stride *= merged[i].size;
  }
  if (!reduces_last_axis_ && !reduced_axes_.empty()) adjacent_rows_ = reduced_axes_.back().size;
}

int64_t ReduceGeometry::offset_in(const std::vector<Axis>& axes, int64_t index) {
  int64_t offset = 0;
  for (size_t i = axes.size(); i-- > 0;) {
    offset += index % axes[i].size * axes[i].stride;
    index /= axes[i].size;
  }
  return offset;
}

int64_t ReduceGeometry::offset(int64_t outer, int64_t row) const {
  return offset_in(kept_axes_, outer) + offset_in(reduced_axes_, row);
}

int64_t ReduceGeometry::contiguous_outer_count(int64_t outer) const {
  if (kept_axes_.empty() || kept_axes_.back().stride != width_) return 1;
  return kept_axes_.back().size - outer % kept_axes_.back().size;
}

namespace {

constexpr int64_t kChunkElements = 32768;  // fewest elements per chunk
constexpr int64_t kMaxChunks = 32;
constexpr int64_t kMaxNeighbourTasks = 32;
// If there are at least this many units (see ReduceKernel::divide_work), a unit is not divided into
// chunks, and wide tiles are used.
constexpr int64_t kMinUnits = 16;
// A reduction with fewer tasks than this does not fuse an elementwise kernel that has more tasks
// (ReduceKernel::fuse_elementwise).
constexpr int64_t kMinFusedParts = 8;
// Several contiguous rows that together are at most this wide are reduced as one wide row.
constexpr int64_t kFoldedWidth = 512;
constexpr int64_t kTileColumns = 512, kWideTileColumns = 2048;  // numbers of columns per tile
// The number of elements that the elementwise kernel computes at a time; they fit the first-level
// cache.
constexpr int64_t kMaxComputedElements = 4096;

}  // namespace

/// The state of a task: accumulators and partial sums of each result, and the present block of
/// elements.
class ReduceKernel::TaskState {
 public:
  TaskState(const ReduceKernel& kernel, const Arguments& a, const Elementwise::Cells& cells)
      : kernel_(kernel), a_(a), cells_(cells) {
    const size_t result_count = kernel.results_.size();
    memory_ = thread_scratch(
        (2 * result_count * kTileSize + kernel.output_bytes_.size() * kMaxComputedElements) * 8);
  }

  std::byte* accumulators(size_t result) const { return memory_ + result * kTileSize * 8; }
  std::byte* partials(size_t result) const {
    return accumulators(kernel_.results_.size() + result);
  }

  /// Makes the elements of a block available to block(): computes them by the elementwise kernel if
  /// there is one; otherwise they are read in place.
  void read_block(const Block& block) {
    begin_ = block.begin, stride_ = block.stride;
    if (!kernel_.elementwise_) return;
    stride_ = block.width;
    if (block.stride == block.width || block.rows == 1)
      return compute_elements(block.begin, block.rows * block.width, 0);
    for (int64_t row = 0; row < block.rows; ++row)
      compute_elements(block.begin + row * block.stride, block.width, row * block.width);
  }
  const std::byte* block(const Result& result) const {
    return kernel_.elementwise_ ? elementwise_output(result.source)
                                : a_.inputs[0] + static_cast<size_t>(begin_) * result.in_bytes;
  }
  int64_t stride() const { return stride_; }
  /// Adds to `acc` the sum of a block of one row, whose elements the elementwise kernel computes
  /// without writing them to memory.
  void add_chain(const Block& block, std::byte* acc) const {
    *reinterpret_cast<double*>(acc) +=
        kernel_.elementwise_->sum_range(a_, cells_, block.begin, block.begin + block.width);
  }

 private:
  static constexpr size_t kTileSize = kWideTileColumns;

  std::byte* elementwise_output(size_t output) const {
    return accumulators(2 * kernel_.results_.size()) +
           output * static_cast<size_t>(kMaxComputedElements) * 8;
  }

  /// Computes elements [begin, begin + n) of every output of the elementwise kernel, and writes
  /// them to the thread's buffers, beginning at index `first_index`.
  void compute_elements(int64_t begin, int64_t n, int64_t first_index) {
    // run_range() writes element `begin` to the address of element 0 plus `begin` elements.
    std::byte* outputs[kMaxResults];
    for (size_t o = 0; o < kernel_.output_bytes_.size(); ++o)
      outputs[o] = elementwise_output(o) +
                   (first_index - begin) * static_cast<int64_t>(kernel_.output_bytes_[o]);
    kernel_.elementwise_->run_range({a_.inputs, outputs, a_.scratch, a_.threads}, cells_, begin,
                                    begin + n);
  }

  const ReduceKernel& kernel_;
  const Arguments& a_;
  const Elementwise::Cells& cells_;
  std::byte* memory_;
  int64_t begin_ = 0, stride_ = 0;
};

ReduceKernel::ReduceKernel(const Reduce& op, const Request& request, ReduceLoops loops)
    : geometry_(request.inputs[0].shape, op.axes) {
  const DType in = request.inputs[0].dtype, out = request.outputs[0].dtype;
  const bool has_floats = is_floating(in), is_mean = op.kind == ReduceKind::mean;
  sums_rows_ =
      has_floats && geometry_.reduces_last_axis() && (is_mean || op.kind == ReduceKind::sum);
  Result& result = results_.emplace_back(Result{loops, size_of(in), size_of(out)});
  if (is_mean) {
    const int64_t result_count = std::max<int64_t>(geometry_.result_count(), 1);
    result.divisor = static_cast<double>(geometry_.size()) / static_cast<double>(result_count);
  }
  result.convert = cast_loop(has_floats || is_mean ? DType::float64 : DType::int64, out);
  if (is_mean && !has_floats) result.widen = cast_loop(DType::int64, DType::float64);
  divide_work();
}

/// Divides the work into units and chunks. A unit computes one result if rows are reduced, else a
/// tile of adjacent results; a chunk is a range of the elements that a unit reduces. Wide tiles are
/// read faster and are used if there are enough of them; they do not change the order of additions.
void ReduceKernel::divide_work() {
  const ReduceGeometry& g = geometry_;
  divides_rows_ = g.reduces_last_axis() && g.rows() == 1;
  step_count_ = divides_rows_ ? g.width() : g.rows();
  set_tile(kTileColumns);
  if (unit_count_ < kMinUnits && unit_elements_ >= 2 * kChunkElements)
    chunks_per_unit_ = std::min({unit_elements_ / kChunkElements, kMaxChunks, step_count_});
  set_tile(kWideTileColumns);
  if (unit_count_ * chunks_per_unit_ < kMinUnits && g.size() > 2 * kChunkElements)
    set_tile(kTileColumns);
}

void ReduceKernel::set_tile(int64_t width) {
  const ReduceGeometry& g = geometry_;
  tile_columns_ = g.reduces_last_axis() ? 1 : std::clamp<int64_t>(g.width(), 1, width);
  tiles_per_row_ = g.reduces_last_axis() ? 1 : pieces(g.width(), tile_columns_);
  unit_count_ = g.outer() * tiles_per_row_;
  unit_elements_ = g.rows() * (g.reduces_last_axis() ? g.width() : tile_columns_);
}

bool ReduceKernel::fuse_elementwise(std::unique_ptr<Kernel>& previous, int output) {
  auto* kernel = dynamic_cast<Elementwise*>(previous.get());
  if (!kernel || !kernel->can_be_cut() || kernel->output_count() > static_cast<int>(kMaxResults))
    return false;
  if (elementwise_ ||
      (unit_count_ * chunks_per_unit_ < kMinFusedParts && kernel->task_count() > kMinFusedParts))
    return false;
  static_cast<void>(previous.release());
  elementwise_.reset(kernel);
  output_bytes_.resize(kernel->output_count());
  set_source(results_[0], output);
  return true;
}

void ReduceKernel::join(const ReduceKernel& other, int output) {
  results_.push_back(other.results_[0]);
  set_source(results_.back(), output);
}

void ReduceKernel::set_source(Result& result, int output) {
  result.source = output;
  output_bytes_[output] = result.in_bytes;
}

size_t ReduceKernel::partial_bytes() const {
  return chunks_per_unit_ == 1
             ? 0
             : static_cast<size_t>(unit_count_ * chunks_per_unit_ * tile_columns_) * 8;
}

/// The bytes of scratch memory: first that of the elementwise kernel whose results the reduction
/// reads block by block, then the accumulators of all chunks.
size_t ReduceKernel::scratch_bytes() const {
  return elementwise_scratch_bytes() + results_.size() * partial_bytes();
}

size_t ReduceKernel::elementwise_scratch_bytes() const {
  return elementwise_ ? (elementwise_->scratch_bytes() + 63) / 64 * 64 : 0;
}

ReduceKernel::Accumulators ReduceKernel::accumulators_of_part(const Arguments& a,
                                                              int64_t part) const {
  Accumulators acc;
  for (size_t r = 0; r < acc.size(); ++r)
    acc[r] =
        a.scratch + elementwise_scratch_bytes() + r * partial_bytes() + part * tile_columns_ * 8;
  return acc;
}

std::string ReduceKernel::name() const {
  return elementwise_ ? concat(elementwise_->name(), ", reduced") : "highway";
}

double ReduceKernel::flops() const {
  return static_cast<double>(geometry_.size()) * static_cast<double>(results_.size()) +
         (elementwise_ ? elementwise_->flops() : 0);
}

void ReduceKernel::run(const Arguments& a) const {
  if (geometry_.result_count() == 0) return;
  Elementwise::Cells cells;
  if (elementwise_) elementwise_->begin(a, cells);
  if (chunks_per_unit_ == 1) return run_undivided_units(a, cells);
  a.threads.parallel(unit_count_ * chunks_per_unit_, [&](int64_t part, int) {
    TaskState task(*this, a, cells);
    reduce_unit(task, part / chunks_per_unit_, part % chunks_per_unit_,
                accumulators_of_part(a, part));
  });
  a.threads.blocks(unit_count_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t work_unit = begin; work_unit < end; ++work_unit) merge_unit(a, work_unit);
  });
}

void ReduceKernel::run_undivided_units(const Arguments& a, const Elementwise::Cells& cells) const {
  const int64_t cost = unit_elements_ * (elementwise_ ? 1 + elementwise_->cost() : 1);
  int64_t grain = std::max<int64_t>(1, kChunkElements / std::max<int64_t>(cost, 1));
  // Neighbouring units are read together. If the rows of a unit are far apart in memory, this is
  // only worth it for tasks with many units.
  if (geometry_.rows() > 1 && geometry_.contiguous_outer_count(0) > 1)
    grain = std::max(grain, unit_count_ / kMaxNeighbourTasks);
  a.threads.blocks(unit_count_, grain, [&](int64_t begin, int64_t end) {
    TaskState task(*this, a, cells);
    Accumulators acc;
    for (size_t r = 0; r < acc.size(); ++r) acc[r] = task.accumulators(r);
    if (tile_columns_ > 1) {
      for (int64_t work_unit = begin; work_unit < end; ++work_unit) {
        reduce_unit(task, work_unit, 0, acc);
        store(a, work_unit, acc);
      }
      return;
    }
    // Each iteration reduces the elements of kTileColumns units, and converts their results to the
    // dtype of the output.
    for (int64_t first = begin; first < end; first += kTileColumns) {
      const int64_t n = std::min(kTileColumns, end - first);
      reduce_units(task, first, n, acc);
      for (size_t r = 0; r < results_.size(); ++r)
        store_results(results_[r], first, n, acc[r], a.outputs[r]);
    }
  });
}

/// Reduces n units from `first` on, each the elements of one result. Several short contiguous rows
/// are read at a time.
void ReduceKernel::reduce_units(TaskState& task, int64_t first, int64_t n,
                                const Accumulators& acc) const {
  const int64_t width = geometry_.width();
  const bool reads_several_rows = geometry_.reduces_last_axis() && width <= kRowLength;
  const int64_t rows_at_once = elementwise_ ? kRowLength / std::max<int64_t>(width, 1) : n;
  for (int64_t i = 0, count; i < n; i += count) {
    count = reads_several_rows
                ? std::min({n - i, rows_at_once, geometry_.contiguous_outer_count(first + i)})
                : 1;
    Accumulators unit_accumulators = acc;
    for (std::byte*& next : unit_accumulators) next += i * 8;
    if (count == 1) {
      reduce_unit(task, first + i, 0, unit_accumulators);
      continue;
    }
    for (size_t r = 0; r < results_.size(); ++r)
      results_[r].loops.start(unit_accumulators[r], count);
    for (int64_t row = 0; row < geometry_.rows(); ++row) {
      task.read_block({geometry_.offset(first + i, row), count, width, width});
      for (size_t r = 0; r < results_.size(); ++r)
        results_[r].loops.reduce_rows(task.block(results_[r]), count, width, unit_accumulators[r]);
    }
  }
}

void ReduceKernel::reduce_unit(TaskState& task, int64_t work_unit, int64_t chunk,
                               const Accumulators& acc) const {
  const int64_t width = width_of(work_unit);
  for (size_t r = 0; r < results_.size(); ++r) results_[r].loops.start(acc[r], width);
  const bool sums_chain =
      elementwise_ && sums_rows_ && results_.size() == 1 && elementwise_->has_sum();
  for_each_block(work_unit, chunk, [&](const Block& block) {
    if (sums_chain) return task.add_chain(block, acc[0]);
    task.read_block(block);
    for (size_t r = 0; r < results_.size(); ++r) {
      const ReduceLoops& loops = results_[r].loops;
      const std::byte* x = task.block(results_[r]);
      if (geometry_.reduces_last_axis()) {
        loops.reduce_rows(x, 1, block.width, acc[r]);
        continue;
      }
      loops.reduce_columns(x, block.rows, block.width, task.stride(), block.is_first,
                           task.partials(r));
      if (block.is_last) loops.add_up(task.partials(r), block.width, width, acc[r]);
    }
  });
}

/// The number of results of a unit.
int64_t ReduceKernel::width_of(int64_t work_unit) const {
  return geometry_.reduces_last_axis()
             ? 1
             : std::min(tile_columns_,
                        geometry_.width() - work_unit % tiles_per_row_ * tile_columns_);
}

/// Calls f(block) for all blocks of a chunk, in the order in which they are added.
template <class F>
void ReduceKernel::for_each_block(int64_t work_unit, int64_t chunk, F&& f) const {
  const ReduceGeometry& g = geometry_;
  const int64_t outer = work_unit / tiles_per_row_,
                column = work_unit % tiles_per_row_ * tile_columns_, width = width_of(work_unit);
  const int64_t first = step_count_ * chunk / chunks_per_unit_,
                last = step_count_ * (chunk + 1) / chunks_per_unit_;
  const auto reduce_row = [&](int64_t begin, int64_t n) {
    const int64_t max_count = elementwise_ ? kRowLength : n;
    for (int64_t i = 0; i < n; i += max_count)
      f(Block{begin + i, 1, std::min(max_count, n - i), max_count});
  };
  // Treats several narrow contiguous rows as one wide row.
  const auto reduce_columns = [&](int64_t begin, int64_t n) {
    const int64_t max_folded_rows =
        g.width() == width ? std::min(kFoldedWidth / width, n / kColumnLength) : 1;
    for (int64_t i = 0; i < n;) {
      const int64_t folded_row_count =
          max_folded_rows > 1 && n - i >= max_folded_rows ? max_folded_rows : 1;
      const int64_t rows = std::min((n - i) / folded_row_count, kColumnLength);
      const Block folded_block{begin + i * g.width(), rows, width * folded_row_count,
                               g.width() * folded_row_count};
      const int64_t max_rows =
          elementwise_ ? std::max<int64_t>(1, kMaxComputedElements / folded_block.width) : rows;
      for (int64_t done_rows = 0; done_rows < rows; done_rows += max_rows) {
        const int64_t row_count = std::min(max_rows, rows - done_rows);
        f(Block{folded_block.begin + done_rows * folded_block.stride, row_count, folded_block.width,
                folded_block.stride, done_rows == 0, done_rows + row_count == rows});
      }
      i += rows * folded_row_count;
    }
  };
  if (divides_rows_) return reduce_row(g.offset(outer, 0) + first, last - first);
  for (int64_t i = first, n; i < last; i += n) {
    n = g.reduces_last_axis() ? 1 : std::min(last - i, g.adjacent_rows() - i % g.adjacent_rows());
    const int64_t begin = g.offset(outer, i) + column;
    g.reduces_last_axis() ? reduce_row(begin, g.width()) : reduce_columns(begin, n);
  }
}

void ReduceKernel::merge_unit(const Arguments& a, int64_t work_unit) const {
  const Accumulators acc = accumulators_of_part(a, work_unit * chunks_per_unit_);
  for (int64_t chunk = 1; chunk < chunks_per_unit_; ++chunk) {
    const Accumulators from = accumulators_of_part(a, work_unit * chunks_per_unit_ + chunk);
    for (size_t r = 0; r < results_.size(); ++r)
      results_[r].loops.merge(from[r], acc[r], tile_columns_);
  }
  store(a, work_unit, acc);
}

void ReduceKernel::store(const Arguments& a, int64_t work_unit, const Accumulators& acc) const {
  const int64_t width = geometry_.reduces_last_axis() ? 1 : geometry_.width();
  const int64_t first =
      work_unit / tiles_per_row_ * width + work_unit % tiles_per_row_ * tile_columns_;
  for (size_t r = 0; r < results_.size(); ++r)
    store_results(results_[r], first, width_of(work_unit), acc[r], a.outputs[r]);
}

void ReduceKernel::store_results(const Result& result, int64_t first, int64_t n, std::byte* acc,
                                 std::byte* to) const {
  if (result.widen) result.widen(acc, acc, n);
  if (result.divisor != 1) {
    for (int64_t i = 0; i < n; ++i) reinterpret_cast<double*>(acc)[i] /= result.divisor;
  }
  result.convert(acc, to + static_cast<size_t>(first) * result.out_bytes, n);
}

namespace {

std::unique_ptr<Kernel> make_reduce(const Request& request) {
  auto& op = static_cast<const Reduce&>(request.op);
  ReduceLoops loops = reduce_loops(op.kind, request.inputs[0].dtype);
  return loops.reduce_rows ? std::make_unique<ReduceKernel>(op, request, loops) : nullptr;
}

}  // namespace

std::span<const KernelEntry> reduction_kernels() {
  static constexpr KernelEntry entries[] = {
      {"reduce", make_reduce},
      {"reduce", make_converted<reduction_kernels>},
      {"arg_reduce", make_arg_reduce},
      {"arg_reduce", make_converted<reduction_kernels>},
      {"top_k", make_top_k},
      {"top_k", make_converted<reduction_kernels>},
      {"cumulative", make_cumulative},
      {"cumulative", make_converted<reduction_kernels>},
      {"operations.order_statistics", make_order_statistics},
      {"operations.order_statistics", make_converted<reduction_kernels>}};
  return entries;
}

}  // namespace crescent::cpu
