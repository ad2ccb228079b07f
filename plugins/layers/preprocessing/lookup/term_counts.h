// The counts that adapt() collects: how often each term occurs, and how many documents contain it.
#pragma once
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "terms.h"

namespace crescent {

template <class Term>
using Document = std::vector<Term>;

template <class Term>
class TermCounts {
 public:
  void add(const Document<Term>& document) {
    ++document_count_;
    std::unordered_set<ViewOf<Term>> seen_terms;
    for (const Term& term : document) {
      Occurrences& count = counts_[term];
      ++count.terms;
      if (seen_terms.insert(term).second) ++count.documents;
    }
  }
  void remove(const Term& term) { counts_.erase(term); }
  bool empty() const { return counts_.empty(); }

  /// The terms in the order of decreasing frequency; equally frequent terms are in decreasing
  /// order.
  std::vector<Term> terms_in_order() const {
    std::vector<const Entry*> entries;
    for (const Entry& entry : counts_) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) {
      return std::pair(a->second.terms, ViewOf<Term>(a->first)) >
             std::pair(b->second.terms, ViewOf<Term>(b->first));
    });
    std::vector<Term> terms;
    for (const Entry* entry : entries) terms.push_back(entry->first);
    return terms;
  }

  /// The inverse document frequency: log(1 + documents / (1 + documents with the term)).
  double inverse_document_frequency(const Term& term) const {
    const double documents_with_term = static_cast<double>(counts_.at(term).documents);
    return static_cast<float>(
        std::log(1 + static_cast<double>(document_count_) / (1 + documents_with_term)));
  }

 private:
  struct Occurrences {
    int64_t terms = 0, documents = 0;
  };
  using Entry = std::pair<const Term, Occurrences>;
  std::unordered_map<Term, Occurrences> counts_;
  int64_t document_count_ = 0;
};

}  // namespace crescent
