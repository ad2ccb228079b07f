#include "layer/sublayer_options.h"

#include <algorithm>
#include <set>

#include "layer/layer_access.h"
#include "layer/layer_table.h"

namespace crescent {
namespace {

constexpr const char *kQuantization = "quantization_config", *kLoraRank = "lora_rank",
                     *kLoraAlpha = "lora_alpha";

/// For each layer, the value of the option "sublayer_options" with which it was made. Its sublayers
/// take their options from this table when they are built.
LayerTable<Dict>& pending_options() {
  static auto& options_table = *new LayerTable<Dict>;
  return options_table;
}

// ---- the changes of sublayers

bool is_quantized(const Layer& layer) {
  return Codec<DTypePolicy>::encode(layer.policy()).is_dict();
}

bool has_adapter(const Layer& layer) {
  return layer.info() && layer.info()->schema.find_property("lora_enabled") &&
         layer.get_property("lora_enabled").as_bool();
}

/// The options that a method, such as quantize, has set on `layer`. A dtype policy that `owner` has
/// too does not count, because it was an option of `owner`.
Dict changes_of(const Layer& layer, const Layer& owner) {
  Dict changes;
  const bool is_newly_quantized = is_quantized(layer) && layer.policy().name != owner.policy().name,
             is_adapted = has_adapter(layer);
  if (!layer.info() || !(is_newly_quantized || is_adapted)) return changes;
  const Dict config = layer.get_config();
  const auto add = [&](const char* option) {
    if (const Value* value = config.find(option)) changes.set(option, *value);
  };
  if (is_newly_quantized) add(kQuantization);
  if (is_adapted) add(kLoraRank), add(kLoraAlpha);
  return changes;
}

Dict options_for_sublayers(const Layer& layer);

/// The options that methods have set on the sublayers of `owner`, except sublayers whose names are
/// in `excluded_names`. For a sublayer that is not built yet, these are the options that it will
/// get when it is built.
Dict changes_below(const Layer& owner, const std::set<std::string>& excluded_names) {
  Dict all_options = options_for_sublayers(owner);
  const std::vector<LayerPtr>& sublayers = owner.sublayers();
  for (size_t i = 0; i < sublayers.size(); ++i) {
    const Layer& sublayer = *sublayers[i];
    if (!sublayer.built()) continue;
    all_options.erase(std::to_string(i));
    if (excluded_names.contains(sublayer.name())) continue;
    Dict changes = changes_of(sublayer, owner);
    if (Dict nested_changes = changes_below(sublayer, {}); !nested_changes.empty())
      changes.set(kSublayerOptions, std::move(nested_changes));
    if (!changes.empty()) all_options.set(std::to_string(i), std::move(changes));
  }
  return all_options;
}

/// Collects the names of objects whose configurations are inside the value.
void collect_names(const Value& value, std::set<std::string>& names) {
  if (value.is_list())
    for (const Value& item : value.as_list()) collect_names(item, names);
  if (!value.is_dict()) return;
  for (const DictEntry& entry : value.as_dict()) {
    if (entry.key == "name" && entry.value.is_string()) names.insert(entry.value.as_string());
    collect_names(entry.value, names);
  }
}

// ---- the options that sublayers take

/// Returns the entry of a dictionary that is itself a dictionary; an empty one if there is none.
Dict dict_at(const Dict& dict, std::string_view key) {
  const Value* value = dict.find(key);
  return value && value->is_dict() ? value->as_dict() : Dict();
}

/// The options that `owner` stores for a sublayer.
Dict options_for(const Layer& owner, const Layer& sublayer) {
  const Dict all_options = options_for_sublayers(owner);
  if (all_options.empty()) return all_options;
  const std::vector<LayerPtr>& sublayers = owner.sublayers();
  const auto position =
      std::find_if(sublayers.begin(), sublayers.end(),
                   [&](const LayerPtr& candidate) { return candidate.get() == &sublayer; });
  return dict_at(all_options, std::to_string(position - sublayers.begin()));
}

/// The options that an owner of the layer stores for it.
Dict options_from_owners(const Layer& layer) {
  for (const Layer* owner : LayerAccess::owners(layer))
    if (Dict options = options_for(*owner, layer); !options.empty()) return options;
  return {};
}

/// The options that the layer, or an owner of it, stores for the sublayers of the layer.
Dict options_for_sublayers(const Layer& layer) {
  if (pending_options().empty()) return {};
  Dict own_options = pending_options().find(layer);
  return own_options.empty() ? dict_at(options_from_owners(layer), kSublayerOptions) : own_options;
}

void apply_options(Layer& layer, const Dict& options) {
  const Value *config = options.find(kQuantization), *rank = options.find(kLoraRank);
  if (config && !is_quantized(layer)) {
    Dict arguments{{"config", *config}};
    if (layer.info()->schema.find_property("can_be_int8")) arguments.set("convolutions", true);
    layer.call_method("quantize", arguments);
  }
  if (!rank || has_adapter(layer)) return;
  const Value* alpha = options.find(kLoraAlpha);
  layer.call_method("enable_lora", {{"rank", *rank}, {"lora_alpha", alpha ? *alpha : Value()}});
}

/// Applies the options to a layer, if it is built, and to the built layers inside it.
void apply_with_sublayers(Layer& layer, const Dict& options) {
  if (options.empty()) return;
  if (layer.built()) apply_options(layer, options);
  const Dict nested_options = dict_at(options, kSublayerOptions);
  for (size_t i = 0; i < layer.sublayers().size(); ++i)
    apply_with_sublayers(*layer.sublayers()[i], dict_at(nested_options, std::to_string(i)));
}

/// Access to the option "sublayer_options" of an object whose base class Layer begins
/// `layer_offset` bytes after the beginning of the object.
class SublayerOptionsAccess final : public FieldAccess {
 public:
  explicit SublayerOptionsAccess(std::ptrdiff_t layer_offset) : layer_offset_(layer_offset) {}
  Value get(const void* object) const override { return pending_options().find(layer_in(object)); }
  void set(void* object, const Value& value) const override {
    if (!value.is_null()) pending_options().set(layer_in(object), Codec<Dict>::decode(value));
  }

 private:
  const Layer& layer_in(const void* object) const {
    const void* layer = static_cast<const char*>(object) + layer_offset_;
    return *static_cast<const Layer*>(layer);
  }
  std::ptrdiff_t layer_offset_;
};

}  // namespace

void describe_sublayer_options(Schema<Layer>& s) {
  Field option;
  option.name = kSublayerOptions;
  option.doc =
      "Changes of layers inside the layer that were made by methods such as quantize, by the "
      "indices of these layers from 0; taken when they are built.";
  option.type = Codec<Dict>::type();
  option.takes_dict = option.keyword_only = true;
  option.stored = false;
  option.access = std::make_shared<const SublayerOptionsAccess>(s.origin());
  s.data().fields.push_back(std::move(option));
}

Dict sublayer_options(const Layer& layer, const Dict& config) {
  if (layer.sublayers().empty()) return options_for_sublayers(layer);
  std::set<std::string> stored_names;
  for (const DictEntry& entry : config) collect_names(entry.value, stored_names);
  return changes_below(layer, stored_names);
}

void apply_options_of_owners(Layer& layer) {
  if (const Dict options = options_from_owners(layer); !options.empty())
    apply_options(layer, options);
}

void apply_options_of(const Layer& owner, Layer& sublayer) {
  apply_with_sublayers(sublayer, options_for(owner, sublayer));
}

void forget_sublayer_options(const Layer& layer) { pending_options().forget(layer); }

}  // namespace crescent
