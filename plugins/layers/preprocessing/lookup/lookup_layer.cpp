#include "lookup_layer.h"

#include <numeric>

#include "../../../numbers.h"
#include "../adapting.h"
#include "vocabulary_file.h"

namespace crescent {
namespace {

template <class Term>
std::vector<Term> read_terms(const std::string& path, size_t special_token_count = 0) {
  if constexpr (std::is_integral_v<Term>)
    return read_integer_vocabulary(path, special_token_count);
  else
    return read_vocabulary(path, special_token_count);
}

std::string line_of(int64_t term) { return std::to_string(term); }
std::string line_of(const std::string& term) { return term; }

std::string vocabulary_path(const std::string& folder) { return folder + "/vocabulary.txt"; }

}  // namespace

// ---- checks of options

template <class Term>
void LookupLayer<Term>::configured() {
  UnaryLayer::configured();
  output_mode_ = current_mode(output_mode_);
  // files of tf.keras contain the policy "string", which is replaced
  if (policy_.compute == DType::string) policy_ = default_policy();
  check_options();
  key_of(salt_, class_name());
  if (!table_) table_ = std::make_shared<const TermTable<Term>>(std::vector<Term>(), rules());
  if (output_mode_ == kTfIdf && is_static() && idf_weights_.is_null())
    fail("When specifying the `vocabulary` argument, in TF-IDF output mode, the `idf_weights` ",
         "argument must also be provided.");
  if (vocabulary_.is_null()) return;
  take_vocabulary(vocabulary_, idf_weights_);
  if (!vocabulary_.is_list() || idf_weights_.is_object()) store_in_options();
}

template <class Term>
void LookupLayer<Term>::check_options() const {
  if (max_tokens_ && *max_tokens_ <= 1)
    fail("If set, `max_tokens` must be greater than 1. Received: max_tokens=", *max_tokens_);
  if (pad_to_max_tokens_ && !max_tokens_)
    fail("If pad_to_max_tokens is True, must set `max_tokens`. Received: max_tokens=None");
  if (num_oov_indices_ < 0)
    fail("`num_oov_indices` must be greater than or equal to 0. Received: num_oov_indices=",
         num_oov_indices_);
  if (std::is_integral_v<Term> && !salt_.is_null() && oov_method_ != "farmhash")
    fail("`salt` can only be used when `oov_method='farmhash'`. Received: oov_method=",
         oov_method_);
  check_mode(output_mode_, {kIndices, kOneHot, kMultiHot, kCount, kTfIdf});
  refuse_sparse(sparse_);
  if (invert_ && !gives_indices())
    fail("`output_mode` must be `'int'` when `invert` is true. Received: output_mode=",
         output_mode_);
  if (invert_ && !oov_token_) fail("`oov_token` must be set when `invert` is true");
  if (!idf_weights_.is_null() && output_mode_ != kTfIdf)
    fail("`idf_weights` should only be set if `output_mode` is `'tf_idf'`. Received: idf_weights=",
         idf_weights_, " and output_mode=", output_mode_);
}

template <class Term>
TableRules<Term> LookupLayer<Term>::rules() const {
  Value salt = salt_;
  return {.mask_term = mask_token_,
          .mask_index = gives_indices() ? 0 : -1,
          .oov_start = mask_token_ && gives_indices() ? 1 : 0,
          .oov_count = num_oov_indices_,
          .uses_remainder = std::is_integral_v<Term> && oov_method_ != "farmhash",
          .key = key_of(salt, class_name())};
}

// ---- the vocabulary

template <class Term>
std::vector<Term> LookupLayer<Term>::special_tokens() const {
  std::vector<Term> tokens;
  if (rules().oov_start > 0) tokens.push_back(*mask_token_);
  if (oov_token_) tokens.insert(tokens.end(), num_oov_indices_, *oov_token_);
  return tokens;
}

template <class Term>
void LookupLayer<Term>::set_vocabulary(const Value& vocabulary, const Value& idf_weights) {
  if (output_mode_ == kTfIdf && idf_weights.is_null())
    fail("`idf_weights` must be set if output_mode is 'tf_idf'.");
  if (output_mode_ != kTfIdf && !idf_weights.is_null())
    fail("`idf_weights` should only be set if output_mode is `'tf_idf'`. Received: output_mode=",
         output_mode_, " and idf_weights=", idf_weights);
  const bool was_static = is_static();
  take_vocabulary(vocabulary, idf_weights);
  store_in_options();
  has_input_vocabulary_ = was_static;
}

template <class Term>
void LookupLayer<Term>::take_vocabulary(const Value& vocabulary, const Value& idf_weights) {
  if (vocabulary.is_string()) {
    if (output_mode_ == kTfIdf)
      fail("output_mode `'tf_idf'` does not support loading a vocabulary from file.");
    return set_terms(read_terms<Term>(vocabulary.as_string()));
  }
  const std::vector<Term> given_terms = terms_of<Term>(vocabulary), first_tokens = special_tokens();
  if (given_terms.empty())
    fail("Cannot set an empty vocabulary. Received: vocabulary=", vocabulary);
  const bool has_special_tokens =
      has_room_for_special_tokens() && given_terms.size() >= first_tokens.size() &&
      std::equal(first_tokens.begin(), first_tokens.end(), given_terms.begin());
  const auto first_term =
      given_terms.begin() + static_cast<ptrdiff_t>(has_special_tokens ? first_tokens.size() : 0);
  const std::vector<Term> terms(first_term, given_terms.end());
  check_terms(terms, given_terms);
  if (output_mode_ != kTfIdf) return set_terms(terms);
  const std::vector<double> weights = numbers_in(idf_weights, "idf_weights").values;
  if (weights.size() != given_terms.size())
    fail("`idf_weights` must be the same length as vocabulary. len(idf_weights) is ",
         weights.size(), "; len(vocabulary) is ", given_terms.size());
  set_terms(terms);
  set_weights(weights, has_special_tokens);
}

template <class Term>
void LookupLayer<Term>::check_terms(const std::vector<Term>& terms,
                                    const std::vector<Term>& given_terms) const {
  std::unordered_set<ViewOf<Term>> seen_terms;
  List repeated;
  for (const Term& term : terms)
    if (!seen_terms.insert(term).second) repeated.push_back(term);
  if (!repeated.empty())
    fail("The passed vocabulary has at least one repeated term. Please uniquify your dataset. ",
         "The repeated terms are: ", Value(repeated));
  const auto refuse_token = [&](const char* name, const char* option, const Term& token) {
    const auto last_occurrence = std::find(given_terms.rbegin(), given_terms.rend(), token);
    fail("Found reserved ", name, " token at unexpected location in `vocabulary`. Note that ",
         "passed `vocabulary` does not need to include the OOV and mask tokens. Either remove ",
         "all mask and OOV tokens, or include them only at the start of the vocabulary in ",
         "precisely this order: ", Value(special_tokens()), ". Received: ", option, "=",
         Value(token), " at vocabulary index ", given_terms.rend() - last_occurrence - 1);
  };
  if (mask_token_ && seen_terms.contains(*mask_token_))
    refuse_token("mask", "mask_token", *mask_token_);
  if (invert_ && seen_terms.contains(*oov_token_)) refuse_token("OOV", "oov_token", *oov_token_);
}

template <class Term>
void LookupLayer<Term>::set_terms(std::vector<Term> terms) {
  auto table = std::make_shared<const TermTable<Term>>(std::move(terms), rules());
  if (max_tokens_ && table->size() > *max_tokens_)
    fail("Attempted to set a vocabulary larger than the maximum vocab size. Received vocabulary ",
         "size is ", table->size(), "; `max_tokens` is ", *max_tokens_, ".");
  if (!gives_indices() && !pad_to_max_tokens_ && vocabulary_size_ &&
      *vocabulary_size_ != table->size())
    fail("When using `output_mode=", output_mode_, "` and `pad_to_max_tokens=False`, the ",
         "vocabulary size cannot be changed after the layer is called. Old vocab size is ",
         *vocabulary_size_, ", new vocab size is ", table->size());
  table_ = std::move(table);
  vocabulary_size_ = table_->size();
  if (invert_) {
    std::vector<Term> terms_by_index(rules().first_term_index(), *oov_token_);
    if (mask_token_) terms_by_index.front() = *mask_token_;
    terms_by_index.insert(terms_by_index.end(), table_->terms().begin(), table_->terms().end());
    terms_by_index.push_back(*oov_token_);
    terms_by_index_ = tensor_of(terms_by_index, {static_cast<int64_t>(terms_by_index.size())});
  }
  structure_changed();
}

/// Sets the weights of all indices for the mode "tf_idf". `term_weights` has a weight for each
/// term. If `has_special_tokens` is true, it begins with the weights of the special tokens;
/// otherwise these tokens get the mean of the weights of all terms.
template <class Term>
void LookupLayer<Term>::set_weights(const std::vector<double>& term_weights,
                                    bool has_special_tokens) {
  std::vector<float> weights;
  if (!has_special_tokens && !term_weights.empty())
    weights.assign(
        rules().first_term_index(),
        static_cast<float>(std::accumulate(term_weights.begin(), term_weights.end(), 0.0) /
                           static_cast<double>(term_weights.size())));
  weights.insert(weights.end(), term_weights.begin(), term_weights.end());
  weights.resize(depth());
  index_weights_ = Tensor::from(weights, {depth()});
}

template <class Term>
void LookupLayer<Term>::store_in_options() {
  const bool stores_special_tokens = has_room_for_special_tokens();
  std::vector<Term> terms = stores_special_tokens ? special_tokens() : std::vector<Term>();
  const size_t skipped_weight_count =
      stores_special_tokens ? 0 : static_cast<size_t>(rules().first_term_index());
  terms.insert(terms.end(), table_->terms().begin(), table_->terms().end());
  if (output_mode_ == kTfIdf) {
    const std::vector<double> weights = index_weights_.to_vector();
    const auto first_weight = weights.begin() + static_cast<ptrdiff_t>(skipped_weight_count);
    idf_weights_ =
        std::vector<double>(first_weight, first_weight + static_cast<ptrdiff_t>(terms.size()));
  }
  vocabulary_ = Value(terms);
}

template <class Term>
List LookupLayer<Term>::get_vocabulary(bool include_special_tokens) const {
  List terms;
  if (include_special_tokens) {
    terms.assign(rules().first_term_index(), Codec<std::optional<Term>>::encode(oov_token_));
    if (rules().oov_start > 0) terms.front() = *mask_token_;
  }
  terms.insert(terms.end(), table_->terms().begin(), table_->terms().end());
  return terms;
}

template <class Term>
void LookupLayer<Term>::save_assets(const std::string& folder) const {
  std::vector<std::string> lines;
  for (const Value& term : get_vocabulary(true))
    lines.push_back(term.is_null() ? "None" : line_of(term_of<Term>(term)));
  write_vocabulary(vocabulary_path(folder), lines);
}

template <class Term>
void LookupLayer<Term>::load_assets(const std::string& folder) {
  const std::vector<Term> terms =
      read_terms<Term>(vocabulary_path(folder), special_tokens().size());
  set_vocabulary(Value(terms), idf_weights_);
}

// ---- learning of a vocabulary by adapt()

template <class Term>
void LookupLayer<Term>::adapt(const Value& data, std::optional<int64_t> steps) {
  reset_state();
  each_batch(data, steps, [&](const Value& batch) { learn(batch, is_array(data)); });
  finalize_state();
}

template <class Term>
void LookupLayer<Term>::learn(const Value& batch, bool is_whole) {
  if (is_static())
    fail("Cannot adapt layer '", name(), "' after setting a static vocabulary via `vocabulary` ",
         "argument or `set_vocabulary()` method.");
  for (const Document<Term>& document : documents(batch, is_whole)) counts_.add(document);
}

template <class Term>
void LookupLayer<Term>::finalize_state() {
  if (mask_token_) counts_.remove(*mask_token_);
  if (oov_token_) counts_.remove(*oov_token_);
  if (is_static() || counts_.empty()) return;
  std::vector<Term> terms = counts_.terms_in_order();
  if (max_tokens_) {
    const int64_t max_terms = std::max<int64_t>(*max_tokens_ - rules().first_term_index(), 0);
    terms.resize(std::min(terms.size(), static_cast<size_t>(max_terms)));
  }
  std::vector<double> weights;
  if (output_mode_ == kTfIdf)
    for (const Term& term : terms) weights.push_back(counts_.inverse_document_frequency(term));
  set_terms(std::move(terms));
  if (output_mode_ == kTfIdf) set_weights(weights, false);
  store_in_options();
  has_input_vocabulary_ = false;
  reset_state();
}

// ---- the call of the layer

template <class Term>
int64_t LookupLayer<Term>::depth() const {
  if (pad_to_max_tokens_) return *max_tokens_;
  if (!vocabulary_size_)
    fail("When using `output_mode=", output_mode_, "` and `pad_to_max_tokens=False`, you must set ",
         "the layer's vocabulary before calling it. Either pass a `vocabulary` argument to the ",
         "layer, or call `adapt` with some sample data.");
  return *vocabulary_size_;
}

template <class Term>
Tensor LookupLayer<Term>::with_idf_weights(const Tensor& counts) const {
  if (output_mode_ != kTfIdf || !index_weights_) return counts;
  return counts * ops::cast(index_weights_, counts.dtype());
}

template <class Term>
Tensor LookupLayer<Term>::encoded(const Tensor& indices) const {
  if (gives_indices()) return indices;
  const std::string& mode = output_mode_ == kTfIdf ? kCount : output_mode_;
  return with_idf_weights(encode_indices(indices, mode, depth(), compute_dtype()));
}

template <class Term>
Tensor LookupLayer<Term>::call(const Tensor& x, const Call&) {
  if (invert_) {
    IndexToTerm<Term> op;
    op.table = table_, op.terms_by_index = terms_by_index_;
    return apply1(op, {ops::cast(x, DType::int64)});
  }
  if (!gives_indices()) depth();  // depth() fails if the size of the encodings is unknown
  TermToIndex<Term> op;
  op.table = table_;
  return encoded(apply1(op, {as_terms<Term>(x)}));
}

template <class Term>
std::vector<Shape> LookupLayer<Term>::compute_output_shape(const std::vector<Shape>& inputs) {
  if (inputs.size() != 1) fail("expected the shape of one input, got ", inputs.size());
  build_for(inputs);
  const DType dtype = invert_ ? DType::int64 : kDTypeOf<Term>;
  return {call(Tensor::abstract({dtype, inputs.front()}), Call()).shape()};
}

template class LookupLayer<std::string>;
template class LookupLayer<int64_t>;

}  // namespace crescent
