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
  along_rows_ = merged.back().is_reduced;
  int64_t stride = width_;
  for (size_t i = merged.size() - 1; i-- > 0;) {
    auto& list = merged[i].is_reduced ? reduced_ : kept_;
    (merged[i].is_reduced ? rows_ : outer_) *= merged[i].size;
    list.insert(list.begin(), {merged[i].size, stride});
    stride *= merged[i].size;
  }
  if (!along_rows_ && !reduced_.empty()) adjacent_rows_ = reduced_.back().size;
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
  return offset_in(kept_, outer) + offset_in(reduced_, row);
}

int64_t ReduceGeometry::neighbours(int64_t outer) const {
  if (kept_.empty() || kept_.back().stride != width_) return 1;
  return kept_.back().size - outer % kept_.back().size;
}

namespace {

constexpr int64_t kChunkElements = 32768;  // fewest elements per chunk
constexpr int64_t kMaxChunks = 32;
constexpr int64_t kNeighbourParts = 32;
// If there are at least this many units (see ReduceKernel::cut), a unit is not divided into chunks,
// and wide tiles are used.
constexpr int64_t kMinUnits = 16;
// A reduction with fewer tasks than this does not compute an elementwise kernel within itself
// (ReduceKernel::fuse_elementwise) that has more tasks.
constexpr int64_t kMinFusedParts = 8;
// Several contiguous rows that together are at most this wide are reduced as one wide row.
constexpr int64_t kFoldedWidth = 512;
constexpr int64_t kTile = 512, kWideTile = 2048;  // numbers of columns per tile
// The number of elements that the elementwise kernel computes at a time; they fit the first-level
// cache.
constexpr int64_t kMaxComputed = 4096;

}  // namespace

/// The state of a task: accumulators and partial sums of each result, and the present block of
/// elements.
class ReduceKernel::Worker {
 public:
  Worker(const ReduceKernel& kernel, const Arguments& a, const Elementwise::Cells& cells)
      : kernel_(kernel), a_(a), cells_(cells) {
    const size_t results = kernel.results_.size();
    memory_ =
        thread_scratch((2 * results * kTileSize + kernel.output_bytes_.size() * kMaxComputed) * 8);
  }

  std::byte* accumulators(size_t result) const { return memory_ + result * kTileSize * 8; }
  std::byte* partials(size_t result) const {
    return accumulators(kernel_.results_.size() + result);
  }

  /// Makes the elements of a block available to block(): computes them by the elementwise kernel if
  /// there is one; otherwise they are read in place.
  void read(const Block& block) {
    begin_ = block.begin, stride_ = block.stride;
    if (!kernel_.elementwise_) return;
    stride_ = block.width;
    if (block.stride == block.width || block.rows == 1)
      return make(block.begin, block.rows * block.width, 0);
    for (int64_t row = 0; row < block.rows; ++row)
      make(block.begin + row * block.stride, block.width, row * block.width);
  }
  const std::byte* block(const Result& result) const {
    return kernel_.elementwise_ ? elementwise_output(result.source)
                                : a_.inputs[0] + static_cast<size_t>(begin_) * result.in_bytes;
  }
  int64_t stride() const { return stride_; }

 private:
  static constexpr size_t kTileSize = kWideTile;

  std::byte* elementwise_output(size_t output) const {
    return accumulators(2 * kernel_.results_.size()) +
           output * static_cast<size_t>(kMaxComputed) * 8;
  }

