// The description of a model, as attributes of the root group of a file: the attributes that Keras
// reads, and one of Crescent's own, which Keras ignores. That one is JSON with the complete
// configuration, the arguments of compile, the number of trained epochs, the plugin of each class,
// and more (attributes_of()).
#pragma once
#include <optional>

#include "crescent/io/format.h"
#include "keras/configs/config_in.h"
#include "keras/model/options.h"
#include "keras/source/entry.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// The configuration and training of a model, from which the attributes of each layout of Keras are
/// written.
struct ModelAttributes {
  Value config;          ///< in Crescent's own form
  Value compile;         ///< arguments of compile; null if a loaded model is not to be compiled
  Dict own_description;  ///< the value of Crescent's own attribute of the root (own_attribute.h)
};
/// Collects the attributes of a model for a file with these `entries`. Warns of functions and
/// classes from Lua, whose code is not saved; fails if the target generation of Keras cannot
/// express the model.
ModelAttributes attributes_of(Model& model, const std::string& path, const SaveOptions& options,
                              Value callback_states, const Entries& entries);

/// The entry of the root group of an HDF5 file, with the description as attributes.
Entry description_entry(Model& model, const ModelAttributes& attributes,
                        const std::string& target_generation);

/// The description of a model in an archive: the texts metadata.json and config.json, and the root
/// group of the HDF5 file, whose attributes are what these texts do not contain.
struct ArchiveDescription {
  std::string metadata, config;
  Entry root;
};
ArchiveDescription archive_description(Model& model, const ModelAttributes& attributes);

/// The program and version that wrote the weights below `group`, or at the root in a file with only
/// weights.
Origin origin_of(WeightSource& file, const std::string& group);

class ModelDescription {
 public:
  /// Reads a description. Fails if the file has none, or lacks a group that it requires.
  ModelDescription(WeightSource& file, Value custom_objects);

  const Origin& origin() const { return origin_; }
  /// A value in Crescent's own attribute; null if the file lacks the attribute, as all files of
  /// Keras do.
  const Value& own_value(const char* name) const;
  /// Makes the model, whose weights have no values yet.
  ModelPtr build() const;
  /// Compiles the model. Returns false, with a warning, if that fails; the model can still predict.
  bool compile(Model& model) const;
  /// Whether the file has the configuration of the optimizer.
  bool has_optimizer() const;

 private:
  void check_groups(WeightSource& file) const;
  Dict compile_options() const;

  std::string path_;
  Value own_attribute_;
  Origin origin_;
  Value model_, compile_;
  std::string optimizer_;  ///< the name of the group with the optimizer's state
  std::optional<ConfigIn> reader_;
};

}  // namespace crescent::keras
