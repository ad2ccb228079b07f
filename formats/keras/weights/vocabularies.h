// The vocabularies of layers (StringLookup, TextVectorization, ...): of all classes with
// get_vocabulary() and set_vocabulary(). The configuration of a model contains the vocabularies. A
// Keras archive stores them in separate text files; files with only weights store them in arrays of
// bytes, which Keras ignores.
#pragma once
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"
#include "keras/weights/keras3_weights.h"

namespace crescent::keras {

/// The name of the dataset with the inverse document frequencies, which are the weights of terms
/// for output_mode "tf_idf". The dataset is stored with the variables of the layer.
inline constexpr const char* kIdfWeights = "idf_weights";
/// Adds the weights of terms for "tf_idf" to the entries if the layer has some; `group` is the
/// group of the layer's variables.
void write_idf_weights(Entries& entries, const Layer& layer, const std::string& group);

bool has_vocabulary(const Layer& layer);
/// The layer's vocabulary as the bytes of a JSON text.
Tensor vocabulary_bytes(const Layer& layer);
/// Adds the vocabularies of the model to the entries of a file with only weights.
void write_vocabularies(Entries& entries, Model& model);

/// Vocabularies while they are read from a file. Each dataset with a vocabulary, or with the
/// weights of its terms, is matched with a temporary variable; when these variables have their
/// values, give_to_layers() passes the vocabularies to the layers.
class Vocabularies {
 public:
  /// Reads the vocabularies of an archive, which are in separate text files.
  static Vocabularies in_archive(WeightSource& file, Model& model);
  static Vocabularies in_archive(WeightSource& file, const LayerPaths& paths);
  /// Reads the vocabularies in a file with only weights.
  static Vocabularies in_weights(WeightSource& file, Model& model);

  /// Matches a dataset that contains the bytes of the layer's vocabulary.
  void add_bytes(WeightSource& file, Layer& layer, const std::string& dataset);
  const Matches& matches() const { return matches_; }
  /// Passes the vocabularies to the layers. Must be called after the datasets of matches() were
  /// read into their variables.
  void give_to_layers() const;

 private:
  struct VocabularyMatch {
    Layer* layer;
    /// The terms, if the file is an archive; null if the dataset contains the whole vocabulary.
    Value terms;
    /// The index of the match for the dataset with the vocabulary, or with the weights of the
    /// terms.
    std::optional<size_t> match_index{};
  };
  std::string path_;
  std::vector<VocabularyMatch> vocabulary_matches_;
  Matches matches_;
};

}  // namespace crescent::keras
