// Vocabularies of layers (StringLookup, TextVectorization, ...), of all classes with
// get_vocabulary() and set_vocabulary(). The configuration of a model contains them; an archive of
// Keras has them in files beside it, and files of weights alone in arrays of bytes that Keras
// ignores.
#pragma once
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"
#include "keras/weights/keras3_weights.h"

namespace crescent::keras {

/// The dataset of the weights for output_mode "tf_idf", beside the variables of a layer.
inline constexpr const char* kIdfWeights = "idf_weights";
/// Adds the weights for "tf_idf"; `group` is the group of the layer's variables.
void write_idf_weights(Entries& entries, const Layer& layer, const std::string& group);

bool has_vocabulary(const Layer& layer);
/// The vocabulary as the bytes of a JSON text.
Tensor vocabulary_bytes(const Layer& layer);
/// Adds vocabularies to a file of weights alone.
void write_vocabularies(Entries& entries, Model& model);

/// Vocabularies that are being read: temporary variables are matched with datasets of the file,
/// whose values then become vocabularies.
class Vocabularies {
 public:
  /// The vocabularies in an archive, beside the configuration.
  static Vocabularies in_archive(WeightSource& file, Model& model);
  static Vocabularies in_archive(WeightSource& file, const LayerPaths& paths);
  /// The vocabularies in a file of weights alone.
  static Vocabularies in_weights(WeightSource& file, Model& model);

  /// Adds the dataset of the bytes of a vocabulary.
  void add_bytes(WeightSource& file, Layer& layer, const std::string& dataset);
  const Matches& matches() const { return matches_; }
  /// Sets the vocabularies of layers, after the matches were assigned.
  void give_to_layers() const;

 private:
  struct VocabularyMatch {
    Layer* layer;
    Value terms;                    ///< the terms in an archive; null: the bytes have everything
    std::optional<size_t> match{};  ///< the match of the bytes, or of the weights of the terms
  };
  std::string path_;
  std::vector<VocabularyMatch> found_;
  Matches matches_;
};

}  // namespace crescent::keras
