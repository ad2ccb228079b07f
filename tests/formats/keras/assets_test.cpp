// Files that layers keep beside their weights, in archives and folders of Keras 3.
#include "keras/weights/assets.h"
#include "archives.h"
#include "crescent/layer/layer.h"

namespace crescent::hdf5 {
namespace {

namespace fs = std::filesystem;

/// Keeps a text in a file, as classes of plugins may.
class Notebook final : public UnaryLayer {
 public:
  static void describe(Schema<Notebook>& s) {
    s.doc("Keeps a text.")
        .method("save_assets", &Notebook::save_assets, "Writes it.")
        .arg("dir_path", "The folder.")
        .method("load_assets", &Notebook::load_assets, "Reads it.")
        .arg("dir_path", "The folder.");
  }
  Tensor call(const Tensor& x, const Call&) override { return x; }
  void save_assets(const std::string& folder) const {
    create_folder(folder + "/pages/empty");
    write_bytes(folder + "/pages/1.txt", text);
    write_bytes(folder + "/index", "1");
  }
  void load_assets(const std::string& folder) {
    if (text == "refuses") fail("expected no text");
    text = read_bytes(folder + "/pages/1.txt");
    has_index = read_bytes(folder + "/index") == "1";
  }
  std::string text;
  bool has_index = false;
};

std::shared_ptr<Notebook> notebook(const std::string& text) {
  if (!registry().find(Layer::kKind, "Notebook")) registry().add<Notebook>("Notebook");
  auto layer = std::dynamic_pointer_cast<Notebook>(make<Layer>("Notebook"));
  layer->text = text;
  return layer;
}

ModelPtr model_of(const std::vector<LayerPtr>& layers) {
  auto model = Sequential::make(layers);
  model->build_for({{-1, 2}});
  return model;
}

const Notebook& notebook_in(Model& model, size_t index) {
  return dynamic_cast<const Notebook&>(*model.layers().at(index));
}

TEST_CASE("files of layers are in the folders of the layers, in archives and in folders") {
  const Scratch scratch;
  const std::string text = std::string("a\0b\n", 4) + std::string(100'000, 'x');
  const auto model = model_of({notebook(text), notebook("")});
  crescent::save_model(*model, scratch.path("m.keras"));
  crescent::save_model(*model, scratch.path("m/"));
  auto members = members_of_archive(scratch.path("m.keras"));
  const std::map<std::string, std::string> expected_files{
      {"assets/layers/notebook/index", "1"},
      {"assets/layers/notebook/pages/1.txt", text},
      {"assets/layers/notebook_1/index", "1"},
      {"assets/layers/notebook_1/pages/1.txt", ""}};
  CHECK(members.size() == expected_files.size() + 3);
  for (const auto& [name, content] : expected_files) {
    CHECK(members.at(name) == content);
    CHECK(read_bytes(scratch.path("m/" + name)) == content);
  }
  members["assets/"] = members["assets/layers/notebook/pages/empty/"] = "";
  pack(scratch.path("with_folders.keras"), members);
  for (const std::string name : {"m.keras", "m", "with_folders.keras"}) {
    CAPTURE(name);
    const auto loaded_model = crescent::load_model(scratch.path(name));
    CHECK(notebook_in(*loaded_model, 0).text == text);
    CHECK(notebook_in(*loaded_model, 1).text.empty());
    CHECK((notebook_in(*loaded_model, 0).has_index && notebook_in(*loaded_model, 1).has_index));
  }
}

TEST_CASE("a layer whose files are missing is loaded without them") {
  const Scratch scratch;
  const auto model = model_of({notebook("one"), notebook("two")});
  crescent::save_model(*model, scratch.path("m/"));
  fs::remove_all(scratch.path("m/assets/layers/notebook"));
  const auto loaded_model = crescent::load_model(scratch.path("m"));
  CHECK(notebook_in(*loaded_model, 0).text.empty());
  CHECK(notebook_in(*loaded_model, 1).text == "two");
  fs::remove_all(scratch.path("m/assets"));
  CHECK(notebook_in(*crescent::load_model(scratch.path("m")), 1).text.empty());
}

TEST_CASE("a file outside of the folder of its layer is refused") {
  const Scratch scratch;
  const auto model = model_of({notebook("one")});
  crescent::save_model(*model, scratch.path("m.keras"));
  const auto members = members_of_archive(scratch.path("m.keras"));
  for (const std::string name : {"../x", "pages/../../../x", "..", "/x", "a\\..\\x"}) {
    CAPTURE(name);
    auto changed_members = members;
    changed_members["assets/layers/notebook/" + name] = "evil";
    pack(scratch.path("n.keras"), changed_members);
    CHECK_THAT(failure([&] { crescent::load_model(scratch.path("n.keras")); }),
               Catch::Contains(scratch.path("n.keras")) && Catch::Contains("nothing was loaded"));
  }
  CHECK(scratch.count() == 2);
}

TEST_CASE("files that an archive cannot hold are named") {
  const Scratch scratch;
  const auto model = model_of({notebook(std::string((size_t{128} << 20) + 1, 'x'))});
  CHECK_THAT(failure([&] { crescent::save_model(*model, scratch.path("m.keras")); }),
             Catch::Contains("'assets/layers/notebook/pages/1.txt' has 134217729 bytes"));
  CHECK(scratch.count() == 0);
  crescent::save_model(*model, scratch.path("m/"));
  CHECK(notebook_in(*crescent::load_model(scratch.path("m")), 0).text.size() == 134217729);
}

}  // namespace
}  // namespace crescent::hdf5
