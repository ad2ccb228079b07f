// The files ("assets") that layers write with save_assets(dir_path) and read with
// load_assets(dir_path). An archive of Keras 3 has a folder for each layer. Layers with a
// vocabulary, which is in the configuration, are handled by vocabularies.h.
#pragma once
#include "keras/export.h"
#include "keras/source/entry.h"
#include "keras/source/weight_source.h"
#include "keras/weights/keras3_weights.h"

namespace crescent::keras {

/// Whether the layer has files beside its weights.
bool keeps_assets(const Layer& layer);
/// The files that the layers write. Their paths begin with the group of the layer.
AssetFiles written_assets(const LayerPaths& paths);
/// Warns that a file at `path` does not contain the files of these layers of the model.
CRESCENT_KERAS_API void warn_of_assets(Model& model, const std::string& path);

/// The files of layers while an archive is read.
class Assets {
 public:
  /// Reads the files of all layers. Fails if the path of a file leads out of the folder of its
  /// layer.
  Assets(WeightSource& file, const LayerPaths& paths);
  /// Calls load_assets of each layer that has files, with a temporary folder that contains them.
  void give_to_layers() const;

 private:
  struct FilesOfLayer {
    Layer* layer;
    AssetFiles files;  ///< the paths are relative to the folder of the layer
  };
  std::string path_;
  std::vector<FilesOfLayer> files_;
};

}  // namespace crescent::keras
