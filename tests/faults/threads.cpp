// The system starts fewer threads than requested, or none (T17 of README.md in this folder). The
// existing threads then do all work, with the same results.
#include <cerrno>
#include <fstream>
#include <thread>

#include "crescent/crescent.h"
#include "crescent/data/stream.h"
#include "report.h"
#include "savers.h"
#include "system_calls.h"

namespace crescent::faults {
namespace {

/// The results of work on several threads, for comparison.
std::vector<double> results_of_work() {
  set_device("cpu", {{"threads", 4}});
  const Tensor x = SeedGenerator(3).normal({300, 200});
  std::vector<double> results{ops::sum(ops::matmul(x, x, true, false)).item()};
  std::vector<Element> elements;
  for (int64_t i = 0; i < 40; ++i) elements.push_back({Value(i)});
  Mapping squares;
  squares.make = []() -> Mapper {
    return [](Element e) -> Element { return {Value(e[0].as_int() * e[0].as_int())}; };
  };
  squares.workers = 3;
  const StreamPtr stream = prefetch_elements(map(list_stream(elements), squares), 2);
  const CursorPtr cursor = stream->open(0);
  for (Element element; cursor->next(element);)
    results.push_back(static_cast<double>(element[0].as_int()));
  const DatasetPtr data = prefetch(batch(list_stream(elements), {7, {}}));
  for (int epoch = 0; epoch < 2; ++epoch) {
    data->begin_epoch();
    for (Batch next_batch; data->next(next_batch);)
      results.push_back(ops::sum(next_batch.x[0]).item());
  }
  return results;
}

int64_t threads_in_use() { return device().information().at("threads").as_int(); }

TEST_CASE("T17: whatever thread is not started, the same comes out") {
  set_warning_handler([](std::string_view) {});
  set_device("cpu", {{"threads", 1}});
  const std::vector<double> expected = results_of_work();
  CHECK(threads_in_use() == 4);
  int64_t failure_count = 0;
  for (const bool is_lasting : {true, false})
    for (int n = 1;; ++n, ++failure_count) {
      CAPTURE(n, is_lasting);
      set_device("cpu", {{"threads", 1}});
      const FailingCall failing_call("pthread_create", n, EAGAIN, is_lasting);
      CHECK(results_of_work() == expected);
      if (!failing_call.was_reached()) break;
      CHECK(threads_in_use() == std::min(n, 4));
    }
  set_device("cpu", {{"threads", 1}});
  CHECK(results_of_work() == expected);
  CHECK(threads_in_use() == 4);
  set_warning_handler(nullptr);
  report("T17 threads that are not started", failure_count, "the same numbers with fewer");
}

TEST_CASE("T17: files are read and written without further threads") {
  set_warning_handler([](std::string_view) {});
  int64_t failure_count = 0;
  for (const Saver& saver : savers(500)) {
    CAPTURE(saver.name);
    const Folder folder;
    const std::string path = folder / ("m" + saver.ending);
    const FailingCall failing_call("pthread_create", 1, EAGAIN, true);
    saver.save(path, 1);
    CHECK(saver.load(path) == 1);
    ++failure_count;
  }
  set_warning_handler(nullptr);
  report("T17 files without further threads", failure_count, "whole");
}

}  // namespace
}  // namespace crescent::faults
