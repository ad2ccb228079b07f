// Generators of random calls (CallGenerator in draft.h) for functions that read and write at
// indices, such as gather and scatter.
#include "crescent/ops/ops.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

/// Indices from 0 to size - 1, of this shape.
int indices(Draft& d, const Shape& shape, int64_t size) {
  constexpr DType kDTypes[] = {DType::int32, DType::int64, DType::uint8};
  const DType dtype = size > 200 ? DType::int32 : d.choices.one_of(kDTypes);
  const int integers = d.input({DType::int32, shape});
  const int indices_in_range = d.call("mod", {{"x1", integers}, {"x2", Value(size)}});
  return dtype == DType::int32
             ? indices_in_range
             : d.call("cast", {{"x", indices_in_range}, {"dtype", Value(name_of(dtype))}});
}

int axis_from_0(Draft& d, int x, int from = 0) {
  if (d.shape(x).rank() <= from) fail("no axis");
  return from + static_cast<int>(d.choices.below(d.shape(x).rank() - from));
}

int take(Draft& d) {
  const int x = d.numeric_value(), axis = axis_from_0(d, x);
  const Shape shape = d.shape_of_rank(1 + static_cast<int>(d.choices.below(2)));
  const int positions = indices(d, shape, d.shape(x)[axis]);
  return d.call("take", {{"x", x}, {"indices", positions}, {"axis", Value(axis)}});
}

int take_along_axis(Draft& d) {
  const int x = d.numeric_value(), axis = axis_from_0(d, x);
  Shape shape = d.shape(x);
  const int64_t n = shape[axis];
  shape.set(axis, 1 + d.choices.below(n + 2));
  if (shape.size() > d.max_elements()) fail("too large");
  const int positions = indices(d, shape, n);
  return d.call("take_along_axis", {{"x", x}, {"indices", positions}, {"axis", Value(axis)}});
}

int one_hot(Draft& d) {
  const int64_t depth = d.axis_length();
  const int positions = indices(d, d.shape_of_rank(static_cast<int>(d.choices.below(3))), depth);
  return d.call("one_hot", {{"x", positions}, {"num_classes", Value(depth)}});
}

int segment_function(Draft& d, const char* function) {
  int x = d.floating_value(1);
  // The factors are clipped, because whether a partial product overflows depends on their order.
  if (std::string_view(function) == "segment_prod")
    x = d.call("clip", {{"x", x}, {"x_min", Value(-1)}, {"x_max", Value(1)}});
  constexpr int64_t kSegments = 4;
  const int positions = indices(d, {d.shape(x)[0]}, kSegments);
  const int y = d.call(
      function, {{"data", x}, {"segment_ids", positions}, {"num_segments", Value(kSegments)}});
  return d.call("clip", {{"x", y}, {"x_min", Value(-30)}, {"x_max", Value(30)}});
}

int slice_update(Draft& d) {
  const int x = d.numeric_value();
  List start;
  Shape size;
  for (int64_t n : d.shape(x)) {
    size.append(1 + d.choices.below(n));
    start.push_back(Value(d.choices.below(n - size[-1] + 1)));
  }
  const int updates = d.input({d.dtype(x), size});
  return d.call("slice_update",
                {{"inputs", x}, {"start_indices", Value(start)}, {"updates", updates}});
}

int scatter_update(Draft& d) {
  const int x = d.floating_value(1);
  Shape shape = d.shape(x);
  const int64_t n = shape[0], count = 1 + d.choices.below(4);
  const int positions = indices(d, {count, 1}, n);
  shape.set(0, count);
  const int updates = d.input({d.dtype(x), shape});
  return d.call(
      "scatter_update",
      {{"inputs", x}, {"indices", positions}, {"updates", updates}, {"reduction", Value("add")}});
}

int in_top_k(Draft& d) {
  const int x = d.floating_value(2);
  if (d.shape(x).rank() != 2) fail("a matrix");
  const int positions = indices(d, {d.shape(x)[0]}, d.shape(x)[1]);
  return d.call("in_top_k", {{"targets", positions}, {"predictions", x}, {"k", Value(1)}});
}

int top_k(Draft& d) {
  const int x = d.floating_value(1);
  const int64_t k = 1 + d.choices.below(std::min<int64_t>(d.shape(x)[-1], 40));
  return d.call("top_k", {{"x", x}, {"k", Value(k)}}, static_cast<size_t>(d.choices.below(2)));
}

int searchsorted(Draft& d) {
  const int x = d.floating_value(1);
  if (d.shape(x).rank() != 1) fail("one axis");
  const int sorted_values = d.call("sort", {{"x", x}});
  return d.call("searchsorted",
                {{"sorted_sequence", sorted_values}, {"values", d.broadcasting_value(x)}});
}

int select(Draft& d) {
  const int x = d.numeric_value(), y = d.same_shape(x);
  const int a = d.call("greater", {{"x1", x}, {"x2", Value(0.5)}}),
            b = d.call("less", {{"x1", y}, {"x2", Value(0)}});
  return d.call("select",
                {{"condlist", std::vector<int>{a, b}}, {"choicelist", std::vector<int>{y, x}}});
}

/// Products with a matrix of weights, as the last layer of a network computes logits.
int logits_product(Draft& d) {
  const int x = d.floating_value(2);
  const int64_t classes = d.axis_length(), rows = d.shape(x).size() / d.shape(x)[-1];
  if (rows * classes > d.max_elements()) fail("too large");
  const int weights = d.input({d.dtype(x), {d.shape(x)[-1], classes}});
  return d.call("matmul", {{"x1", x}, {"x2", weights}});
}

