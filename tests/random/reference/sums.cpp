// Reference implementations of reductions and products.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "crescent/program/op_types.h"
#include "random/reference/reference.h"

namespace crescent::random_programs {
namespace {

/// A sum, and the error that the order of its terms may cause. The sum has more digits than
/// float64, because float64 results are checked too.
struct Sum {
  long double value = 0;
  double magnitude = 0, last_term = 0;
  int64_t term_count = 0, similar_count = 0;
  bool are_multiples_of_half = true;  ///< all terms are multiples of 1/2

  void add(double x) {
    value += x, magnitude += std::abs(x), ++term_count;
    are_multiples_of_half = are_multiples_of_half && x * 2 == std::floor(x * 2);
    similar_count += x != 0 && std::abs(x - last_term) <= std::abs(x) / 1024;
    last_term = x;
  }
  /// The magnitude of rounding errors. If neighbouring terms are nearly equal, they are rounded in
  /// the same direction, so that the errors add up.
  double error_magnitude(double roundings) const {
    return magnitude * (roundings + static_cast<double>(similar_count) / 24);
  }
  /// The sum rounded to the dtype, perturbed unless it is exact. It is not exact if the terms are
  /// scaled before the addition.
  double rounded(DType dtype, Rounding& rounding, bool is_scaled = false) const {
    return rounded(dtype, rounding, roundings_of_sum(term_count), is_scaled);
  }
  double rounded(DType dtype, Rounding& rounding, double roundings, bool is_scaled) const {
    const bool is_exact =
        are_multiples_of_half && !is_scaled && magnitude * 2 * unit_of(dtype) <= 1;
    if (!is_floating(dtype) || is_exact) return static_cast<double>(value);
    return rounding(static_cast<double>(value), dtype, 1, error_magnitude(roundings));
  }
};

/// For each element of the result, the offset in x at which the elements of its sum begin, and the
/// offsets of these elements relative to it. The axes of the result are those that are kept.
struct ReductionOffsets {
  std::vector<size_t> begins, elements;

  ReductionOffsets(const Shape& x, const std::vector<int>& axes) {
    const std::vector<int64_t> strides = strides_of(x);
    Shape kept_axes, reduced_axes;
    std::vector<int64_t> kept_strides, reduced_strides;
    for (int i = 0; i < x.rank(); ++i) {
      const bool is_reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
      (is_reduced ? reduced_axes : kept_axes).append(x[i]);
      (is_reduced ? reduced_strides : kept_strides).push_back(strides[static_cast<size_t>(i)]);
    }
    begins = all_offsets(kept_axes, kept_strides);
    elements = all_offsets(reduced_axes, reduced_strides);
  }

 private:
  static std::vector<size_t> all_offsets(const Shape& shape, const std::vector<int64_t>& strides) {
    std::vector<size_t> offsets(static_cast<size_t>(shape.size()));
    IndexIterator position(shape);
    for (size_t& offset_ : offsets) {
      int64_t at = 0;
      for (size_t i = 0; i < strides.size(); ++i) at += strides[i] * position.at()[i];
      offset_ = static_cast<size_t>(at);
      position.next();
    }
    return offsets;
  }
};

void refuse_nan(const Array& x) {
  for (double v : x.values)
    if (std::isnan(v)) throw Unreliable("NaN is compared");
}

double reduced_element(ReduceKind kind, const Array& x, size_t begin,
                       const std::vector<size_t>& elements, Rounding& rounding) {
  const DType dtype = x.spec.dtype;
  Sum sum;
  double product = 1, greatest = -INFINITY, smallest = INFINITY;
  bool any_nonzero = false, all_nonzero = true;
  for (size_t element : elements) {
    const double v = x.values[begin + element];
    sum.add(v);
    product *= v;
    greatest = std::max(greatest, v), smallest = std::min(smallest, v);
    any_nonzero = any_nonzero || v != 0, all_nonzero = all_nonzero && v != 0;
    if (kind == ReduceKind::prod && !is_floating(dtype)) {
      if (!(std::abs(product) < 0x1p53)) throw Unreliable("large integers");
      product = nearest(product, dtype);
    }
  }
  switch (kind) {
    case ReduceKind::sum:
      return sum.rounded(dtype, rounding);
    case ReduceKind::mean: {
      // A mean is never exact, because the means of parts of the elements are rounded.
      const double count = static_cast<double>(elements.size());
      return rounding(static_cast<double>(sum.value) / count, dtype, 2,
                      2 * sum.error_magnitude(roundings_of_sum(sum.term_count)) / count);
    }
    case ReduceKind::prod:
      return rounding(product, dtype, static_cast<double>(elements.size()));
    case ReduceKind::max:
      return greatest;
    case ReduceKind::min:
      return smallest;
    case ReduceKind::any:
      return any_nonzero;
    case ReduceKind::all:
      return all_nonzero;
  }
  throw Unreliable("an unknown kind");
}

void interpret_reduce(const Reduce& op, const Call& call) {
  const Array& x = *call.in[0];
  if (op.kind == ReduceKind::max || op.kind == ReduceKind::min) refuse_nan(x);
  const ReductionOffsets offsets(x.spec.shape, op.axes);
  for (size_t i = 0; i < offsets.begins.size(); ++i)
    call.out[0].values[i] =
        reduced_element(op.kind, x, offsets.begins[i], offsets.elements, call.rounding);
}

void interpret_arg_reduce(const ArgReduce& op, const Call& call) {
  const Array& x = *call.in[0];
  refuse_nan(x);
  const ReductionOffsets lines(x.spec.shape, {x.spec.shape.axis(op.axis)});
  for (size_t i = 0; i < lines.begins.size(); ++i) {
    size_t best_element = 0;
    const auto at = [&](size_t k) { return x.values[lines.begins[i] + lines.elements[k]]; };
    for (size_t k = 1; k < lines.elements.size(); ++k)
      if (op.max ? at(k) > at(best_element) : at(k) < at(best_element)) best_element = k;
    call.out[0].values[i] = static_cast<double>(best_element);
  }
}

void interpret_cumulative(const Cumulative& op, const Call& call) {
  const Array& x = *call.in[0];
  const ReductionOffsets lines(x.spec.shape, {x.spec.shape.axis(op.axis)});
  const size_t n = lines.elements.size();
  for (size_t begin : lines.begins) {
    Sum sum;
    for (size_t k = 0; k < n; ++k) {
      const size_t at = begin + lines.elements[op.reverse ? n - 1 - k : k];
      sum.add(x.values[at]);
      call.out[0].values[at] = sum.rounded(x.spec.dtype, call.rounding);
    }
  }
}

void interpret_top_k(const TopK& op, const Call& call) {
  const Array& x = *call.in[0];
  refuse_nan(x);
  const size_t n = static_cast<size_t>(x.spec.shape[-1]), k = static_cast<size_t>(op.k);
  std::vector<size_t> order(n);
  for (size_t row = 0; row * k < call.out[0].values.size(); ++row) {
    const double* values = x.values.data() + row * n;
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return values[a] > values[b]; });
    for (size_t i = 0; i < k; ++i) {
      call.out[0].values[row * k + i] = values[order[i]];
      call.out[1].values[row * k + i] = static_cast<double>(order[i]);
    }
  }
}

