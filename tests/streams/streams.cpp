// Streams: the elements of each stage for any number of workers, and passes that end early, fail,
// or continue in another process.
#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "crescent/data/stream.h"

using namespace crescent;
using Catch::Contains;

namespace {

using Numbers = std::vector<int64_t>;

/// A stream of the numbers from 0 to count - 1.
StreamPtr number_stream(int64_t count) {
  std::vector<Element> elements;
  for (int64_t i = 0; i < count; ++i) elements.push_back({i});
  return list_stream(std::move(elements));
}

Mapping mapping(std::function<Value(const Value&)> f, int64_t workers = 0) {
  Mapping m;
  m.make = [f = std::move(f)]() -> Mapper {
    return [f](Element e) -> Element { return {f(e[0])}; };
  };
  m.workers = workers;
  return m;
}

Mapping squares(int64_t workers) {
  return mapping([](const Value& x) { return Value(x.as_int() * x.as_int()); }, workers);
}

/// The first components of the next elements; at most `max_count` elements are read.
Numbers next_numbers(Cursor& cursor, int64_t max_count = INT64_MAX) {
  Numbers result;
  for (Element element; int64_t(result.size()) < max_count && cursor.next(element);)
    result.push_back(element[0].as_int());
  return result;
}
Numbers numbers_of(const StreamPtr& stream, uint64_t epoch = 0) {
  return next_numbers(*stream->open(epoch));
}

Numbers list_of(std::initializer_list<int64_t> list) { return list; }

/// The numbers in each batch of the stream.
std::vector<Numbers> batches_of(const StreamPtr& stream) {
  std::vector<Numbers> result;
  const CursorPtr cursor = stream->open(0);
  for (Element element; cursor->next(element);) {
    const auto values = Codec<Tensor>::decode(element[0]).to_vector();
    result.emplace_back(values.begin(), values.end());
  }
  return result;
}

}  // namespace

TEST_CASE("stages give the elements that their names say") {
  CHECK(numbers_of(number_stream(0)).empty());
  CHECK(numbers_of(take(number_stream(9), 3)) == list_of({0, 1, 2}));
  CHECK(numbers_of(skip(number_stream(5), 3)) == list_of({3, 4}));
  CHECK(numbers_of(repeat(number_stream(2), 2)) == list_of({0, 1, 0, 1}));
  CHECK(next_numbers(*repeat(number_stream(2), {})->open(0), 5) == list_of({0, 1, 0, 1, 0}));
  CHECK(numbers_of(concatenate({number_stream(2), number_stream(3)})) == list_of({0, 1, 0, 1, 2}));
  CHECK(numbers_of(filter(number_stream(6), mapping([](const Value& x) {
                            return x.as_int() % 2 == 0;
                          }))) == list_of({0, 2, 4}));
  Element pair;
  const CursorPtr zip_cursor = zip({number_stream(2), skip(number_stream(9), 5)})->open(0);
  REQUIRE(zip_cursor->next(pair));
  CHECK((pair.size() == 2 && pair[0] == Value(0) && pair[1] == Value(5)));
  CHECK((zip_cursor->next(pair) && !zip_cursor->next(pair)));
  const CursorPtr enumerate_cursor = enumerate(skip(number_stream(3), 2), 7)->open(0);
  REQUIRE(enumerate_cursor->next(pair));
  CHECK((pair[0] == Value(7) && pair[1] == Value(2)));
}

TEST_CASE("batches hold elements in order, the rest in a last one") {
  CHECK(batches_of(batch(number_stream(5), {2, {}, 1, false})) ==
        std::vector<Numbers>{{0, 1}, {2, 3}, {4}});
  CHECK(batches_of(batch(number_stream(5), {2, {}, 1, true})) ==
        std::vector<Numbers>{{0, 1}, {2, 3}});
  const CursorPtr unbatch_cursor = unbatch(batch(number_stream(3), {2, {}, 1, false}))->open(0);
  for (int64_t i = 0; i < 3; ++i) {
    Element element;
    REQUIRE(unbatch_cursor->next(element));
    CHECK(Codec<Tensor>::decode(element[0]).item() == double(i));
  }
}

TEST_CASE("any number of workers gives the same elements in the same order") {
  Numbers expected;
  for (int64_t i = 0; i < 200; ++i) expected.push_back(i * i);
  for (const int64_t workers : {0, 1, 3, 8}) {
    CHECK(numbers_of(map(number_stream(200), squares(workers))) == expected);
    CHECK(numbers_of(prefetch_elements(map(number_stream(200), squares(workers)), 5)) == expected);
  }
}

