// map() and filter() call a mapper on worker threads or on the thread that calls next().
#include <mutex>

#include "data/streams/derived_stream.h"
#include "data/streams/index_generator.h"
#include "data/streams/interruption_check.h"
#include "data/streams/workers.h"
#include "random/random_scope.h"

namespace crescent {
namespace {

/// A pool of mappers that no thread uses at the moment. The threads of a pass end with the pass,
/// but their mappers, which may own a Lua state, are reused in later passes.
class MapperPool {
 public:
  MapperPool(std::function<Mapper()> make, int64_t seed) : make_(std::move(make)), seed_(seed) {}
  /// Returns an idle mapper, or makes one. Objects that are made together with a mapper may draw
  /// seeds. The pool has a generator for these seeds, because the moment at which a worker makes
  /// its mapper is not determined.
  Mapper take() {
    const std::lock_guard lock(mutex_);
    const RandomScope random_scope(seed_);
    if (idle_mappers_.empty()) return make_();
    Mapper mapper = std::move(idle_mappers_.back());
    idle_mappers_.pop_back();
    return mapper;
  }
  void give_back(Mapper mapper) {
    const std::lock_guard lock(mutex_);
    idle_mappers_.push_back(std::move(mapper));
  }

 private:
  std::function<Mapper()> make_;
  int64_t seed_;
  std::mutex mutex_;
  std::vector<Mapper> idle_mappers_;
};

/// A mapper in use; the destructor returns it to the pool.
class BorrowedMapper {
 public:
  explicit BorrowedMapper(std::shared_ptr<MapperPool> mappers)
      : mappers_(std::move(mappers)), mapper_(mappers_->take()) {}
  ~BorrowedMapper() { mappers_->give_back(std::move(mapper_)); }
  BorrowedMapper(const BorrowedMapper&) = delete;
  Element operator()(Element element) const { return mapper_(std::move(element)); }

 private:
  std::shared_ptr<MapperPool> mappers_;
  Mapper mapper_;
};

/// Fails if the mapper returned an empty element, which callers would take for the end of the
/// dataset.
Element checked_not_empty(Element element) {
  if (element.empty() || element.front().is_null())
    fail("expected an element, got nothing; the function returns what stands in place of its ",
         "arguments, and filter is what leaves elements out");
  return element;
}

/// Calls a mapper with a random generator for the element; errors name the element.
struct MapFunction {
  std::string name;
  uint64_t key;
  RandomScope::ReplacedGenerators replaced_generators;

  Element operator()(const BorrowedMapper& mapper, IndexedElement indexed_element) const {
    try {
      const RandomScope random_scope(
          static_cast<int64_t>(random_bits(static_cast<int64_t>(key), indexed_element.index) >> 1),
          replaced_generators);
      return checked_not_empty(mapper(std::move(indexed_element.element)));
    } catch (const Interrupted&) {
      throw;
    } catch (Error& error) {
      error.add_context(concat(name, ": element ", indexed_element.index + 1, ": "));
      throw;
    }
  }
};

class MapCursor final : public Cursor {
 public:
  MapCursor(CursorPtr source, std::shared_ptr<MapperPool> mappers, MapFunction function)
      : source_cursor_(std::move(source)),
        mapper_(std::move(mappers)),
        function_(std::move(function)) {}
  bool next(Element& element) override {
    IndexedElement indexed_element{element_index_, {}};
    if (!source_cursor_->next(indexed_element.element)) return false;
    ++element_index_;
    element = function_(mapper_, std::move(indexed_element));
    return true;
  }
  int64_t pass(int64_t count) override {
    const int64_t passed_count = source_cursor_->pass(count);
    element_index_ += passed_count;
    return passed_count;
  }

 private:
  CursorPtr source_cursor_;
  BorrowedMapper mapper_;
  MapFunction function_;
  int64_t element_index_ = 0;
};

/// A cursor over the results of worker threads; next() also passes further elements of the source
/// to the threads.
class ParallelMapCursor final : public Cursor {
 public:
  ParallelMapCursor(CursorPtr source, std::shared_ptr<MapperPool> mappers, MapFunction function,
                    int64_t count)
      : source_cursor_(std::move(source)),
        max_pending_count_(2 * count),
        workers_(count, [mappers = std::move(mappers), function = std::move(function)] {
          auto mapper = std::make_shared<const BorrowedMapper>(mappers);
          return [mapper, function](IndexedElement indexed_element) {
            return function(*mapper, std::move(indexed_element));
          };
        }) {}

