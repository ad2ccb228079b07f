// The format "hdf5": models and weights of Keras, and arrays. The library formats/keras decides
// which groups and arrays the file of a model contains; this format reads and writes the bytes.
#include "crescent/io/format.h"
#include "crescent/plugin.h"
#include "crescent/system/file.h"
#include "files/overwrite.h"
#include "image.h"
#include "keras/model/inspection.h"
#include "keras/model/keras_format.h"
#include "keras/model/model_file.h"
#include "keras/weights/stored_objects.h"
#include "keras_file.h"
#include "tensors.h"

namespace crescent::hdf5 {
namespace {

void write_tree(const Tree& tree, const std::string& path) {
  replace_file(path, FileImage(tree).pieces());
}

/// Returns the result of `read_object`, or nullopt if reading the object fails.
template <class ReadObject>
auto unless_refused(const ReadObject& read_object) -> std::optional<decltype(read_object())> {
  try {
    return read_object();
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Collects the paths of the datasets in a group and its subgroups. Visits at most
/// `remaining_count` objects, since in a damaged file a group may contain itself.
void collect_paths(FileReader& file, const std::string& group, const keras::Names& members,
                   keras::Names& paths, int& remaining_count) {
  for (const std::string& member : members) {
    if (--remaining_count < 0) fail("'", file.path(), "' has more objects than are looked at");
    const std::string path = group.empty() ? member : group + "/" + member;
    const auto nested_members = unless_refused([&] { return file.members(path); });
    if (nested_members && *nested_members)
      collect_paths(file, path, **nested_members, paths, remaining_count);
    else
      paths.push_back(path);
  }
}

keras::Names paths_in(FileReader& file) {
  keras::Names paths;
  int remaining_count = 100'000;
  collect_paths(file, "", file.members("").value(), paths, remaining_count);
  return paths;
}

}  // namespace

class Hdf5Format final : public keras::KerasFormat, public ReadsArrays, public WritesArrays {
 public:
  static void describe(Schema<Hdf5Format>& s) {
    s.doc("Keras' models and weights, and arrays.")
        .trait("endings", List{".h5", ".hdf5", ".hdf", ".he5"})
        .trait("signatures", List{"894844460d0a1a0a"})
        .method("inspect", &Hdf5Format::inspect, "What a file says about itself.")
        .arg("path", "Of the file.")
        .method("read_objects", &Hdf5Format::read_objects,
                "The layers and other objects of a file of weights, with their weights.")
        .arg("path", "Of the file.")
        .method("write_objects", &Hdf5Format::write_objects, "Writes what read_objects gives.")
        .arg("path", "Of the file.")
        .arg("objects", "Such a list.")
        .method("objects_of", &Hdf5Format::objects_of,
                "What read_objects would give for the file of this model.")
        .arg("model", "The model.");
  }

  void save_weights(Model& model, const std::string& path, const Dict& given_options) override {
    const auto options =
        read_options<keras::SaveWeightsOptions>(save_weights_options(), given_options);
    files::check_overwrite(path, options.overwrite);
    write_tree(tree_of(keras::weight_entries(model, path, options.objects_to_skip)), path);
  }

  Value inspect(const std::string& path) {
    KerasFile file(path);
    if (auto description = keras::inspect(file)) return *description;
    FileReader reader(path);
    List arrays;  // texts and other types are left out
    for (const std::string& array : paths_in(reader)) {
      const auto infos = unless_refused([&] { return reader.describe({array}); });
      if (!infos) continue;
      const DatasetInfo& info = infos->front();
      arrays.push_back(
          keras::array_summary(array, {dtype_of(info.type), shape_of(info.shape, array)}));
    }
    return keras::inspect_arrays(std::move(arrays));
  }

  Value read_objects(const std::string& path) {
    KerasFile file(path);
    return keras::stored_objects(file);
  }
  void write_objects(const std::string& path, const List& objects) {
    write_tree(tree_of(keras::entries_of(objects)), path);
  }
  Value objects_of(const Value& model) {
    return keras::stored_objects(keras::keras3_weight_entries(*Codec<ModelPtr>::decode(model)));
  }

  Tensor read_array(const std::string& path, const std::string& dataset_path) override {
    FileReader file(path);
    std::vector<std::string> names{dataset_path.empty() ? only_member(file) : dataset_path};
    return to_tensor(file.read(names, file.describe(names)).front());
  }

  Tensor open_array(const std::string& path, const std::string& dataset_path) override {
    auto file = std::make_unique<FileReader>(path);
    std::string name = dataset_path.empty() ? only_member(*file) : dataset_path;
    return tensor_in_file(std::move(file), name);
  }

  NamedTensors read_arrays(const std::string& path) override {
    FileReader file(path);
    const std::vector<std::string> names = paths_in(file);
    const std::vector<Array> arrays = file.read(names, file.describe(names));
    NamedTensors tensors;
    for (size_t i = 0; i < names.size(); ++i) tensors.emplace_back(names[i], to_tensor(arrays[i]));
    return tensors;
  }

  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    Tree tree;
    for (const auto& [name, tensor] : arrays) tree.push_back(dataset_node(name, tensor));
    write_tree(tree, path);
  }

 private:
  std::unique_ptr<keras::WeightSource> open_file(const std::string& path) const override {
    return std::make_unique<KerasFile>(path);
  }
  void write_model(Model& model, const std::string& path,
                   const keras::SaveOptions& options) const override {
    write_tree(tree_of(keras::model_entries(model, path, options)), path);
  }

  static std::string only_member(FileReader& file) {
    const keras::Names names = paths_in(file);
    if (names.size() != 1)
      fail("'", file.path(), "': which dataset? The file has ", names.size(), ": ", join(names));
    return names.front();
  }
};

CRESCENT_PLUGIN("hdf5", CRESCENT_VERSION) { registry.add<hdf5::Hdf5Format>("hdf5"); }

}  // namespace crescent::hdf5
