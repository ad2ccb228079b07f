// Datasets of plugins. Exceptions that code of a plugin throws during a pass name the class and the
// plugin.
#include "data/streams/order_stream.h"
#include "host/provided_datasets.h"
#include "registry/blame.h"
#include "registry/registry_state.h"

namespace crescent {
namespace {

class ProvidedCursor final : public Cursor {
 public:
  ProvidedCursor(CursorPtr cursor, ClassInfoPtr provider)
      : cursor_(std::move(cursor)), provider_(std::move(provider)) {}
  bool next(Element& element) override {
    return blaming(provider_.get(), [&] { return cursor_->next(element); });
  }
  int64_t pass(int64_t count) override {
    return blaming(provider_.get(), [&] { return cursor_->pass(count); });
  }

 private:
  CursorPtr cursor_;
  ClassInfoPtr provider_;
};

/// The elements of a stream that an object of the class `provider` made.
class ProvidedStream final : public OrderStream {
 public:
  ProvidedStream(StreamPtr source, ClassInfoPtr provider)
      : OrderStream(std::move(source)), provider_(std::move(provider)) {}
  std::string class_name() const override { return source_->class_name(); }
  int64_t elements() const override {
    return blaming(provider_.get(), [&] { return source_->elements(); });
  }

 protected:
  CursorPtr reorder(const OpenPass& open_source, uint64_t epoch) override {
    return blaming(provider_.get(),
                   [&] { return std::make_shared<ProvidedCursor>(open_source(epoch), provider_); });
  }

 private:
  ClassInfoPtr provider_;
};

}  // namespace

StreamPtr provided_dataset(const std::string& class_name, const Dict& options) {
  const auto provider = make_object("dataset", class_name, options);
  const auto stream = blaming(*provider, [&] {
    const Value stream_value = provider->call_method("stream");
    const auto provided_stream = stream_value.object_as<Stream>();
    if (!provided_stream)
      fail("its method stream must give a dataset, such as that of from_tensor_slices, got ",
           stream_value);
    return provided_stream;
  });
  return std::make_shared<ProvidedStream>(stream, provider->info());
}

}  // namespace crescent
