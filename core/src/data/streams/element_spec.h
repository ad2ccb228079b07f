// What the elements of a dataset are like, known without making one.
#pragma once
#include "crescent/data/stream.h"

namespace crescent {

/// A dataset that may know its elements.
class SpecifiedDataset {
 public:
  virtual ~SpecifiedDataset() = default;
  /// An element of abstract tensors, in which sizes that differ are unknown; no parts if the
  /// elements are not known or not alike.
  virtual Element element_spec() const = 0;
};

/// The spec of the elements of a dataset; no parts if they are not known.
Element element_spec(const Dataset& data);
/// The spec of one element.
Element spec_of(const Element& element);
/// What the elements of both specs have in common; no parts if they are not alike.
Element common_spec(const Element& a, const Element& b);
/// The spec of batches of so many rows like this one (-1: not always the same number).
Element batch_spec(const Element& row, int64_t size);
/// The spec of the rows of such batches; no parts if a tensor has no rows.
Element row_spec(const Element& batch);

/// "(float32(28, 28), uint8)"
std::string to_text(const Element& spec);

}  // namespace crescent
