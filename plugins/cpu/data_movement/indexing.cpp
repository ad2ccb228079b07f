#include "data_movement/indexing.h"

#include <algorithm>
#include <cstring>

#include "data_movement/grain.h"
#include "data_movement/sort_topk.h"
#include "kernel/converted.h"
#include "kernel/loops.h"

namespace crescent::cpu {
namespace {

/// The number of lines that a task copies, where a line has `elements` elements. It is small enough
/// that several cores get tasks.
int64_t lines_per_task(int64_t lines, int64_t elements) {
  constexpr int64_t kMinElements = 4096, kTargetTasks = 64;
  const int64_t total = lines * elements;
  const int64_t task_elements =
      total <= kMinTaskElements ? kMinTaskElements
                                : std::clamp(total / kTargetTasks, kMinElements, kMinTaskElements);
  return std::max<int64_t>(1, task_elements / std::max<int64_t>(elements, 1));
}

/// Prefetches the next line from which elements are gathered, if it fits into the first-level cache
/// together with the present line. The hardware prefetcher cannot predict the order of reads within
/// a line.
void prefetch_line(const std::byte* line, size_t bytes) {
  constexpr size_t kMaxLineBytes = size_t{8} << 10, kCacheLine = 64;
  for (size_t i = 0; i < bytes && bytes <= kMaxLineBytes; i += kCacheLine)
    __builtin_prefetch(line + i);
}

class GatherKernel final : public Kernel {
 public:
  explicit GatherKernel(const Request& r)
      : view_(r.inputs[0].shape, static_cast<const Gather&>(r.op).axis),
        index_count_(r.inputs[1].shape.size()),
        bytes_(static_cast<size_t>(view_.inner) * size_of(r.inputs[0].dtype)),
        indices_(r.inputs[1].dtype),
        loop_(gather_loop(bytes_, r.inputs[1].dtype, GatherPattern::line)) {}
  void run(const Arguments& a) const override {
    const int64_t lines = view_.outer * index_count_;
    a.threads.blocks(lines, lines_per_task(lines, view_.inner), [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t first_index = begin % index_count_,
                      n = std::min(index_count_ - first_index, end - begin);
        if (loop_ && begin + n < end)
          prefetch_line(line_of(a, begin / index_count_ + 1), line_bytes());
        copy(a, begin / index_count_, first_index, n);
        begin += n;
      }
    });
  }
  std::string name() const override { return loop_ ? "highway" : "copy"; }

 private:
  size_t line_bytes() const { return static_cast<size_t>(view_.length) * bytes_; }
  const std::byte* line_of(const Arguments& a, int64_t outer) const {
    return a.inputs[0] + static_cast<size_t>(outer) * line_bytes();
  }
  /// Copies the rows that the indices at positions [first_index, first_index + n) select.
  void copy(const Arguments& a, int64_t outer, int64_t first_index, int64_t n) const {
    const std::byte* from = line_of(a, outer);
    std::byte* to = a.outputs[0] + static_cast<size_t>(outer * index_count_ + first_index) * bytes_;
    if (loop_)
      return loop_(from, indices_.address_of(a.inputs[1], first_index), n, view_.length, 1, to);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = indices_.clamped_index(a.inputs[1], first_index + i, view_.length);
      std::memcpy(to + static_cast<size_t>(i) * bytes_, from + static_cast<size_t>(row) * bytes_,
                  bytes_);
    }
  }
  AxisView view_;
  int64_t index_count_;
  size_t bytes_;
  IndexReader indices_;
  GatherLoop loop_;
};

class TakeAlongKernel final : public Kernel {
 public:
  explicit TakeAlongKernel(const Request& r)
      : from_(r.inputs[0].shape, static_cast<const TakeAlong&>(r.op).axis),
        to_(r.outputs[0].shape, static_cast<const TakeAlong&>(r.op).axis),
        bytes_(size_of(r.inputs[0].dtype)),
        indices_(r.inputs[1].dtype),
        pattern_(to_.inner != 1    ? GatherPattern::columns
                 : to_.length != 1 ? GatherPattern::line
                                   : GatherPattern::lines),
        loop_(gather_loop(bytes_, r.inputs[1].dtype, pattern_)) {}
  void run(const Arguments& a) const override {
    const int64_t lines = to_.outer * to_.length;
    a.threads.blocks(lines, lines_per_task(lines, to_.inner), [&](int64_t begin, int64_t end) {
      if (pattern_ == GatherPattern::lines) return gather_one_of_each_line(a, begin, end);
      if (pattern_ == GatherPattern::line) return gather_elements(a, begin, end);
      for (int64_t line = begin; line < end; ++line) gather_line(a, line);
    });
  }
  std::string name() const override { return "highway"; }

