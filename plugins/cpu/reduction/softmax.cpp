#include <algorithm>
#include <cmath>
#include <numeric>

#include "data_movement/sort_topk.h"
#include "kernel/converted.h"
#include "reduction/softmax_loops.h"

namespace crescent::cpu {
namespace {

constexpr int64_t kMinTaskElements = 2048;  // fewest elements per task

int64_t lines_per_task(int64_t elements) {
  return std::max<int64_t>(1, kMinTaskElements / std::max<int64_t>(elements, 1));
}

class SoftmaxKernel final : public Kernel {
 public:
  SoftmaxKernel(const Softmax& op, const Request& r, SoftmaxLoops loops)
      : view_(r.inputs[0].shape, op.axis),
        is_log_(op.log),
        bytes_(size_of(r.inputs[0].dtype)),
        loops_(loops) {}
  bool is_complete() const { return view_.inner == 1 || loops_.lines; }
  void run(const Arguments& a) const override {
    if (view_.length == 0) return;
    view_.inner == 1 ? run_lines(a) : run_tiles(a);
  }
  std::string name() const override { return "highway"; }
  bool in_place(int) const override { return true; }
  double flops() const override {
    return 12.0 * static_cast<double>(view_.outer * view_.length * view_.inner);
  }

 private:
  void run_lines(const Arguments& a) const {
    const size_t line_bytes = static_cast<size_t>(view_.length) * bytes_;
    a.threads.blocks(view_.outer, lines_per_task(view_.length), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const size_t offset = static_cast<size_t>(i) * line_bytes;
        loops_.line(a.inputs[0] + offset, a.outputs[0] + offset, view_.length, is_log_);
      }
    });
  }
  void run_tiles(const Arguments& a) const {
    const int64_t tiles = (view_.inner + kSoftmaxTileLines - 1) / kSoftmaxTileLines;
    a.threads.blocks(
        view_.outer * tiles, lines_per_task(view_.length * kSoftmaxTileLines),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t first = i % tiles * kSoftmaxTileLines;
            const size_t offset =
                static_cast<size_t>(i / tiles * view_.length * view_.inner + first) * bytes_;
            loops_.lines(a.inputs[0] + offset, a.outputs[0] + offset, view_.length, view_.inner,
                         std::min(kSoftmaxTileLines, view_.inner - first), is_log_);
          }
        });
  }

  AxisView view_;
  bool is_log_;
  size_t bytes_;
  SoftmaxLoops loops_;
};

/// A function that reads the label of a row, of any integer dtype, or a float with an integral
/// value.
using ReadLabel = int64_t (*)(const std::byte* labels, int64_t row);

template <class Label>
int64_t read_label(const std::byte* labels, int64_t row) {
  return static_cast<int64_t>(reinterpret_cast<const Label*>(labels)[row]);
}

ReadLabel label_reader(DType dtype) {
  switch (dtype) {
    case DType::int32:
      return read_label<int32_t>;
    case DType::int64:
      return read_label<int64_t>;
    case DType::uint8:
    case DType::boolean:
      return read_label<uint8_t>;
    case DType::float32:
      return read_label<float>;
    case DType::float64:
      return read_label<double>;
    default:
      return nullptr;
  }
}

/// The rows of logits and their labels: sparse (an integer per row) or dense (a target per class).
struct LogitRows {
  LogitRows(bool sparse, const Request& r)
      : sparse(sparse),
        width(r.inputs[0].shape[-1]),
        bytes(size_of(r.inputs[0].dtype)),
        label(label_reader(r.inputs[1].dtype)),
        loops(softmax_loops(r.inputs[0].dtype)) {
    count = width == 0 ? 0 : r.inputs[0].shape.size() / width;
  }
  bool is_complete(const Request& r) const {
    return loops.log_sum && (sparse ? label != nullptr : r.inputs[1].dtype == r.inputs[0].dtype);
  }
  size_t offset(int64_t row) const { return static_cast<size_t>(row * width) * bytes; }
  bool sparse;
  int64_t width, count = 0;
  size_t bytes;
  ReadLabel label;
  SoftmaxLoops loops;
};

