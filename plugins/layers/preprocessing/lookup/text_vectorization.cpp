#include <algorithm>

#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"
#include "crescent/system/interrupt.h"
#include "lookup_layer.h"
#include "text_rules.h"

namespace crescent {
namespace {

using Documents = std::vector<Document<std::string>>;
using Table = TermTable<std::string>;

/// Writes a row of `length` indices for each document. Rows of shorter documents are padded with
/// the index of the mask, and longer documents are cut.
void fill_indices(const Documents& documents, const Table& table, std::span<int64_t> indices,
                  int64_t length) {
  std::fill(indices.begin(), indices.end(), 0);
  auto row = indices.begin();
  for (const Document<std::string>& terms : documents) {
    const size_t count = std::min(terms.size(), static_cast<size_t>(length));
    for (size_t i = 0; i < count; ++i) row[ptrdiff_t(i)] = table.index(terms[i]);
    row += length;
  }
}

/// Writes, for each document, a row with the counts of the indices.
void fill_counts(const Documents& documents, const Table& table, std::span<float> counts,
                 int64_t depth) {
  std::fill(counts.begin(), counts.end(), 0.0f);
  auto row = counts.begin();
  for (const Document<std::string>& terms : documents) {
    for (const std::string& term : terms)
      if (const int64_t index = table.index(term); index >= 0 && index < depth) ++row[index];
    row += depth;
  }
}

/// The op that converts texts (n, ...) to int64 indices (n, width) or float32 counts (n, width).
struct Vectorize final : OpOf<Vectorize> {
  static constexpr const char* kName = "vectorize_text";
  std::shared_ptr<const TextRules> rules;
  TablePtr<std::string> table;
  bool gives_counts = false;
  /// The size of the last axis of the result; -1 means the length of the longest text, which is
  /// unknown while shapes are inferred.
  int64_t width = -1;
  auto fields() const { return std::tuple(rules.get(), table.get(), gives_counts, width); }
  Effect effect() const override { return Effect::check; }
  bool supports_dtype(DType dtype) const override { return dtype == DType::string; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {{gives_counts ? DType::float32 : DType::int64, {in[0].shape[0], width}}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const Table& terms = vocabulary_in(table);
    const Documents documents = rules->documents(in[0]);
    const auto size = static_cast<size_t>(out[0].size());
    if (gives_counts)
      fill_counts(documents, terms, {out[0].mutable_data<float>(), size}, width);
    else
      fill_indices(documents, terms, {out[0].mutable_data<int64_t>(), size}, width);
    return true;
  }
};

class TextVectorization final : public LookupLayer<std::string> {
 public:
  static void describe(Schema<TextVectorization>& s) {
    s.doc(
         "Maps texts to the indices of their words in a vocabulary, or to vectors that count them.")
        .field("max_tokens", &TextVectorization::max_tokens_,
               "Maximum size of the vocabulary, including padding and unknown words.")
        .field("standardize", &TextVectorization::standardize_option_,
               "\"lower_and_strip_punctuation\", \"lower\", \"strip_punctuation\" (ASCII only), "
               "null, or a function from a tensor of texts to another one.")
        .kind(Activation::kKind)
        .field("split", &TextVectorization::split_option_,
               "\"whitespace\", \"character\", null, or a function from a tensor of texts (n) to "
               "words (n, m), padded with \"\".")
        .kind(Activation::kKind)
        .field("ngrams", &TextVectorization::ngrams_option_,
               "Use sequences of up to this many words as terms, or a list of lengths.")
        .field("output_mode", &TextVectorization::output_mode_,
               "\"int\": indices, padded with 0; \"multi_hot\", \"count\": vectors with an element "
               "for each index; \"tf_idf\": counts times idf_weights.")
        .field("output_sequence_length", &TextVectorization::output_sequence_length_,
               "Length of the rows; null: that of the longest text in the batch.")
        .min(1)
        .field("pad_to_max_tokens", &TextVectorization::pad_to_max_tokens_,
               "Make vectors of max_tokens elements even if the vocabulary is smaller.")
        .field(
            "vocabulary", &TextVectorization::vocabulary_,
            "The terms, or the path of a file with one per line; without it adapt() learns them.")
        .field("idf_weights", &TextVectorization::idf_weights_,
               "Inverse document frequency of each term of the vocabulary, for \"tf_idf\".")
        .field("sparse", &TextVectorization::sparse_, "Accepts only false: tensors are dense.")
        .field("ragged", &TextVectorization::ragged_, "Accepts only false: tensors are dense.")
        .field("encoding", &TextVectorization::encoding_, "Encoding of the texts.")
        .choices({"utf-8"});
    describe_stored(s);
    describe_methods(s);
  }
  TextVectorization() { mask_token_ = "", oov_token_ = "[UNK]"; }

