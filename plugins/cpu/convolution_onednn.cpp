// Convolutions by oneDNN on plain NHWC images: single-threaded primitives on slices of the batch. The kernel is brought
// into the layout a primitive likes best on every run. Gradients of the kernel are summed from a fixed number of slices.
#include <algorithm>

#include "convolution.h"
#include "matmul.h"
#include "onednn.h"

namespace crescent::cpu {
namespace {

using dnnl::memory;
using onednn::Task;
using Dims = memory::dims;

constexpr int64_t kSlices = 16;
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

/// Scratch memory handed out piece by piece when a kernel is made.
struct Scratch {
  size_t bytes = 0;
  size_t reserve(size_t count) {
    size_t at = bytes;
    bytes += (count + 63) / 64 * 64;
    return at;
  }
};

void require_fast(const char* implementation) {
  if (onednn::is_reference(implementation)) throw dnnl::error(dnnl_unimplemented, "only reference code");
}

/// Forward and backward data: every image on its own, the kernel the same for all.
class ImageConvolution final : public Kernel {
 public:
  explicit ImageConvolution(const Request& r) : plan_(r), slicing_(plan_, kSlices) {
    const bool forward_pass = plan_.pass == ConvPass::forward;
    for (int64_t i = 0; i < slicing_.count; ++i) {
      const Descriptions d(plan_, slicing_.size(i, plan_.batch));
      forward_pass ? add_forward(d) : add_backward(d);
    }
    const Descriptions d(plan_, 1);
    if (kernel_ != d.kernel) {
      kernel_at_ = scratch_.reserve(kernel_.get_size());
      dnnl::reorder::primitive_desc reorder(onednn::engine(), d.kernel, onednn::engine(), kernel_,
                                            onednn::attributes());
      reorder_scratch_ = scratch_.reserve(reorder.scratchpad_desc().get_size());
      reorder_.emplace_back(dnnl::reorder(reorder),
                            std::initializer_list<std::pair<int, memory::desc>>{
                                {DNNL_ARG_FROM, d.kernel},
                                {DNNL_ARG_TO, kernel_},
                                {DNNL_ARG_SCRATCHPAD, reorder.scratchpad_desc()}});
    }
    const int64_t in = plan_.in_pixels() * plan_.in_channels, out = plan_.out_pixels() * plan_.out_channels;
    source_step_ = static_cast<size_t>(slicing_.images * (forward_pass ? in : out)) * size_of(plan_.dtype);
    result_step_ = static_cast<size_t>(slicing_.images * (forward_pass ? out : in)) * size_of(plan_.dtype);
  }

  void run(const Arguments& a) override {
    const std::byte* kernel = a.inputs[1];
    if (!reorder_.empty()) {
      std::byte* packed = a.scratch + kernel_at_;
      reorder_[0].bind(0, kernel), reorder_[0].bind(1, packed), reorder_[0].bind(2, a.scratch + reorder_scratch_);
      reorder_[0].run();
      kernel = packed;
    }
    a.pool.parallel(slicing_.count, [&](int64_t i, int) {
      Task& task = tasks_[i];
      task.bind(0, a.inputs[0] + i * source_step_), task.bind(1, kernel);
      task.bind(2, a.outputs[0] + i * result_step_), task.bind(3, a.scratch + scratch_at_[i]);
      if (plan_.bias) task.bind(4, a.inputs[2]);
      task.run();
    });
  }
  std::string name() const override { return "onednn " + implementation_; }
  size_t scratch_bytes() const override { return scratch_.bytes; }
  double flops() const override { return plan_.flops(); }

 private:
  void add_forward(const Descriptions& d) {
    auto desc = forward(plan_, d);
    accept(desc.impl_info_str(), desc.weights_desc(), desc.scratchpad_desc());
    const dnnl::convolution_forward primitive(desc);
    if (plan_.bias) {
      tasks_.emplace_back(primitive, std::initializer_list<std::pair<int, memory::desc>>{
                                         {DNNL_ARG_SRC, d.x}, {DNNL_ARG_WEIGHTS, kernel_}, {DNNL_ARG_DST, d.y},
                                         {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}, {DNNL_ARG_BIAS, d.bias}});
    } else {
      tasks_.emplace_back(primitive, std::initializer_list<std::pair<int, memory::desc>>{
                                         {DNNL_ARG_SRC, d.x}, {DNNL_ARG_WEIGHTS, kernel_}, {DNNL_ARG_DST, d.y},
                                         {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}});
    }
  }
  void add_backward(const Descriptions& d) {
    auto desc = backward_data(plan_, d);
    accept(desc.impl_info_str(), desc.weights_desc(), desc.scratchpad_desc());
    tasks_.emplace_back(dnnl::convolution_backward_data(desc),
                        std::initializer_list<std::pair<int, memory::desc>>{
                            {DNNL_ARG_DIFF_DST, d.y}, {DNNL_ARG_WEIGHTS, kernel_}, {DNNL_ARG_DIFF_SRC, d.x},
                            {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}});
  }
  /// The last, shorter slice must like the same layout of the kernel as the others.
  void accept(const char* implementation, const memory::desc& kernel, const memory::desc& scratch) {
    require_fast(implementation);
    if (tasks_.empty()) kernel_ = kernel, implementation_ = implementation;
    if (kernel != kernel_) throw dnnl::error(dnnl_unimplemented, "slices want different kernels");
    scratch_at_.push_back(scratch_.reserve(scratch.get_size()));
  }

