#include "shape/ordering.h"

#include <algorithm>

namespace crescent::cpu {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth another thread

int64_t lines_per_part(int64_t length) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(length, 1));
}

/// a comes before b in descending order; NaN before everything.
template <class T>
bool above(T a, T b) {
  return a > b || (a != a && b == b);
}
template <class T>
bool below(T a, T b) {
  return a < b || (a != a && b == b);
}

template <class T, bool max>
class ArgReduceKernel final : public Kernel {
 public:
  explicit ArgReduceKernel(AxisView view) : view_(view) {}
  void run(const Arguments& a) override {
    const T* x = a.in<T>(0);
    int64_t* y = a.out<int64_t>(0);
    a.pool.blocks(
        view_.outer * view_.inner, lines_per_part(view_.length), [&](int64_t begin, int64_t end) {
          for (int64_t line = begin; line < end; ++line) {
            y[line] =
                best(x + line / view_.inner * view_.length * view_.inner + line % view_.inner);
          }
        });
  }
  std::string name() const override { return "loop"; }

 private:
  int64_t best(const T* x) const {
    int64_t index = 0;
    T value = x[0];
    for (int64_t i = 1; i < view_.length; ++i) {
      const T candidate = x[i * view_.inner];
      if (max ? above(candidate, value) : below(candidate, value)) index = i, value = candidate;
    }
    return index;
  }
  AxisView view_;
};

/// Sums run in double for floats, so that the last of many terms is as good as the first.
template <class T>
class CumulativeKernel final : public Kernel {
 public:
  CumulativeKernel(AxisView view, bool reverse) : view_(view), reverse_(reverse) {}
  void run(const Arguments& a) override {
    a.pool.blocks(
        view_.outer * view_.inner, lines_per_part(view_.length), [&](int64_t begin, int64_t end) {
          for (int64_t line = begin; line < end; ++line) {
            run_line(a, line / view_.inner * view_.length * view_.inner + line % view_.inner);
          }
        });
  }
  std::string name() const override { return "loop"; }
  bool in_place(int) const override { return true; }

 private:
  void run_line(const Arguments& a, int64_t offset) const {
    const T* x = a.in<T>(0) + offset;
    T* y = a.out<T>(0) + offset;
    std::conditional_t<std::is_floating_point_v<T>, double, uint64_t> sum = 0;
    for (int64_t i = 0; i < view_.length; ++i) {
      const int64_t at = (reverse_ ? view_.length - 1 - i : i) * view_.inner;
      sum += static_cast<decltype(sum)>(x[at]);
      y[at] = static_cast<T>(sum);
    }
  }
  AxisView view_;
  bool reverse_;
};

}  // namespace

std::unique_ptr<Kernel> make_arg_reduce(const Request& request) {
  auto& op = static_cast<const ArgReduce&>(request.op);
  AxisView view(request.inputs[0].shape, op.axis);
  if (view.length == 0) return nullptr;
  return with_type(request.inputs[0].dtype, [&]<class T>() -> std::unique_ptr<Kernel> {
    if (op.max) return std::make_unique<ArgReduceKernel<T, true>>(view);
    return std::make_unique<ArgReduceKernel<T, false>>(view);
  });
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
