// Convolutions by oneDNN on NHWC images. Single-threaded primitives work in parallel on slices of
// the batch, or on rows of images if the batch has few images. The kernel is reordered to the
// layout that the primitives prefer, in every run unless it seldom changes. Gradients of the kernel
// are summed over a fixed number of slices.
#include <algorithm>

#include "convolution/convolution.h"
#include "matmul/matmul.h"
#include "matmul/onednn.h"

namespace crescent::cpu {
namespace {

using dnnl::memory;
using Dims = memory::dims;

constexpr int64_t kMaxSlices = 64, kMaxPartialGradients = 16;
/// If a batch has fewer images than this, the rows of each image are divided too.
constexpr int64_t kMinRowPieces = 8;
constexpr double kMinFlops = 2e6;  ///< fewest operations per slice of the batch
/// Fewest floating-point operations per piece of an image, which take about 3 us.
constexpr double kMinRowFlops = 4e5;
constexpr size_t kMaxPartialBytes = 16 << 20;  ///< memory for partial gradients of the kernel
/// The longest sum that oneDNN may compute in one accumulator.
constexpr int64_t kMaxTerms = 16384;

/// The oneDNN descriptions of a convolution's operands and attributes.
struct PrimitiveDescriptions {
  memory::desc x, kernel, any_kernel, bias, y;
  Dims strides, dilation, pad_before, pad_after;

  explicit PrimitiveDescriptions(const ConvPlan& p) {
    const auto type = onednn::type_of(p.dtype);
    const int first = p.spatial_rank == 3 ? 0 : 1;
    Dims in{p.batch, p.in_channels}, out{p.batch, p.out_channels};
    Dims taps{p.out_channels / p.groups, p.in_channels / p.groups};
    Dims steps{1, p.out_channels};
    int64_t step = p.in_channels / p.groups * p.out_channels;
    Dims spatial_steps;
    for (int i = 2; i >= first; --i)
      spatial_steps.insert(spatial_steps.begin(), step), step *= p.axes[i].kernel;
    for (int i = first; i < 3; ++i) {
      const auto& axis = p.axes[i];
      in.push_back(axis.in), out.push_back(axis.out), taps.push_back(axis.kernel);
      strides.push_back(axis.stride), dilation.push_back(axis.dilation - 1);
      pad_before.push_back(axis.pad_before), pad_after.push_back(axis.pad_after);
    }
    steps.insert(steps.end(), spatial_steps.begin(), spatial_steps.end());
    if (p.groups > 1) {
      taps.insert(taps.begin(), p.groups), steps.insert(steps.begin(), p.out_channels / p.groups);
    }
    const auto layout = p.spatial_rank == 3 ? memory::format_tag::ndhwc : memory::format_tag::nhwc;
    x = {in, type, layout}, y = {out, type, layout};
    kernel = onednn::unblocked_layout(taps, type, steps),
    any_kernel = {taps, type, memory::format_tag::any};
    bias = {{p.out_channels}, type, memory::format_tag::x};
  }
};

dnnl::convolution_forward::primitive_desc forward(const ConvPlan& p,
                                                  const PrimitiveDescriptions& d) {
  const auto propagation_kind = dnnl::prop_kind::forward_training;
  const auto direct_algorithm = dnnl::algorithm::convolution_direct;
  auto forward_description =
      p.has_bias
          ? dnnl::convolution_forward::desc(propagation_kind, direct_algorithm, d.x, d.any_kernel,
                                            d.bias, d.y, d.strides, d.dilation, d.pad_before,
                                            d.pad_after)
          : dnnl::convolution_forward::desc(propagation_kind, direct_algorithm, d.x, d.any_kernel,
                                            d.y, d.strides, d.dilation, d.pad_before, d.pad_after);
  return {forward_description, onednn::attributes(p.activation), onednn::engine()};
}

dnnl::convolution_backward_data::primitive_desc backward_data(const ConvPlan& p,
                                                              const PrimitiveDescriptions& d) {
  dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct, d.x, d.any_kernel,
                                             d.y, d.strides, d.dilation, d.pad_before, d.pad_after);
  return {desc, onednn::attributes(), onednn::engine(), forward(p, d)};
}

dnnl::convolution_backward_weights::primitive_desc backward_kernel(const ConvPlan& p,
                                                                   const PrimitiveDescriptions& d) {
  memory::desc wide = d.any_kernel;
  wide.data.data_type = dnnl_f32;  // the partial sums are float32 also for half-width dtypes
  dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct, d.x, wide, d.y,
                                                d.strides, d.dilation, d.pad_before, d.pad_after);
  return {desc, onednn::attributes(), onednn::engine(), forward(p, d)};
}

