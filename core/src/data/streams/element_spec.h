// Specs of the elements of a dataset: their structure, dtypes and shapes, known without making an
// element.
#pragma once
#include "crescent/data/stream.h"

namespace crescent {

/// A dataset that may know the spec of its elements.
class SpecifiedDataset {
 public:
  virtual ~SpecifiedDataset() = default;
  /// Returns an element of abstract tensors, with -1 for sizes that vary; an element without parts
  /// if the spec is not known or the elements have no common spec.
  virtual Element element_spec() const = 0;
};

/// The spec of the elements of a dataset; an element without parts if it is not known.
Element element_spec(const Dataset& data);
/// The spec of one element.
Element spec_of(const Element& element);
/// The spec that fits elements of both specs, with -1 for sizes that differ; no parts if structure,
/// dtypes or ranks differ.
Element common_spec(const Element& a, const Element& b);
/// The spec of batches of `size` rows with the spec `row`; a size of -1 means that the number of
/// rows varies.
Element batch_spec(const Element& row, int64_t size);
/// The spec of the rows of batches with this spec; an element without parts if a tensor is a
/// scalar.
Element row_spec(const Element& batch);

/// The spec as text: "(float32(28, 28), uint8)".
std::string to_text(const Element& spec);

}  // namespace crescent
