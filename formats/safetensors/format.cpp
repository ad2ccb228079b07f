// The format "safetensors": arrays by name, weights among them, as Hugging Face's libraries keep
// them. Nothing in such a file can be code.
#include "crescent/data.h"
#include "crescent/file.h"
#include "crescent/plugin.h"
#include "header.h"
#include "keras/model/inspection.h"
#include "keras/model/model_file.h"
#include "keras/weights/named_arrays.h"
#include "keras/weights/weight_paths.h"

namespace crescent::safetensors {
namespace {

/// Staying in the file, but for booleans, of which any byte may be there.
Tensor array_at(const std::shared_ptr<Storage>& file, const Place& place) {
  Tensor array = Tensor::on(file, place.start, place.spec);
  if (place.spec.dtype != DType::boolean) return array;
  array = array.clone();
  auto* bytes = static_cast<uint8_t*>(array.mutable_raw());
  for (size_t i = 0; i < array.bytes(); ++i) bytes[i] = bytes[i] != 0;
  return array;
}

keras::NamedArrays open_file(const std::string& path) {
  const auto file = file_storage(open_regular_file(path), path);
  std::vector<keras::NamedArray> arrays;
  for (const Place& place : read_header(path, *file))
    arrays.push_back({place.name, place.spec, [file, place] { return array_at(file, place); }});
  return {path, std::move(arrays)};
}

}  // namespace

class Safetensors final : public Format,
                          public HoldsWeights,
                          public ReadsArrays,
                          public WritesArrays {
 public:
  static void describe(Schema<Safetensors>& s) {
    s.doc("Arrays by name, weights among them.")
        .trait("endings", List{".safetensors"})
        .method("inspect", &Safetensors::inspect, "What a file says about itself.")
        .arg("path", "Of the file.");
  }
  Value inspect(const std::string& path) {
    keras::NamedArrays file = open_file(path);
    return keras::inspect(file);
  }

  const SchemaData& save_weights_options() const override {
    return schema_of<keras::SaveWeightsOptions>("safetensors: saving weights");
  }
  const SchemaData& load_weights_options() const override {
    return schema_of<keras::LoadWeightsOptions>("safetensors: loading weights");
  }
  void save_weights(Model& model, const std::string& path, const Dict& given) override {
    const auto options = read_options<keras::SaveWeightsOptions>(save_weights_options(), given);
    keras::check_overwrite(path, options.overwrite);
    write_arrays(path, keras::values_by_path(model));
  }
  void load_weights(Model& model, const std::string& path, const Dict& given) override {
    const auto options = read_options<keras::LoadWeightsOptions>(load_weights_options(), given);
    keras::NamedArrays file = open_file(path);
    keras::load_named_weights(file, model, options);
  }

  Tensor read_array(const std::string& path, const std::string& place) override {
    return open_array(path, place).clone();
  }
  Tensor open_array(const std::string& path, const std::string& place) override {
    return open_file(path).find(place).read();
  }
  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    const std::string header = header_of(arrays);
    std::vector<std::span<const std::byte>> pieces{std::as_bytes(std::span(header))};
    for (const auto& [name, tensor] : arrays)
      if (tensor.bytes() > 0)
        pieces.emplace_back(static_cast<const std::byte*>(tensor.raw()), tensor.bytes());
    replace_file(path, pieces);
  }
};

CRESCENT_PLUGIN("safetensors", CRESCENT_VERSION) { registry.add<Safetensors>("safetensors"); }

}  // namespace crescent::safetensors