  ConvPlan plan_;
  Slicing slicing_;
  Scratch scratch_;
  std::string implementation_;
  memory::desc kernel_;
  std::vector<Task> tasks_, reorder_;              // reorder_: one, or none when the plain layout is liked best
  std::vector<size_t> scratch_at_;
  size_t kernel_at_ = 0, reorder_scratch_ = 0, source_step_ = 0, result_step_ = 0;
};

class KernelGradient final : public Kernel {
 public:
  explicit KernelGradient(const Request& r) : plan_(r), slicing_(plan_, partials(plan_)) {
    for (int64_t i = 0; i < slicing_.count; ++i) add(Descriptions(plan_, slicing_.size(i, plan_.batch)));
    const Descriptions d(plan_, 1);
    dnnl::reorder::primitive_desc reorder(onednn::engine(), kernel_, onednn::engine(), d.kernel, onednn::attributes());
    reorder_scratch_ = scratch_.reserve(reorder.scratchpad_desc().get_size());
    reorder_.emplace_back(dnnl::reorder(reorder), std::initializer_list<std::pair<int, memory::desc>>{
                                                      {DNNL_ARG_FROM, kernel_},
                                                      {DNNL_ARG_TO, d.kernel},
                                                      {DNNL_ARG_SCRATCHPAD, reorder.scratchpad_desc()}});
    const size_t size = size_of(plan_.dtype);
    x_step_ = static_cast<size_t>(slicing_.images * plan_.in_pixels() * plan_.in_channels) * size;
    y_step_ = static_cast<size_t>(slicing_.images * plan_.out_pixels() * plan_.out_channels) * size;
  }

  void run(const Arguments& a) override {
    a.pool.parallel(slicing_.count, [&](int64_t i, int) {
      Task& task = tasks_[i];
      task.bind(0, a.inputs[0] + i * x_step_), task.bind(1, a.inputs[1] + i * y_step_);
      task.bind(2, a.scratch + partial_at_[i]), task.bind(3, a.scratch + scratch_at_[i]);
      task.run();
    });
    auto partial = [&](int64_t i) { return reinterpret_cast<float*>(a.scratch + partial_at_[i]); };
    a.pool.blocks(static_cast<int64_t>(kernel_.get_size() / sizeof(float)), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = 1; i < slicing_.count; ++i) accumulate(partial(0) + begin, partial(i) + begin, end - begin);
    });
    reorder_[0].bind(0, partial(0)), reorder_[0].bind(1, a.outputs[0]);
    reorder_[0].bind(2, a.scratch + reorder_scratch_);
    reorder_[0].run();
  }
  std::string name() const override { return "onednn " + implementation_; }
  size_t scratch_bytes() const override { return scratch_.bytes; }
  double flops() const override { return plan_.flops(); }

 private:
  static int64_t partials(const ConvPlan& p) {
    const size_t most = kMostPartials / (static_cast<size_t>(p.kernel_size()) * sizeof(float));
    return std::clamp<int64_t>(static_cast<int64_t>(most), 2, kSlices);
  }
  void add(const Descriptions& d) {
    auto desc = backward_kernel(plan_, d);
    require_fast(desc.impl_info_str());
    const memory::desc kernel = desc.diff_weights_desc();
    if (tasks_.empty()) kernel_ = kernel, implementation_ = desc.impl_info_str();
    if (kernel != kernel_) throw dnnl::error(dnnl_unimplemented, "slices want different kernels");
    scratch_at_.push_back(scratch_.reserve(desc.scratchpad_desc().get_size()));
    partial_at_.push_back(scratch_.reserve(kernel.get_size()));
    tasks_.emplace_back(dnnl::convolution_backward_weights(desc),
                        std::initializer_list<std::pair<int, memory::desc>>{
                            {DNNL_ARG_SRC, d.x}, {DNNL_ARG_DIFF_DST, d.y}, {DNNL_ARG_DIFF_WEIGHTS, kernel},
                            {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}});
  }

  ConvPlan plan_;
  Slicing slicing_;
  Scratch scratch_;
  std::string implementation_;
  memory::desc kernel_;
  std::vector<Task> tasks_, reorder_;
  std::vector<size_t> scratch_at_, partial_at_;
  size_t reorder_scratch_ = 0, x_step_ = 0, y_step_ = 0;
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
