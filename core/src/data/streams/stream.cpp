// The base class of streams: it numbers the passes and implements the interface of a dataset.
#include "crescent/data/stream.h"

#include <algorithm>

#include "data/streams/element.h"
#include "data/streams/interruption_check.h"

namespace crescent {

Cursor::~Cursor() = default;

int64_t Cursor::pass(int64_t count) {
  Element unused_element;
  for (int64_t passed_elements = 0; passed_elements < count; ++passed_elements) {
    check_element_interruption();
    if (!next(unused_element)) return passed_elements;
  }
  return count;
}

Stream::~Stream() = default;

std::vector<StreamPtr> Stream::sources() const { return {}; }

bool Stream::on_own_thread() const {
  const std::vector<StreamPtr> source_streams = sources();
  return std::any_of(source_streams.begin(), source_streams.end(),
                     [](const auto& stream) { return stream->on_own_thread(); });
}

void Stream::begin_epoch() {
  epoch_ = next_epoch_;
  cursor_ = open();
}

bool Stream::next(Batch& batch) { return next(batch, {}, {}); }

bool Stream::next(Batch& batch, const std::vector<std::string>& x_names,
                  const std::vector<std::string>& y_names) {
  Element element;
  if (!cursor_ || !cursor_->next(element)) return false;
  if (element.size() > 3)
    fail("expected elements of up to three parts (x, y, sample_weight), got ", element.size());
  element.resize(3);
  batch.x = tensors_of(expected_inputs(element[0], x_names), x_names);
  batch.y = tensors_of(element[1], y_names);
  batch.sample_weight = tensors_of(element[2], y_names);
  return true;
}

void Stream::check() const {
  for (const StreamPtr& source : sources()) source->check();
}

/// Returns the number of the pass, and the states of this stream and all its sources.
Value Stream::state() const {
  List source_states;
  for (const StreamPtr& source : sources()) source_states.push_back(source->state());
  return Dict{{"epoch", epoch_}, {"own", own_state()}, {"sources", source_states}};
}

void Stream::restore(const Value& state, int64_t batches) {
  set_state(state);
  begin_epoch();
  pass(batches);
}

void Stream::pass(int64_t batches) {
  if (const int64_t passed_count = cursor_->pass(batches); passed_count < batches)
    fail("restore: the data gave ", passed_count, " of ", batches,
         " batches that the snapshot's run was past: it is other data");
}

void Stream::set_state(const Value& state) {
  const List& source_states = state.as_dict().at("sources").as_list();
  const std::vector<StreamPtr> source_streams = sources();
  if (source_states.size() != source_streams.size())
    fail("restore: the snapshot's run had data of ", source_states.size(), " sources, here are ",
         source_streams.size());
  for (size_t i = 0; i < source_streams.size(); ++i) source_streams[i]->set_state(source_states[i]);
  set_own_state(state.as_dict().at("own"));
  next_epoch_ = static_cast<uint64_t>(state.as_dict().at("epoch").as_int());
}

DatasetPtr Stream::with_needed(const NeededRows& needed_rows) {
  return with_names(std::static_pointer_cast<Stream>(shared_from_this()), {}, {})
      ->with_needed(needed_rows);
}

/// A stream as a dataset whose batches have their tensors in the order of the given names.
class StreamDataset final : public Dataset {
 public:
  StreamDataset(StreamPtr stream, std::vector<std::string> x_names,
                std::vector<std::string> y_names, NeededRows needed_rows)
      : stream_(std::move(stream)),
        x_names_(std::move(x_names)),
        y_names_(std::move(y_names)),
        needed_rows_(std::move(needed_rows)) {}
  int64_t batches() const override { return stream_->batches(); }
  void begin_epoch() override {
    stream_->epoch_ = stream_->next_epoch_++;
    const uint64_t epoch = stream_->epoch_;
    stream_->cursor_ =
        needed_rows_ ? stream_->open_partial(epoch, needed_rows_) : stream_->open(epoch);
  }
  bool next(Batch& batch) override { return stream_->next(batch, x_names_, y_names_); }
  void check() const override { stream_->check(); }
  Value state() const override { return stream_->state(); }
  void restore(const Value& state, int64_t batches) override {
    stream_->set_state(state);
    begin_epoch();
    stream_->pass(batches);
  }
  DatasetPtr with_needed(const NeededRows& needed_rows) override {
    return std::make_shared<StreamDataset>(stream_, x_names_, y_names_, needed_rows);
  }

 private:
  StreamPtr stream_;
  std::vector<std::string> x_names_, y_names_;
  NeededRows needed_rows_;
};

DatasetPtr with_names(const StreamPtr& stream, std::vector<std::string> x_names,
                      std::vector<std::string> y_names) {
  return std::make_shared<StreamDataset>(stream, std::move(x_names), std::move(y_names),
                                         NeededRows());
}

}  // namespace crescent
