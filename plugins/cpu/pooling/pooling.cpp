#include "pooling/pooling.h"

#include <algorithm>

#include "kernel/converted.h"
#include "kernel/typed.h"

namespace crescent::cpu {
namespace {

/// Number of channels of an image that one task computes in the gradient.
constexpr int64_t kTaskChannels = 64;

template <class T>
class PoolForward final : public Kernel {
 public:
  explicit PoolForward(const Request& r) : plan_(r, false), loops_(pool_loops<T>()) {}

  void run(const Arguments& a) const override {
    const int64_t rows = plan_.out_rows();
    const int64_t grain = 1 + 8192 / std::max<int64_t>(plan_.out_row_size(), 1);
    a.threads.blocks(plan_.batch * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin / rows; begin < end; ++i) {
        const int64_t last = std::min(end, (i + 1) * rows);
        const int64_t out = i * rows * plan_.out_row_size();
        loops_.pool_rows(plan_, a.in<T>(0) + i * plan_.in_size(), a.out<T>(0) + out,
                         plan_.has_argmax_indices ? a.out<uint8_t>(1) + out : nullptr,
                         begin - i * rows, last - i * rows);
        begin = last;
      }
    });
  }
  std::string name() const override { return "highway"; }

 private:
  PoolPlan plan_;
  PoolLoops<T> loops_;
};

template <class T>
class PoolGradient final : public Kernel {
 public:
  explicit PoolGradient(const Request& r) : plan_(r, true), loops_(pool_loops<T>()) {}

  void run(const Arguments& a) const override {
    const T* x = plan_.is_max && !plan_.has_argmax_indices ? a.in<T>(0) : nullptr;
    const uint8_t* argmax_indices = plan_.has_argmax_indices ? a.in<uint8_t>(0) : nullptr;
    const T* dy = a.in<T>(plan_.is_max ? 1 : 0);
    const int64_t channel_groups = (plan_.channels + kTaskChannels - 1) / kTaskChannels,
                  out = plan_.out_rows() * plan_.out_row_size();
    a.threads.parallel(plan_.batch * channel_groups, [&](int64_t part, int) {
      const int64_t i = part / channel_groups, first = part % channel_groups * kTaskChannels;
      loops_.gradient(plan_, x ? x + i * plan_.in_size() : nullptr,
                      argmax_indices ? argmax_indices + i * out : nullptr, dy + i * out,
                      a.out<T>(0) + i * plan_.in_size(), first,
                      std::min(first + kTaskChannels, plan_.channels));
    });
  }
  std::string name() const override { return "highway"; }

 private:
  PoolPlan plan_;
  PoolLoops<T> loops_;
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Request& r) {
  return make_typed_or_half<K>(r, r.outputs[0].dtype);
}

}  // namespace

PoolPlan::PoolPlan(const Request& r, bool is_backward) {
  auto set_geometry = [&](const auto& op, const Shape& in, const Shape& out) {
    const int spatial_rank = in.rank() - 2;
    batch = in[0], channels = in[-1];
    for (int i = 0; i < spatial_rank; ++i) {
      axes[3 - spatial_rank + i] = {in[i + 1], out[i + 1], op.window[i], op.spec.strides[i],
                                    op.spec.pad_before[i]};
    }
  };
  const Shape &from = r.inputs.back().shape, &to = r.outputs[0].shape;
  is_max = has_argmax_indices = true;
  if (auto* argmax_op = dynamic_cast<const PoolArgmax*>(&r.op)) {
    set_geometry(*argmax_op, from, to);
  } else if (auto* gradient_op = dynamic_cast<const PoolArgmaxBackward*>(&r.op)) {
    set_geometry(*gradient_op, to, from);
  } else if (is_backward) {
    const auto& op = static_cast<const PoolBackward&>(r.op);
    is_max = op.max, has_argmax_indices = false;
    set_geometry(op, to, from);
  } else {
    const auto& op = static_cast<const crescent::Pool&>(r.op);
    is_max = op.max, has_argmax_indices = false;
    set_geometry(op, from, to);
  }
  inner_window_offsets = window_offsets();
}

std::vector<int64_t> PoolPlan::window_offsets() const {
  std::vector<int64_t> offsets;
  const auto& [d, h, w] = axes;
  // no window fits into the image
  if (d.window > d.in || h.window > h.in || w.window > w.in) return offsets;
  for (int64_t z = 0; z < d.window; ++z) {
    for (int64_t y = 0; y < h.window; ++y) {
      for (int64_t x = 0; x < w.window; ++x)
        offsets.push_back(((z * h.in + y) * w.in + x) * channels);
    }
  }
  return offsets;
}

std::span<const KernelEntry> pooling_kernels() {
  static constexpr KernelEntry kEntries[] = {
      {"pool", make<PoolForward>},
      {"pool", make_converted<pooling_kernels>},
      {"pool_argmax", make<PoolForward>},
      {"pool_argmax", make_converted<pooling_kernels>},
      {"pool_argmax_backward", make<PoolGradient>},
      {"pool_argmax_backward", make_converted<pooling_kernels>},
      {"pool_backward", make<PoolGradient>},
      {"pool_backward", make_converted<pooling_kernels>}};
  return kEntries;
}

}  // namespace crescent::cpu
