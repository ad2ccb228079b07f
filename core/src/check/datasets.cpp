// Checks of classes of datasets: all elements of every pass have the same structure, and each pass
// has as many elements as the dataset announces.
#include "check/classes.h"
#include "crescent/data/stream.h"
#include "data/streams/element_spec.h"
#include "host/provided_datasets.h"

namespace crescent::check {
namespace {

constexpr int64_t kMaxCheckedElements = 1000;  // largest number of elements that are checked in a
                                               // pass

struct Pass {
  int64_t elements = 0;
  std::string spec;
  bool ended = false;
};

Pass pass_over(Stream& stream) {
  Pass pass;
  const CursorPtr cursor = stream.open();
  for (Element element; pass.elements < kMaxCheckedElements; ++pass.elements) {
    pass.ended = !cursor->next(element);
    if (pass.ended) break;
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
  const int64_t told = stream->elements();
  if (pass.ended && told != Stream::kUnknown)
    expect(told == pass.elements, "a pass has ", pass.elements, " elements, elements() is ", told);
  return concat(pass.ended ? "" : "the first ", pass.elements, " elements, ", pass.spec);
}

std::string check_passes(const CheckedClass& checked) {
  const StreamPtr stream = source_stream(checked);
  const Pass first = pass_over(*stream), second = pass_over(*stream);
  expect(first.elements == second.elements && first.spec == second.spec, "a second pass has ",
         second.elements, " elements, ", second.spec, ", the first ", first.elements, ", ",
         first.spec);
  return "a second pass has as many";
}

std::string check_batches(const CheckedClass& checked) {
  WindowOptions three;
  three.size = 3;
  const CursorPtr cursor = batch(source_stream(checked), three)->open();
  Element rows;
  expect(cursor->next(rows), "there is no batch");
  return to_text(spec_of(rows));
}

}  // namespace

void add_dataset_rows(CheckReport& report, const CheckedClass& checked) {
  add_result(report, "elements", [&] { return check_elements(checked); });
  add_result(report, "passes", [&] { return check_passes(checked); });
  add_result(report, "batches", [&] { return check_batches(checked); });
}

}  // namespace crescent::check
