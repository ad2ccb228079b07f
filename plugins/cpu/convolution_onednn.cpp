// Convolutions by oneDNN on plain NHWC images: single-threaded primitives on slices of the batch. The kernel is brought
// into the layout a primitive likes best on every run. Gradients of the kernel are summed from a fixed number of slices.
#include <algorithm>

#include "convolution.h"
#include "matmul.h"
#include "onednn.h"

namespace crescent::cpu {
namespace {

using dnnl::memory;
using Dims = memory::dims;

constexpr int64_t kSlices = 64, kPartials = 16;
constexpr double kLeastFlops = 2e6;              ///< a slice
constexpr size_t kMostPartials = 16 << 20;       ///< bytes of partial kernel gradients

/// The descriptions oneDNN wants, for `images` images.
struct Descriptions {
  memory::desc x, kernel, any_kernel, bias, y;
  Dims strides, dilation, before, after;

  Descriptions(const ConvPlan& p, int64_t images) {
    const auto type = onednn::type_of(p.dtype);
    const int first = p.spatial == 3 ? 0 : 1;
    Dims in{images, p.in_channels}, out{images, p.out_channels};
    Dims taps{p.out_channels / p.groups, p.in_channels / p.groups};
    Dims steps{1, p.out_channels};
    int64_t step = p.in_channels / p.groups * p.out_channels;
    Dims spatial_steps;
    for (int i = 2; i >= first; --i) spatial_steps.insert(spatial_steps.begin(), step), step *= p.axes[i].kernel;
    for (int i = first; i < 3; ++i) {
      const auto& axis = p.axes[i];
      in.push_back(axis.in), out.push_back(axis.out), taps.push_back(axis.kernel);
      strides.push_back(axis.stride), dilation.push_back(axis.dilation - 1);
      before.push_back(axis.before), after.push_back(axis.after);
    }
    steps.insert(steps.end(), spatial_steps.begin(), spatial_steps.end());
    if (p.groups > 1) {
      taps.insert(taps.begin(), p.groups), steps.insert(steps.begin(), p.out_channels / p.groups);
    }
    const auto layout = p.spatial == 3 ? memory::format_tag::ndhwc : memory::format_tag::nhwc;
    x = {in, type, layout}, y = {out, type, layout};
    kernel = onednn::plain(taps, type, steps), any_kernel = {taps, type, memory::format_tag::any};
    bias = {{p.out_channels}, type, memory::format_tag::x};
  }
};

dnnl::convolution_forward::primitive_desc forward(const ConvPlan& p, const Descriptions& d) {
  const auto kind = dnnl::prop_kind::forward_training;
  const auto direct = dnnl::algorithm::convolution_direct;
  auto desc = p.bias ? dnnl::convolution_forward::desc(kind, direct, d.x, d.any_kernel, d.bias, d.y, d.strides,
                                                       d.dilation, d.before, d.after)
                     : dnnl::convolution_forward::desc(kind, direct, d.x, d.any_kernel, d.y, d.strides, d.dilation,
                                                       d.before, d.after);
  return {desc, onednn::attributes(p.epilogue), onednn::engine()};
}

dnnl::convolution_backward_data::primitive_desc backward_data(const ConvPlan& p, const Descriptions& d) {
  dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct, d.x, d.any_kernel, d.y, d.strides,
                                             d.dilation, d.before, d.after);
  return {desc, onednn::attributes(), onednn::engine(), forward(p, d)};
}

dnnl::convolution_backward_weights::primitive_desc backward_kernel(const ConvPlan& p, const Descriptions& d) {
  memory::desc wide = d.any_kernel;
  wide.data.data_type = dnnl_f32;                 // partial sums of half-width values stay wide
  dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct, d.x, wide, d.y, d.strides,
                                                d.dilation, d.before, d.after);
  return {desc, onednn::attributes(), onednn::engine(), forward(p, d)};
}

/// The batch in slices: how many images each has depends on the shape alone.
struct Slicing {
  int64_t images, count;

