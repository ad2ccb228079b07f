#include "tiling/cut.h"

#include <algorithm>

#include "crescent/device/lowered_ops.h"
#include "kernel/post_ops.h"
#include "normalization/batch_norm_parts.h"

namespace crescent::cpu {
namespace {

bool is_float32(const TensorSpecs& specs) {
  return std::all_of(specs.begin(), specs.end(),
                     [](const TensorSpec& s) { return s.dtype == DType::float32; });
}

/// The cut of an elementwise op into slices along the batch. Inputs without a batch axis are not
/// divided: each slice gets them whole and broadcasts them.
Cut cut_of_elementwise(const TensorSpecs& in, const TensorSpecs& out) {
  const Shape& shape = out[0].shape;
  Cut cut{{}, std::vector<SliceRole>(out.size(), SliceRole::rows)};
  for (const TensorSpec& spec : in) {
    const bool is_divided = spec.shape.rank() == shape.rank() && spec.shape[0] == shape[0];
    cut.inputs.push_back(is_divided ? SliceRole::rows : SliceRole::whole);
  }
  return cut;
}

const ConvSpec* convolution_of(const Op& base) {
  if (auto* op = as<Conv>(base)) return &op->spec;
  if (auto* op = as<ConvBackwardData>(base)) return &op->spec;
  if (auto* op = as<ConvBackwardKernel>(base)) return &op->spec;
  return nullptr;
}

/// Whether a convolution's kernel is small compared to the images. With a large kernel slices are
/// slow, because each slice of the batch reads the whole kernel, or writes a gradient of its size.
/// Only pointwise and grouped convolutions are accepted: other ones may use Winograd's algorithm,
/// which does more work on the kernel.
bool has_light_kernel(const ConvSpec& spec, const TensorSpec& kernel, int64_t images) {
  constexpr int64_t kMinImagesPerWeight = 64;
  const Shape& shape = kernel.shape;
  const bool is_pointwise = shape.slice(0, shape.rank() - 2).size() == 1;
  return (is_pointwise || spec.groups > 1) && shape.size() * kMinImagesPerWeight <= images;
}

std::optional<Cut> cut_of_convolution(const Op& op, const ConvSpec& spec, const TensorSpecs& in,
                                      const TensorSpecs& out) {
  const PostOps post(op);
  const bool is_gradient = as<ConvBackwardKernel>(base_of(op));
  if (post.has_moments || post.mixed != Mixed::no || (is_gradient && &base_of(op) != &op))
    return {};
  const TensorSpec &kernel = is_gradient ? out[0] : in[1], &other = is_gradient ? in[1] : out[0];
  if (in[0].shape.rank() < 3 ||
      !has_light_kernel(spec, kernel, in[0].shape.size() + other.shape.size()))
    return {};
  if (is_gradient) return Cut{{SliceRole::rows, SliceRole::rows}, {SliceRole::sum}};
  Cut cut{{SliceRole::rows, SliceRole::whole}, {SliceRole::rows}};
  if (auto* with_post_ops = as<WithPostOps>(op)) {
    for (PostOp post_op : with_post_ops->post) {
      if (reads_input(post_op))
        cut.inputs.push_back(post_op == PostOp::bias ? SliceRole::whole : SliceRole::rows);
    }
  }
  return cut;
}

}  // namespace

bool is_elementwise(const Op& op) {
  const auto* fused_op = as<Fused>(op);
  const auto scatters = [](const FusedStep& s) { return s.kind == FusedStep::Kind::scatter; };
  if (fused_op) return std::none_of(fused_op->steps.begin(), fused_op->steps.end(), scatters);
  return as<Unary>(op) || as<Binary>(op);
}

std::optional<Cut> cut_of(const Op& op, const TensorSpecs& in, const TensorSpecs& out) {
  if (in.empty() || out.empty() || !is_float32(in) || !is_float32(out)) return {};
  if (is_elementwise(op) && out[0].shape.rank() > 1) return cut_of_elementwise(in, out);
  if (as<BatchMoments>(op)) return Cut{{SliceRole::rows}, {SliceRole::mean, SliceRole::variance}};
  if (as<BatchNormSums>(op))
    return Cut{{SliceRole::rows, SliceRole::rows, SliceRole::whole},
               {SliceRole::sum, SliceRole::sum}};
  if (as<BatchNormGradient>(op)) {
    Cut cut{std::vector<SliceRole>(in.size(), SliceRole::whole), {SliceRole::rows}};
    cut.inputs[0] = cut.inputs[1] = SliceRole::rows;
    return cut;
  }
  const ConvSpec* spec = convolution_of(base_of(op));
  return spec ? cut_of_convolution(op, *spec, in, out) : std::nullopt;
}

namespace {

/// Returns a copy of the op whose attributes are changed by set_rows(copy) to another batch size;
/// null if the op is not a T.
template <class T, class F>
OpPtr changed_copy(const Op& op, const F& set_rows) {
  auto* typed_op = as<T>(op);
  if (!typed_op) return nullptr;
  auto result = std::make_shared<T>(*typed_op);
  set_rows(*result);
  return result;
}

}  // namespace

OpPtr with_rows(const OpPtr& op, int64_t rows) {
  const auto set_rows = [rows](auto& op_with_shape) { op_with_shape.shape.set(0, rows); };
  if (OpPtr changed_op =
          changed_copy<WithPostOps>(*op, [rows](auto& w) { w.op = with_rows(w.op, rows); }))
    return changed_op;
  if (OpPtr changed_op =
          changed_copy<ConvBackwardData>(*op, [rows](auto& d) { d.input.set(0, rows); }))
    return changed_op;
  if (OpPtr changed_op = changed_copy<Slice>(*op, [rows](auto& s) { s.size[0] = rows; }))
    return changed_op;
  for (auto* copy_with_rows :
       {changed_copy<Fused, decltype(set_rows)>, changed_copy<Reshape, decltype(set_rows)>,
        changed_copy<BroadcastTo, decltype(set_rows)>, changed_copy<Fill, decltype(set_rows)>}) {
    if (OpPtr changed_op = copy_with_rows(*op, set_rows)) return changed_op;
  }
  return op;
}

}  // namespace crescent::cpu
