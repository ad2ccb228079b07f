// A stream that takes its elements from one other stream.
#pragma once
#include "data/streams/element_spec.h"

namespace crescent {

/// Shard `index` of `count` of the elements: every `count`-th of them, without the last ones if
/// they are too few to give one to each shard. The elements of other shards are not made if the
/// stream can skip elements without making them.
StreamPtr shard_elements(StreamPtr source, int64_t index, int64_t count);

class DerivedStream : public Stream, public SpecifiedDataset {
 public:
  explicit DerivedStream(StreamPtr source) : source_(std::move(source)) {
    if (!source_) fail("expected a dataset, got none");
  }
  int64_t elements() const override { return source_->elements(); }
  std::vector<StreamPtr> sources() const override { return {source_}; }
  /// Returns the spec of the source's elements unless a derived class overrides it.
  Element element_spec() const override { return crescent::element_spec(*source_); }

 protected:
  DatasetPtr own_shard(int64_t index, int64_t count) override {
    return shard_elements(std::static_pointer_cast<Stream>(shared_from_this()), index, count);
  }
  /// Applies `f` to the number of elements in the source; kUnknown and kInfinite stay.
  template <class F>
  int64_t count_from_source(F f) const {
    const int64_t source_count = source_->elements();
    return source_count < 0 ? source_count : f(source_count);
  }
  StreamPtr source_;
};

}  // namespace crescent