  bool next(Element& element) override {
    while (!has_ended_ && workers_.pending_count() < max_pending_count_) {
      IndexedElement indexed_element{element_index_, {}};
      has_ended_ = !source_cursor_->next(indexed_element.element);
      if (!has_ended_) workers_.submit(std::move(indexed_element));
      if (!has_ended_) ++element_index_;
    }
    if (workers_.pending_count() == 0) return false;
    element = workers_.next_result();
    return true;
  }
  int64_t pass(int64_t count) override {
    Element unused_element;
    int64_t passed_results = 0;
    for (; passed_results < count && workers_.pending_count() > 0; ++passed_results)
      workers_.next_result();
    const int64_t passed_elements = source_cursor_->pass(count - passed_results);
    element_index_ += passed_elements;
    return passed_results + passed_elements;
  }

 private:
  CursorPtr source_cursor_;
  size_t max_pending_count_;
  bool has_ended_ = false;
  int64_t element_index_ = 0;
  Workers workers_;
};

class MapStream : public DerivedStream {
 public:
  MapStream(StreamPtr source, Mapping mapping)
      : DerivedStream(std::move(source)),
        seed_(global_random().seed()),
        mappers_(std::make_shared<MapperPool>(std::move(mapping.make), seed_)),
        workers_(mapping.workers),
        on_own_thread_(mapping.on_own_thread),
        name_(std::move(mapping.name)) {
    constexpr int64_t kMaxWorkers = 256;
    if (workers_ < 0 || workers_ > kMaxWorkers)
      fail(name_, ": expected 0 to ", kMaxWorkers, " workers, got ", workers_);
  }
  bool on_own_thread() const override { return on_own_thread_ || Stream::on_own_thread(); }
  Element element_spec() const override { return {}; }
  CursorPtr open(uint64_t epoch) override {
    using ReplacedGenerators = RandomScope::ReplacedGenerators;
    const MapFunction function{
        name_, random_bits(seed_, epoch),
        workers_ == 0 ? ReplacedGenerators::global : ReplacedGenerators::all};
    CursorPtr source = source_->open(epoch);
    if (workers_ == 0) return std::make_shared<MapCursor>(std::move(source), mappers_, function);
    return std::make_shared<ParallelMapCursor>(std::move(source), mappers_, function, workers_);
  }

 protected:
  Value own_state() const override { return seed_; }
  void set_own_state(const Value& state) override { seed_ = state.as_int(); }

 private:
  int64_t seed_;
  std::shared_ptr<MapperPool> mappers_;
  int64_t workers_;
  bool on_own_thread_;
  std::string name_;
};

class FilterCursor final : public Cursor {
 public:
  explicit FilterCursor(CursorPtr predicate_cursor)
      : predicate_cursor_(std::move(predicate_cursor)) {}
  /// Returns the next element for which the predicate returned true. The elements of
  /// predicate_cursor_ have the result of the predicate as their first part, which is removed.
  bool next(Element& element) override {
    while (predicate_cursor_->next(element)) {
      check_element_interruption();
      const bool is_kept = element.front().as_bool();
      element.erase(element.begin());
      if (is_kept) return true;
    }
    return false;
  }

 private:
  CursorPtr predicate_cursor_;
};

class FilterStream final : public DerivedStream {
 public:
  using DerivedStream::DerivedStream;
  int64_t elements() const override {
    return count_from_source([](int64_t source_count) { return source_count == 0 ? 0 : kUnknown; });
  }
  CursorPtr open(uint64_t epoch) override {
    return std::make_shared<FilterCursor>(source_->open(epoch));
  }
  /// The spec of the elements before the predicate's result was put in front of them.
  Element element_spec() const override {
    return crescent::element_spec(*source_->sources().front());
  }
};

bool is_accepted(const Element& result) {
  const Value& value = result.empty() ? Value() : result.front();
  if (value.is_null()) return false;
  if (value.is_bool()) return value.as_bool();
  if (auto tensor = value.object_as<BoxedTensor>()) return tensor->tensor.item() != 0;
  fail("expected true or false, got ", value);
}

}  // namespace

StreamPtr map(StreamPtr source, Mapping mapping) {
  return std::make_shared<MapStream>(std::move(source), std::move(mapping));
}

StreamPtr filter(StreamPtr source, Mapping mapping) {
  mapping.make = [make = std::move(mapping.make)]() -> Mapper {
    return [predicate = make()](Element element) {
      const bool is_kept = is_accepted(predicate(element));
      element.insert(element.begin(), is_kept);
      return element;
    };
  };
  return std::make_shared<FilterStream>(map(std::move(source), std::move(mapping)));
}

}  // namespace crescent