  void configured() override {
    auto rules = std::make_shared<TextRules>();
    set_standardize(*rules);
    set_split(*rules);
    rules->ngrams = ngrams();
    rules_ = rules;
    if (output_mode_ != kIndices && output_sequence_length_)
      fail("`output_sequence_length` must not be set if `output_mode` is not 'int'. ",
           "Received output_sequence_length=", *output_sequence_length_, ".");
    if (ragged_)
      fail(
          "`ragged=true` is not possible: tensors are dense; without it short rows end with zeros");
    if (output_mode_ == kOneHot && rules->split != Split::none)
      fail("`output_mode=\"one_hot\"` needs `split=null`: as many words as a text has would give ",
           "as many vectors");
    LookupLayer::configured();
  }

  Tensor call(const Tensor& raw_input, const Call&) override {
    const Tensor x = as_terms<std::string>(raw_input);
    const bool is_single = x.rank() == 0;
    check_shape(x.shape());
    const Tensor rows = is_single ? ops::reshape(x, {1}) : x;
    if (gives_indices() || output_mode_ == kOneHot) {
      const Tensor indices = indices_of(rows);
      return encoded(is_single ? ops::squeeze(indices, 0) : indices);
    }
    const Tensor counts = vectorize(rows, true, depth());
    const Tensor encoding = with_idf_weights(
        ops::cast(output_mode_ == kMultiHot ? ops::minimum(counts, 1) : counts, compute_dtype()));
    return is_single ? ops::squeeze(encoding, 0) : encoding;
  }

  Dict get_config() const override {
    Dict config = LookupLayer::get_config();
    config.set("standardize", name_of(standardize_option_));
    config.set("split", name_of(split_option_));
    return config;
  }

 private:
  /// The value by which a file stores the option: for a function, its name.
  static Value name_of(const Value& option) {
    const auto function = option.object_as<Activation>();
    return function ? Activation::encode_option(function.get()) : option;
  }
  /// Whether the value of an option is null or false, which both mean that its step (changing or
  /// splitting the texts) is omitted.
  static bool is_none(const Value& option) { return option.is_null() || option == Value(false); }

  [[noreturn]] static void fail_step(const char* option, const char* words,
                                     const Value& option_value) {
    fail("Unknown value for `", option, "` argument of layer TextVectorization. If restoring a ",
         "saved model with a function there, give it in custom_objects. Expected one of: ", words,
         ", or a function. Received: ", option, "=", option_value);
  }
  /// The function of an option, whose value is a function or the name of one that was defined in
  /// Lua; null for other values.
  static std::shared_ptr<Activation> function_in(const Value& option) {
    if (auto function = option.object_as<Activation>()) return function;
    const auto class_info =
        option.is_string() ? registry().find(Activation::kKind, option.as_string()) : nullptr;
    return class_info && class_info->origin == "Lua" ? get<Activation>(option) : nullptr;
  }
  void set_standardize(TextRules& rules) const {
    if (is_none(standardize_option_)) return;
    if ((rules.standardize = function_in(standardize_option_))) return;
    const std::string word = standardize_option_.is_string() ? standardize_option_.as_string() : "";
    rules.lower = word == "lower" || word == "lower_and_strip_punctuation";
    rules.strip_punctuation = word == "strip_punctuation" || word == "lower_and_strip_punctuation";
    if (!rules.lower && !rules.strip_punctuation)
      fail_step("standardize", "lower_and_strip_punctuation, lower, strip_punctuation, null",
                standardize_option_);
  }
  void set_split(TextRules& rules) const {
    if (is_none(split_option_)) return;
    rules.splitter = function_in(split_option_);
    if (!rules.splitter && split_option_ != Value("whitespace") &&
        split_option_ != Value("character"))
      fail_step("split", "whitespace, character, null", split_option_);
    rules.split = rules.splitter                         ? Split::function
                  : split_option_ == Value("whitespace") ? Split::whitespace
                                                         : Split::character;
  }
  std::vector<int64_t> ngrams() const {
    if (ngrams_option_.is_null()) return {};
    std::vector<int64_t> widths;
    if (ngrams_option_.is_int())
      for (int64_t n = 1; n <= ngrams_option_.as_int(); ++n) {
        heed_interruption("widths of ngrams were listed");
        widths.push_back(n);
      }
    else
      widths = Codec<std::vector<int64_t>>::decode(ngrams_option_);
    if (widths.empty() || *std::min_element(widths.begin(), widths.end()) < 1)
      fail("`ngrams` must be None, an integer, or a tuple of integers. Received: ngrams=",
           ngrams_option_);
    return widths;
  }

