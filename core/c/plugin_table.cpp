#include "plugin_table.h"

#include "crescent/base/export.h"
#include "errors.h"

namespace crescent::c {
namespace {

constexpr std::string_view kDigits = "0123456789",
                           kNameCharacters =
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                               "0123456789.>";

/// Whether the text can be the name of a class, an option or a parameter: "Scale", "acme>Scale",
/// "image.blur".
bool is_name(std::string_view text) {
  return text.find_first_not_of(kNameCharacters) == text.npos &&
         kDigits.find(text[0]) == kDigits.npos;
}

}  // namespace

std::string required_name(const char* text, const char* what) {
  std::string name = text_of(text, what);
  if (name.empty()) fail_argument("'", what, "' is empty");
  if (!is_name(name))
    fail_argument("'", what, "' is '", name,
                  "', expected letters, digits, _, . and >, and no digit first");
  return name;
}

// ---- handles

LentTensors::LentTensors(std::span<const Tensor> tensors) {
  for (const Tensor& tensor : tensors) handles_.push_back(tensor ? new_handle(tensor) : nullptr);
}

LentTensors::~LentTensors() {
  for (const crescent_tensor* handle : handles_) remove_handle(HandleKind::tensor, handle);
}

ReturnedTensors::~ReturnedTensors() {
  for (crescent_tensor* handle : handles_) remove_handle(HandleKind::tensor, handle);
}

Tensors ReturnedTensors::tensors(size_t count) const {
  if (count > handles_.size())
    fail("it says that it gave ", count, " tensors, with room for ", handles_.size());
  Tensors result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(handles_[i] ? tensor_of(handles_[i], "results") : Tensor());
  return result;
}

// ---- specs

/// The rank of a spec that infer has not set.
constexpr int32_t kUnsetRank = -1000;

SpecList::SpecList(size_t capacity) : specs_(capacity) {
  for (crescent_spec& spec : specs_) spec.struct_size = sizeof spec, spec.rank = kUnsetRank;
  fill_pointers();
}

SpecList::SpecList(std::span<const TensorSpec> specs) : SpecList(specs.size()) {
  for (size_t i = 0; i < specs.size(); ++i) write_spec(specs[i], nullptr, &specs_[i]);
}

void SpecList::fill_pointers() {
  for (crescent_spec& spec : specs_) {
    const_pointers_.push_back(&spec);
    pointers_.push_back(&spec);
  }
}

std::vector<TensorSpec> SpecList::specs(size_t count) const {
  if (count > specs_.size())
    fail("it says that it gave ", count, " results, with room for ", specs_.size());
  std::vector<TensorSpec> result;
  for (size_t i = 0; i < count; ++i) {
    const crescent_spec& spec = specs_[i];
    if (spec.rank == kUnsetRank)
      fail("it says that it gave ", count, " results, and left result ", i, " unset");
    if (spec.rank < 0 || spec.rank > CRESCENT_MAX_RANK) fail("result ", i, " has rank ", spec.rank);
    const std::span<const int64_t> shape(spec.shape, static_cast<size_t>(spec.rank));
    result.push_back({dtype_of(spec.dtype), Shape(shape)});
  }
  return result;
}

}  // namespace crescent::c

/// Registers the classes of a C table; the plugin loader looks this function up by its name.
extern "C" CRESCENT_API void crescent_private_register_table(const crescent_plugin* table,
                                                             crescent::Registry* registry);
void crescent_private_register_table(const crescent_plugin* table, crescent::Registry* registry) {
  using namespace crescent::c;
  size_t size = table->struct_size;
  crescent_plugin plugin{};
  std::memcpy(&plugin, table, std::min(size, sizeof plugin));
  if (plugin.start) throw_if(plugin.start(&plugin_host()));
  for (size_t i = 0; i < plugin.op_count; ++i)
    register_op(entry_of(plugin.ops, i, "ops"), plugin.name, *registry);
  for (size_t i = 0; i < plugin.layer_count; ++i)
    register_layer(entry_of(plugin.layers, i, "layers"), *registry);
}
