// map and filter: one element of another, by workers or on the thread of who asks.
#include <mutex>

#include "data/streams/draws.h"
#include "data/streams/heeding.h"
#include "data/streams/staged.h"
#include "data/streams/workers.h"
#include "random/random_scope.h"

namespace crescent {
namespace {

/// Mappers that nobody uses now. Threads come and go with passes, and what a mapper is made of (a
/// Lua state) stays.
class Mappers {
 public:
  explicit Mappers(std::function<Mapper()> make) : make_(std::move(make)) {}
  Mapper take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return make_();
    Mapper mapper = std::move(idle_.back());
    idle_.pop_back();
    return mapper;
  }
  void give_back(Mapper mapper) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(mapper));
  }

 private:
  std::function<Mapper()> make_;
  std::mutex mutex_;
  std::vector<Mapper> idle_;
};

/// A mapper while somebody uses it.
class Borrowed {
 public:
  explicit Borrowed(std::shared_ptr<Mappers> from)
      : from_(std::move(from)), mapper_(from_->take()) {}
  ~Borrowed() { from_->give_back(std::move(mapper_)); }
  Borrowed(const Borrowed&) = delete;
  Element operator()(Element element) const { return mapper_(std::move(element)); }

 private:
  std::shared_ptr<Mappers> from_;
  Mapper mapper_;
};

/// Nothing is no element: for who asks it would be the end of the dataset.
Element not_nothing(Element made) {
  if (made.empty() || made.front().is_null())
    fail("expected an element, got nothing; the function returns what stands in place of its ",
         "arguments, and filter is what leaves elements out");
  return made;
}

/// Says which element it was; with randomness of the element's own.
struct Step {
  std::string name;
  uint64_t key;

  Element operator()(const Borrowed& mapper, Placed placed) const {
    try {
      const RandomScope random(
          static_cast<int64_t>(drawn(static_cast<int64_t>(key), placed.place) >> 1));
      return not_nothing(mapper(std::move(placed.element)));
    } catch (const Interrupted&) {
      throw;
    } catch (Error& error) {
      error.add_context(concat(name, ": element ", placed.place + 1, ": "));
      throw;
    }
  }
};

class MapCursor final : public Cursor {
 public:
  MapCursor(CursorPtr from, std::shared_ptr<Mappers> mappers, Step step)
      : from_(std::move(from)), mapper_(std::move(mappers)), step_(std::move(step)) {}
  bool next(Element& element) override {
    Placed placed{place_, {}};
    if (!from_->next(placed.element)) return false;
    ++place_;
    element = step_(mapper_, std::move(placed));
    return true;
  }
  int64_t pass(int64_t count) override {
    const int64_t passed = from_->pass(count);
    place_ += passed;
    return passed;
  }

 private:
  CursorPtr from_;
  Borrowed mapper_;
  Step step_;
  int64_t place_ = 0;
};

/// Who asks takes elements from the source and hands them to the workers, a few ahead.
class WorkedCursor final : public Cursor {
 public:
  WorkedCursor(CursorPtr from, std::shared_ptr<Mappers> mappers, Step step, int64_t count)
      : from_(std::move(from)),
        ahead_(static_cast<size_t>(2 * count)),
        workers_(count, [mappers = std::move(mappers), step = std::move(step)] {
          auto mapper = std::make_shared<const Borrowed>(mappers);
          return [mapper, step](Placed placed) { return step(*mapper, std::move(placed)); };
        }) {}

  bool next(Element& element) override {
    while (!ended_ && workers_.waiting() < ahead_) {
      Placed placed{place_, {}};
      ended_ = !from_->next(placed.element);
      if (!ended_) workers_.give(std::move(placed));
      if (!ended_) ++place_;
    }
    if (workers_.waiting() == 0) return false;
    element = workers_.take();
    return true;
  }
  int64_t pass(int64_t count) override {
    Element passed;
    int64_t done = 0;
    for (; done < count && workers_.waiting() > 0; ++done) workers_.take();
    const int64_t more = from_->pass(count - done);
    place_ += more;
    return done + more;
  }

 private:
  CursorPtr from_;
  size_t ahead_;
  bool ended_ = false;
  int64_t place_ = 0;
  Workers workers_;
};

class Mapped : public Staged {
 public:
  Mapped(StreamPtr source, Mapping mapping)
      : Staged(std::move(source)),
        mappers_(std::make_shared<Mappers>(std::move(mapping.make))),
        workers_(mapping.workers),
        on_own_thread_(mapping.on_own_thread),
        name_(std::move(mapping.name)),
        seed_(global_random().seed()) {
    constexpr int64_t kMost = 256;
    if (workers_ < 0 || workers_ > kMost)
      fail(name_, ": expected 0 to ", kMost, " workers, got ", workers_);
  }
  bool on_own_thread() const override { return on_own_thread_ || Stream::on_own_thread(); }
  CursorPtr open(uint64_t epoch) override {
    const Step step{name_, drawn(seed_, epoch)};
    CursorPtr from = source_->open(epoch);
    if (workers_ == 0) return std::make_shared<MapCursor>(std::move(from), mappers_, step);
    return std::make_shared<WorkedCursor>(std::move(from), mappers_, step, workers_);
  }

 protected:
  Value own_state() const override { return seed_; }
  void set_own_state(const Value& state) override { seed_ = state.as_int(); }

 private:
  std::shared_ptr<Mappers> mappers_;
  int64_t workers_;
  bool on_own_thread_;
  std::string name_;
  int64_t seed_;
};

class FilterCursor final : public Cursor {
 public:
  explicit FilterCursor(CursorPtr judged) : judged_(std::move(judged)) {}
  /// The verdict stands before the parts of the element.
  bool next(Element& element) override {
    while (judged_->next(element)) {
      heed_interruption_of_elements();
      const bool keep = element.front().as_bool();
      element.erase(element.begin());
      if (keep) return true;
    }
    return false;
  }

 private:
  CursorPtr judged_;
};

class Filtered final : public Staged {
 public:
  using Staged::Staged;
  int64_t elements() const override {
    return counted([](int64_t all) { return all == 0 ? 0 : kUnknown; });
  }
  CursorPtr open(uint64_t epoch) override {
    return std::make_shared<FilterCursor>(source_->open(epoch));
  }
};

bool verdict(const Element& given) {
  const Value& value = given.empty() ? Value() : given.front();
  if (value.is_null()) return false;
  if (value.is_bool()) return value.as_bool();
  if (auto tensor = value.object_as<BoxedTensor>()) return tensor->tensor.item() != 0;
  fail("expected true or false, got ", value);
}

}  // namespace

StreamPtr map(StreamPtr source, Mapping mapping) {
  return std::make_shared<Mapped>(std::move(source), std::move(mapping));
}

StreamPtr filter(StreamPtr source, Mapping mapping) {
  mapping.make = [make = std::move(mapping.make)]() -> Mapper {
    return [judge = make()](Element element) {
      const bool keep = verdict(judge(element));
      element.insert(element.begin(), keep);
      return element;
    };
  };
  return std::make_shared<Filtered>(map(std::move(source), std::move(mapping)));
}

}  // namespace crescent