void interpret_scatter_add(const ScatterAdd& op, const Call& call) {
  const Array &indices = *call.in[0], &updates = *call.in[1];
  const Shape& shape = updates.spec.shape;
  const int end = op.axis + indices.spec.shape.rank();
  const size_t inner_size = static_cast<size_t>(shape.slice(end, shape.rank()).size()),
               count = indices.values.size(), size = static_cast<size_t>(op.size),
               outer_size = static_cast<size_t>(shape.slice(0, op.axis).size());
  std::vector<Sum> sums(call.out[0].values.size());
  for (size_t o = 0; o < outer_size; ++o) {
    for (size_t i = 0; i < count; ++i) {
      const double index = indices.values[i];
      if (!(index >= 0 && index < static_cast<double>(size)))
        throw Unreliable("an index out of range");
      for (size_t k = 0; k < inner_size; ++k)
        sums[(o * size + static_cast<size_t>(index)) * inner_size + k].add(
            updates.values[(o * count + i) * inner_size + k]);
    }
  }
  for (size_t i = 0; i < sums.size(); ++i)
    call.out[0].values[i] = sums[i].rounded(updates.spec.dtype, call.rounding,
                                            roundings_one_by_one(sums[i].term_count), false);
}

void interpret_matmul(const Matmul& op, const Call& call) {
  const Array &a = *call.in[0], &b = *call.in[1];
  Array& out = call.out[0];
  const Shape &shape_a = a.spec.shape, &shape_b = b.spec.shape, &out_shape = out.spec.shape;
  const std::vector<int64_t> strides_a = strides_of(shape_a), strides_b = strides_of(shape_b);
  const int64_t depth = shape_a[op.transpose_a ? -2 : -1];
  // The strides of rows, columns and the summed axis.
  const int64_t column_stride_a = strides_a.back(), row_stride_a = strides_a[strides_a.size() - 2],
                column_stride_b = strides_b.back(), row_stride_b = strides_b[strides_b.size() - 2];
  const int64_t a_m = op.transpose_a ? column_stride_a : row_stride_a,
                a_k = op.transpose_a ? row_stride_a : column_stride_a;
  const int64_t b_n = op.transpose_b ? row_stride_b : column_stride_b,
                b_k = op.transpose_b ? column_stride_b : row_stride_b;
  const auto offset = [&](const IndexIterator& position, const Shape& s,
                          const std::vector<int64_t>& t) {
    int64_t at = 0;
    const int missing_axes = out_shape.rank() - s.rank();
    for (int i = 0; i < s.rank() - 2; ++i)
      if (s[i] != 1)
        at += t[static_cast<size_t>(i)] * position.at()[static_cast<size_t>(i + missing_axes)];
    return at;
  };
  IndexIterator position(out_shape);
  for (double& y : out.values) {
    const int64_t m = position.at()[position.at().size() - 2], n = position.at().back();
    const double* left = a.values.data() + offset(position, shape_a, strides_a) + m * a_m;
    const double* right = b.values.data() + offset(position, shape_b, strides_b) + n * b_n;
    Sum sum;
    for (int64_t k = 0; k < depth; ++k) sum.add(left[k * a_k] * right[k * b_k]);
    y = sum.rounded(out.spec.dtype, call.rounding, call.is_scaled);
    position.next();
  }
}

}  // namespace

bool interpret_sums(const Call& call) {
  const std::string_view name = call.op.name();
  const auto interpret_as = [&]<class T>(void (*f)(const T&, const Call&)) {
    f(static_cast<const T&>(call.op), call);
  };
  if (name == Reduce::kName)
    interpret_as(interpret_reduce);
  else if (name == ArgReduce::kName)
    interpret_as(interpret_arg_reduce);
  else if (name == Cumulative::kName)
    interpret_as(interpret_cumulative);
  else if (name == TopK::kName)
    interpret_as(interpret_top_k);
  else if (name == ScatterAdd::kName)
    interpret_as(interpret_scatter_add);
  else if (name == Matmul::kName)
    interpret_as(interpret_matmul);
  else
    return false;
  return true;
}

}  // namespace crescent::random_programs
