// The base of StringLookup, IntegerLookup and TextVectorization (IndexLookup in Keras): a
// vocabulary, which is given or learned by adapt(), and the encodings of its indices.
#pragma once
#include "crescent/layer/layer.h"
#include "documents.h"
#include "encoding.h"
#include "term_table.h"

namespace crescent {

inline constexpr const char* kTfIdf = "tf_idf";

template <class Term>
class LookupLayer : public UnaryLayer {
 public:
  void configured() override;
  Tensor call(const Tensor& x, const Call&) override;
  /// Infers the output shape from inputs whose dtype is that of terms.
  std::vector<Shape> compute_output_shape(const std::vector<Shape>& inputs) override;

 protected:
  /// Declares the methods that all layers with a vocabulary have.
  template <class T>
  static void describe_methods(Schema<T>& s);
  /// Declares the options that only occur in files, such as the learned vocabulary.
  template <class T>
  static void describe_stored(Schema<T>& s);

  /// Splits a batch of data for adapt() into documents; `is_whole` tells whether the batch is all
  /// of the data.
  virtual std::vector<Document<Term>> documents(const Value& batch, bool is_whole) const {
    return documents_of<Term>(batch, is_whole);
  }
  bool gives_indices() const { return output_mode_ == kIndices; }
  const TablePtr<Term>& table() const { return table_; }
  /// The size of the last axis of encodings.
  int64_t depth() const;
  /// Encodes indices by the option output_mode.
  Tensor encoded(const Tensor& indices) const;
  /// Multiplies counts by the inverse document frequencies if the mode is "tf_idf".
  Tensor with_idf_weights(const Tensor& counts) const;

  std::optional<int64_t> max_tokens_;
  int64_t num_oov_indices_ = 1;
  std::optional<Term> mask_token_, oov_token_;
  Value vocabulary_, idf_weights_;
  bool invert_ = false;
  std::string output_mode_ = kIndices;
  bool pad_to_max_tokens_ = false, sparse_ = false;
  std::string oov_method_ = "floormod";
  Value salt_;
  std::optional<int64_t> vocabulary_size_;
  std::optional<bool> has_input_vocabulary_;

 private:
  void check_options() const;
  TableRules<Term> rules() const;
  /// The tokens that may be at the start of a vocabulary, before the terms: one for the mask, and
  /// one for each index of unknown terms.
  std::vector<Term> special_tokens() const;
  bool has_room_for_special_tokens() const {
    return static_cast<int64_t>(special_tokens().size()) == rules().first_term_index();
  }

  void adapt(const Value& data, std::optional<int64_t> steps);
  void update_state(const Value& batch) { learn(batch, false); }
  void learn(const Value& batch, bool is_whole);
  void finalize_state();
  void reset_state() { counts_ = {}; }
  bool is_static() const { return has_input_vocabulary_.value_or(!vocabulary_.is_null()); }

  void set_vocabulary(const Value& vocabulary, const Value& idf_weights);
  /// Sets the vocabulary; on an error the layer is unchanged.
  void take_vocabulary(const Value& vocabulary, const Value& idf_weights);
  void check_terms(const std::vector<Term>& terms, const std::vector<Term>& given_terms) const;
  void set_terms(std::vector<Term> terms);
  void set_weights(const std::vector<double>& term_weights, bool has_special_tokens);
  /// Copies the vocabulary to the options, from which files and copies of the layer are made.
  void store_in_options();

  List get_vocabulary(bool include_special_tokens) const;
  int64_t vocabulary_size() const { return table_->size(); }
  void save_assets(const std::string& folder) const;
  void load_assets(const std::string& folder);

  TablePtr<Term> table_;
  /// The terms in the order of their indices, if the layer converts indices to terms.
  Tensor terms_by_index_;
  Tensor index_weights_;  ///< the idf weight of each index, for "tf_idf"
  TermCounts<Term> counts_;
};

template <class Term>
template <class T>
void LookupLayer<Term>::describe_methods(Schema<T>& s) {
  s.method("adapt", &LookupLayer::adapt,
           "Learns the vocabulary from data: the most frequent terms.")
      .arg("data", "A tensor, a list, or a dataset.")
      .arg("steps", "Maximum number of batches to use.", Value())
      .method("update_state", &LookupLayer::update_state, "Counts the terms of one batch.")
      .arg("data", "A tensor or a list.")
      .method("finalize_state", &LookupLayer::finalize_state,
              "Makes the vocabulary from the counts.")
      .method("reset_state", &LookupLayer::reset_state, "Discards the counts.")
      .method("get_vocabulary", &LookupLayer::get_vocabulary,
              "The terms of the vocabulary, in the order of their indices.")
      .arg("include_special_tokens", "Include those for mask and unknown terms.", true)
      .method("set_vocabulary", &LookupLayer::set_vocabulary, "Replaces the vocabulary.")
      .arg("vocabulary", "The terms, or the path of a file with one per line.")
      .arg("idf_weights", "Inverse document frequency of each term, for output_mode \"tf_idf\".",
           Value())
      .method("vocabulary_size", &LookupLayer::vocabulary_size,
              "Number of indices, including those for mask and unknown terms.")
      .method("save_assets", &LookupLayer::save_assets, "Writes the vocabulary as vocabulary.txt.")
      .arg("dir_path", "Path of the folder.")
      .method("load_assets", &LookupLayer::load_assets, "Reads the vocabulary from vocabulary.txt.")
      .arg("dir_path", "Path of the folder.");
}

template <class Term>
template <class T>
void LookupLayer<Term>::describe_stored(Schema<T>& s) {
  s.field("vocabulary_size", &LookupLayer::vocabulary_size_,
          "Size of the vocabulary of a layer in a file, where the vocabulary is stored separately.")
      .omit_null()
      .field("has_input_vocabulary", &LookupLayer::has_input_vocabulary_,
             "For a layer in a file: false if adapt() learned the vocabulary, so that it may learn "
             "another one.")
      .omit_null();
}

}  // namespace crescent
