#include "savers.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "crescent/crescent.h"

namespace crescent::faults {
namespace {

ModelPtr model_of(int width) {
  auto model = Sequential::make(
      {make<Layer>("Dense", {{"units", width}, {"input_shape", List{1000}}, {"name", "dense"}})},
      "saved");
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  return model;
}

Tensor filled_tensor(const Shape& shape, int generation) {
  return ops::full(shape, static_cast<double>(generation));
}

void fill(Model& model, int generation) {
  Tensors values;
  for (const Tensor& weight : model.get_weights())
    values.push_back(filled_tensor(weight.shape(), generation));
  model.set_weights(values);
}

int generation_of(const Tensors& values) {
  const double first = values.at(0).to_vector().at(0);
  for (const Tensor& value : values)
    for (const double number : value.to_vector())
      if (number != first) fail("the file mixes generations ", first, " and ", number);
  return static_cast<int>(first);
}

Saver saver_of_models(int width) {
  return {"a model", "",
          [model = model_of(width)](const std::string& path, int generation) {
            fill(*model, generation);
            save_model(*model, path);
          },
          [](const std::string& path) { return generation_of(load_model(path)->get_weights()); }};
}

Saver saver_of_weights(int width) {
  const ModelPtr model = model_of(width);
  return {"weights", "",
          [model](const std::string& path, int generation) {
            fill(*model, generation);
            save_weights(*model, path);
          },
          [model](const std::string& path) {
            load_weights(*model, path);
            return generation_of(model->get_weights());
          }};
}

Saver saver_of_arrays(int width) {
  return {"an array", "",
          [width](const std::string& path, int generation) {
            write_arrays(path, {{"values", filled_tensor({width, 1000}, generation)}});
          },
          [](const std::string& path) { return generation_of({read_array(path)}); }};
}

Saver saver_of_runs(int width) {
  const Tensor x = ops::zeros({4, 1000}), y = ops::zeros({4, width});
  const ModelPtr model = model_of(width);
  const TrainingRunPtr run = model->start_training({x}, {y}, {{"verbose", 0}});
  return {"a training run", ".h5",
          [model, run](const std::string& path, int generation) {
            fill(*model, generation);
            run->save(path);
          },
          [model, run](const std::string& path) {
            run->load(path);
            return generation_of(model->get_weights());
          }};
}

constexpr int kLines = 2000;

Saver saver_of_texts(int width) {
  return {"a text", ".txt",
          [width](const std::string& path, int generation) {
            std::string text;
            for (int i = 0; i < width * kLines; ++i) text += std::to_string(generation) + "\n";
            replace_file(path, text);
          },
          [width](const std::string& path) {
            const std::string text = read_file(path);
            int generation = 0;
            std::from_chars(text.data(), text.data() + text.size(), generation);
            const std::string line = std::to_string(generation) + "\n";
            if (text.size() != line.size() * static_cast<size_t>(width * kLines))
              fail("the file has ", text.size(), " bytes");
            for (size_t at = 0; at < text.size(); at += line.size())
              if (text.compare(at, line.size(), line) != 0) fail("the file mixes generations");
            return generation;
          }};
}

using Endings = std::vector<std::string>;

/// Formats of images and sounds. The tests skip them, because they cannot store arbitrary arrays;
/// they save with replace_file like the other formats.
const std::set<std::string> kFormatsOfFixedArrays = {"bmp", "jpeg", "png", "pnm", "wav"};

Endings endings_of(std::string_view ability) {
  Endings result;
  for (const std::string& name : registry().names(Format::kKind)) {
    const Dict traits = registry().traits(Format::kKind, name);
    const auto texts = [&](const char* trait) {
      const Value* value = traits.find(trait);
      return value ? Codec<Endings>::decode(*value) : Endings();
    };
    const Endings abilities = texts("abilities"), endings = texts("endings");
    const bool has_ability =
        std::find(abilities.begin(), abilities.end(), ability) != abilities.end();
    if (traits.find("written_only")) continue;  // files of this format cannot be read back
    if (ability == WeightsFormat::kAbility && name == "archive")
      continue;  // this format stores a whole model or nothing
    if (kFormatsOfFixedArrays.contains(name)) continue;
    // The format "sharded" is skipped, because it writes several files; each is replaced like a
    // single file.
    if (name == "sharded") continue;
    if (has_ability && !endings.empty()) result.push_back(endings.front());
  }
  if (ability == WeightsFormat::kAbility) result.push_back(".weights.h5");
  return result;
}

}  // namespace

std::vector<Saver> savers(int width) {
  std::vector<Saver> all_savers;
  const auto add = [&](Saver (*make)(int), std::string_view ability) {
    for (const std::string& ending : endings_of(ability)) {
      Saver saver = make(width);
      saver.ending = ending;
      all_savers.push_back(std::move(saver));
    }
  };
  add(saver_of_models, ModelFormat::kAbility);
  add(saver_of_weights, WeightsFormat::kAbility);
  add(saver_of_arrays, WritesArrays::kAbility);
  all_savers.push_back(saver_of_runs(width));
  all_savers.push_back(saver_of_texts(width));
  for (Saver& saver : all_savers) saver.name += " as " + saver.ending;
  return all_savers;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "crescent-faults-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()));
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

size_t Folder::count() const {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
}

}  // namespace crescent::faults
