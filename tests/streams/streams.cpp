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
StreamPtr counted(int64_t count) {
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

/// The first components of the next elements; at most `most` elements are read.
Numbers numbers(Cursor& cursor, int64_t most = INT64_MAX) {
  Numbers result;
  for (Element element; int64_t(result.size()) < most && cursor.next(element);)
    result.push_back(element[0].as_int());
  return result;
}
Numbers pass(const StreamPtr& stream, uint64_t epoch = 0) { return numbers(*stream->open(epoch)); }

Numbers list_of(std::initializer_list<int64_t> list) { return list; }

/// The numbers in each batch of the stream.
std::vector<Numbers> batches(const StreamPtr& stream) {
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
  CHECK(pass(counted(0)).empty());
  CHECK(pass(take(counted(9), 3)) == list_of({0, 1, 2}));
  CHECK(pass(skip(counted(5), 3)) == list_of({3, 4}));
  CHECK(pass(repeat(counted(2), 2)) == list_of({0, 1, 0, 1}));
  CHECK(numbers(*repeat(counted(2), {})->open(0), 5) == list_of({0, 1, 0, 1, 0}));
  CHECK(pass(concatenate({counted(2), counted(3)})) == list_of({0, 1, 0, 1, 2}));
  CHECK(pass(filter(counted(6), mapping([](const Value& x) { return x.as_int() % 2 == 0; }))) ==
        list_of({0, 2, 4}));
  Element pair;
  const CursorPtr zipped = zip({counted(2), skip(counted(9), 5)})->open(0);
  REQUIRE(zipped->next(pair));
  CHECK((pair.size() == 2 && pair[0] == Value(0) && pair[1] == Value(5)));
  CHECK((zipped->next(pair) && !zipped->next(pair)));
  const CursorPtr numbered = enumerate(skip(counted(3), 2), 7)->open(0);
  REQUIRE(numbered->next(pair));
  CHECK((pair[0] == Value(7) && pair[1] == Value(2)));
}

TEST_CASE("batches hold elements in order, the rest in a last one") {
  CHECK(batches(batch(counted(5), {2, {}, 1, false})) == std::vector<Numbers>{{0, 1}, {2, 3}, {4}});
  CHECK(batches(batch(counted(5), {2, {}, 1, true})) == std::vector<Numbers>{{0, 1}, {2, 3}});
  const CursorPtr unbatched = unbatch(batch(counted(3), {2, {}, 1, false}))->open(0);
  for (int64_t i = 0; i < 3; ++i) {
    Element element;
    REQUIRE(unbatched->next(element));
    CHECK(Codec<Tensor>::decode(element[0]).item() == double(i));
  }
}

TEST_CASE("any number of workers gives the same elements in the same order") {
  Numbers expected;
  for (int64_t i = 0; i < 200; ++i) expected.push_back(i * i);
  for (const int64_t workers : {0, 1, 3, 8}) {
    CHECK(pass(map(counted(200), squares(workers))) == expected);
    CHECK(pass(prefetch_elements(map(counted(200), squares(workers)), 5)) == expected);
  }
}

TEST_CASE("a shuffle gives each element once, in an order that its seed and the pass decide") {
  const StreamPtr first = shuffle(counted(50), {10, 3, true}),
                  same = shuffle(counted(50), {10, 3, true});
  const Numbers order = pass(first, 0);
  CHECK(order == pass(same, 0));
  CHECK(order != pass(first, 1));
  CHECK(order != pass(counted(50)));
  CHECK(std::set<int64_t>(order.begin(), order.end()).size() == 50);
  for (size_t i = 0; i < order.size(); ++i) CHECK(order[i] < int64_t(i) + 10);
  const StreamPtr fixed = shuffle(counted(50), {10, 3, false});
  CHECK(pass(fixed, 0) == pass(fixed, 1));
}

TEST_CASE("interleaved streams take turns") {
  Interleaving interleaving;
  interleaving.make = [](Element e) {
    return map(counted(3),
               mapping([e](const Value& x) { return Value(10 * e[0].as_int() + x.as_int()); }));
  };
  interleaving.cycle = 2;
  interleaving.block = 2;
  CHECK(pass(interleave(counted(3), interleaving)) == list_of({0, 1, 10, 11, 2, 12, 20, 21, 22}));
}

TEST_CASE("an element that fails is named, by each pass that comes to it") {
  for (const int64_t workers : {0, 2}) {
    const auto failing_at_5 = [](const Value& x) {
      if (x.as_int() == 5) fail("this is five");
      return x;
    };
    const StreamPtr stream = map(counted(9), mapping(failing_at_5, workers));
    for (int attempt = 0; attempt < 2; ++attempt) {
      const CursorPtr cursor = stream->open(0);
      CHECK(numbers(*cursor, 5) == list_of({0, 1, 2, 3, 4}));
      Element element;
      CHECK_THROWS_WITH(cursor->next(element), Contains("map: element 6") && Contains("five"));
    }
    const CursorPtr ahead = prefetch_elements(stream, 3)->open(0);
    CHECK(numbers(*ahead, 5) == list_of({0, 1, 2, 3, 4}));
    Element element;
    CHECK_THROWS_WITH(ahead->next(element), Contains("this is five"));
  }
}

TEST_CASE("a pass that is left early ends its threads") {
  std::atomic<int> made_count = 0;
  const auto slow = [&](const Value& x) {
    ++made_count;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return x;
  };
  {
    const CursorPtr cursor = prefetch_elements(map(counted(100000), mapping(slow, 4)), 4)->open(0);
    CHECK(numbers(*cursor, 3) == list_of({0, 1, 2}));
  }
  const int count_after = made_count;
  CHECK(count_after < 1000);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(made_count == count_after);
}

TEST_CASE("a dataset in the middle of a pass goes on in another that takes over its state") {
  const auto make = [] {
    return prefetch_elements(
        batch(map(shuffle(counted(40), {16, 5, true}), squares(2)), {4, {}, 1, false}), 2);
  };
  const auto values = [](Dataset& data) {
    Batch b;
    REQUIRE(data.next(b));
    return b.x.at(0).to_vector();
  };
  const StreamPtr whole = make(), stopped = make(), later = make();
  whole->begin_epoch(), stopped->begin_epoch();
  for (int i = 0; i < 4; ++i) CHECK(values(*whole) == values(*stopped));
  later->restore(stopped->state(), 4);
  for (int i = 4; i < 10; ++i) CHECK(values(*whole) == values(*later));
  Batch end;
  CHECK((!whole->next(end) && !later->next(end)));
  whole->begin_epoch(), later->begin_epoch();
  CHECK(values(*whole) == values(*later));
}

TEST_CASE("a cache makes each element once") {
  std::atomic<int> made_count = 0;
  const StreamPtr cached =
      cache(map(counted(7), mapping([&](const Value& x) { return ++made_count, x; })));
  CHECK(pass(cached, 0) == pass(cached, 1));
  CHECK(made_count == 7);
}

TEST_CASE("passing over elements comes to the same place as taking them") {
  const StreamPtr streams[] = {counted(20),
                               map(counted(20), squares(2)),
                               shuffle(counted(20), {8, 1, true}),
                               repeat(counted(10), 2),
                               prefetch_elements(counted(20), 3),
                               skip(counted(23), 3)};
  for (const StreamPtr& stream : streams) {
    const Numbers expected = pass(stream);
    const CursorPtr cursor = stream->open(0);
    CHECK(numbers(*cursor, 2) == Numbers(expected.begin(), expected.begin() + 2));
    CHECK(cursor->pass(11) == 11);
    CHECK(numbers(*cursor) == Numbers(expected.begin() + 13, expected.end()));
    CHECK(cursor->pass(1) == 0);
  }
}