 private:
  /// Gathers elements [begin, end) of the result, for indices along the last axis.
  void gather_elements(const Arguments& a, int64_t begin, int64_t end) const {
    while (begin < end) {
      const int64_t outer = begin / to_.length;
      const int64_t n = std::min((outer + 1) * to_.length, end) - begin;
      const size_t line_bytes = static_cast<size_t>(from_.length) * bytes_;
      const std::byte* from = a.inputs[0] + static_cast<size_t>(outer) * line_bytes;
      if (begin + n < end) prefetch_line(from + line_bytes, line_bytes);
      loop_(from, indices_.address_of(a.inputs[1], begin), n, from_.length, 1,
            a.outputs[0] + static_cast<size_t>(begin) * bytes_);
      begin += n;
    }
  }
  /// Gathers elements [begin, end) of the result, each of which is the only one of its line.
  void gather_one_of_each_line(const Arguments& a, int64_t begin, int64_t end) const {
    loop_(a.inputs[0] + static_cast<size_t>(begin * from_.length) * bytes_,
          indices_.address_of(a.inputs[1], begin), end - begin, from_.length, from_.length,
          a.outputs[0] + static_cast<size_t>(begin) * bytes_);
  }
  /// Gathers a line of the result, whose elements are from a column each.
  void gather_line(const Arguments& a, int64_t line) const {
    const int64_t first = line * to_.inner, outer = line / to_.length;
    loop_(a.inputs[0] + static_cast<size_t>(outer * from_.length * from_.inner) * bytes_,
          indices_.address_of(a.inputs[1], first), to_.inner, from_.length, from_.inner,
          a.outputs[0] + static_cast<size_t>(first) * bytes_);
  }
  AxisView from_, to_;
  size_t bytes_;
  IndexReader indices_;
  GatherPattern pattern_;
  GatherLoop loop_;
};

/// Adds rows of updates to rows of the result, chosen by indices. Each task owns a range of result
/// rows and adds the updates of these rows in the order of the indices.
class ScatterAddKernel final : public Kernel {
 public:
  ScatterAddKernel(const Request& r, BinaryLoop add)
      : view_(r.outputs[0].shape, static_cast<const ScatterAdd&>(r.op).axis),
        index_count_(r.inputs[0].shape.size()),
        bytes_(static_cast<size_t>(view_.inner) * size_of(r.outputs[0].dtype)),
        indices_(r.inputs[0].dtype),
        dtype_(r.outputs[0].dtype),
        add_loop_(add) {
    const int64_t elements = r.outputs[0].shape.size();
    ranges_per_line_ = std::clamp<int64_t>(
        elements / kMinTaskElements, 1, std::min<int64_t>(16, std::max<int64_t>(view_.length, 1)));
  }
  void run(const Arguments& a) const override {
    a.threads.parallel(view_.outer * ranges_per_line_, [&](int64_t task, int) {
      const int64_t outer = task / ranges_per_line_, range = task % ranges_per_line_;
      add_rows(a, outer, view_.length * range / ranges_per_line_,
               view_.length * (range + 1) / ranges_per_line_);
    });
  }
  std::string name() const override { return "highway"; }

