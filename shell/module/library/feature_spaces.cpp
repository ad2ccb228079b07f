#include "library/feature_spaces.h"

#include "crescent/io/format.h"
#include "values/push.h"

namespace crescent::lua {
namespace {

/// Calls a method of the format and returns its result; returns nullopt if the format has no such
/// method.
std::optional<Value> call_format(Format& format, const char* name, const Dict& arguments) {
  if (!format.info()->schema.find_method(name)) return std::nullopt;
  return format.call_method(name, arguments);
}

}  // namespace

bool push_feature_space(lua_State* L, const std::string& path, const Dict& options) {
  const Value* objects = options.find("custom_objects");
  const auto space =
      call_format(*format_to_read(path), "load_feature_space",
                  {{"path", path}, {"custom_objects", objects ? *objects : Value()}});
  if (!space || space->is_null()) return false;
  luaL_loadstring(L, "return require 'crescent'.utils.FeatureSpace.from_config(...)");
  push(L, *space);
  protected_call(L, 1, 1);
  return true;
}

bool save_feature_space(const std::string& path, const Dict& space) {
  const auto format = format_to_write(path, ModelFormat::kAbility);
  return call_format(*format, "save_feature_space", {{"path", path}, {"space", space}}).has_value();
}

}  // namespace crescent::lua
