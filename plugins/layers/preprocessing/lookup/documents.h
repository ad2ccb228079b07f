// Converts the data of adapt() and options to terms.
#pragma once
#include "crescent/base/value.h"
#include "term_counts.h"

namespace crescent {

template <class Term>
Term term_of(const Value& value) {
  if constexpr (std::is_integral_v<Term>)
    return value.as_int();
  else
    return value.as_string();
}

template <class Term>
std::vector<Term> terms_of(const Tensor& tensor) {
  const Tensor terms = as_terms<Term>(tensor).to(nullptr);
  const auto* element = terms.template data<ElementOf<Term>>();
  std::vector<Term> all_terms;
  for (int64_t i = 0; i < terms.size(); ++i) all_terms.emplace_back(term_at(element[i]));
  return all_terms;
}

template <class Term>
void add_terms(const Value& value, std::vector<Term>& terms) {
  if (!value.is_list()) return terms.push_back(term_of<Term>(value));
  for (const Value& item : value.as_list()) add_terms(item, terms);
}

/// The terms of a tensor or of nested lists, or a single term.
template <class Term>
std::vector<Term> terms_of(const Value& value) {
  if (const auto boxed = value.object_as<BoxedTensor>()) return terms_of<Term>(boxed->tensor);
  std::vector<Term> terms;
  add_terms(value, terms);
  return terms;
}

/// The documents of a batch: one for each row. A batch without rows is a single document or, with
/// `one_document_per_term`, one document for each term.
template <class Term>
std::vector<Document<Term>> documents_of(const Value& batch, bool one_document_per_term) {
  std::vector<Document<Term>> documents;
  const auto boxed = batch.object_as<BoxedTensor>();
  const bool has_rows =
      boxed ? boxed->tensor.rank() > 1
            : batch.is_list() && !batch.as_list().empty() && batch.as_list().front().is_list();
  if (has_rows && !boxed) {
    for (const Value& row : batch.as_list()) documents.push_back(terms_of<Term>(row));
    return documents;
  }
  std::vector<Term> terms = terms_of<Term>(batch);
  if (!has_rows && !one_document_per_term) return {std::move(terms)};
  const size_t document_count = has_rows ? static_cast<size_t>(boxed->tensor.dim(0)) : terms.size();
  const size_t document_length = document_count == 0 ? 0 : terms.size() / document_count;
  for (auto document_start = terms.begin(); documents.size() < document_count;
       document_start += ptrdiff_t(document_length))
    documents.emplace_back(document_start, document_start + ptrdiff_t(document_length));
  return documents;
}

}  // namespace crescent
