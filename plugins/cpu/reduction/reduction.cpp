#include "reduction/reduction.h"

#include <algorithm>

#include "shape/ordering.h"
#include "vectors/converted.h"

namespace crescent::cpu {

ReduceGeometry::ReduceGeometry(const Shape& shape, const std::vector<int>& axes) {
  struct Merged {
    int64_t size;
    bool reduced;
  };
  std::vector<Merged> merged;  // outermost first; axes of size 1 say nothing
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!merged.empty() && merged.back().reduced == reduced)
      merged.back().size *= shape[axis];
    else
      merged.push_back({shape[axis], reduced});
  }
  if (merged.empty()) return;
  width_ = merged.back().size;
  along_rows_ = merged.back().reduced;
  int64_t stride = width_;
  for (size_t i = merged.size() - 1; i-- > 0;) {
    auto& list = merged[i].reduced ? reduced_ : kept_;
    (merged[i].reduced ? rows_ : outer_) *= merged[i].size;
    list.insert(list.begin(), {merged[i].size, stride});
    stride *= merged[i].size;
  }
  if (!along_rows_ && !reduced_.empty()) adjacent_ = reduced_.back().size;
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

namespace {

constexpr int64_t kChunkElements = 32768;  // of a reduction that is cut into parts
constexpr int64_t kMaxChunks = 32;
constexpr int64_t kEnoughUnits = 16;  // no need to cut with so many independent results

class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(const Reduce& op, const Request& request, ReduceLoops loops)
      : geometry_(request.inputs[0].shape, op.axes),
        loops_(loops),
        in_bytes_(size_of(request.inputs[0].dtype)),
        out_bytes_(size_of(request.outputs[0].dtype)),
        in_size_(request.inputs[0].shape.size()),
        out_size_(request.outputs[0].shape.size()) {
    const bool floating = is_floating(request.inputs[0].dtype);
    const DType out = request.outputs[0].dtype;
    const bool divides = op.kind == ReduceKind::mean;
    if (divides)
      divisor_ =
          static_cast<double>(in_size_) / static_cast<double>(std::max<int64_t>(out_size_, 1));
    convert_ = cast_loop(floating || divides ? DType::float64 : DType::int64, out);
    if (divides && !floating) widen_ = cast_loop(DType::int64, DType::float64);
    cut();
  }