  /// Computes elements [begin, begin + n) of every output of the elementwise kernel, and writes
  /// them to the thread's buffers, beginning at index `at`.
  void make(int64_t begin, int64_t n, int64_t at) {
    // run_range() writes element `begin` to the address of element 0 plus `begin` elements.
    std::byte* outputs[kMaxResults];
    for (size_t o = 0; o < kernel_.output_bytes_.size(); ++o)
      outputs[o] =
          elementwise_output(o) + (at - begin) * static_cast<int64_t>(kernel_.output_bytes_[o]);
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
  const bool floating = is_floating(in), divides = op.kind == ReduceKind::mean;
  Result& result = results_.emplace_back(Result{loops, size_of(in), size_of(out)});
  if (divides) {
    const int64_t results = std::max<int64_t>(geometry_.results(), 1);
    result.divisor = static_cast<double>(geometry_.size()) / static_cast<double>(results);
  }
  result.convert = cast_loop(floating || divides ? DType::float64 : DType::int64, out);
  if (divides && !floating) result.widen = cast_loop(DType::int64, DType::float64);
  cut();
}

/// Divides the work into units and chunks. A unit computes one result if rows are reduced, else a
/// tile of adjacent results; a chunk is a range of the elements that a unit reduces. Wide tiles are
/// read faster and are used if there are enough of them; they do not change the order of additions.
void ReduceKernel::cut() {
  const ReduceGeometry& g = geometry_;
  split_row_ = g.along_rows() && g.rows() == 1;
  steps_ = split_row_ ? g.width() : g.rows();
  set_tile(kTile);
  if (units_ < kMinUnits && unit_elements_ >= 2 * kChunkElements)
    chunks_ = std::min({unit_elements_ / kChunkElements, kMaxChunks, steps_});
  set_tile(kWideTile);
  if (units_ * chunks_ < kMinUnits && g.size() > 2 * kChunkElements) set_tile(kTile);
}

void ReduceKernel::set_tile(int64_t width) {
  const ReduceGeometry& g = geometry_;
  tile_ = g.along_rows() ? 1 : std::clamp<int64_t>(g.width(), 1, width);
  tiles_ = g.along_rows() ? 1 : pieces(g.width(), tile_);
  units_ = g.outer() * tiles_;
  unit_elements_ = g.rows() * (g.along_rows() ? g.width() : tile_);
}

bool ReduceKernel::fuse_elementwise(std::unique_ptr<Kernel>& previous, int output) {
  auto* kernel = dynamic_cast<Elementwise*>(previous.get());
  if (!kernel || !kernel->can_be_cut() || kernel->outputs() > static_cast<int>(kMaxResults))
    return false;
  if (elementwise_ || (units_ * chunks_ < kMinFusedParts && kernel->parts() > kMinFusedParts))
    return false;
  static_cast<void>(previous.release());
  elementwise_.reset(kernel);
  output_bytes_.resize(kernel->outputs());
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
  return chunks_ == 1 ? 0 : static_cast<size_t>(units_ * chunks_ * tile_) * 8;
}

/// The bytes of scratch memory: first that of the elementwise kernel whose results the reduction
/// reads block by block, then the accumulators of all chunks.
size_t ReduceKernel::scratch_bytes() const {
  return own_scratch() + results_.size() * partial_bytes();
}

size_t ReduceKernel::own_scratch() const {
  return elementwise_ ? (elementwise_->scratch_bytes() + 63) / 64 * 64 : 0;
}

ReduceKernel::Accumulators ReduceKernel::of_part(const Arguments& a, int64_t part) const {
  Accumulators acc;
  for (size_t r = 0; r < acc.size(); ++r)
    acc[r] = a.scratch + own_scratch() + r * partial_bytes() + part * tile_ * 8;
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
  if (geometry_.results() == 0) return;
  Elementwise::Cells cells;
  if (elementwise_) elementwise_->begin(a, cells);
  if (chunks_ == 1) return run_whole(a, cells);
  a.threads.parallel(units_ * chunks_, [&](int64_t part, int) {
    Worker worker(*this, a, cells);
    reduce_unit(worker, part / chunks_, part % chunks_, of_part(a, part));
  });
  a.threads.blocks(units_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) merge_unit(a, unit);
  });
}

void ReduceKernel::run_whole(const Arguments& a, const Elementwise::Cells& cells) const {
  const int64_t cost = unit_elements_ * (elementwise_ ? 1 + elementwise_->cost() : 1);
  int64_t grain = std::max<int64_t>(1, kChunkElements / std::max<int64_t>(cost, 1));
  // Neighbouring units are read together. If the rows of a unit are far apart in memory, this is
  // only worth it for tasks with many units.
  if (geometry_.rows() > 1 && geometry_.neighbours(0) > 1)
    grain = std::max(grain, units_ / kNeighbourParts);
  a.threads.blocks(units_, grain, [&](int64_t begin, int64_t end) {
    Worker worker(*this, a, cells);
    Accumulators acc;
    for (size_t r = 0; r < acc.size(); ++r) acc[r] = worker.accumulators(r);
    if (tile_ > 1) {
      for (int64_t unit = begin; unit < end; ++unit) {
        reduce_unit(worker, unit, 0, acc);
        store(a, unit, acc);
      }
      return;
    }
    // Each iteration reduces the elements of kTile units, and converts their results to the dtype
    // of the output.
    for (int64_t first = begin; first < end; first += kTile) {
      const int64_t n = std::min(kTile, end - first);
      reduce_units(worker, first, n, acc);
      for (size_t r = 0; r < results_.size(); ++r)
        store_numbers(results_[r], first, n, acc[r], a.outputs[r]);
    }
  });
}

/// Reduces n units from `first` on, each the elements of one result. Several short contiguous rows
/// are read at a time.
void ReduceKernel::reduce_units(Worker& worker, int64_t first, int64_t n,
                                const Accumulators& acc) const {
  const int64_t width = geometry_.width();
  const bool reads_several_rows = geometry_.along_rows() && width <= kRowLength;
  const int64_t rows_at_once = elementwise_ ? kRowLength / std::max<int64_t>(width, 1) : n;
  for (int64_t i = 0, some; i < n; i += some) {
    some =
        reads_several_rows ? std::min({n - i, rows_at_once, geometry_.neighbours(first + i)}) : 1;
    Accumulators at = acc;
    for (std::byte*& next : at) next += i * 8;
    if (some == 1) {
      reduce_unit(worker, first + i, 0, at);
      continue;
    }
    for (size_t r = 0; r < results_.size(); ++r) results_[r].loops.start(at[r], some);
    for (int64_t row = 0; row < geometry_.rows(); ++row) {
      worker.read({geometry_.offset(first + i, row), some, width, width});
      for (size_t r = 0; r < results_.size(); ++r)
        results_[r].loops.rows(worker.block(results_[r]), some, width, at[r]);
    }
  }
}