 private:
  void add_rows(const Arguments& a, int64_t outer, int64_t first, int64_t last) const {
    std::byte* target = a.outputs[0] + static_cast<size_t>(outer * view_.length) * bytes_;
    const std::byte* updates = a.inputs[1] + static_cast<size_t>(outer * index_count_) * bytes_;
    std::memset(target + static_cast<size_t>(first) * bytes_, 0,
                static_cast<size_t>(last - first) * bytes_);
    if (view_.inner == 1 && dtype_ == DType::float32)
      return add_elements<float>(a, first, last, updates, target);
    if (view_.inner == 1 && dtype_ == DType::int32)
      return add_elements<int32_t>(a, first, last, updates, target);
    for (int64_t i = 0; i < index_count_; ++i) {
      const int64_t row = indices_.clamped_index(a.inputs[0], i, view_.length);
      if (row < first || row >= last) continue;
      std::byte* to = target + static_cast<size_t>(row) * bytes_;
      add_loop_(to, updates + static_cast<size_t>(i) * bytes_, to, view_.inner);
    }
  }
  /// Adds rows that consist of a single element, for which a call per row would cost more than the
  /// addition.
  template <class T>
  void add_elements(const Arguments& a, int64_t first, int64_t last, const std::byte* updates,
                    std::byte* target) const {
    const T* from = reinterpret_cast<const T*>(updates);
    T* to = reinterpret_cast<T*>(target);
    indices_.with_typed_indices(a.inputs[0], [&](const auto* indices) {
      const auto length = static_cast<uint64_t>(view_.length);
      const auto own_row_count = static_cast<uint64_t>(last - first);
      for (int64_t i = 0; i < index_count_; ++i) {
        auto row = static_cast<int64_t>(indices[i]);
        // Indices are seldom out of range, so a branch costs less than clamping each of them.
        if (static_cast<uint64_t>(row) >= length) [[unlikely]]
          row = std::clamp<int64_t>(row, 0, view_.length - 1);
        if (static_cast<uint64_t>(row - first) < own_row_count) to[row] = sum_of(to[row], from[i]);
      }
    });
  }
  static float sum_of(float a, float b) { return a + b; }
  // the sum of two integers, which wraps around on overflow
  static int32_t sum_of(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
  AxisView view_;
  int64_t index_count_, ranges_per_line_;
  size_t bytes_;
  IndexReader indices_;
  DType dtype_;
  BinaryLoop add_loop_;
};

class OneHotKernel final : public Kernel {
 public:
  explicit OneHotKernel(const Request& r)
      : depth_(static_cast<const OneHot&>(r.op).depth),
        index_count_(r.inputs[0].shape.size()),
        bytes_(size_of(r.outputs[0].dtype)),
        indices_(r.inputs[0].dtype) {
    const double one_as_double = 1;
    cast_loop(DType::float64, r.outputs[0].dtype)(&one_as_double, one_bytes_, 1);
  }
  void run(const Arguments& a) const override {
    a.threads.blocks(
        index_count_, lines_per_task(index_count_, depth_), [&](int64_t begin, int64_t end) {
          const size_t line = static_cast<size_t>(depth_) * bytes_;
          std::memset(a.outputs[0] + static_cast<size_t>(begin) * line, 0,
                      static_cast<size_t>(end - begin) * line);
          for (int64_t i = begin; i < end; ++i) {
            const int64_t index = indices_.at(a.inputs[0], i);
            if (index < 0 || index >= depth_) continue;
            std::memcpy(a.outputs[0] + static_cast<size_t>(i * depth_ + index) * bytes_, one_bytes_,
                        bytes_);
          }
        });
  }
  std::string name() const override { return "loop"; }

 private:
  int64_t depth_, index_count_;
  size_t bytes_;
  IndexReader indices_;
  alignas(8) std::byte one_bytes_[8];
};

bool is_readable(const TensorSpec& indices) { return IndexReader(indices.dtype).is_readable(); }

}  // namespace

std::unique_ptr<Kernel> make_gather(const Request& r) {
  return is_readable(r.inputs[1]) ? std::make_unique<GatherKernel>(r) : nullptr;
}

std::unique_ptr<Kernel> make_take_along(const Request& r) {
  return is_readable(r.inputs[1]) ? std::make_unique<TakeAlongKernel>(r) : nullptr;
}

std::unique_ptr<Kernel> make_scatter_add(const Request& r) {
  const DType dtype = r.outputs[0].dtype;
  // A long sum in half width stops growing once the addends are smaller than half a unit in the
  // last place of the sum, so there is no kernel for half-width dtypes.
  if (is_floating(dtype) && size_of(dtype) == 2) return nullptr;
  const BinaryLoop add = binary_loops(BinaryKind::add, dtype).arrays;
  return is_readable(r.inputs[0]) && add ? std::make_unique<ScatterAddKernel>(r, add) : nullptr;
}

std::unique_ptr<Kernel> make_converted_scatter_add(const Request& r) {
  return make_through_float32(r, shape_kernels());
}

std::unique_ptr<Kernel> make_one_hot(const Request& r) {
  return is_readable(r.inputs[0]) ? std::make_unique<OneHotKernel>(r) : nullptr;
}

}  // namespace crescent::cpu
