#include "ops/windows.h"

namespace crescent {

int64_t window_count(int64_t length, int64_t window, const ConvSpec& spec, size_t axis) {
  if (length < 0) return -1;
  const int64_t padded_length = length + spec.pad_before[axis] + spec.pad_after[axis];
  return padded_length < window ? 0 : (padded_length - window) / spec.strides[axis] + 1;
}

void expect_spatial(std::string_view op, const ConvSpec& spec, size_t axis_count) {
  for (const auto* values : {&spec.strides, &spec.dilation, &spec.pad_before, &spec.pad_after}) {
    if (values->size() != axis_count)
      fail(op, ": expected a value for each of ", axis_count, " spatial axes, got ",
           values->size());
  }
  for (size_t i = 0; i < axis_count; ++i) {
    for (const auto* values : {&spec.strides, &spec.dilation, &spec.pad_before, &spec.pad_after}) {
      if ((*values)[i] > kMaxLength)
        fail(op, ": ", (*values)[i], " is too large for a stride, dilation or padding");
    }
    if (spec.strides[i] < 1) fail(op, ": strides must be at least 1, got ", spec.strides[i]);
    if (spec.dilation[i] < 1) fail(op, ": dilation must be at least 1, got ", spec.dilation[i]);
    if (spec.pad_before[i] < 0 || spec.pad_after[i] < 0) fail(op, ": padding cannot be negative");
  }
  if (spec.groups < 1 || spec.groups > kMaxLength)
    fail(op, ": groups must be at least 1, got ", spec.groups);
}

Shape with_batch(Shape shape, int64_t batch) {
  if (shape[0] < 0) shape.set(0, batch);
  return shape;
}

std::vector<int64_t> per_axis(std::string_view op, std::vector<int64_t> values, size_t axis_count,
                              std::string_view what) {
  if (values.size() == 1) values.resize(axis_count, values[0]);
  if (values.size() != axis_count)
    fail(op, ": expected ", axis_count, " ", what, ", got ", values.size());
  for (int64_t value : values) {
    if (value < 0 || value > kMaxLength) fail(op, ": ", what, " cannot be ", value);
  }
  return values;
}

void append_padding(ConvSpec& spec, int64_t padding_sum) {
  spec.pad_before.push_back(padding_sum / 2);
  spec.pad_after.push_back(padding_sum - padding_sum / 2);
}

void pad_axis(ConvSpec& spec, ops::Padding padding, int64_t length, int64_t window,
              int64_t stride) {
  if (padding == ops::Padding::causal) {
    spec.pad_before.push_back(window - 1);
    spec.pad_after.push_back(0);
    return;
  }
  const bool is_padded = padding == ops::Padding::same && length >= 0;
  const int64_t last_start = is_padded ? ((length + stride - 1) / stride - 1) * stride : 0;
  append_padding(spec, is_padded ? std::max<int64_t>(last_start + window - length, 0) : 0);
}

size_t ConvSpec::hash() const {
  size_t seed = groups;
  for (const auto* field_values : {&strides, &dilation, &pad_before, &pad_after})
    detail::mix(seed, detail::hash_field(*field_values));
  return seed;
}

std::string to_text(const ConvSpec& spec) {
  auto list_text = [](const std::vector<int64_t>& values) { return detail::field_text(values); };
  return concat("strides ", list_text(spec.strides), " pads ", list_text(spec.pad_before),
                list_text(spec.pad_after), " dilation ", list_text(spec.dilation), " groups ",
                spec.groups);
}

}  // namespace crescent