  void run(const Arguments& a) override {
    if (out_size_ == 0) return;
    if (chunks_ == 1) return run_whole(a);
    a.pool.parallel(units_ * chunks_, [&](int64_t part, int) {
      reduce_unit(a, part / chunks_, part % chunks_, partials(a, part));
    });
    a.pool.blocks(units_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) merge_unit(a, unit);
    });
  }

  std::string name() const override { return "highway"; }
  size_t scratch_bytes() const override {
    return chunks_ == 1 ? 0 : static_cast<size_t>(units_ * chunks_ * tile_) * 8;
  }
  double flops() const override { return static_cast<double>(in_size_); }

 private:
  /// A unit is one output (along rows) or a tile of adjacent ones; a chunk is a range of what it
  /// reduces.
  void cut() {
    const ReduceGeometry& g = geometry_;
    tile_ = g.along_rows() ? 1 : std::clamp<int64_t>(g.width(), 1, kTileWidth);
    tiles_ = g.along_rows() ? 1 : (g.width() + tile_ - 1) / tile_;
    units_ = g.outer() * tiles_;
    split_row_ = g.along_rows() && g.rows() == 1;
    steps_ = split_row_ ? g.width() : g.rows();
    unit_elements_ = g.rows() * (g.along_rows() ? g.width() : tile_);
    if (units_ < kEnoughUnits && unit_elements_ >= 2 * kChunkElements) {
      chunks_ = std::min({unit_elements_ / kChunkElements, kMaxChunks, steps_});
    }
  }

  std::byte* partials(const Arguments& a, int64_t part) const {
    return a.scratch + part * tile_ * 8;
  }

  void run_whole(const Arguments& a) const {
    const int64_t grain =
        std::max<int64_t>(1, kChunkElements / std::max<int64_t>(unit_elements_, 1));
    a.pool.blocks(units_, grain, [&](int64_t begin, int64_t end) {
      alignas(64) std::byte acc[kTileWidth * 8];
      if (tile_ > 1) {
        for (int64_t unit = begin; unit < end; ++unit) {
          reduce_unit(a, unit, 0, acc);
          store(a, unit, acc);
        }
        return;
      }
      for (int64_t first = begin; first < end;
           first += kTileWidth) {  // results are converted many at a time
        const int64_t n = std::min(kTileWidth, end - first);
        for (int64_t i = 0; i < n; ++i) reduce_unit(a, first + i, 0, acc + i * 8);
        store_numbers(a, first, n, acc);
      }
    });
  }

  void reduce_unit(const Arguments& a, int64_t unit, int64_t chunk, std::byte* acc) const {
    const ReduceGeometry& g = geometry_;
    const int64_t outer = unit / tiles_, column = unit % tiles_ * tile_;
    const int64_t first = steps_ * chunk / chunks_, last = steps_ * (chunk + 1) / chunks_;
    auto at = [&](int64_t row, int64_t element) {
      return a.inputs[0] + static_cast<size_t>(g.offset(outer, row) + element) * in_bytes_;
    };
    if (g.along_rows()) {
      loops_.start(acc, 1);
      if (split_row_) return loops_.row(at(0, first), last - first, acc);
      for (int64_t row = first; row < last; ++row) loops_.row(at(row, 0), g.width(), acc);
    } else {
      const int64_t width = std::min(tile_, g.width() - column);
      loops_.start(acc, width);
      for (int64_t row = first; row < last;) {
        const int64_t count = std::min(last - row, g.adjacent() - row % g.adjacent());
        loops_.columns(at(row, column), count, width, g.width(), acc);
        row += count;
      }
    }
  }

  void merge_unit(const Arguments& a, int64_t unit) const {
    std::byte* acc = partials(a, unit * chunks_);
    for (int64_t chunk = 1; chunk < chunks_; ++chunk)
      loops_.merge(partials(a, unit * chunks_ + chunk), acc, tile_);
    store(a, unit, acc);
  }

  void store(const Arguments& a, int64_t unit, std::byte* acc) const {
    const int64_t width = geometry_.along_rows() ? 1 : geometry_.width();
    const int64_t column = unit % tiles_ * tile_;
    store_numbers(a, unit / tiles_ * width + column, std::min(tile_, width - column), acc);
  }

  void store_numbers(const Arguments& a, int64_t first, int64_t n, std::byte* acc) const {
    if (widen_) widen_(acc, acc, static_cast<size_t>(n));
    if (divisor_ != 1) {
      for (int64_t i = 0; i < n; ++i) reinterpret_cast<double*>(acc)[i] /= divisor_;
    }
    convert_(acc, a.outputs[0] + static_cast<size_t>(first) * out_bytes_, static_cast<size_t>(n));
  }

  ReduceGeometry geometry_;
  ReduceLoops loops_;
  size_t in_bytes_, out_bytes_;
  int64_t in_size_, out_size_;
  UnaryLoop convert_ = nullptr, widen_ = nullptr;
  double divisor_ = 1;
  int64_t tile_ = 1, tiles_ = 1, units_ = 1, chunks_ = 1, steps_ = 1, unit_elements_ = 1;
  bool split_row_ = false;
};

std::unique_ptr<Kernel> make_reduce(const Request& request) {
  auto& op = static_cast<const Reduce&>(request.op);
  ReduceLoops loops = reduce_loops(op.kind, request.inputs[0].dtype);
  return loops.row ? std::make_unique<ReduceKernel>(op, request, loops) : nullptr;
}

}  // namespace

std::span<const KernelRow> reduction_kernels() {
  static constexpr KernelRow rows[] = {
      {"reduce", make_reduce},         {"reduce", make_converted<reduction_kernels>},
      {"arg_reduce", make_arg_reduce}, {"arg_reduce", make_converted<reduction_kernels>},
      {"top_k", make_top_k},           {"top_k", make_converted<reduction_kernels>},
      {"cumulative", make_cumulative}, {"cumulative", make_converted<reduction_kernels>}};
  return rows;
}

}  // namespace crescent::cpu
