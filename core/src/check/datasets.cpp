// Checks of classes of datasets: all elements of every pass have the same structure, and each pass
// has as many elements as the dataset announces.
#include "check/classes.h"
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
};

Pass pass_over(Stream& stream) {
  Pass pass;
  const CursorPtr cursor = stream.open();
  for (Element element; pass.elements < kMaxCheckedElements; ++pass.elements) {
    pass.has_ended = !cursor->next(element);
    if (pass.has_ended) break;
    const std::string spec = to_text(spec_of(element));
    if (pass.elements == 0) pass.spec = spec;
    expect(spec == pass.spec, "element ", pass.elements + 1, " is ", spec, ", the first ",
           pass.spec);
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
  WindowOptions three_elements;
  three_elements.size = 3;
  const CursorPtr cursor = batch(source_stream(checked), three_elements)->open();
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
