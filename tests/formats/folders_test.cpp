// Models in folders that contain the files of an archive of Keras 3.
#include "archives.h"

namespace crescent::hdf5 {
namespace {

namespace fs = std::filesystem;

const Dict kUnzipped{{"zipped", false}};

ModelPtr trained_model() {
  auto model = small_sequential();
  model->compile({{"optimizer", "adam"}, {"loss", "sparse_categorical_crossentropy"}});
  model->fit({ramp({40, 4})}, {labels(40, 3)}, {{"verbose", 0}});
  return model;
}

TEST_CASE("the files of a folder are the members of the archive, and training goes on from them") {
  const Scratch scratch;
  const auto model = trained_model();
  crescent::save_model(*model, scratch.path("m.keras"));
  for (const std::string& path : {scratch.path("a"), scratch.path("b/")}) {
    CAPTURE(path);
    crescent::save_model(*model, path, path.ends_with('/') ? Dict() : kUnzipped);
    for (const auto& [name, text] : members_of_archive(scratch.path("m.keras")))
      CHECK(read_bytes(path + "/" + name) == text);
    const auto loaded_model = crescent::load_model(path),
               other_model = crescent::load_model(scratch.path("m.keras"));
    for (Model* each : {loaded_model.get(), other_model.get()})
      each->train_on_batch({ramp({8, 4})}, {labels(8, 3)});
    check_same(loaded_model->get_weights(), other_model->get_weights());
  }
}

TEST_CASE("a folder that exists is overwritten, and keeps files that are not of the model") {
  const Scratch scratch;
  const auto model = trained_model();
  const std::string path = scratch.path("m");
  crescent::save_model(*model, path, kUnzipped);
  write_bytes(path + "/README.md", "kept");
  model->train_on_batch({ramp({8, 4})}, {labels(8, 3)});
  CHECK_THAT(failure([&] {
               crescent::save_model(*model, path, {{"zipped", false}, {"overwrite", false}});
             }),
             Catch::Contains("exists already"));
  crescent::save_model(*model, path, kUnzipped);
  check_same(crescent::load_model(path)->get_weights(), model->get_weights());
  CHECK(read_bytes(path + "/README.md") == "kept");
  CHECK(scratch.count() == 1);
}

TEST_CASE("paths at which no folder can be written are named") {
  const Scratch scratch;
  const auto model = trained_model();
  const auto error_of = [&](const std::string& name, const Dict& options = kUnzipped) {
    return failure([&] { crescent::save_model(*model, scratch.path(name), options); });
  };
  CHECK_THAT(error_of("m.keras"), Catch::Contains("without the ending .keras"));
  CHECK_THAT(error_of("missing/m"),
             Catch::Contains("there is no folder '" + scratch.path("missing")));
  write_bytes(scratch.path("file"), "text");
  CHECK_THAT(error_of("file"),
             Catch::Contains("cannot create the folder '" + scratch.path("file")));
  fs::create_directory(scratch.path("folder"));
  CHECK_THAT(error_of("folder", {}), Catch::Contains("is a folder; expected the path of a file"));
  CHECK_THAT(failure([&] {
               write_arrays(scratch.path("folder/"), {{"", ramp({2})}});
             }),
             Catch::Contains("is the path of a folder; expected that of a file"));
  CHECK_THAT(failure([&] {
               format_named<ModelFormat>("hdf5")->save_model(*model, scratch.path("h"), kUnzipped);
             }),
             Catch::Contains("files of format hdf5 are no folders"));
  CHECK(scratch.count() == 2);
}

}  // namespace
}  // namespace crescent::hdf5
