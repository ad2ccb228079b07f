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
  int64_t elements = 0;
  std::string spec;
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

/// Whether an element is a batch that differs from the batch `whole` in having fewer rows alone.
bool has_fewer_rows(const Element& spec, const Element& whole) {
  const auto batch_text = [&](int64_t rows) { return to_text(batch_spec(row_spec(whole), rows)); };
  const int64_t rows = first_length(spec), all_rows = first_length(whole);
  return 0 < rows && rows < all_rows && batch_text(all_rows) == to_text(whole) &&
         batch_text(rows) == to_text(spec);
}

Pass pass_over(Stream& stream) {
  Pass pass;
  Element first_spec;
  const CursorPtr cursor = stream.open();
  for (Element element; pass.elements < kMaxCheckedElements; ++pass.elements) {
    pass.has_ended = !cursor->next(element);
    if (pass.has_ended) break;
    expect(!pass.has_short_end, "element ", pass.elements,
           " has fewer rows than the first and is not the last");
    const Element element_spec = spec_of(element);
    if (pass.elements == 0) first_spec = element_spec, pass.spec = to_text(first_spec);
    const std::string spec = to_text(element_spec);
    pass.has_short_end = has_fewer_rows(element_spec, first_spec);
    expect(spec == pass.spec || pass.has_short_end, "element ", pass.elements + 1, " is ", spec,
           ", the first ", pass.spec);
  }
  return pass;
}

StreamPtr source_stream(const CheckedClass& checked) {
  return provided_dataset(checked.name, checked.options);
}

std::string check_elements(const CheckedClass& checked) {
  const StreamPtr stream = source_stream(checked);
  const Pass pass = pass_over(*stream);
  expect(pass.elements > 0, "a pass has no elements");
  const int64_t reported_count = stream->elements();
  if (pass.has_ended && reported_count != Stream::kUnknown)
    expect(reported_count == pass.elements, "a pass has ", pass.elements,
           " elements, elements() is ", reported_count);
  return concat(pass.has_ended ? "" : "the first ", pass.elements, " elements, ", pass.spec);
}

std::string check_passes(const CheckedClass& checked) {
  const StreamPtr stream = source_stream(checked);
  const Pass first_pass = pass_over(*stream), second_pass = pass_over(*stream);
  expect(first_pass.elements == second_pass.elements && first_pass.spec == second_pass.spec,
         "a second pass has ", second_pass.elements, " elements, ", second_pass.spec,
         ", the first ", first_pass.elements, ", ", first_pass.spec);
  return "a second pass has as many";
}

std::string check_batches(const CheckedClass& checked) {
  const StreamPtr stream = source_stream(checked);
  const Pass pass = pass_over(*stream);
  WindowOptions equal_elements;
  equal_elements.size = std::clamp<int64_t>(pass.elements - pass.has_short_end, 1, 3);
  const CursorPtr cursor = batch(stream, equal_elements)->open();
  Element row_list;
  expect(cursor->next(row_list), "there is no batch");
  return to_text(spec_of(row_list));
}

}  // namespace

void add_dataset_rows(CheckReport& report, const CheckedClass& checked) {
  add_result(report, "elements", [&] { return check_elements(checked); });
  add_result(report, "passes", [&] { return check_passes(checked); });
  add_result(report, "batches", [&] { return check_batches(checked); });
}

}  // namespace crescent::check