/// A part of the convolution that is itself a convolution: some of the images, or some of the
/// output rows of one image.
struct SubConvolution {
  ConvPlan plan;
  /// Where the part begins: the index of its first image, and of the first row in this image's
  /// input and output.
  int64_t image, in_row = 0, out_row = 0;
};

/// Splits the batch into slices of `images` images; the last one may be smaller.
std::vector<SubConvolution> slices_of(const ConvPlan& p, int64_t images) {
  std::vector<SubConvolution> pieces;
  for (int64_t first = 0; first < p.batch; first += images) {
    pieces.push_back({p, first}), pieces.back().plan.batch = std::min(images, p.batch - first);
  }
  return pieces;
}

/// The number of images per slice of the batch: there are at most `max_slices` slices, each with at
/// least kMinFlops operations. The number depends on shapes only, not on threads.
int64_t images_per_slice(const ConvPlan& p, int64_t max_slices) {
  const double flops_per_image = p.flops() / static_cast<double>(p.batch);
  return std::clamp(std::max((p.batch + max_slices - 1) / max_slices,
                             static_cast<int64_t>(kMinFlops / flops_per_image)),
                    int64_t{1}, p.batch);
}
std::vector<SubConvolution> slices(const ConvPlan& p) {
  return slices_of(p, images_per_slice(p, kMaxSlices));
}

/// The slices of the batch, each with a partial gradient of the kernel. There are few slices,
/// unless each sum would then be long; in this case there are as many as the memory for partial
/// gradients permits.
std::vector<SubConvolution> gradient_slices(const ConvPlan& p) {
  const size_t kernel_bytes = p.kernel_size() * sizeof(float);
  const int64_t max_slices =
      std::max<int64_t>(2, static_cast<int64_t>(kMaxPartialBytes / kernel_bytes));
  const int64_t images = images_per_slice(p, std::min(max_slices, kMaxPartialGradients));
  const int64_t images_of_short_sums = std::max<int64_t>(1, kMaxTerms / p.out_pixels());
  return slices_of(
      p, std::min(images, std::max(images_of_short_sums, (p.batch + max_slices - 1) / max_slices)));
}

/// The sub-convolution for output rows [first, last) of an image, with the padding that these rows
/// need.
SubConvolution rows_of(const ConvPlan& p, int64_t image, int64_t first, int64_t last) {
  SubConvolution piece{p, image};
  piece.plan.batch = 1;
  ConvPlan::Axis& h = piece.plan.axes[1];
  const int64_t begin = first * h.stride - h.pad_before;
  const int64_t end = (last - 1) * h.stride - h.pad_before + (h.kernel - 1) * h.dilation + 1;
  piece.in_row = std::clamp<int64_t>(begin, 0, h.in), piece.out_row = first;
  const int64_t in_end = std::clamp<int64_t>(end, piece.in_row, h.in);
  h.pad_before = piece.in_row - begin, h.pad_after = end - in_end, h.in = in_end - piece.in_row,
  h.out = last - first;
  return piece;
}

/// The sub-convolutions of a forward pass: slices of the batch, or pieces of rows if there are few
/// images with many rows.
std::vector<SubConvolution> forward_pieces(const ConvPlan& p) {
  const double flops_per_image = p.flops() / static_cast<double>(p.batch);
  const int64_t rows = p.axes[1].out, kernel_rows = (p.axes[1].kernel - 1) * p.axes[1].dilation + 1;
  const int64_t parts =
      std::min({(kMinRowPieces + p.batch - 1) / p.batch, rows / std::max<int64_t>(kernel_rows, 4),
                static_cast<int64_t>(flops_per_image / kMinRowFlops)});
  if (p.spatial_rank != 2 || parts < 2) return slices(p);
  std::vector<SubConvolution> pieces;
  for (int64_t image = 0; image < p.batch; ++image) {
    for (int64_t i = 0; i < parts; ++i)
      pieces.push_back(rows_of(p, image, rows * i / parts, rows * (i + 1) / parts));
  }
  return pieces;
}

