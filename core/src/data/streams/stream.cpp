// The common part of streams: numbers of passes, and the interface of a dataset.
#include "crescent/data/stream.h"

#include <algorithm>

#include "data/streams/element.h"
#include "data/streams/interruption_check.h"

namespace crescent {

Cursor::~Cursor() = default;

int64_t Cursor::pass(int64_t count) {
  Element passed;
  for (int64_t done = 0; done < count; ++done) {
    check_element_interruption();
    if (!next(passed)) return done;
  }
  return count;
}

Stream::~Stream() = default;

std::vector<StreamPtr> Stream::sources() const { return {}; }

bool Stream::on_own_thread() const {
  const std::vector<StreamPtr> all = sources();
  return std::any_of(all.begin(), all.end(), [](const auto& one) { return one->on_own_thread(); });
}

void Stream::begin_epoch() {
  epoch_ = next_epoch_;
  cursor_ = open();
}

bool Stream::next(Batch& batch) { return next(batch, {}, {}); }

bool Stream::next(Batch& batch, const std::vector<std::string>& x,
                  const std::vector<std::string>& y) {
  Element element;
  if (!cursor_ || !cursor_->next(element)) return false;
  if (element.size() > 3)
    fail("expected elements of up to three parts (x, y, sample_weight), got ", element.size());
  element.resize(3);
  batch.x = tensors_of(element[0], x);
  batch.y = tensors_of(element[1], y);
  batch.sample_weight = tensors_of(element[2], y);
  return true;
}

void Stream::check() const {
  for (const StreamPtr& source : sources()) source->check();
}

/// The number of the pass, and the states of this stream and all its sources.
Value Stream::state() const {
  List below;
  for (const StreamPtr& source : sources()) below.push_back(source->state());
  return Dict{{"epoch", epoch_}, {"own", own_state()}, {"sources", below}};
}

void Stream::restore(const Value& state, int64_t batches) {
  set_state(state);
  begin_epoch();
  if (const int64_t passed = cursor_->pass(batches); passed < batches)
    fail("restore: the data gave ", passed, " of ", batches,
         " batches that the snapshot's run was past: it is other data");
}

void Stream::set_state(const Value& state) {
  const List& below = state.as_dict().at("sources").as_list();
  const std::vector<StreamPtr> all = sources();
  if (below.size() != all.size())
    fail("restore: the snapshot's run had data of ", below.size(), " sources, here are ",
         all.size());
  for (size_t i = 0; i < all.size(); ++i) all[i]->set_state(below[i]);
  set_own_state(state.as_dict().at("own"));
  next_epoch_ = static_cast<uint64_t>(state.as_dict().at("epoch").as_int());
}

namespace {

/// A stream as a dataset whose batches have their tensors in the order of the given names.
class StreamDataset final : public Dataset {
 public:
  using Next = std::function<bool(Batch&)>;
  StreamDataset(StreamPtr stream, Next next) : stream_(std::move(stream)), next_(std::move(next)) {}
  int64_t batches() const override { return stream_->batches(); }
  void begin_epoch() override { stream_->begin_epoch(); }
  bool next(Batch& batch) override { return next_(batch); }
  void check() const override { stream_->check(); }
  Value state() const override { return stream_->state(); }
  void restore(const Value& state, int64_t batches) override { stream_->restore(state, batches); }

 private:
  StreamPtr stream_;
  Next next_;
};

}  // namespace

DatasetPtr with_names(const StreamPtr& stream, std::vector<std::string> x,
                      std::vector<std::string> y) {
  return std::make_shared<StreamDataset>(
      stream, [stream, x = std::move(x), y = std::move(y)](Batch& batch) {
        return stream->next(batch, x, y);
      });
}

}  // namespace crescent
