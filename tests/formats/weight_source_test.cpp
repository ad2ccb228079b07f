// Saves and loads models through a WeightSource that is not a file; formats/keras works with any
// WeightSource.
#include "keras/model/model_file.h"
#include "models.h"

namespace crescent::hdf5 {
namespace {

using keras::Entries;
using keras::Entry;
using keras::Names;

/// A WeightSource that keeps the written data in memory and returns it.
class WeightsInMemory final : public keras::WeightSource {
 public:
  explicit WeightsInMemory(Entries entries) : entries_(std::move(entries)) {}

  const std::string& path() const override { return path_; }
  std::optional<std::string> text(const std::string& group, const std::string& name) override {
    const Value* value = attribute(group, name);
    return value ? std::optional(value->as_string()) : std::nullopt;
  }
  using WeightSource::texts;
  std::vector<std::optional<Names>> texts(const Names& groups, const std::string& name) override {
    std::vector<std::optional<Names>> lists;
    for (const std::string& group : groups) {
      const Value* value = attribute(group, name);
      lists.push_back(value ? std::optional(Codec<Names>::decode(*value)) : std::nullopt);
    }
    return lists;
  }
  std::optional<int64_t> integer(const std::string& group, const std::string& name) override {
    const Value* value = attribute(group, name);
    return value ? std::optional(value->as_int()) : std::nullopt;
  }
  std::optional<Names> members(const std::string& group) override {
    Names names;
    for (const Entry& entry : entries_)
      if (entry.path.starts_with(group + "/")) names.push_back(entry.path);
    return names.empty() && !find(group) ? std::nullopt : std::optional(names);
  }
  std::vector<TensorSpec> describe(const Names& datasets) override {
    std::vector<TensorSpec> specs;
    for (const std::string& name : datasets) specs.push_back(dataset(name).spec());
    return specs;
  }
  std::vector<keras::DatasetValues> read(const Names& datasets) override {
    std::vector<keras::DatasetValues> stored_values;
    for (const std::string& name : datasets)
      stored_values.push_back({dataset(name).clone(), true, false});
    return stored_values;
  }

 private:
  const Entry* find(const std::string& path) const {
    for (const Entry& entry : entries_)
      if (entry.path == path) return &entry;
    return nullptr;
  }
  const Value* attribute(const std::string& group, const std::string& name) const {
    const Entry* entry = find(group);
    return entry ? entry->attributes.find(name) : nullptr;
  }
  const Tensor& dataset(const std::string& name) const {
    const Entry* entry = find(name);
    if (!entry) fail("there is no dataset '", name, "'");
    return entry->value;
  }

  std::string path_ = "memory";
  Entries entries_;
};

ModelPtr fitted_model() {
  auto model = small_sequential();
  model->compile({{"optimizer", "adam"}, {"loss", "sparse_categorical_crossentropy"}});
  model->fit({ramp({32, 4})}, {labels(32, 3)}, {{"epochs", 2}, {"verbose", 0}});
  return model;
}

TEST_CASE("a model goes through any source of weights and trains on alike") {
  auto model = fitted_model();
  WeightsInMemory file(keras::model_entries(*model, "memory", {}));
  auto loaded_model = keras::load_model(file, {});
  CHECK(model_config(*loaded_model) == model_config(*model));
  CHECK(loaded_model->epochs_trained() == 2);
  for (const ModelPtr& tested_model : {model, loaded_model})
    tested_model->fit({ramp({32, 4})}, {labels(32, 3)}, {{"epochs", 1}, {"verbose", 0}});
  check_same(model->get_weights(), loaded_model->get_weights());
}

TEST_CASE("weights go through any source, in both layouts") {
  auto model = fitted_model();
  for (const char* path : {"w.h5", "w.weights.h5"}) {
    WeightsInMemory file(keras::weight_entries(*model, path));
    auto other_model = small_sequential();
    keras::load_weights(file, *other_model, {});
    check_same(model->get_weights(), other_model->get_weights());
  }
}

TEST_CASE("what a source lacks is an error that names it") {
  auto model = small_sequential();
  Entries entries = keras::model_entries(*model, "memory", {});
  std::erase_if(entries, [](const Entry& entry) { return entry.path.ends_with("last/kernel"); });
  WeightsInMemory damaged_source(std::move(entries));
  CHECK(contains(failure([&] { keras::load_model(damaged_source, {}); }), "last/kernel"));
  WeightsInMemory weights(keras::weight_entries(*model, "w.h5"));
  CHECK(contains(failure([&] { keras::load_model(weights, {}); }), "No model found in config"));
}

std::string last_warning;  // NOLINT: set by the warning handler

std::string warnings_of_loading(Entries entries) {
  last_warning.clear();
  set_warning_handler([](std::string_view text) { last_warning += text; });
  WeightsInMemory file(std::move(entries));
  keras::load_model(file, {});
  set_warning_handler(nullptr);
  return last_warning;
}

TEST_CASE("a self-test tells when a model predicts otherwise than when it was saved") {
  auto model = fitted_model();
  keras::SaveOptions options;
  options.self_test = true;
  Entries entries = keras::model_entries(*model, "memory", options);
  CHECK(warnings_of_loading(entries) == "");
  for (Entry& entry : entries)
    if (entry.path == "crescent_self_test/1") entry.value = Tensor::full({2, 3}, 0.9f);
  CHECK(contains(warnings_of_loading(entries), "predicts otherwise than when it was saved"));
}

TEST_CASE("a self-test goes through every format of models") {
  Scratch scratch;
  auto model = fitted_model();
  for (const char* name : {"m.h5", "m.keras"}) {
    CAPTURE(name);
    crescent::save_model(*model, scratch.path(name), {{"self_test", true}});
    last_warning.clear();
    set_warning_handler([](std::string_view text) { last_warning += text; });
    crescent::load_model(scratch.path(name));
    set_warning_handler(nullptr);
    CHECK(last_warning == "");
  }
}

}  // namespace
}  // namespace crescent::hdf5
