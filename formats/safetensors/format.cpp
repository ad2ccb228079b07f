// The format "safetensors" of Hugging Face: named arrays, such as weights. Such a file cannot
// contain code.
#include "crescent/data/data.h"
#include "crescent/plugin.h"
#include "crescent/system/file.h"
#include "header.h"
#include "keras/model/named_format.h"

namespace crescent::safetensors {
namespace {

/// A tensor whose values stay in the file. The bytes of booleans are normalized to 0 and 1 when
/// they are read.
Tensor array_at(const std::string& path, const std::shared_ptr<Storage>& file,
                const ArrayEntry& entry) {
  Tensor array = checked_array(path, file, entry);
  if (entry.spec.dtype != DType::boolean) return array;
  array = array.clone();
  normalize_booleans(static_cast<std::byte*>(array.mutable_raw()), array.bytes());
  return array;
}

std::shared_ptr<Storage> open_storage(const std::string& path) {
  return file_storage(open_regular_file(path), path);
}

}  // namespace

class Safetensors final : public keras::NamedFormat {
 public:
  static void describe(Schema<Safetensors>& s) {
    s.doc("Arrays by name, weights among them.")
        .trait("endings", List{".safetensors"})
        .method("inspect", &Safetensors::inspect, "What a file says about itself.")
        .arg("path", "Of the file.");
  }
  Tensor open_array(const std::string& path, const std::string& array_name) override {
    const auto file = open_storage(path);
    const std::string name = open_file(path, array_name).find(array_name).name;
    for (const ArrayEntry& array_entry : read_header(path, *file))
      if (array_entry.name == name) return array_at(path, file, array_entry);
    fail("'", path, "' changed while it was read");
  }
  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    const std::string header = header_of(arrays);
    std::vector<std::span<const std::byte>> pieces{std::as_bytes(std::span(header))};
    for (const auto& [name, tensor] : arrays)
      if (tensor.bytes() > 0)
        pieces.emplace_back(static_cast<const std::byte*>(tensor.raw()), tensor.bytes());
    replace_file(path, pieces);
  }

 private:
  keras::NamedArrays open_file(const std::string& path, const std::string&) const override {
    const auto file = open_storage(path);
    std::vector<keras::NamedArray> arrays;
    for (const ArrayEntry& entry : read_header(path, *file))
      arrays.push_back(
          {entry.name, entry.spec, [path, file, entry] { return array_at(path, file, entry); }});
    return {path, std::move(arrays)};
  }
};

CRESCENT_PLUGIN("safetensors", CRESCENT_VERSION) { registry.add<Safetensors>("safetensors"); }

}  // namespace crescent::safetensors
