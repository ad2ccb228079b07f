#include "keras/vocabulary/class_names.h"

#include "crescent/layer/layer.h"
#include "keras/vocabulary/code_names.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {

std::string ClassNames::registered_name(const std::string& class_name) const {
  const size_t separator = class_name.rfind('>');
  const std::string bare_name = class_name.substr(separator + 1);
  for (const std::string& name : {class_name, bare_name})
    if (const Value* custom =
            custom_names_.is_dict() ? custom_names_.as_dict().find(name) : nullptr;
        custom && custom->is_string())
      return custom->as_string();
  if (separator == class_name.npos) return class_name;
  const bool is_from_plugin = plugins_.is_dict() && plugins_.as_dict().contains(class_name);
  return is_from_plugin || find_class(class_name) ? class_name : bare_name;
}

std::string ClassNames::registered_class(const Dict& object) const {
  const std::string* name_with_package = text_at(object, "registered_name");
  if (name_with_package && name_with_package->find('>') != name_with_package->npos)
    if (const std::string name = registered_name(*name_with_package); find_class(name)) return name;
  return registered_name(class_of(object));
}

/// The end of a message about an unknown class, which says how to load its plugin.
constexpr const char* kInPlugin =
    "; where a plugin has it, cr.plugins.load(name) or --plugin NAME loads that first";

void ClassNames::fail_unknown(std::string_view kind, const std::string& class_name,
                              const std::string& location) const {
  const std::string class_text =
      concat("Unknown ", kind, ": ", class_name, location.empty() ? "" : " (" + location + ")");
  if (class_name == "Lambda")
    fail(class_text, ". The code of a Lambda is never loaded from a file: define a layer instead");
  if (class_name == "FeatureSpace")
    fail(class_text,
         ". It is no model: in Lua cr.models.load_model gives the cr.utils.FeatureSpace");
  const Value* origin = plugins_.is_dict() ? plugins_.as_dict().find(class_name) : nullptr;
  if (origin && origin->is_list() && !origin->as_list().empty() &&
      origin->as_list().front() == Value("Lua"))
    fail(class_text, ". It is a class from Lua: define it before loading, or ",
         how_to_provide(class_name));
  if (origin && origin->is_list() && origin->as_list().size() == 2)
    fail(class_text, ". It was saved from plugin ", origin->as_list()[0], ", version ",
         origin->as_list()[1], ": load that plugin first");
  fail(class_text, ". Register the class before loading or ", how_to_provide(class_name),
       did_you_mean(class_name, registry().all_names(kind)), kInPlugin);
}

void ClassNames::expect_class(std::string_view kind, const std::string& name,
                              const std::string& location) const {
  if (kind.empty() || !plugins_.is_dict() || !plugins_.as_dict().contains(name)) return;
  if (!registry().find(kind, name)) fail_unknown(kind, name, location);
}

std::string kind_beside_layers(const std::string& class_name, const std::string& expected) {
  if (!expected.empty() && registry().find(expected, class_name))
    return expected == Layer::kKind ? "" : expected;
  for (const KindInfo& kind : kinds())
    if (kind.name != std::string_view(Layer::kKind) && registry().find(kind.name, class_name))
      return std::string(kind.name);
  return "";
}

}  // namespace crescent::keras