  Slicing(const ConvPlan& p, int64_t most) {
    const double per_image = p.flops() / static_cast<double>(p.batch);
    images = std::max((p.batch + most - 1) / most, static_cast<int64_t>(kLeastFlops / per_image));
    images = std::clamp<int64_t>(images, 1, p.batch);
    count = (p.batch + images - 1) / images;
  }
  int64_t size(int64_t slice, int64_t batch) const { return std::min(images, batch - slice * images); }
};

const char* require_fast(const char* implementation) {
  if (onednn::is_reference(implementation)) throw dnnl::error(dnnl_unimplemented, "only reference code");
  return implementation;
}

/// What all passes share: slices of the batch, all of one size but the last, and a reorder of the kernel.
class SlicedConvolution : public Kernel {
 public:
  SlicedConvolution(const Request& r, int64_t most_slices) : plan_(r), slicing_(plan_, most_slices) {}
  std::string name() const override { return "onednn " + implementation_; }
  double flops() const override { return plan_.flops(); }

 protected:
  static constexpr int kReorder = 0, kWhole = 1, kLast = 2;          // numbers of the primitives

  size_t x_bytes(int64_t images) const {
    return static_cast<size_t>(images * plan_.in_pixels() * plan_.in_channels) * size_of(plan_.dtype);
  }
  size_t y_bytes(int64_t images) const {
    return static_cast<size_t>(images * plan_.out_pixels() * plan_.out_channels) * size_of(plan_.dtype);
  }
  /// Adds the reorder, then the primitives of a whole slice and of the last one; add(descriptions) is to add one.
  template <class F>
  void add_primitives(const memory::desc& from, const memory::desc& to, F&& add) {
    dnnl::reorder::primitive_desc reorder(onednn::engine(), from, onednn::engine(), to, onednn::attributes());
    primitives_.add(dnnl::reorder(reorder), reorder, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    add(Descriptions(plan_, slicing_.images));
    if (rest() != slicing_.images) add(Descriptions(plan_, rest()));
  }
  /// f(which primitive, first image, images, worker, slice) in the pool.
  template <class F>
  void each_slice(const Arguments& a, F&& f) {
    primitives_.prepare(a.pool.threads());
    a.pool.parallel(slicing_.count, [&](int64_t i, int worker) {
      const int64_t images = slicing_.size(i, plan_.batch);
      f(images == slicing_.images ? kWhole : kLast, i * slicing_.images, images, worker, i);
    });
  }

  ConvPlan plan_;
  Slicing slicing_;
  std::string implementation_;
  onednn::Primitives primitives_;

 private:
  int64_t rest() const { return slicing_.size(slicing_.count - 1, plan_.batch); }
};

/// Forward and backward data: every image on its own, the kernel the same for all.
class ImageConvolution final : public SlicedConvolution {
 public:
  explicit ImageConvolution(const Request& r)
      : SlicedConvolution(r, kSlices), forward_(plan_.pass == ConvPass::forward) {
    const Descriptions d(plan_, slicing_.images);
    kernel_ = forward_ ? forward(plan_, d).weights_desc() : backward_data(plan_, d).weights_desc();
    packs_ = kernel_ != d.kernel;
    add_primitives(d.kernel, kernel_, [&](const Descriptions& of) { forward_ ? add_forward(of) : add_backward(of); });
  }

  void run(const Arguments& a) override {
    primitives_.prepare(a.pool.threads());
    if (packs_) primitives_.run(0, kReorder, {a.inputs[1], a.scratch});
    const std::byte* kernel = packs_ ? a.scratch : a.inputs[1];
    each_slice(a, [&](int which, int64_t first, int64_t images, int worker, int64_t) {
      const std::byte* from = a.inputs[0] + (forward_ ? x_bytes(first) : y_bytes(first));
      std::byte* to = a.outputs[0] + (forward_ ? y_bytes(first) : x_bytes(first));
      plan_.bias ? primitives_.run(worker, which, {from, kernel, to, a.inputs[2]})
                 : primitives_.run(worker, which, {from, kernel, to});
      if (plan_.epilogue == Epilogue::relu) {
        onednn::apply_relu(plan_.dtype, to, images * plan_.out_pixels() * plan_.out_channels);
      }
    });
  }
  size_t scratch_bytes() const override { return packs_ ? kernel_.get_size() : 0; }

