// Vocabularies that layers have learned (StringLookup, TextVectorization, ...): whatever class has
// get_vocabulary() and set_vocabulary(). A model's configuration holds them; an archive of Keras
// has them in files beside it, and weights alone have them in arrays of bytes that Keras ignores.
#pragma once
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"
#include "keras/weights/keras3_weights.h"

namespace crescent::keras {

/// The dataset in which Keras has the weights of output_mode "tf_idf", beside a layer's variables.
inline constexpr const char* kIdfWeights = "idf_weights";
/// `place`: that of the layer's variables.
void write_idf_weights(Entries& entries, const Layer& layer, const std::string& place);

bool has_vocabulary(const Layer& layer);
/// The vocabulary as bytes: JSON.
Tensor vocabulary_bytes(const Layer& layer);
/// For weights alone.
void write_vocabularies(Entries& entries, Model& model);

/// Reading: variables that stand for what a file has are matched with its datasets, and become
/// vocabularies when they have their values.
class Vocabularies {
 public:
  /// Of an archive, beside the configuration.
  static Vocabularies in_archive(WeightSource& file, Model& model);
  static Vocabularies in_archive(WeightSource& file, const LayerPaths& paths);
  /// Of weights alone.
  static Vocabularies in_weights(WeightSource& file, Model& model);

  /// The bytes in a dataset.
  void add_bytes(WeightSource& file, Layer& layer, const std::string& dataset);
  const Matches& matches() const { return matches_; }
  /// After the matches were assigned.
  void give_to_layers() const;

 private:
  struct VocabularyMatch {
    Layer* layer;
    Value terms;                    ///< of an archive; null: everything is in the bytes
    std::optional<size_t> match{};  ///< the bytes, or the weights of the terms
  };
  std::string path_;
  std::vector<VocabularyMatch> found_;
  Matches matches_;
};

}  // namespace crescent::keras
