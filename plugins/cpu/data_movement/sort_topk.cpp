#include "data_movement/sort_topk.h"

#include <algorithm>
#include <cstring>

#include "data_movement/grain.h"

namespace crescent::cpu {
namespace {

int64_t lines_per_task(int64_t length) {
  return std::max<int64_t>(1, kMinTaskElements / std::max<int64_t>(length, 1));
}

/// Divides adjacent lines into tiles, whose lines are processed together.
struct Tiles {
  Tiles(const AxisView& view, int64_t max_width)
      : width(std::clamp<int64_t>(view.inner, 1, max_width)),
        per_outer_index((view.inner + width - 1) / width) {}
  /// The number of lines per tile, and the number of tiles for each combination of indices of the
  /// outer axes.
  int64_t width, per_outer_index;
};

/// The kernel of argmax and argmin. A long line is split into pieces; at the end the largest (or
/// smallest) elements of the pieces are compared.
class ArgReduceKernel final : public Kernel {
 public:
  ArgReduceKernel(AxisView view, DType dtype, bool finds_max)
      : view_(view),
        bytes_(size_of(dtype)),
        loops_(extreme_loops(finds_max, dtype)),
        tiles_(view, kExtremeColumns) {
    if (view.inner == 1 && view.outer < kMinParallelLines)
      pieces_per_line_ = std::clamp<int64_t>(view.length / kPieceElements, 1, kMaxPieces);
  }
  void run(const Arguments& a) const override {
    if (view_.inner > 1) return run_columns(a);
    int64_t* indices =
        pieces_per_line_ == 1 ? a.out<int64_t>(0) : reinterpret_cast<int64_t*>(a.scratch);
    const int64_t lines = view_.outer * pieces_per_line_, length = view_.length / pieces_per_line_;
    a.threads.blocks(lines, lines_per_task(length), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = view_.length * (i % pieces_per_line_) / pieces_per_line_;
        const int64_t last = view_.length * (i % pieces_per_line_ + 1) / pieces_per_line_;
        indices[i] = first + loops_.find_in_row(element_address(a, i / pieces_per_line_, first),
                                                last - first);
      }
    });
    if (pieces_per_line_ > 1) merge_pieces(a, indices);
  }
  size_t scratch_bytes() const override {
    return pieces_per_line_ == 1
               ? 0
               : static_cast<size_t>(view_.outer * pieces_per_line_) * (sizeof(int64_t) + 8);
  }
  std::string name() const override { return "highway"; }

 private:
  static constexpr int64_t kMinParallelLines = 16, kPieceElements = 65536, kMaxPieces = 64;

  const std::byte* element_address(const Arguments& a, int64_t line, int64_t i) const {
    return a.inputs[0] + static_cast<size_t>(line * view_.length + i) * bytes_;
  }
  /// Finds the extreme element of each line among the extreme elements of its pieces, which are
  /// first copied into one row.
  void merge_pieces(const Arguments& a, const int64_t* indices) const {
    std::byte* numbers = a.scratch + view_.outer * pieces_per_line_ * sizeof(int64_t);
    for (int64_t line = 0; line < view_.outer; ++line) {
      const int64_t* piece_indices = indices + line * pieces_per_line_;
      for (int64_t i = 0; i < pieces_per_line_; ++i)
        std::memcpy(numbers + static_cast<size_t>(i) * bytes_,
                    element_address(a, line, piece_indices[i]), bytes_);
      a.out<int64_t>(0)[line] = piece_indices[loops_.find_in_row(numbers, pieces_per_line_)];
    }
  }
  void run_columns(const Arguments& a) const {
    const int64_t tile_count = view_.outer * tiles_.per_outer_index;
    a.threads.blocks(
        tile_count, lines_per_task(view_.length * tiles_.width), [&](int64_t begin, int64_t end) {
          for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t outer = tile / tiles_.per_outer_index,
                          column = tile % tiles_.per_outer_index * tiles_.width;
            const int64_t width = std::min(tiles_.width, view_.inner - column);
            loops_.find_in_columns(
                element_address(a, outer * view_.inner, 0) + static_cast<size_t>(column) * bytes_,
                view_.length, width, view_.inner, a.out<int64_t>(0) + outer * view_.inner + column);
          }
        });
  }
  AxisView view_;
  size_t bytes_;
  ExtremeLoops loops_;
  Tiles tiles_;
  int64_t pieces_per_line_ = 1;
};

/// Cumulative sums. For floating-point types they are computed in float64, so that late sums are as
/// accurate as early ones.
template <class T>
class CumulativeKernel final : public Kernel {
 public:
  CumulativeKernel(AxisView view, bool is_reversed)
      : view_(view), tiles_(view, kTileLines), is_reversed_(is_reversed) {}
  void run(const Arguments& a) const override {
    const int64_t tile_count = view_.outer * tiles_.per_outer_index;
    a.threads.blocks(
        tile_count, lines_per_task(view_.length * tiles_.width), [&](int64_t begin, int64_t end) {
          for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t column = tile % tiles_.per_outer_index * tiles_.width;
            const int64_t offset =
                tile / tiles_.per_outer_index * view_.length * view_.inner + column;
            view_.inner == 1 ? run_line(a, offset)
                             : run_tile(a, offset, std::min(tiles_.width, view_.inner - column));
          }
        });
  }
  std::string name() const override { return "loop"; }
  bool in_place(int) const override { return true; }

 private:
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  static constexpr int64_t kTileLines = 256;

  int64_t row(int64_t i) const { return (is_reversed_ ? view_.length - 1 - i : i) * view_.inner; }
  void run_line(const Arguments& a, int64_t offset) const {
    const T* x = a.in<T>(0) + offset;
    T* y = a.out<T>(0) + offset;
    Sum sum = 0;
    for (int64_t i = 0; i < view_.length; ++i) {
      sum += static_cast<Sum>(x[row(i)]);
      y[row(i)] = static_cast<T>(sum);
    }
  }
  void run_tile(const Arguments& a, int64_t offset, int64_t width) const {
    Sum sums[kTileLines] = {};
    for (int64_t i = 0; i < view_.length; ++i) {
      const T* x = a.in<T>(0) + offset + row(i);
      T* y = a.out<T>(0) + offset + row(i);
      for (int64_t j = 0; j < width; ++j) {
        sums[j] += static_cast<Sum>(x[j]);
        y[j] = static_cast<T>(sums[j]);
      }
    }
  }
  AxisView view_;
  Tiles tiles_;
  bool is_reversed_;
};

}  // namespace

std::unique_ptr<Kernel> make_arg_reduce(const Request& request) {
  auto& op = static_cast<const ArgReduce&>(request.op);
  AxisView view(request.inputs[0].shape, op.axis);
  const DType dtype = request.inputs[0].dtype;
  if (view.length == 0 || view.length > INT32_MAX || !extreme_loops(op.max, dtype).find_in_row)
    return nullptr;
  return std::make_unique<ArgReduceKernel>(view, dtype, op.max);
}

std::unique_ptr<Kernel> make_cumulative(const Request& request) {
  auto& op = static_cast<const Cumulative&>(request.op);
  if (request.inputs[0].dtype != request.outputs[0].dtype) return nullptr;
  return with_type(request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<Kernel> {
    return std::make_unique<CumulativeKernel<T>>(AxisView(request.inputs[0].shape, op.axis),
                                                 op.reverse);
  });
}

}  // namespace crescent::cpu