/// Computes the cross-entropy of each row of logits z. Sparse: log(sum exp(z)) - z[label]. Dense:
/// sum over classes of t * (log(sum exp(z)) - z).
template <class T>
class CrossEntropyKernel final : public Kernel {
 public:
  explicit CrossEntropyKernel(const LogitRows& rows) : rows_(rows) {}
  void run(const Arguments& a) const override {
    a.threads.blocks(rows_.count, lines_per_task(rows_.width), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) a.out<T>(0)[row] = static_cast<T>(loss(a, row));
    });
  }
  std::string name() const override { return "highway"; }

 private:
  double loss(const Arguments& a, int64_t row) const {
    const T* z = a.in<T>(0) + row * rows_.width;
    const LogSum total = rows_.loops.log_sum(z, rows_.width);
    if (rows_.sparse) {
      const int64_t label = rows_.label(a.inputs[1], row);
      return label < 0 || label >= rows_.width ? NAN : total.minus(static_cast<double>(z[label]));
    }
    const T* target = a.in<T>(1) + row * rows_.width;
    double loss = 0;
    for (int64_t i = 0; i < rows_.width; ++i) {
      if (target[i] != 0)
        loss += static_cast<double>(target[i]) * total.minus(static_cast<double>(z[i]));
    }
    return loss;
  }
  LogitRows rows_;
};

/// Computes (softmax(z) * sum(target) - target) * upstream, the gradient of the logits z; for
/// sparse labels the sum is 1.
template <class T>
class CrossEntropyBackwardKernel final : public Kernel {
 public:
  explicit CrossEntropyBackwardKernel(const LogitRows& rows) : rows_(rows) {}
  void run(const Arguments& a) const override {
    a.threads.blocks(rows_.count, lines_per_task(rows_.width), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) run_row(a, row);
    });
  }
  std::string name() const override { return "highway"; }

 private:
  void run_row(const Arguments& a, int64_t row) const {
    const int64_t n = rows_.width;
    const T upstream = a.in<T>(2)[row];
    const T* target = rows_.sparse ? nullptr : a.in<T>(1) + row * n;
    const double sum = target ? std::accumulate(target, target + n, 0.0) : 1.0;
    T* dz = a.out<T>(0) + row * n;
    rows_.loops.scaled_softmax(a.in<T>(0) + row * n, dz, n, sum * static_cast<double>(upstream));
    if (rows_.sparse) {
      const int64_t label = rows_.label(a.inputs[1], row);
      if (label < 0 || label >= n)
        std::fill_n(dz, n, static_cast<T>(NAN));
      else
        dz[label] -= upstream;
    } else {
      for (int64_t i = 0; i < n; ++i) dz[i] -= target[i] * upstream;
    }
  }
  LogitRows rows_;
};

template <template <class> class K>
std::unique_ptr<Kernel> make_row_kernel(const LogitRows& rows, const Request& r) {
  if (!rows.is_complete(r)) return nullptr;
  if (r.inputs[0].dtype == DType::float32) return std::make_unique<K<float>>(rows);
  return std::make_unique<K<double>>(rows);
}

std::unique_ptr<Kernel> make_softmax(const Request& r) {
  const SoftmaxLoops loops = softmax_loops(r.inputs[0].dtype);
  if (!loops.line) return nullptr;
  auto kernel = std::make_unique<SoftmaxKernel>(static_cast<const Softmax&>(r.op), r, loops);
  return kernel->is_complete() ? std::move(kernel) : nullptr;
}

std::unique_ptr<Kernel> make_cross_entropy(const Request& r) {
  return make_row_kernel<CrossEntropyKernel>(
      LogitRows(static_cast<const SoftmaxCrossEntropy&>(r.op).sparse, r), r);
}

std::unique_ptr<Kernel> make_cross_entropy_backward(const Request& r) {
  return make_row_kernel<CrossEntropyBackwardKernel>(
      LogitRows(static_cast<const SoftmaxCrossEntropyBackward&>(r.op).sparse, r), r);
}

}  // namespace

std::span<const KernelEntry> softmax_kernels() {
  static constexpr KernelEntry entries[] = {
      {"softmax", make_softmax},
      {"softmax", make_converted<softmax_kernels>},
      {"softmax_cross_entropy", make_cross_entropy},
      {"softmax_cross_entropy", make_converted<softmax_kernels>},
      {"softmax_cross_entropy_backward", make_cross_entropy_backward},
      {"softmax_cross_entropy_backward", make_converted<softmax_kernels>}};
  return entries;
}

}  // namespace crescent::cpu
