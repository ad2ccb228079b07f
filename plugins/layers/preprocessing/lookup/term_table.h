// The lookup table of a vocabulary: terms have consecutive indices, the mask may have an index
// before them, and unknown terms (out of vocabulary, OOV) share some indices.
#pragma once
#include <unordered_map>

#include "crescent/program/op.h"
#include "hashing/buckets.h"
#include "terms.h"

namespace crescent {

/// How a table assigns indices to terms.
template <class Term>
struct TableRules {
  std::optional<Term> mask_term;  ///< the term that stands for a missing value
  /// Index of the mask; -1 if the mask has no index, so that encodings do not count it.
  int64_t mask_index = 0;
  int64_t oov_start = 0;  ///< the first index for unknown terms
  int64_t oov_count = 1;  ///< the number of indices for unknown terms
  /// Whether the index of an unknown number follows from its remainder instead of its hash.
  bool uses_remainder = false;
  std::optional<SipKey> key;  ///< the key of the hash

  int64_t first_term_index() const { return oov_start + oov_count; }
};

template <class Term>
class TermTable {
 public:
  static constexpr int64_t kUnknown = -2;

  TermTable(std::vector<Term> terms, TableRules<Term> rules)
      : terms_(std::move(terms)), rules_(std::move(rules)) {
    term_indices_.reserve(terms_.size());
    for (const Term& term : terms_)
      term_indices_.emplace(term,
                            rules_.first_term_index() + static_cast<int64_t>(term_indices_.size()));
  }
  TermTable(const TermTable&) = delete;  // a copy would refer to the terms of the original table

  const std::vector<Term>& terms() const { return terms_; }
  const TableRules<Term>& rules() const { return rules_; }
  int64_t size() const { return rules_.first_term_index() + static_cast<int64_t>(terms_.size()); }

  /// The index of a term; kUnknown for an unknown term if there are no indices for unknown terms.
  int64_t index(ViewOf<Term> term) const {
    if (rules_.mask_term && term == ViewOf<Term>(*rules_.mask_term)) return rules_.mask_index;
    const auto entry = term_indices_.find(term);
    if (entry != term_indices_.end()) return entry->second;
    return rules_.oov_count == 0 ? kUnknown : rules_.oov_start + bucket(term);
  }

 private:
  int64_t bucket(ViewOf<Term> term) const {
    if (rules_.oov_count == 1) return 0;
    if constexpr (std::is_integral_v<Term>)
      if (rules_.uses_remainder)
        return (term % rules_.oov_count + rules_.oov_count) % rules_.oov_count;
    return bucket_of(term, rules_.oov_count, rules_.key);
  }

  std::vector<Term> terms_;
  TableRules<Term> rules_;
  std::unordered_map<ViewOf<Term>, int64_t> term_indices_;
};

template <class Term>
using TablePtr = std::shared_ptr<const TermTable<Term>>;

[[noreturn]] void fail_without_vocabulary();
/// Throws the error for input terms that are unknown while the layer has no index for unknown
/// terms. The message lists only the first of these terms.
[[noreturn]] void fail_unknown_terms(const List& terms);

/// The table that a lookup op refers to; fails if the layer has no vocabulary yet.
template <class Term>
const TermTable<Term>& vocabulary_in(const TablePtr<Term>& table) {
  if (!table || table->terms().empty()) fail_without_vocabulary();
  return *table;
}

/// The op that maps terms to indices.
template <class Term>
struct TermToIndex final : OpOf<TermToIndex<Term>> {
  static constexpr const char* kName = "place_of_term";
  TablePtr<Term> table;
  auto fields() const { return std::tuple(table.get()); }
  Effect effect() const override { return Effect::check; }
  bool supports_dtype(DType dtype) const override { return dtype == kDTypeOf<Term>; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {{DType::int64, in[0].shape}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const TermTable<Term>& terms = vocabulary_in(table);
    const auto* element = in[0].data<ElementOf<Term>>();
    auto* index = out[0].mutable_data<int64_t>();
    List unknown_terms;
    for (int64_t i = 0; i < in[0].size(); ++i) {
      index[i] = terms.index(term_at(element[i]));
      if (index[i] == TermTable<Term>::kUnknown && unknown_terms.size() < 10)
        unknown_terms.push_back(term_at(element[i]));
    }
    if (!unknown_terms.empty()) fail_unknown_terms(unknown_terms);
    return true;
  }
};

/// The op that maps indices to terms; indices without a term give the term for unknown terms.
template <class Term>
struct IndexToTerm final : OpOf<IndexToTerm<Term>> {
  static constexpr const char* kName = "term_at_place";
  TablePtr<Term> table;
  Tensor terms_by_index;  ///< the terms by index; the last one is for indices without a term
  auto fields() const { return std::tuple(table.get(), terms_by_index.id()); }
  Effect effect() const override { return Effect::check; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {{kDTypeOf<Term>, in[0].shape}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    vocabulary_in(table);
    const auto* index = in[0].data<int64_t>();
    const auto* term = terms_by_index.data<ElementOf<Term>>();
    auto* result = out[0].mutable_data<ElementOf<Term>>();
    const int64_t last_index = terms_by_index.size() - 1;
    for (int64_t i = 0; i < in[0].size(); ++i)
      result[i] = term[index[i] >= 0 && index[i] < last_index ? index[i] : last_index];
    return true;
  }
};

}  // namespace crescent
