// Kernels that move elements. Each computes strides once and leaves the copy to StridedCopy.
#include <algorithm>
#include <cstring>

#include "data_movement/indexing.h"
#include "data_movement/row_loops.h"
#include "data_movement/strided_copy.h"
#include "kernel/loops.h"

namespace crescent::cpu {
namespace {

using Axes = std::vector<StridedCopy::Axis>;

std::vector<int64_t> dense_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.rank());
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

class RearrangeKernel final : public Kernel {
 public:
  /// `from` and `to` are the offsets, in elements, of the first element to read and of the first
  /// element to write.
  RearrangeKernel(Axes axes, size_t bytes, int64_t from = 0, int64_t to = 0)
      : copy_(std::move(axes), bytes),
        source_offset_(from * static_cast<int64_t>(bytes)),
        target_offset_(to * static_cast<int64_t>(bytes)) {}
  void run(const Arguments& a) const override {
    copy_.run(a.inputs[0] + source_offset_, a.outputs[0] + target_offset_, a.threads);
  }
  std::string name() const override { return "copy"; }

 private:
  StridedCopy copy_;
  int64_t source_offset_, target_offset_;
};

std::unique_ptr<Kernel> make_broadcast(const Request& r) {
  const Shape &in = r.inputs[0].shape, &out = r.outputs[0].shape;
  const auto from = dense_strides(in), to = dense_strides(out);
  Axes axes;
  const int missing_axes = out.rank() - in.rank();
  for (int i = 0; i < out.rank(); ++i) {
    const bool is_repeated = i < missing_axes || in[i - missing_axes] == 1;
    axes.push_back({out[i], is_repeated ? 0 : from[i - missing_axes], to[i]});
  }
  return std::make_unique<RearrangeKernel>(std::move(axes), size_of(r.inputs[0].dtype));
}

std::unique_ptr<Kernel> make_transpose(const Request& r) {
  auto& op = static_cast<const Transpose&>(r.op);
  const auto from = dense_strides(r.inputs[0].shape), to = dense_strides(r.outputs[0].shape);
  Axes axes;
  for (size_t i = 0; i < op.axes.size(); ++i) {
    axes.push_back({r.outputs[0].shape[static_cast<int>(i)], from[op.axes[i]], to[i]});
  }
  return std::make_unique<RearrangeKernel>(std::move(axes), size_of(r.inputs[0].dtype));
}

std::unique_ptr<Kernel> make_slice(const Request& r) {
  auto& op = static_cast<const Slice&>(r.op);
  const auto from = dense_strides(r.inputs[0].shape), to = dense_strides(r.outputs[0].shape);
  Axes axes;
  int64_t first = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t count = r.outputs[0].shape[static_cast<int>(i)];
    const int64_t step = count > 1 && i < op.stride.size()
                             ? op.stride[i]
                             : 1;  // an axis with a single element may have any stride
    axes.push_back({count, from[i] * step, to[i]});
    first += op.start[i] * from[i];
  }
  return std::make_unique<RearrangeKernel>(std::move(axes), size_of(r.inputs[0].dtype), first);
}

std::unique_ptr<Kernel> make_reverse(const Request& r) {
  auto& op = static_cast<const Reverse&>(r.op);
  const auto strides = dense_strides(r.inputs[0].shape);
  Axes axes;
  int64_t first = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    const int64_t size = r.inputs[0].shape[static_cast<int>(i)];
    const bool is_flipped =
        std::find(op.axes.begin(), op.axes.end(), static_cast<int>(i)) != op.axes.end();
    axes.push_back({size, is_flipped ? -strides[i] : strides[i], strides[i]});
    if (is_flipped) first += (size - 1) * strides[i];
  }
  return std::make_unique<RearrangeKernel>(std::move(axes), size_of(r.inputs[0].dtype), first);
}

/// Fills `to` with copies of one value.
void fill_all(std::byte* to, const TensorSpec& spec, const std::byte* value, CpuThreads& threads) {
  const size_t bytes = size_of(spec.dtype);
  const UnaryLoop fill = fill_loop(bytes);
  const bool is_zero =
      std::all_of(value, value + bytes, [](std::byte byte) { return byte == std::byte{}; });
  threads.blocks(spec.shape.size(), 65536, [&](int64_t begin, int64_t end) {
    std::byte* first = to + static_cast<size_t>(begin) * bytes;
    const auto count = static_cast<size_t>(end - begin);
    is_zero ? void(std::memset(first, 0, count * bytes)) : fill(value, first, count);
  });
}

