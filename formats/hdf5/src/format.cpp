// The format "hdf5": Keras' models and weights, and plain arrays. What a model's file says is the
// business of formats/keras; here it becomes bytes.
#include <unistd.h>

#include <algorithm>

#include "crescent/file.h"
#include "crescent/format.h"
#include "crescent/plugin.h"
#include "image.h"
#include "keras/model/model_file.h"
#include "keras_file.h"
#include "tensors.h"

namespace crescent::hdf5 {
namespace {

constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
constexpr const char* kEndings[] = {".h5", ".hdf5", ".hdf", ".he5"};

void save(const Tree& tree, const std::string& path) {
  replace_file(path, FileImage(tree).pieces());
}

void check_overwrite(const std::string& path, const SaveOptions& options) {
  if (!options.overwrite && access(system_path(path), F_OK) == 0)
    fail("'", path, "' exists already; pass overwrite=true to replace it");
}

}  // namespace

class Hdf5Format final : public Format {
 public:
  static void describe(Schema<Hdf5Format>& s) { s.doc("Keras' HDF5 files: .h5, .hdf5."); }

  bool writes(std::string_view path) const override {
    return std::any_of(std::begin(kEndings), std::end(kEndings),
                       [&](const char* ending) { return path.ends_with(ending); });
  }

  bool reads(std::string_view path, std::string_view first_bytes) const override {
    return first_bytes.starts_with(kSignature) || (first_bytes.empty() && writes(path));
  }

  void save_model(Model& model, const std::string& path, const SaveOptions& options) override {
    check_overwrite(path, options);
    save(tree_of(keras::model_entries(model, path, options)), path);
  }

  ModelPtr load_model(const std::string& path, const LoadOptions& options) override {
    KerasFile file(path);
    return keras::load_model(file, options);
  }

  void save_weights(Model& model, const std::string& path, const SaveOptions& options) override {
    check_overwrite(path, options);
    save(tree_of(keras::weight_entries(model, path)), path);
  }

  void load_weights(Model& model, const std::string& path,
                    const LoadWeightsOptions& options) override {
    KerasFile file(path);
    keras::load_weights(file, model, options);
  }

  Tensor read_array(const std::string& path, const std::string& place) override {
    FileReader file(path);
    std::vector<std::string> names{place.empty() ? only_member(file) : place};
    return to_tensor(file.read(names, file.describe(names)).front());
  }

  Tensor open_array(const std::string& path, const std::string& place) override {
    auto file = std::make_unique<FileReader>(path);
    std::string name = place.empty() ? only_member(*file) : place;
    return tensor_in_file(std::move(file), name);
  }

  void write_arrays(const std::string& path,
                    const std::vector<std::pair<std::string, Tensor>>& arrays) override {
    Tree tree;
    for (const auto& [name, tensor] : arrays) tree.push_back(dataset_node(name, tensor));
    save(tree, path);
  }

 private:
  static std::string only_member(FileReader& file) {
    auto names = file.members("").value();
    if (names.size() != 1)
      fail("'", file.path(), "': which dataset? The file has ", names.size(), ": ", join(names));
    return names.front();
  }
};

CRESCENT_PLUGIN("hdf5", CRESCENT_VERSION) { registry.add<hdf5::Hdf5Format>("hdf5"); }

}  // namespace crescent::hdf5
