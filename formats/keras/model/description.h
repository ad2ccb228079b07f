// What a file says about a model besides numbers: attributes of its root. Keras' own, and one more
// that Keras ignores, JSON with our own configuration (nothing is lost in translation), the
// arguments of compile, the epoch, and which plugin each class came from.
#pragma once
#include <optional>

#include "crescent/io/format.h"
#include "keras/configs/config_in.h"
#include "keras/model/options.h"
#include "keras/source/entry.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// What both layouts of Keras say of a model, each in its own words.
struct ModelStatement {
  Value config;   ///< core's own form
  Value compile;  ///< arguments of compile; null when it is not to be compiled again
  Dict own;       ///< our attribute of the root
};
/// Of a file that is to hold `entries`. Code that files do not hold is warned of; fails when the
/// target has no words for the model.
ModelStatement statement_of(Model& model, const std::string& path, const SaveOptions& options,
                            Value callback_states, const Entries& entries);

/// The root of an HDF5 file by itself.
Entry description_entry(Model& model, const ModelStatement& statement, const std::string& target);

/// What an archive says instead: texts beside the HDF5 file, whose root says the rest.
struct ArchiveDescription {
  std::string metadata, config;
  Entry root;
};
ArchiveDescription archive_description(Model& model, const ModelStatement& statement);

/// Who wrote the weights below `group`. A file of weights alone says it at its root.
Origin origin_of(WeightSource& file, const std::string& group);

class Description {
 public:
  /// Fails when the file describes no model, or lacks what its description promises.
  Description(WeightSource& file, Value custom_objects);

  const Origin& origin() const { return origin_; }
  /// Of what we wrote ourselves; null when it is not there, as in every file of Keras.
  const Value& own(const char* name) const;
  /// A model whose weights have no values yet.
  ModelPtr build() const;
  /// False, with a warning, when it cannot be compiled: it still predicts.
  bool compile(Model& model) const;
  /// Whether it says how the optimizer was made.
  bool has_optimizer() const;

 private:
  void check_groups(WeightSource& file) const;
  Dict compile_options() const;

  std::string path_;
  Value own_;
  Origin origin_;
  Value model_, compile_;
  std::string optimizer_;  ///< the name beside its state
  std::optional<ConfigIn> reader_;
};

}  // namespace crescent::keras
