// A stream that takes its elements from one other stream.
#pragma once
#include "data/streams/element_spec.h"

namespace crescent {

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
  /// Applies `f` to the number of elements in the source; kUnknown and kInfinite stay.
  template <class F>
  int64_t counted(F f) const {
    const int64_t all = source_->elements();
    return all < 0 ? all : f(all);
  }
  StreamPtr source_;
};

}  // namespace crescent
