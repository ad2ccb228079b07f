// Terms: the words or numbers of a vocabulary. This file converts tensors and options to terms.
#pragma once
#include "crescent/ops/ops.h"
#include "crescent/tensor/strings.h"

namespace crescent {

/// The traits of a type of terms, which is std::string or int64_t: the type of terms as elements of
/// tensors, and the type of views of terms.
template <class Term>
struct TermType;
template <>
struct TermType<std::string> {
  using Element = StringId;
  using View = std::string_view;
  static constexpr const char* kName = "strings";
};
template <>
struct TermType<int64_t> {
  using Element = int64_t;
  using View = int64_t;
  static constexpr const char* kName = "integers";
};
template <class Term>
using ElementOf = typename TermType<Term>::Element;
template <class Term>
using ViewOf = typename TermType<Term>::View;
template <class Term>
constexpr DType kDTypeOf = DTypeOf<ElementOf<Term>>::value;

inline std::string_view term_at(StringId id) { return text_of(id); }
inline int64_t term_at(int64_t number) { return number; }

inline Tensor tensor_of(std::span<const std::string> terms, const Shape& shape) {
  return string_tensor(terms, shape);
}
inline Tensor tensor_of(std::span<const int64_t> terms, const Shape& shape) {
  return Tensor::from(terms, shape);
}

/// Converts a tensor to the dtype of terms; fails if texts are expected and numbers given, or the
/// other way round.
template <class Term>
Tensor as_terms(const Tensor& x) {
  const bool expects_strings = kDTypeOf<Term> == DType::string;
  if (expects_strings != (x.dtype() == DType::string))
    fail("expected ", TermType<Term>::kName, ", got ", x.spec());
  return expects_strings ? x : ops::cast(x, DType::int64);
}

}  // namespace crescent