/// The bytes of a number, rounded to the nearest value of a dtype.
struct NumberBytes {
  NumberBytes(double x, DType dtype) {
    std::memcpy(bytes, Tensor::full({}, x, dtype).raw(), size_of(dtype));
  }
  alignas(8) std::byte bytes[8];
};

class PadKernel final : public Kernel {
 public:
  PadKernel(Axes axes, int64_t to, double value, const TensorSpec& out)
      : copy_(std::move(axes), size_of(out.dtype)),
        target_offset_(to * static_cast<int64_t>(size_of(out.dtype))),
        value_(value, out.dtype),
        out_(out) {}
  void run(const Arguments& a) const override {
    fill_all(a.outputs[0], out_, value_.bytes, a.threads);
    copy_.run(a.inputs[0], a.outputs[0] + target_offset_, a.threads);
  }
  std::string name() const override { return "copy"; }

 private:
  StridedCopy copy_;
  int64_t target_offset_;
  NumberBytes value_;
  TensorSpec out_;
};

std::unique_ptr<Kernel> make_pad(const Request& r) {
  auto& op = static_cast<const Pad&>(r.op);
  const auto from = dense_strides(r.inputs[0].shape), to = dense_strides(r.outputs[0].shape);
  Axes axes;
  int64_t first = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (op.before[i] < 0 || op.after[i] < 0) return nullptr;
    const int64_t gap = i < op.inner.size() ? op.inner[i] : 0;
    axes.push_back({r.inputs[0].shape[static_cast<int>(i)], from[i], to[i] * (gap + 1)});
    first += op.before[i] * to[i];
  }
  return std::make_unique<PadKernel>(std::move(axes), first, op.value, r.outputs[0]);
}

/// Concatenates arrays. If rows are short, the result is written row by row in the order of memory,
/// so that each of its cache lines is written to memory only once. Otherwise one array after the
/// other is copied.
class ConcatKernel final : public Kernel {
 public:
  ConcatKernel(const Concat& op, const Request& r) {
    const auto bytes = static_cast<int64_t>(size_of(r.outputs[0].dtype));
    const Shape& out = r.outputs[0].shape;
    const int64_t inner_size = out.slice(op.axis + 1, out.rank()).size(),
                  row_size = out[op.axis] * inner_size;
    rows_ = out.slice(0, op.axis).size(), row_bytes_ = row_size * bytes;
    int64_t first = 0;
    bool is_single = true;
    for (const TensorSpec& in : r.inputs) {
      const int64_t input_row_size = in.shape[op.axis] * inner_size;
      inputs_.push_back({StridedCopy({{rows_, input_row_size, row_size}, {input_row_size, 1, 1}},
                                     size_of(in.dtype)),
                         first * bytes, input_row_size * bytes});
      is_single = is_single && input_row_size == 1;
      first += input_row_size;
    }
    if (is_single) interleave_ = interleave_loop(inputs_.size(), bytes);
  }
  void run(const Arguments& a) const override {
    // The longest row in bytes that is copied row by row, and the bytes per task.
    constexpr int64_t kMaxRowBytes = 64 << 10, kTaskBytes = 64 << 10;
    if (rows_ > 1 && row_bytes_ <= kMaxRowBytes) {
      const int64_t rows_per_task = kTaskBytes / std::max<int64_t>(row_bytes_, 1);
      return a.threads.blocks(rows_, std::max<int64_t>(rows_per_task, 1),
                              [&](int64_t begin, int64_t end) { copy_row_range(a, begin, end); });
    }
    for (size_t i = 0; i < inputs_.size(); ++i)
      inputs_[i].copy.run(a.inputs[i], a.outputs[0] + inputs_[i].offset, a.threads);
  }
  std::string name() const override { return "copy"; }

