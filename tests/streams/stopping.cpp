// Endless stages stop on request, and counts larger than the number of elements do not overflow.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "crescent/data/stream.h"
#include "crescent/system/interrupt.h"

using namespace crescent;
using Catch::Contains;

namespace {

constexpr int64_t kHuge = 1'000'000'000'000;

StreamPtr three_elements() { return list_stream({{Value(1)}, {Value(2)}, {Value(3)}}); }
StreamPtr endless_stream() { return repeat(three_elements(), {}); }

StreamPtr filter_all(StreamPtr source, bool keeps_elements, int64_t workers) {
  Mapping m;
  m.make = [keeps_elements]() -> Mapper {
    return [keeps_elements](Element) -> Element { return {keeps_elements}; };
  };
  m.workers = workers;
  return filter(std::move(source), m);
}

Interleaving empty_interleaving() {
  Interleaving options;
  options.make = [](Element) { return list_stream({}); };
  return options;
}

struct Stage {
  const char* name;
  std::function<StreamPtr()> make;
};

const Stage kStages[] = {
    {"skip", [] { return skip(endless_stream(), kHuge); }},
    {"skip in a map", [] { return skip(filter_all(endless_stream(), true, 0), kHuge); }},
    {"skip in workers", [] { return skip(filter_all(endless_stream(), true, 2), kHuge); }},
    {"skip of windows",
     [] {
       return skip(batch(endless_stream(), {2, 3, 1}), kHuge);
     }},
    {"a filter that lets nothing through", [] { return filter_all(endless_stream(), false, 0); }},
    {"the same with workers", [] { return filter_all(endless_stream(), false, 2); }},
    {"a filter behind a filter",
     [] { return filter_all(filter_all(endless_stream(), false, 0), false, 0); }},
    {"nothing, again and again", [] { return repeat(list_stream({}), kHuge); }},
    {"interleaved nothing", [] { return interleave(endless_stream(), empty_interleaving()); }},
    {"prefetched", [] { return prefetch_elements(filter_all(endless_stream(), false, 0), 2); }},
    {"nothing, in batches",
     [] {
       return unbatch(map(
           endless_stream(), {[]() -> Mapper {
             return [](Element) -> Element {
               return {Value(std::make_shared<BoxedTensor>(Tensor(Shape{0, 2}, DType::float32)))};
             };
           }}));
     }},
    // the stages below would store all elements, so they are stopped early
    {"shuffle",
     [] {
       return shuffle(endless_stream(), {kHuge, 1});
     }},
    {"batch",
     [] {
       return batch(endless_stream(), {kHuge, {}});
     }},
};

}  // namespace

TEST_CASE("what has no end stops when its run is interrupted") {
  for (const Stage& stage : kStages) {
    INFO(stage.name);
    const InterruptScope interrupt_scope;
    const CursorPtr cursor = stage.make()->open(0);
    std::thread interrupting_thread([interruption = Interruption::current()] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      interruption->request();
    });
    Element element;
    CHECK_THROWS_AS(cursor->next(element), Interrupted);
    interrupting_thread.join();
    clear_interrupt();
  }
}

TEST_CASE("a pass that nobody goes on with ends, whatever its thread is doing") {
  for (const bool is_prefetched : {true, false}) {
    const StreamPtr stream = is_prefetched
                                 ? prefetch_elements(filter_all(endless_stream(), false, 0), 2)
                                 : filter_all(endless_stream(), false, 2);
    const CursorPtr cursor = stream->open(0);
    const InterruptScope interrupt_scope;
    interrupt();
    Element element;
    CHECK_THROWS_AS(cursor->next(element), Interrupted);
    clear_interrupt();
  }
  Batch batch;
  const DatasetPtr data = prefetch(filter_all(endless_stream(), false, 0));
  data->begin_epoch();  // here the prefetching thread begins to request an element
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  data->begin_epoch();
  const InterruptScope interrupt_scope;
  interrupt();
  CHECK_THROWS_AS(data->next(batch), Interrupted);
  clear_interrupt();
}

TEST_CASE("numbers beyond all elements") {
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  CHECK(repeat(three_elements(), kMaximum)->elements() == kMaximum);
  CHECK(batch(three_elements(), {kMaximum, {}})->elements() == 1);
  CHECK(batch(three_elements(), {2, kMaximum, 1})->elements() == 1);
  CHECK(batch(three_elements(), {kMaximum, 1, 1, true})->elements() == 0);
  CHECK_THROWS_WITH(batch(three_elements(), {kMaximum / 2, 1, 3}),
                    Contains("more elements than there can be"));
  Element element;
  const CursorPtr whole_batch = batch(three_elements(), {kMaximum, {}})->open(0);
  REQUIRE(whole_batch->next(element));
  CHECK(Codec<Tensor>::decode(element[0]).size() == 3);
  CHECK_FALSE(whole_batch->next(element));
}