void ReduceKernel::reduce_unit(Worker& worker, int64_t unit, int64_t chunk,
                               const Accumulators& acc) const {
  const int64_t width = width_of(unit);
  for (size_t r = 0; r < results_.size(); ++r) results_[r].loops.start(acc[r], width);
  each_block(unit, chunk, [&](const Block& block) {
    worker.read(block);
    for (size_t r = 0; r < results_.size(); ++r) {
      const ReduceLoops& loops = results_[r].loops;
      const std::byte* x = worker.block(results_[r]);
      if (geometry_.along_rows()) {
        loops.rows(x, 1, block.width, acc[r]);
        continue;
      }
      loops.columns(x, block.rows, block.width, worker.stride(), block.first, worker.partials(r));
      if (block.last) loops.add_up(worker.partials(r), block.width, width, acc[r]);
    }
  });
}

/// The number of results of a unit.
int64_t ReduceKernel::width_of(int64_t unit) const {
  return geometry_.along_rows() ? 1 : std::min(tile_, geometry_.width() - unit % tiles_ * tile_);
}

/// Calls f(block) for all blocks of a chunk, in the order in which they are added.
template <class F>
void ReduceKernel::each_block(int64_t unit, int64_t chunk, F&& f) const {
  const ReduceGeometry& g = geometry_;
  const int64_t outer = unit / tiles_, column = unit % tiles_ * tile_, width = width_of(unit);
  const int64_t first = steps_ * chunk / chunks_, last = steps_ * (chunk + 1) / chunks_;
  const auto row = [&](int64_t begin, int64_t n) {
    const int64_t max_count = elementwise_ ? kRowLength : n;
    for (int64_t i = 0; i < n; i += max_count)
      f(Block{begin + i, 1, std::min(max_count, n - i), max_count});
  };
  // Treats several narrow contiguous rows as one wide row.
  const auto columns = [&](int64_t begin, int64_t n) {
    const int64_t fold = g.width() == width ? std::min(kFoldedWidth / width, n / kColumnLength) : 1;
    for (int64_t i = 0; i < n;) {
      const int64_t factor = fold > 1 && n - i >= fold ? fold : 1;
      const int64_t rows = std::min((n - i) / factor, kColumnLength);
      const Block folded_block{begin + i * g.width(), rows, width * factor, g.width() * factor};
      const int64_t max_rows =
          elementwise_ ? std::max<int64_t>(1, kMaxComputed / folded_block.width) : rows;
      for (int64_t done = 0; done < rows; done += max_rows) {
        const int64_t row_count = std::min(max_rows, rows - done);
        f(Block{folded_block.begin + done * folded_block.stride, row_count, folded_block.width,
                folded_block.stride, done == 0, done + row_count == rows});
      }
      i += rows * factor;
    }
  };
  if (split_row_) return row(g.offset(outer, 0) + first, last - first);
  for (int64_t i = first, n; i < last; i += n) {
    n = g.along_rows() ? 1 : std::min(last - i, g.adjacent_rows() - i % g.adjacent_rows());
    const int64_t begin = g.offset(outer, i) + column;
    g.along_rows() ? row(begin, g.width()) : columns(begin, n);
  }
}

void ReduceKernel::merge_unit(const Arguments& a, int64_t unit) const {
  const Accumulators acc = of_part(a, unit * chunks_);
  for (int64_t chunk = 1; chunk < chunks_; ++chunk) {
    const Accumulators from = of_part(a, unit * chunks_ + chunk);
    for (size_t r = 0; r < results_.size(); ++r) results_[r].loops.merge(from[r], acc[r], tile_);
  }
  store(a, unit, acc);
}

void ReduceKernel::store(const Arguments& a, int64_t unit, const Accumulators& acc) const {
  const int64_t width = geometry_.along_rows() ? 1 : geometry_.width();
  const int64_t first = unit / tiles_ * width + unit % tiles_ * tile_;
  for (size_t r = 0; r < results_.size(); ++r)
    store_numbers(results_[r], first, width_of(unit), acc[r], a.outputs[r]);
}

void ReduceKernel::store_numbers(const Result& result, int64_t first, int64_t n, std::byte* acc,
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
  return loops.rows ? std::make_unique<ReduceKernel>(op, request, loops) : nullptr;
}

}  // namespace

std::span<const KernelEntry> reduction_kernels() {
  static constexpr KernelEntry rows[] = {
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
  return rows;
}

}  // namespace crescent::cpu
