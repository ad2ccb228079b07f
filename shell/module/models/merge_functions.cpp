#include "models/merge_functions.h"

#include "classes/options.h"
#include "crescent/layer/layer.h"
#include "instances/instance.h"
#include "models/layers.h"

namespace crescent::lua {
namespace {

struct MergeFunctionSpec {
  const char *name, *class_name;
  Dict defaults;  ///< options that have another default in the function than in the class
};

/// Splits the single table of f{a, b, axis = 1} into the arguments f({a, b}, {axis = 1}).
void split_options(lua_State* L) {
  if (lua_gettop(L) != 1 || !is_plain_table(L, 1)) return;
  lua_newtable(L);  // the table of inputs
  lua_newtable(L);  // the table of options
  for (lua_pushnil(L); lua_next(L, 1);) {
    const bool has_name = lua_type(L, -2) == LUA_TSTRING;
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, has_name ? 3 : 2);
  }
  lua_remove(L, 1);
}

class MergeFunction final : public Callable {
 public:
  explicit MergeFunction(MergeFunctionSpec spec)
      : Callable(concat(spec.name, " -> a symbol or a tensor"),
                 {"inputs: a list of symbols or of tensors"},
                 concat("cr.layers.", spec.class_name, "(options)(inputs)")),
        spec_(std::move(spec)) {}
  int call(lua_State* L) const override {
    if (lua_gettop(L) < 1) fail(spec_.name, ": expected a list of inputs");
    split_options(L);
    Dict options = spec_.defaults;
    for (const DictEntry& option : options_from(L, 2, *this->options()))
      options.set(option.key, option.value);
    lua_settop(L, 1);
    push_object(L, make_object(Layer::kKind, spec_.class_name, options));
    lua_insert(L, 1);
    return call_layer(L);
  }
  const SchemaData* options() const override {
    return &registry().get(Layer::kKind, spec_.class_name)->schema;
  }

 private:
  MergeFunctionSpec spec_;
};

}  // namespace

void set_merge_functions(lua_State* L) {
  static const std::vector<std::unique_ptr<const MergeFunction>> functions = [] {
    std::vector<std::unique_ptr<const MergeFunction>> new_functions;
    for (const MergeFunctionSpec& spec :
         {MergeFunctionSpec{"add", "Add", {}}, MergeFunctionSpec{"subtract", "Subtract", {}},
          MergeFunctionSpec{"multiply", "Multiply", {}},
          MergeFunctionSpec{"average", "Average", {}}, MergeFunctionSpec{"maximum", "Maximum", {}},
          MergeFunctionSpec{"minimum", "Minimum", {}},
          MergeFunctionSpec{"concatenate", "Concatenate", {}},
          MergeFunctionSpec{"dot", "Dot", {{"axes", -1}}}})
      new_functions.push_back(std::make_unique<const MergeFunction>(spec));
    return new_functions;
  }();
  for (const auto& function : functions) {
    push_callable(L, *function);
    lua_setfield(L, -2, function->name().c_str());
  }
}

}  // namespace crescent::lua
