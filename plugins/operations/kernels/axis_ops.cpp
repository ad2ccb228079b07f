// Kernels of ops along one or two axes, in a single pass: roll, rot90, diff, cumulative products.
#include <algorithm>
#include <cstring>

#include "clones.h"
#include "crescent/device/cpu_kernel.h"
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registration.h"
#include "crescent/tensor/with_type.h"
#include "square.h"

namespace crescent::operations {
namespace {

constexpr int64_t kTaskElements = 16384;  ///< fewest elements per task

/// A dense array seen as (outer, length, inner), where `length` is the size of the given axis.
struct AxisView {
  AxisView() = default;
  AxisView(const Shape& shape, int axis)
      : outer(shape.slice(0, axis).size()),
        length(shape[axis]),
        inner(shape.slice(axis + 1, shape.rank()).size()) {}
  int64_t lines() const { return outer * length * inner == 0 ? 0 : outer; }
  int64_t outer = 0, length = 0, inner = 0;
};

// ---- the kernel of roll

class RollKernel final : public CpuKernel {
 public:
  static void describe(Schema<RollKernel>& s) {
    s.doc("Runs on several threads, each with some lines.");
  }
  bool prepare(const CpuRequest& r) override {
    const auto* op = r.op_as<Roll>();
    if (r.inputs[0].dtype == DType::string) return false;
    view_ = AxisView(r.inputs[0].shape, op->axis);
    const auto row_bytes = view_.inner * static_cast<int64_t>(size_of(r.inputs[0].dtype));
    moved_bytes_ = op->shift * row_bytes, line_bytes_ = view_.length * row_bytes;
    return true;
  }
  void run(const CpuArguments& a) override {
    const int64_t grain =
        std::max<int64_t>(1, 4 * kTaskElements / std::max<int64_t>(line_bytes_, 1));
    a.threads.blocks(view_.lines(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const std::byte* from = a.inputs[0] + i * line_bytes_;
        std::byte* to = a.outputs[0] + i * line_bytes_;
        std::memcpy(to, from + line_bytes_ - moved_bytes_, moved_bytes_);
        std::memcpy(to + moved_bytes_, from, line_bytes_ - moved_bytes_);
      }
    });
  }

 private:
  AxisView view_;
  /// Sizes in bytes: of the elements that move to the front of a line, and of a line.
  int64_t moved_bytes_ = 0, line_bytes_ = 0;
};

// ---- rotations by 90 degrees

/// The number of columns of a strip; the columns of a strip are transposed together.
template <class T>
constexpr int64_t kStripColumns = sizeof(T) == sizeof(uint32_t) ? 16 : 32;

typedef uint32_t Words __attribute__((vector_size(32)));
constexpr int64_t kWords = sizeof(Words) / sizeof(uint32_t);

/// Sets to[c * to_stride + r] = from[r * from_stride + c] for r < rows and c < columns <=
/// kStripColumns<T>.
template <class T>
CRESCENT_IN_CLONES void transpose_elements(const T* from, int64_t from_stride, int64_t rows,
                                           int64_t columns, T* to, int64_t to_stride) {
  constexpr int64_t kTile = 32;
  // a copy of the tile, so that both reads and writes of the arrays are contiguous
  T tile[kTile][kStripColumns<T> + 1];
  for (int64_t first_row = 0; first_row < rows; first_row += kTile) {
    const int64_t tile_rows = std::min(kTile, rows - first_row);
    for (int64_t r = 0; r < tile_rows; ++r)
      for (int64_t c = 0; c < columns; ++c) tile[r][c] = from[(first_row + r) * from_stride + c];
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = 0; r < tile_rows; ++r) to[c * to_stride + first_row + r] = tile[r][c];
  }
}

