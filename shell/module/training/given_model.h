// The model on which a method was called, and the schemas of options.
#pragma once
#include "crescent/model/model.h"
#include "lua/class_table.h"
#include "lua/text.h"
#include "values/read.h"

namespace crescent::lua {

/// The model at stack index 1, on which a method was called.
inline std::shared_ptr<Model> self(lua_State* L) {
  auto model = object_as<Model>(L, 1);
  if (!model && is_class(L, 1)) fail_expected(L, 1, "a model");
  if (!model)
    fail("expected a model before the arguments, got ", describe(L, 1),
         ": methods are called with ':'");
  return model;
}

template <class T>
const SchemaData& schema(const char* title) {
  return schema_of<T>(title);
}

}  // namespace crescent::lua