/// Logits that are finite: results for empty segments are infinite and would become 0 or NaN with
/// targets of 0.
int logits(Draft& d) {
  const int x = d.choices.one_in(2) ? logits_product(d) : d.floating_value(1);
  return d.call("clip", {{"x", x}, {"x_min", Value(-1e30)}, {"x_max", Value(1e30)}});
}

int cross_entropy(Draft& d, bool has_sparse_targets) {
  const int x = logits(d);
  const Shape shape = d.shape(x);
  if (!has_sparse_targets) {
    const int y = d.call("softmax", {{"x", d.same_shape(x)}});
    return d.call("categorical_crossentropy",
                  {{"target", y}, {"output", x}, {"from_logits", Value(true)}});
  }
  const int labels = indices(d, shape.slice(0, shape.rank() - 1), shape[-1]);
  return d.call("sparse_categorical_crossentropy",
                {{"target", labels}, {"output", x}, {"from_logits", Value(true)}});
}

int binary_crossentropy(Draft& d) {
  const int x = d.floating_value(), y = d.call("sigmoid", {{"x", d.same_shape(x)}});
  return d.call("binary_crossentropy",
                {{"target", y}, {"output", x}, {"from_logits", Value(true)}});
}

/// Cross-entropy along the last axis, by the functions that only Crescent has.
int crescent_cross_entropy(Draft& d, bool has_sparse_targets) {
  const int x = logits(d);
  const Shape shape = d.shape(x);
  const int labels = has_sparse_targets ? indices(d, shape.slice(0, shape.rank() - 1), shape[-1])
                                        : d.call("softmax", {{"x", d.same_shape(x)}});
  return d.call(has_sparse_targets ? "sparse_softmax_cross_entropy" : "softmax_cross_entropy",
                {{"logits", x}, {"labels", labels}});
}

int scatter(Draft& d) {
  const int64_t rows = d.axis_length(), count = 1 + d.choices.below(9), width = d.axis_length();
  if (rows * width > d.max_elements()) fail("too large");
  const int positions = indices(d, {count, 1}, rows),
            values = d.input({d.floating_dtype(), {count, width}});
  return d.call("scatter", {{"indices", positions},
                            {"values", values},
                            {"shape", Value(List{Value(rows), Value(width)})}});
}

/// An embedding, which reads some rows of its table several times.
int embedding(Draft& d) {
  const int64_t word_count = d.axis_length();
  const int table = d.input({d.floating_dtype(), {word_count, d.axis_length()}});
  if (d.shape(table).size() > d.max_elements()) fail("too large");
  const int positions = indices(d, d.shape_of_rank(2), word_count);
  return d.call("take", {{"x", table}, {"indices", positions}, {"axis", Value(0)}});
}

/// Integers from `first` to first + count - 1.
int integers_from(Draft& d, const Shape& shape, int64_t first, int64_t count) {
  return d.call("add", {{"x1", indices(d, shape, count)}, {"x2", Value(first)}});
}

/// CTC loss of sequences that are long enough for every label with a blank after it.
int ctc_loss(Draft& d) {
  const int64_t batch = 1 + d.choices.below(3), max_labels = 1 + d.choices.below(3),
                classes = 2 + d.choices.below(4),
                step_count = 2 * max_labels + 1 + d.choices.below(3);
  const bool blank_is_first = d.choices.one_in(2);
  const int target = integers_from(d, {batch, max_labels}, blank_is_first ? 1 : 0, classes - 1);
  const int output = d.input({d.floating_dtype(), {batch, step_count, classes}});
  const int target_length = integers_from(d, {batch}, 1, max_labels),
            output_length = integers_from(d, {batch}, step_count - 1, 2);
  return d.call("ctc_loss", {{"target", target},
                             {"output", output},
                             {"target_length", target_length},
                             {"output_length", output_length},
                             {"mask_index", Value(blank_is_first ? 0 : classes - 1)}});
}

int ctc_decode(Draft& d) {
  const int64_t batch = 1 + d.choices.below(3), classes = 2 + d.choices.below(4),
                time = 1 + d.choices.below(9);
  const int inputs = d.input({d.floating_dtype(), {batch, time, classes}}),
            lengths = integers_from(d, {batch}, 1, time);
  const bool merges_repeated = d.choices.one_in(2);
  return d.call("ctc_decode",
                {{"inputs", inputs},
                 {"sequence_lengths", lengths},
                 {"strategy", Value("greedy")},
                 {"merge_repeated", Value(merges_repeated)},
                 {"mask_index", Value(d.choices.below(classes))}},
                static_cast<size_t>(d.choices.below(2)));
}

}  // namespace

std::vector<CallGenerator> indexing_generators() {
  std::vector<CallGenerator> rows{
      {"take", take},
      {"take_along_axis", take_along_axis},
      {"one_hot", one_hot},
      {"slice_update", slice_update},
      {"scatter_update", scatter_update},
      {"in_top_k", in_top_k},
      {"top_k", top_k},
      {"searchsorted", searchsorted},
      {"select", select},
      {"categorical_crossentropy", [](Draft& d) { return cross_entropy(d, false); }},
      {"sparse_categorical_crossentropy", [](Draft& d) { return cross_entropy(d, true); }},
      {"softmax_cross_entropy", [](Draft& d) { return crescent_cross_entropy(d, false); }},
      {"sparse_softmax_cross_entropy", [](Draft& d) { return crescent_cross_entropy(d, true); }},
      {"scatter", scatter},
      {"binary_crossentropy", binary_crossentropy},
      {"take", embedding},
      {"ctc_loss", ctc_loss},
      {"ctc_decode", ctc_decode},
  };
  for (const char* function : {"segment_sum", "segment_max", "segment_min", "segment_prod"})
    rows.push_back({function, [function](Draft& d) { return segment_function(d, function); }});
  return rows;
}

}  // namespace crescent::random_programs