/// Transposes a whole strip of 32-bit elements, one cache line of each of its rows at a time.
CRESCENT_IN_CLONES void transpose_strip(const uint32_t* from, int64_t from_stride, int64_t rows,
                                        int64_t columns, uint32_t* to, int64_t to_stride) {
  constexpr int64_t kLineWords = 2 * kWords;
  static_assert(kLineWords == kStripColumns<uint32_t>);
  int64_t r = 0;
  for (; columns == kLineWords && r + kLineWords <= rows; r += kLineWords) {
    if (r + 2 * kLineWords <= rows)
      for (int64_t i = 0; i < kLineWords; ++i)
        __builtin_prefetch(from + (r + kLineWords + i) * from_stride);
    for (int64_t c = 0; c < kLineWords; c += kWords) {
      Words left[kWords], right[kWords];
      for (int64_t i = 0; i < kWords; ++i) {
        std::memcpy(&left[i], from + (r + i) * from_stride + c, sizeof(Words));
        std::memcpy(&right[i], from + (r + kWords + i) * from_stride + c, sizeof(Words));
      }
      transpose_square(left), transpose_square(right);
      for (int64_t i = 0; i < kWords; ++i) {
        uint32_t* line = to + (c + i) * to_stride + r;
        std::memcpy(line, &left[i], sizeof(Words));
        std::memcpy(line + kWords, &right[i], sizeof(Words));
      }
    }
  }
  transpose_elements(from + r * from_stride, from_stride, rows - r, columns, to + r, to_stride);
}

#define CRESCENT_TURN_PARAMETERS(T) \
  (const T* from, int64_t from_stride, int64_t rows, int64_t columns, T* to, int64_t to_stride)
CRESCENT_CLONES(transpose_word_strip, transpose_strip, CRESCENT_TURN_PARAMETERS(uint32_t),
                (from, from_stride, rows, columns, to, to_stride))
#undef CRESCENT_TURN_PARAMETERS

/// Rotates the row and column axes of an array (outer, rows, middle, columns) by 90 degrees.
class Rot90Kernel final : public CpuKernel {
 public:
  static void describe(Schema<Rot90Kernel>& s) {
    s.doc("Runs on several threads, each with some columns.");
  }
  bool prepare(const CpuRequest& r) override {
    const auto* op = r.op_as<Rot90>();
    const Shape& x = r.inputs[0].shape;
    if (r.inputs[0].dtype == DType::string || x.slice(op->to + 1, x.rank()).size() != 1)
      return false;
    element_bytes_ = size_of(r.inputs[0].dtype), rotates_back_ = op->back;
    outer_ = x.slice(0, op->from).size(), rows_ = x[op->from];
    middle_ = x.slice(op->from + 1, op->to).size(), columns_ = x[op->to];
    return true;
  }
  void run(const CpuArguments& a) override {
    switch (element_bytes_) {
      case 1:
        return run_as<uint8_t>(a);
      case 2:
        return run_as<uint16_t>(a);
      case 4:
        return run_as<uint32_t>(a);
      default:
        return run_as<uint64_t>(a);
    }
  }

 private:
  template <class T>
  void run_as(const CpuArguments& a) const {
    constexpr int64_t kStrip = kStripColumns<T>;
    const int64_t strips_per_row = (columns_ + kStrip - 1) / kStrip;
    const int64_t grain =
        std::max<int64_t>(1, 2 * kTaskElements / (kStrip * std::max<int64_t>(rows_, 1)));
    a.threads.blocks(outer_ * middle_ * strips_per_row, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        rotate_strip<T>(a, i / strips_per_row / middle_, i / strips_per_row % middle_,
                        i % strips_per_row * kStrip);
    });
  }
  /// Rotates the strip of columns that begins with column `first_column`.
  template <class T>
  void rotate_strip(const CpuArguments& a, int64_t outer, int64_t middle_index,
                    int64_t first_column) const {
    const int64_t from_stride = middle_ * columns_, to_stride = middle_ * rows_,
                  size = rows_ * from_stride;
    const int64_t columns = std::min(kStripColumns<T>, columns_ - first_column);
    const T* from = a.in<T>(0) + outer * size + middle_index * columns_ + first_column;
    T* to = a.out<T>(0) + outer * size + middle_index * rows_;
    if (rotates_back_)
      rotate_lines(from + (rows_ - 1) * from_stride, -from_stride, columns,
                   to + first_column * to_stride, to_stride);
    else
      rotate_lines(from, from_stride, columns, to + (columns_ - 1 - first_column) * to_stride,
                   -to_stride);
  }
  template <class T>
  void rotate_lines(const T* from, int64_t from_stride, int64_t columns, T* to,
                    int64_t to_stride) const {
    if constexpr (sizeof(T) == sizeof(uint32_t))
      transpose_word_strip(from, from_stride, rows_, columns, to, to_stride);
    else
      transpose_elements(from, from_stride, rows_, columns, to, to_stride);
  }
  size_t element_bytes_ = 4;
  bool rotates_back_ = false;
  int64_t outer_ = 0, rows_ = 0, middle_ = 0, columns_ = 0;
};