 private:
  void add_forward(const Descriptions& d) {
    auto desc = forward(plan_, d);
    accept(desc.impl_info_str(), desc.weights_desc());
    onednn::Arguments arguments = {{DNNL_ARG_SRC, d.x}, {DNNL_ARG_WEIGHTS, kernel_}, {DNNL_ARG_DST, d.y}};
    if (plan_.bias) arguments.emplace_back(DNNL_ARG_BIAS, d.bias);
    primitives_.add(dnnl::convolution_forward(desc), desc, arguments);
  }
  void add_backward(const Descriptions& d) {
    auto desc = backward_data(plan_, d);
    accept(desc.impl_info_str(), desc.weights_desc());
    primitives_.add(dnnl::convolution_backward_data(desc), desc,
                    {{DNNL_ARG_DIFF_DST, d.y}, {DNNL_ARG_WEIGHTS, kernel_}, {DNNL_ARG_DIFF_SRC, d.x}});
  }
  /// The last, shorter slice must like the same layout of the kernel as the others.
  void accept(const char* implementation, const memory::desc& kernel) {
    implementation_ = require_fast(implementation);
    if (kernel != kernel_) throw dnnl::error(dnnl_unimplemented, "slices want different kernels");
  }

  bool forward_, packs_;
  memory::desc kernel_;
};

class KernelGradient final : public SlicedConvolution {
 public:
  explicit KernelGradient(const Request& r) : SlicedConvolution(r, partials(ConvPlan(r))) {
    const Descriptions d(plan_, slicing_.images);
    kernel_ = backward_kernel(plan_, d).diff_weights_desc();
    add_primitives(kernel_, d.kernel, [&](const Descriptions& of) { add(of); });
  }

  void run(const Arguments& a) override {
    each_slice(a, [&](int which, int64_t first, int64_t, int worker, int64_t slice) {
      primitives_.run(worker, which, {a.inputs[0] + x_bytes(first), a.inputs[1] + y_bytes(first), partial(a, slice)});
    });
    a.pool.blocks(values(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = 1; i < slicing_.count; ++i) accumulate(partial(a, 0) + begin, partial(a, i) + begin, end - begin);
    });
    primitives_.run(0, kReorder, {partial(a, 0), a.outputs[0]});
  }
  size_t scratch_bytes() const override { return static_cast<size_t>(slicing_.count * stride()) * sizeof(float); }

 private:
  static int64_t partials(const ConvPlan& p) {
    const size_t most = kMostPartials / (static_cast<size_t>(p.kernel_size()) * sizeof(float));
    return std::clamp<int64_t>(static_cast<int64_t>(most), 2, kPartials);
  }
  int64_t values() const { return static_cast<int64_t>(kernel_.get_size() / sizeof(float)); }
  int64_t stride() const { return (values() + 15) / 16 * 16; }
  float* partial(const Arguments& a, int64_t slice) const {
    return reinterpret_cast<float*>(a.scratch) + slice * stride();
  }
  void add(const Descriptions& d) {
    auto desc = backward_kernel(plan_, d);
    implementation_ = require_fast(desc.impl_info_str());
    if (desc.diff_weights_desc() != kernel_) throw dnnl::error(dnnl_unimplemented, "slices want different kernels");
    primitives_.add(dnnl::convolution_backward_weights(desc), desc,
                    {{DNNL_ARG_SRC, d.x}, {DNNL_ARG_DIFF_DST, d.y}, {DNNL_ARG_DIFF_WEIGHTS, kernel_}});
  }

  memory::desc kernel_;
};

}  // namespace

std::unique_ptr<Kernel> make_onednn_convolution(const Request& r) {
  const ConvPlan plan(r);
  if (!r.options.onednn || onednn::type_of(plan.dtype) == memory::data_type::undef || plan.empty()) return nullptr;
  onednn::SingleThread alone;
  try {
    if (plan.pass == ConvPass::backward_kernel) return std::make_unique<KernelGradient>(r);
    return std::make_unique<ImageConvolution>(r);
  } catch (const dnnl::error&) {                   // a geometry that oneDNN does not know, or only slowly
    return nullptr;
  }
}

}  // namespace crescent::cpu