TEST_CASE("a shuffle gives each element once, in an order that its seed and the pass decide") {
  const StreamPtr first_shuffle = shuffle(number_stream(50), {10, 3, true}),
                  same_shuffle = shuffle(number_stream(50), {10, 3, true});
  const Numbers order = numbers_of(first_shuffle, 0);
  CHECK(order == numbers_of(same_shuffle, 0));
  CHECK(order != numbers_of(first_shuffle, 1));
  CHECK(order != numbers_of(number_stream(50)));
  CHECK(std::set<int64_t>(order.begin(), order.end()).size() == 50);
  for (size_t i = 0; i < order.size(); ++i) CHECK(order[i] < int64_t(i) + 10);
  const StreamPtr fixed_shuffle = shuffle(number_stream(50), {10, 3, false});
  CHECK(numbers_of(fixed_shuffle, 0) == numbers_of(fixed_shuffle, 1));
}

TEST_CASE("interleaved streams take turns") {
  Interleaving interleaving;
  interleaving.make = [](Element e) {
    return map(number_stream(3),
               mapping([e](const Value& x) { return Value(10 * e[0].as_int() + x.as_int()); }));
  };
  interleaving.cycle = 2;
  interleaving.block = 2;
  CHECK(numbers_of(interleave(number_stream(3), interleaving)) ==
        list_of({0, 1, 10, 11, 2, 12, 20, 21, 22}));
}

TEST_CASE("an element that fails is named, by each pass that comes to it") {
  for (const int64_t workers : {0, 2}) {
    const auto failing_at_5 = [](const Value& x) {
      if (x.as_int() == 5) fail("this is five");
      return x;
    };
    const StreamPtr stream = map(number_stream(9), mapping(failing_at_5, workers));
    for (int attempt = 0; attempt < 2; ++attempt) {
      const CursorPtr cursor = stream->open(0);
      CHECK(next_numbers(*cursor, 5) == list_of({0, 1, 2, 3, 4}));
      Element element;
      CHECK_THROWS_WITH(cursor->next(element), Contains("map: element 6") && Contains("five"));
    }
    const CursorPtr prefetching_cursor = prefetch_elements(stream, 3)->open(0);
    CHECK(next_numbers(*prefetching_cursor, 5) == list_of({0, 1, 2, 3, 4}));
    Element element;
    CHECK_THROWS_WITH(prefetching_cursor->next(element), Contains("this is five"));
  }
}

TEST_CASE("a pass that is left early ends its threads") {
  std::atomic<int> made_count = 0;
  const auto slow_identity = [&](const Value& x) {
    ++made_count;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return x;
  };
  {
    const CursorPtr cursor =
        prefetch_elements(map(number_stream(100000), mapping(slow_identity, 4)), 4)->open(0);
    CHECK(next_numbers(*cursor, 3) == list_of({0, 1, 2}));
  }
  const int count_after = made_count;
  CHECK(count_after < 1000);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(made_count == count_after);
}

TEST_CASE("a dataset in the middle of a pass goes on in another that takes over its state") {
  const auto make = [] {
    return prefetch_elements(
        batch(map(shuffle(number_stream(40), {16, 5, true}), squares(2)), {4, {}, 1, false}), 2);
  };
  const auto values = [](Dataset& data) {
    Batch b;
    REQUIRE(data.next(b));
    return b.x.at(0).to_vector();
  };
  const StreamPtr whole_stream = make(), stopped_stream = make(), later_stream = make();
  whole_stream->begin_epoch(), stopped_stream->begin_epoch();
  for (int i = 0; i < 4; ++i) CHECK(values(*whole_stream) == values(*stopped_stream));
  later_stream->restore(stopped_stream->state(), 4);
  for (int i = 4; i < 10; ++i) CHECK(values(*whole_stream) == values(*later_stream));
  Batch end;
  CHECK((!whole_stream->next(end) && !later_stream->next(end)));
  whole_stream->begin_epoch(), later_stream->begin_epoch();
  CHECK(values(*whole_stream) == values(*later_stream));
}

TEST_CASE("a cache makes each element once") {
  std::atomic<int> made_count = 0;
  const StreamPtr cached_stream =
      cache(map(number_stream(7), mapping([&](const Value& x) { return ++made_count, x; })));
  CHECK(numbers_of(cached_stream, 0) == numbers_of(cached_stream, 1));
  CHECK(made_count == 7);
}

TEST_CASE("passing over elements comes to the same place as taking them") {
  const StreamPtr streams[] = {number_stream(20),
                               map(number_stream(20), squares(2)),
                               shuffle(number_stream(20), {8, 1, true}),
                               repeat(number_stream(10), 2),
                               prefetch_elements(number_stream(20), 3),
                               skip(number_stream(23), 3)};
  for (const StreamPtr& stream : streams) {
    const Numbers expected = numbers_of(stream);
    const CursorPtr cursor = stream->open(0);
    CHECK(next_numbers(*cursor, 2) == Numbers(expected.begin(), expected.begin() + 2));
    CHECK(cursor->pass(11) == 11);
    CHECK(next_numbers(*cursor) == Numbers(expected.begin() + 13, expected.end()));
    CHECK(cursor->pass(1) == 0);
  }
}