  void check_shape(const Shape& shape) const {
    if (rules_->split == Split::none ? shape.rank() <= 2
                                     : shape.rank() < 2 || (shape.rank() == 2 && shape[1] == 1))
      return;
    fail(
        "When using `TextVectorization` to tokenize strings, the input rank must be 1 or the last ",
        "shape dimension must be 1. Received: inputs.shape=", shape, " with rank=", shape.rank());
  }

  Tensor vectorize(const Tensor& rows, bool gives_counts, int64_t width) const {
    Vectorize op;
    op.rules = rules_, op.table = table(), op.gives_counts = gives_counts, op.width = width;
    return apply1(op, {rows});
  }
  /// The indices of the terms of each text, one row per text. There are as many columns as the
  /// longest text has terms, unless the option output_sequence_length gives the number.
  Tensor indices_of(const Tensor& rows) const {
    if (output_sequence_length_) return vectorize(rows, false, *output_sequence_length_);
    if (rules_->split == Split::none && rules_->ngrams.empty())
      return vectorize(rows, false, rows.rank() > 1 ? rows.dim(1) : 1);
    if (rows.is_abstract() && rows.shape().is_known())
      fail("how many words the longest text has is not known when a program is compiled: set ",
           "`output_sequence_length`, or compile the model with `run_eagerly`");
    if (rows.is_abstract()) return vectorize(rows, false, -1);
    const Documents documents = rules_->documents(rows);
    size_t max_length = 0;
    for (const auto& terms : documents) max_length = std::max(max_length, terms.size());
    Tensor indices({rows.dim(0), static_cast<int64_t>(max_length)}, DType::int64);
    fill_indices(documents, vocabulary_in(table()),
                 {indices.mutable_data<int64_t>(), static_cast<size_t>(indices.size())},
                 indices.dim(1));
    return indices;
  }

  Documents documents(const Value& batch, bool is_whole) const override {
    const auto boxed = batch.object_as<BoxedTensor>();
    Tensor texts;
    if (boxed)
      texts = as_terms<std::string>(boxed->tensor);
    else {
      const std::vector<std::string> terms = terms_of<std::string>(batch);
      texts = string_tensor(terms, {static_cast<int64_t>(terms.size())});
    }
    check_shape(texts.shape());
    Documents row_documents = rules_->documents(texts);
    if (rules_->split != Split::none || texts.rank() > 1 || is_whole) return row_documents;
    Document<std::string> document;
    for (Document<std::string>& terms : row_documents)
      document.insert(document.end(), terms.begin(), terms.end());
    return {std::move(document)};
  }

  Value standardize_option_ = "lower_and_strip_punctuation", split_option_ = "whitespace",
        ngrams_option_;
  std::optional<int64_t> output_sequence_length_;
  bool ragged_ = false;
  std::string encoding_ = "utf-8";
  std::shared_ptr<const TextRules> rules_;
};

}  // namespace

CRESCENT_REGISTER(text_vectorization) { registry.add<TextVectorization>("TextVectorization"); }

}  // namespace crescent
