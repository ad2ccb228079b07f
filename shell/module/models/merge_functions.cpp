#include "models/merge_functions.h"

#include "classes/options.h"
#include "crescent/layer/layer.h"
#include "instances/instance.h"
#include "models/layers.h"

namespace crescent::lua {
namespace {

struct Row {
  const char *name, *class_name;
  Dict defaults;  ///< that the function has and the class has not
};

/// f{a, b, axis = 1} means f({a, b}, {axis = 1}).
void split_options(lua_State* L) {
  if (lua_gettop(L) != 1 || !is_plain_table(L, 1)) return;
  lua_newtable(L);  // inputs
  lua_newtable(L);  // options
  for (lua_pushnil(L); lua_next(L, 1);) {
    const bool named = lua_type(L, -2) == LUA_TSTRING;
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, named ? 3 : 2);
  }
  lua_remove(L, 1);
}

class MergeFunction final : public Callable {
 public:
  explicit MergeFunction(Row row)
      : Callable(row.name, {"inputs"}, concat("cr.layers.", row.class_name, "(options)(inputs)")),
        row_(std::move(row)) {}
  int call(lua_State* L) const override {
    if (lua_gettop(L) < 1) fail(row_.name, ": expected a list of inputs");
    split_options(L);
    Dict options = row_.defaults;
    for (const DictEntry& given : options_from(L, 2, *this->options()))
      options.set(given.key, given.value);
    lua_settop(L, 1);
    push_object(L, make_object(Layer::kKind, row_.class_name, options));
    lua_insert(L, 1);
    return call_layer(L);
  }
  const SchemaData* options() const override {
    return &registry().get(Layer::kKind, row_.class_name)->schema;
  }

 private:
  Row row_;
};

}  // namespace

void set_merge_functions(lua_State* L) {
  static const std::vector<std::unique_ptr<const MergeFunction>> functions = [] {
    std::vector<std::unique_ptr<const MergeFunction>> list;
    for (const Row& row :
         {Row{"add", "Add", {}}, Row{"subtract", "Subtract", {}}, Row{"multiply", "Multiply", {}},
          Row{"average", "Average", {}}, Row{"maximum", "Maximum", {}},
          Row{"minimum", "Minimum", {}}, Row{"concatenate", "Concatenate", {}},
          Row{"dot", "Dot", {{"axes", -1}}}})
      list.push_back(std::make_unique<const MergeFunction>(row));
    return list;
  }();
  for (const auto& function : functions) {
    push_callable(L, *function);
    lua_setfield(L, -2, function->name().c_str());
  }
}

}  // namespace crescent::lua
