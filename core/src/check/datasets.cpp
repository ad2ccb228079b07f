// Checks of classes of datasets: all elements of every pass have the same structure, except that
// the last one may have fewer rows, and each pass has as many elements as the dataset announces.
#include <algorithm>

#include "check/classes.h"
#include "crescent/base/structure.h"
#include "crescent/data/stream.h"
#include "data/streams/element_spec.h"
#include "host/provided_datasets.h"

namespace crescent::check {
namespace {

/// The largest number of elements that are checked in a pass.
constexpr int64_t kMaxCheckedElements = 1000;

struct Pass {
  int64_t element_count = 0;
  std::string spec_text;
  bool has_ended = false;
  bool has_short_end = false;  ///< whether the last element has fewer rows than the others
};

/// The length of the first axis of the first tensor in the spec; 0 if it has no tensor with axes.
int64_t first_length(const Element& spec) {
  for (const Value& leaf : leaves_of(spec))
    if (const auto boxed = leaf.object_as<BoxedTensor>())
      return boxed->tensor.rank() == 0 ? 0 : boxed->tensor.dim(0);
  return 0;
}

/// Whether an element is a batch that differs from the batch `whole_batch` only in having fewer
/// rows.
bool has_fewer_rows(const Element& spec, const Element& whole_batch) {
  const auto batch_text = [&](int64_t rows) {
    return to_text(batch_spec(row_spec(whole_batch), rows));
  };
  const int64_t rows = first_length(spec), all_rows = first_length(whole_batch);
  return 0 < rows && rows < all_rows && batch_text(all_rows) == to_text(whole_batch) &&
         batch_text(rows) == to_text(spec);
}

Pass pass_over(Stream& stream) {
  Pass pass;
  Element first_spec;
  const CursorPtr cursor = stream.open();
  for (Element element; pass.element_count < kMaxCheckedElements; ++pass.element_count) {
    pass.has_ended = !cursor->next(element);
    if (pass.has_ended) break;
    expect(!pass.has_short_end, "element ", pass.element_count,
           " has fewer rows than the first and is not the last");
    const Element element_spec = spec_of(element);
    if (pass.element_count == 0) first_spec = element_spec, pass.spec_text = to_text(first_spec);
    const std::string spec = to_text(element_spec);
    pass.has_short_end = has_fewer_rows(element_spec, first_spec);
    expect(spec == pass.spec_text || pass.has_short_end, "element ", pass.element_count + 1, " is ",
           spec, ", the first ", pass.spec_text);
  }
  return pass;
}

StreamPtr source_stream(const CheckedClass& checked) {
  return provided_dataset(checked.name, checked.options);
}

std::string check_elements(const CheckedClass& checked) {
  const StreamPtr stream = source_stream(checked);
  const Pass pass = pass_over(*stream);
  expect(pass.element_count > 0, "a pass has no elements");
  const int64_t reported_count = stream->elements();
  if (pass.has_ended && reported_count != Stream::kUnknown)
    expect(reported_count == pass.element_count, "a pass has ", pass.element_count,
           " elements, elements() is ", reported_count);
  return concat(pass.has_ended ? "" : "the first ", pass.element_count, " elements, ",
                pass.spec_text);
}

std::string check_passes(const CheckedClass& checked) {
  const StreamPtr stream = source_stream(checked);
  const Pass first_pass = pass_over(*stream), second_pass = pass_over(*stream);
  expect(first_pass.element_count == second_pass.element_count &&
             first_pass.spec_text == second_pass.spec_text,
         "a second pass has ", second_pass.element_count, " elements, ", second_pass.spec_text,
         ", the first ", first_pass.element_count, ", ", first_pass.spec_text);
  return "a second pass has as many";
}

std::string check_batches(const CheckedClass& checked) {
  const StreamPtr stream = source_stream(checked);
  const Pass pass = pass_over(*stream);
  WindowOptions window_options;
  window_options.size = std::clamp<int64_t>(pass.element_count - pass.has_short_end, 1, 3);
  const CursorPtr cursor = batch(stream, window_options)->open();
  Element batch_element;
  expect(cursor->next(batch_element), "there is no batch");
  return to_text(spec_of(batch_element));
}

}  // namespace

void add_dataset_rows(CheckReport& report, const CheckedClass& checked) {
  add_result(report, "elements", [&] { return check_elements(checked); });
  add_result(report, "passes", [&] { return check_passes(checked); });
  add_result(report, "batches", [&] { return check_batches(checked); });
}

}  // namespace crescent::check