// ---- the kernel of diff

/// Computes the differences of adjacent elements along an axis; these are `inner` elements apart in
/// memory.
class DiffKernel final : public CpuKernel {
 public:
  static void describe(Schema<DiffKernel>& s) {
    s.doc("Runs on several threads, each with some elements.");
  }
  bool prepare(const CpuRequest& r) override {
    view_ = AxisView(r.inputs[0].shape, r.op_as<Diff>()->axis);
    dtype_ = r.inputs[0].dtype;
    return dtype_ != DType::bfloat16 && dtype_ != DType::float16 && dtype_ != DType::boolean;
  }
  void run(const CpuArguments& a) override {
    const int64_t line_size = (view_.length - 1) * view_.inner;
    if (line_size <= 0) return;
    with_type(dtype_, [&]<class T>(T) {
      a.threads.blocks(view_.outer * line_size, 2 * kTaskElements, [&](int64_t begin, int64_t end) {
        while (begin < end) {
          const int64_t outer_index = begin / line_size,
                        line_end = std::min((outer_index + 1) * line_size, end);
          subtract(a.in<T>(0) + begin + outer_index * view_.inner, line_end - begin,
                   a.out<T>(0) + begin);
          begin = line_end;
        }
      });
    });
  }

 private:
  template <class T>
  void subtract(const T* x, int64_t count, T* to) const {
    using Number = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
    const T* next = x + view_.inner;
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<T>(static_cast<Number>(next[i]) - static_cast<Number>(x[i]));
  }
  AxisView view_;
  DType dtype_ = DType::float32;
};

// ---- the kernel of cumprod

constexpr int64_t kProductTile = 256;
/// Computes the cumulative products of columns [begin, end), at most kProductTile, of outer index
/// o.
template <class T>
void multiply(const AxisView& view, const T* x, T* y, int64_t outer_index, int64_t begin,
              int64_t end) {
  using Product = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  if (view.inner == 1) {
    Product product = 1;
    for (int64_t i = outer_index * view.length; i < (outer_index + 1) * view.length; ++i)
      y[i] = static_cast<T>(product *= static_cast<Product>(x[i]));
    return;
  }
  for (int64_t first_column = begin; first_column < end; first_column += kProductTile) {
    const int64_t width = std::min(kProductTile, end - first_column);
    Product products[kProductTile];
    std::fill_n(products, width, Product{1});
    for (int64_t i = 0; i < view.length; ++i) {
      const int64_t offset = (outer_index * view.length + i) * view.inner + first_column;
      for (int64_t j = 0; j < width; ++j) {
        products[j] *= static_cast<Product>(x[offset + j]);
        y[offset + j] = static_cast<T>(products[j]);
      }
    }
  }
}

class CumprodKernel final : public CpuKernel {
 public:
  static void describe(Schema<CumprodKernel>& s) {
    s.doc("Runs on several threads, each with some lines.");
  }
  bool prepare(const CpuRequest& r) override {
    view_ = AxisView(r.inputs[0].shape, r.op_as<Cumprod>()->axis);
    dtype_ = r.inputs[0].dtype;
    return dtype_ != DType::bfloat16 && dtype_ != DType::float16;
  }
  void run(const CpuArguments& a) override {
    const int64_t tiles_per_row = (view_.inner + kProductTile - 1) / kProductTile;
    const int64_t work = std::max<int64_t>(1, view_.length * std::min(view_.inner, kProductTile));
    with_type(dtype_, [&]<class T>(T) {
      a.threads.blocks(view_.lines() * tiles_per_row, std::max<int64_t>(1, kTaskElements / work),
                       [&](int64_t begin, int64_t end) {
                         for (int64_t i = begin; i < end; ++i) {
                           const int64_t first_column = i % tiles_per_row * kProductTile;
                           multiply<T>(view_, a.in<T>(0), a.out<T>(0), i / tiles_per_row,
                                       first_column,
                                       std::min(first_column + kProductTile, view_.inner));
                         }
                       });
    });
  }

 private:
  AxisView view_;
  DType dtype_ = DType::float32;
};

}  // namespace

CRESCENT_REGISTER(axis_kernels) {
  registry.add<RollKernel>(Roll::kName);
  registry.add<Rot90Kernel>(Rot90::kName);
  registry.add<DiffKernel>(Diff::kName);
  registry.add<CumprodKernel>(Cumprod::kName);
}

}  // namespace crescent::operations
