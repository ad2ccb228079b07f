// The types of objects, from Object down to Sequential: which one an object is, and their members.
#pragma once
#include <deque>

#include "type.h"

namespace crescent::lua {

struct ObjectType {
  Type type;
  bool (*matches)(const Object* object);
};
/// Bases come before what derives from them; the last one that matches is an object's type.
using ObjectTypes = std::deque<ObjectType>;

template <class T>
Type& add_type(ObjectTypes& types, const std::string& name, const Type* parent) {
  types.emplace_back(Type(name, parent), [](const Object* object) {
    return dynamic_cast<const T*>(object) != nullptr;
  });
  return types.back().type;
}

const ObjectTypes& object_types();
const void* object_type_key(const Object& object);
bool is_object_type(const Type& type);

// Each family adds its types.
Type& add_object_type(ObjectTypes& types);
void add_layer_types(ObjectTypes& types, const Type& object);
void add_training_types(ObjectTypes& types, const Type& object);
void add_gradient_types(ObjectTypes& types, const Type& object);
void add_random_types(ObjectTypes& types, const Type& object);
void add_run_types(ObjectTypes& types, const Type& object);
void add_dataset_type(ObjectTypes& types, const Type& object);

}  // namespace crescent::lua
