#include "crescent/layer/input_spec.h"

#include "layer/batch_axis.h"

namespace crescent {
namespace {

std::string axes_text(const std::vector<std::pair<int, int64_t>>& axes) {
  std::vector<std::string> items;
  for (const auto& [axis, dim] : axes) items.push_back(concat(axis, ": ", dim));
  return "{" + join(items) + "}";
}

/// Returns the size of an axis, where a negative axis counts from the end; -1 if the size is
/// unknown or there is no such axis.
int64_t dim_at(const Shape& shape, int axis) {
  const int i = axis < 0 ? axis + shape.rank() : axis;
  return i >= 0 && i < shape.rank() ? shape[i] : -1;
}

bool sizes_differ(int64_t wanted_size, int64_t found_size) {
  return wanted_size >= 0 && found_size >= 0 && wanted_size != found_size;
}

}  // namespace

InputSpec::InputSpec() = default;
InputSpec::InputSpec(const InputSpec&) = default;
InputSpec::InputSpec(InputSpec&&) noexcept = default;
InputSpec& InputSpec::operator=(const InputSpec&) = default;
InputSpec& InputSpec::operator=(InputSpec&&) noexcept = default;
InputSpec::~InputSpec() = default;

InputSpec InputSpec::with_ndim(int ndim) {
  InputSpec spec;
  spec.ndim = ndim;
  return spec;
}

InputSpec InputSpec::with_min_ndim(int ndim) {
  InputSpec spec;
  spec.min_ndim = ndim;
  return spec;
}

InputSpec& InputSpec::axis(int axis, int64_t dim) {
  axes.emplace_back(axis, dim);
  return *this;
}

void InputSpec::check(int index, const std::string& layer, const TensorSpec& input) const {
  auto refuse = [&](const auto&... pieces) {
    fail_in_layer(layer, "Input ", index, " is incompatible with layer ", layer, ": expected ",
                  pieces...);
  };
  const int rank = input.shape.rank();
  const std::optional<int> wanted_rank = shape && !ndim ? shape->rank() : ndim;
  auto refuse_rank = [&](const char* what, int expected) {
    refuse(what, expected, ", found ndim=", rank, ". Full shape received: ", input.shape,
           rank > 0 && rank + 1 == expected && input.shape[0] >= 0 ? kBatchAxisHint : "");
  };
  if (wanted_rank && *wanted_rank != rank) refuse_rank("ndim=", *wanted_rank);
  if (max_ndim && rank > *max_ndim) refuse_rank("max_ndim=", *max_ndim);
  if (min_ndim && rank < *min_ndim) refuse_rank("min_ndim=", *min_ndim);
  if (dtype && *dtype != input.dtype) refuse("dtype=", *dtype, ", found dtype=", input.dtype);
  for (const auto& [axis, dim] : axes)
    if (sizes_differ(dim, dim_at(input.shape, axis)))
      refuse("axis ", axis, " of input shape to have value ", dim, " but got shape ", input.shape);
  for (int i = 0; shape && i < shape->rank(); ++i)
    if (sizes_differ((*shape)[i], input.shape[i]))
      refuse("shape=", *shape, ", found shape=", input.shape);
}

std::string to_text(const InputSpec& spec) {
  std::vector<std::string> items;
  if (spec.dtype) items.push_back(concat("dtype=", *spec.dtype));
  if (spec.shape) items.push_back(concat("shape=", *spec.shape));
  if (spec.ndim || spec.shape)
    items.push_back(concat("ndim=", spec.ndim ? *spec.ndim : spec.shape->rank()));
  if (spec.max_ndim) items.push_back(concat("max_ndim=", *spec.max_ndim));
  if (spec.min_ndim) items.push_back(concat("min_ndim=", *spec.min_ndim));
  if (!spec.axes.empty()) items.push_back("axes=" + axes_text(spec.axes));
  return "InputSpec(" + join(items) + ")";
}

}  // namespace crescent