const char* require_fast(const char* implementation) {
  if (onednn::is_reference(implementation))
    throw dnnl::error(dnnl_unimplemented, "only reference code");
  return implementation;
}

/// Reorders a kernel from one layout to another.
class Reorder final : public Kernel {
 public:
  Reorder(const memory::desc& from, const memory::desc& to)
      : form_("onednn " + description_bytes(from) + description_bytes(to)), bytes_(to.get_size()) {
    dnnl::reorder::primitive_desc reorder(onednn::engine(), from, onednn::engine(), to,
                                          onednn::attributes());
    primitive_ = primitives_.add(dnnl::reorder(reorder), reorder,
                                 {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }
  std::string name() const override { return "onednn reorder"; }
  void run(const Arguments& a) const override { run(a.inputs[0], a.outputs[0]); }
  void run(const std::byte* from, std::byte* to) const {
    onednn::Primitives::Region(primitives_, 1).run(0, primitive_, {from, to});
  }
  size_t bytes() const { return bytes_; }  ///< bytes of the reordered kernel
  /// A text that identifies the layouts of the kernel before and after reordering.
  const std::string& form() const { return form_; }

 private:
  static std::string description_bytes(const memory::desc& layout) {
    return {reinterpret_cast<const char*>(&layout.data), sizeof layout.data};
  }

  std::string form_;
  onednn::Primitives primitives_;
  int primitive_;
  size_t bytes_;
};

/// The base of the kernels for all passes: holds the sub-convolutions and the oneDNN primitives
/// that compute them.
class PiecewiseConvolution : public Kernel {
 public:
  PiecewiseConvolution(const Request& r, std::vector<SubConvolution> pieces)
      : plan_(r), pieces_(std::move(pieces)) {}
  std::string name() const override { return "onednn " + implementation_; }
  double flops() const override { return plan_.flops(); }

 protected:
  /// Adds one primitive for each different size of piece: add(plan, descriptions) adds a primitive
  /// and returns its index.
  template <class F>
  void add_primitives(F&& add) {
    std::vector<std::pair<PrimitiveDescriptions, int>> added_descriptions;
    for (const SubConvolution& piece : pieces_) {
      const PrimitiveDescriptions d(piece.plan);
      auto is_equal = [&](const auto& k) {
        return k.first.x == d.x && k.first.y == d.y && k.first.pad_before == d.pad_before &&
               k.first.pad_after == d.pad_after;
      };
      auto found = std::find_if(added_descriptions.begin(), added_descriptions.end(), is_equal);
      if (found == added_descriptions.end())
        added_descriptions.emplace_back(d, add(piece.plan, d)),
            found = added_descriptions.end() - 1;
      primitive_indices_.push_back(found->second);
    }
  }
  size_t x_offset(const SubConvolution& p) const {
    const int64_t row = p.image * plan_.axes[0].in * plan_.axes[1].in + p.in_row;
    return static_cast<size_t>(row * plan_.axes[2].in * plan_.in_channels) * size_of(plan_.dtype);
  }
  size_t y_offset(const SubConvolution& p) const {
    const int64_t row = p.image * plan_.axes[0].out * plan_.axes[1].out + p.out_row;
    return static_cast<size_t>(row * plan_.axes[2].out * plan_.out_channels) * size_of(plan_.dtype);
  }
  /// Calls f(piece, index of the piece, run) for all pieces on the threads of the pool;
  /// run(addresses) executes the primitive of the piece.
  template <class F>
  void for_each_piece(const Arguments& a, F&& f) const {
    const onednn::Primitives::Region region(primitives_, a.threads.threads());
    a.threads.parallel(
        static_cast<int64_t>(pieces_.size()),
        [&](int64_t i, int worker) {
          f(pieces_[i], i, [&](std::initializer_list<const void*> addresses) {
            region.run(worker, primitive_indices_[i], addresses);
          });
        },
        region.workers());
  }

  ConvPlan plan_;
  std::vector<SubConvolution> pieces_;
  std::string implementation_;
  onednn::Primitives primitives_;

 private:
  // for each piece, the index of its primitive in the list that add_primitives() fills
  std::vector<int> primitive_indices_;
};

/// The forward pass and the gradient of images: the pieces are independent and all use the same
/// kernel.
class OnednnImageConvolution final : public PiecewiseConvolution {
 public:
  OnednnImageConvolution(const Request& r, std::vector<SubConvolution> pieces)
      : PiecewiseConvolution(r, std::move(pieces)), is_forward_(plan_.pass == ConvPass::forward) {
    const ConvPlan& first = pieces_[0].plan;
    const PrimitiveDescriptions d(first);
    kernel_layout_ =
        is_forward_ ? forward(first, d).weights_desc() : backward_data(first, d).weights_desc();
    if (kernel_layout_ != d.kernel) reorder_ = std::make_unique<Reorder>(d.kernel, kernel_layout_);
    add_primitives([&](const ConvPlan& p, const PrimitiveDescriptions& descriptions) {
      return is_forward_ ? add_forward(p, descriptions) : add_backward(p, descriptions);
    });
  }

  InputConversion prepare(int input) override {
    if (input != 1 || !reorder_) return {};
    const TensorSpec spec{DType::uint8, {static_cast<int64_t>(reorder_->bytes())}};
    std::string form = reorder_->form();
    // After prepare(), run() receives the reordered kernel.
    return {std::move(reorder_), spec, std::move(form)};
  }
  void run(const Arguments& a) const override {
    if (reorder_) reorder_->run(a.inputs[1], a.scratch);
    const std::byte* kernel = reorder_ ? a.scratch : a.inputs[1];
    for_each_piece(a, [&](const SubConvolution& piece, int64_t, auto run) {
      const std::byte* from = a.inputs[0] + (is_forward_ ? x_offset(piece) : y_offset(piece));
      std::byte* to = a.outputs[0] + (is_forward_ ? y_offset(piece) : x_offset(piece));
      plan_.has_bias ? run({from, kernel, to, a.inputs[2]}) : run({from, kernel, to});
      if (plan_.is_relu_masked) return apply_mask(piece, a);
      if (plan_.activation != ActivationKind::relu) return;
      onednn::apply_relu(plan_.dtype, to,
                         piece.plan.batch * piece.plan.out_pixels() * plan_.out_channels);
    });
  }
  size_t scratch_bytes() const override { return reorder_ ? reorder_->bytes() : 0; }

 private:
  /// Sets the gradient of a piece to 0 where the gate, input 2, is not positive, while the piece is
  /// in the cache.
  void apply_mask(const SubConvolution& piece, const Arguments& a) const {
    const int64_t count = piece.plan.batch * piece.plan.in_pixels() * plan_.in_channels;
    const size_t offset = x_offset(piece);
    combine(Combine::mask, reinterpret_cast<const float*>(a.inputs[2] + offset), count, 1, count,
            reinterpret_cast<float*>(a.outputs[0] + offset), count);
  }
  int add_forward(const ConvPlan& p, const PrimitiveDescriptions& d) {
    auto desc = forward(p, d);
    check_implementation(desc.impl_info_str(), desc.weights_desc());
    onednn::Arguments arguments = {
        {DNNL_ARG_SRC, d.x}, {DNNL_ARG_WEIGHTS, kernel_layout_}, {DNNL_ARG_DST, d.y}};
    if (plan_.has_bias) arguments.emplace_back(DNNL_ARG_BIAS, d.bias);
    return primitives_.add(dnnl::convolution_forward(desc), desc, arguments);
  }
  int add_backward(const ConvPlan& p, const PrimitiveDescriptions& d) {
    auto desc = backward_data(p, d);
    check_implementation(desc.impl_info_str(), desc.weights_desc());
    return primitives_.add(
        dnnl::convolution_backward_data(desc), desc,
        {{DNNL_ARG_DIFF_DST, d.y}, {DNNL_ARG_WEIGHTS, kernel_layout_}, {DNNL_ARG_DIFF_SRC, d.x}});
  }
  /// Fails unless the primitive `implementation` is a fast one and uses the same kernel layout as
  /// the pieces before.
  void check_implementation(const char* implementation, const memory::desc& kernel) {
    implementation_ = require_fast(implementation);
    if (kernel != kernel_layout_)
      throw dnnl::error(dnnl_unimplemented, "pieces want different kernels");
  }

  bool is_forward_;
  memory::desc kernel_layout_;
  std::unique_ptr<Reorder> reorder_;  ///< null if the kernel needs no reordering
};

class OnednnKernelGradient final : public PiecewiseConvolution {
 public:
  explicit OnednnKernelGradient(const Request& r)
      : PiecewiseConvolution(r, gradient_slices(ConvPlan(r))) {
    const PrimitiveDescriptions d(pieces_[0].plan);
    kernel_layout_ = backward_kernel(pieces_[0].plan, d).diff_weights_desc();
    memory::desc result = d.kernel;
    result.data.data_type = static_cast<dnnl_data_type_t>(onednn::type_of(r.outputs[0].dtype));
    reorder_ = std::make_unique<Reorder>(kernel_layout_, result);
    add_primitives([&](const ConvPlan& p, const PrimitiveDescriptions& descriptions) {
      return add_primitive(p, descriptions);
    });
  }

  void run(const Arguments& a) const override {
    for_each_piece(a, [&](const SubConvolution& piece, int64_t i, auto run) {
      run({a.inputs[0] + x_offset(piece), a.inputs[1] + y_offset(piece), partial_gradient(a, i)});
    });
    const int64_t count = static_cast<int64_t>(pieces_.size());
    a.threads.blocks(values(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = 1; i < count; ++i)
        accumulate(partial_gradient(a, 0) + begin, partial_gradient(a, i) + begin, end - begin);
    });
    reorder_->run(reinterpret_cast<const std::byte*>(partial_gradient(a, 0)), a.outputs[0]);
  }
  size_t scratch_bytes() const override {
    return pieces_.size() * static_cast<size_t>(partial_stride()) * sizeof(float);
  }

 private:
  int64_t values() const { return static_cast<int64_t>(kernel_layout_.get_size() / sizeof(float)); }
  int64_t partial_stride() const { return (values() + 15) / 16 * 16; }
  float* partial_gradient(const Arguments& a, int64_t i) const {
    return reinterpret_cast<float*>(a.scratch) + i * partial_stride();
  }
  int add_primitive(const ConvPlan& p, const PrimitiveDescriptions& d) {
    auto desc = backward_kernel(p, d);
    implementation_ = require_fast(desc.impl_info_str());
    if (desc.diff_weights_desc() != kernel_layout_)
      throw dnnl::error(dnnl_unimplemented, "pieces want different kernels");
    return primitives_.add(
        dnnl::convolution_backward_weights(desc), desc,
        {{DNNL_ARG_SRC, d.x}, {DNNL_ARG_DIFF_DST, d.y}, {DNNL_ARG_DIFF_WEIGHTS, kernel_layout_}});
  }

  memory::desc kernel_layout_;
  std::unique_ptr<Reorder> reorder_;
};

/// Whether oneDNN 2.6.3 computes this bfloat16 convolution wrongly: with three spatial axes it
/// gives wrong gradients or crashes; without AMX tiles it reads uninitialized memory for gradients
/// of the kernel if a stride exceeds the row length, and gives wrong gradients of the image for 1x1
/// kernels with an odd number of filters.
bool is_computed_wrongly(const ConvPlan& plan) {
  if (plan.dtype != DType::bfloat16) return false;
  const ConvPlan::Axis& row = plan.axes[2];
  const bool is_pointwise_kernel = std::all_of(plan.axes.begin(), plan.axes.end(),
                                               [](const auto& axis) { return axis.kernel == 1; });
  const bool is_odd = plan.out_channels / plan.groups % 2 == 1;
  return plan.spatial_rank == 3 ||
         (plan.pass == ConvPass::backward_kernel && row.in < row.stride) ||
         (plan.pass == ConvPass::backward_data && is_pointwise_kernel && is_odd);
}

}  // namespace

std::unique_ptr<Kernel> make_onednn_convolution(const Request& r) {
  const ConvPlan plan(r);
  if (!r.options.onednn || onednn::type_of(plan.dtype) == memory::data_type::undef || plan.empty())
    return nullptr;
  if (r.inputs[1].dtype != plan.dtype) return nullptr;
  if (plan.is_relu_masked && (plan.dtype != DType::float32 || r.inputs[2].dtype != DType::float32))
    return nullptr;
  if (is_computed_wrongly(plan)) return nullptr;
  return onednn::kernel_if_known("convolution", [&]() -> std::unique_ptr<Kernel> {
    if (plan.pass == ConvPass::backward_kernel) return std::make_unique<OnednnKernelGradient>(r);
    if (plan.pass == ConvPass::backward_data)
      return std::make_unique<OnednnImageConvolution>(r, slices(plan));
    return std::make_unique<OnednnImageConvolution>(r, forward_pieces(plan));
  });
}

}  // namespace crescent::cpu