 private:
  void copy_row_range(const Arguments& a, int64_t begin, int64_t end) const {
    constexpr int64_t kBlockBytes = 16 << 10;
    const int64_t block = std::max<int64_t>(kBlockBytes / std::max<int64_t>(row_bytes_, 1), 1);
    for (; begin < end; begin += block) copy_row_block(a, begin, std::min(block, end - begin));
  }
  void copy_row_block(const Arguments& a, int64_t first, int64_t rows) const {
    std::byte* to = a.outputs[0] + first * row_bytes_;
    const auto from = [&](size_t i) { return a.inputs[i] + first * inputs_[i].bytes; };
    if (interleave_) {
      const std::byte* sources[kMaxInterleavedArrays];
      for (size_t i = 0; i < inputs_.size(); ++i) sources[i] = from(i);
      return interleave_(sources, rows, to);
    }
    for (size_t i = 0; i < inputs_.size(); ++i)
      copy_rows(from(i), inputs_[i].bytes, to + inputs_[i].offset, row_bytes_, inputs_[i].bytes,
                rows);
  }

  struct ConcatInput {
    StridedCopy copy;
    int64_t offset, bytes;  ///< position and size within a row
  };
  std::vector<ConcatInput> inputs_;
  int64_t rows_ = 1, row_bytes_ = 0;
  InterleaveLoop interleave_ = nullptr;
};

std::unique_ptr<Kernel> make_concat(const Request& r) {
  return std::make_unique<ConcatKernel>(static_cast<const Concat&>(r.op), r);
}

std::unique_ptr<Kernel> make_bitcast(const Request& r) {
  const int64_t bytes = r.outputs[0].bytes();
  return std::make_unique<RearrangeKernel>(Axes{{bytes / 8, 1, 1}}, 8);
}

class FillKernel final : public Kernel {
 public:
  FillKernel(double value, const TensorSpec& out) : value_(value, out.dtype), out_(out) {}
  void run(const Arguments& a) const override {
    fill_all(a.outputs[0], out_, value_.bytes, a.threads);
  }
  std::string name() const override { return "fill"; }

 private:
  NumberBytes value_;
  TensorSpec out_;
};

std::unique_ptr<Kernel> make_fill(const Request& r) {
  return std::make_unique<FillKernel>(static_cast<const Fill&>(r.op).value, r.outputs[0]);
}

/// The op Iota: consecutive numbers along one axis, computed once, when the kernel is made.
class IotaKernel final : public Kernel {
 public:
  IotaKernel(const Iota& op, const TensorSpec& out) {
    const Shape& shape = out.shape;
    const int axis = shape.axis(op.axis);
    std::vector<double> numbers(shape[axis]);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
    const size_t bytes = size_of(out.dtype);
    numbers_.resize(numbers.size() * bytes);
    cast_loop(DType::float64, out.dtype)(numbers.data(), numbers_.data(), numbers.size());
    Axes axes;
    const auto strides = dense_strides(shape);
    for (int i = 0; i < shape.rank(); ++i)
      axes.push_back({shape[i], i == axis ? 1 : 0, strides[i]});
    copy_ = StridedCopy(std::move(axes), bytes);
  }
  void run(const Arguments& a) const override {
    copy_.run(numbers_.data(), a.outputs[0], a.threads);
  }
  std::string name() const override { return "copy"; }

 private:
  std::vector<std::byte> numbers_;
  StridedCopy copy_;
};

std::unique_ptr<Kernel> make_iota(const Request& r) {
  if (r.outputs[0].shape.rank() == 0) return std::make_unique<FillKernel>(0, r.outputs[0]);
  return std::make_unique<IotaKernel>(static_cast<const Iota&>(r.op), r.outputs[0]);
}

}  // namespace

std::span<const KernelEntry> shape_kernels() {
  static constexpr KernelEntry kEntries[] = {{"broadcast_to", make_broadcast},
                                             {"transpose", make_transpose},
                                             {"slice", make_slice},
                                             {"reverse", make_reverse},
                                             {"pad", make_pad},
                                             {"concat", make_concat},
                                             {"bitcast", make_bitcast},
                                             {"fill", make_fill},
                                             {"iota", make_iota},
                                             {"gather", make_gather},
                                             {"take_along", make_take_along},
                                             {"scatter_add", make_scatter_add},
                                             {"one_hot", make_one_hot},
                                             {"scatter_add", make_converted_scatter_add},
                                             {CheckIndices::kName, make_check_indices}};
  return kEntries;
}

}  // namespace crescent::cpu
