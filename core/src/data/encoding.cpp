#include "crescent/data/encoding.h"

#include <algorithm>

#include "crescent/ops/ops.h"

namespace crescent {

Tensor to_categorical(const Tensor& y, std::optional<int64_t> num_classes) {
  const Tensor labels = y.rank() > 1 && y.dim(-1) == 1 ? ops::squeeze(y, -1) : y;
  if (!num_classes && labels.size() == 0)
    fail("to_categorical: expected num_classes for an empty tensor");
  const double largest_class =
      num_classes ? static_cast<double>(*num_classes) - 1 : ops::max(labels).item();
  if (!(largest_class >= -1 && largest_class < 9e18))
    fail("to_categorical: expected class numbers, got ", largest_class);
  const int64_t class_count = static_cast<int64_t>(largest_class) + 1;
  return ops::one_hot(ops::check_indices(labels, class_count, "to_categorical: class",
                                         concat(class_count, " classes")),
                      class_count);
}

Tensor normalize(const Tensor& x, int axis, double order) {
  const Tensor norm =
      order == 2 ? ops::norm(x, {axis}, true)
                 : ops::power(ops::sum(ops::power(ops::abs(x), order), {axis}, true), 1 / order);
  return x / ops::where(ops::equal(norm, 0), 1.0, norm);
}

Tensor pad_sequences(std::span<const std::vector<double>> sequences, std::optional<int64_t> maxlen,
                     DType dtype, const std::string& padding, const std::string& truncating,
                     double value) {
  for (const std::string& side : {padding, truncating})
    if (side != "pre" && side != "post")
      fail("pad_sequences: expected 'pre' or 'post', got '", side, "'");
  if (maxlen && *maxlen < 0) fail("pad_sequences: maxlen must not be negative, got ", *maxlen);
  size_t width = maxlen.value_or(0);
  if (!maxlen)
    for (const auto& sequence : sequences) width = std::max(width, sequence.size());
  Tensor result = Tensor::full(
      {static_cast<int64_t>(sequences.size()), static_cast<int64_t>(width)}, value, DType::float64);
  double* values = result.mutable_data<double>();
  for (const auto& sequence : sequences) {
    const size_t count = std::min(width, sequence.size());
    const size_t source_begin = truncating == "pre" ? sequence.size() - count : 0,
                 target_begin = padding == "pre" ? width - count : 0;
    std::copy_n(sequence.begin() + static_cast<ptrdiff_t>(source_begin), count,
                values + target_begin);
    values += width;
  }
  return ops::cast(result, dtype);
}

}  // namespace crescent
