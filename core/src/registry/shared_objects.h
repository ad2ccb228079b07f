// Objects that occur several times in one configuration, such as a layer that a model shares with a
// model inside it. Each occurrence has the same "shared_object_id", as in Keras 3, so only one
// object is made when the configuration is read.
#pragma once
#include <functional>

#include "crescent/registry/registry.h"

namespace crescent {

inline constexpr const char* kSharedObjectIdKey = "shared_object_id";

/// Returns the configuration that `make` returns, in which objects that occur more than once have a
/// shared_object_id. If there are such objects, `make` is called a second time. Only the outermost
/// of nested calls assigns ids.
Dict with_shared_objects(const std::function<Dict()>& make);
/// Must be called for each object that is serialized: adds its shared_object_id to {"class_name",
/// "config"}.
void mark_shared(Dict& config, const Configurable& object);

/// While an object of this class lives, only one object is made of all configurations with the same
/// shared_object_id.
class SharedObjects {
 public:
  /// If `ignores_outer_ids` is true, ids of an outer configuration that is being read are ignored.
  explicit SharedObjects(bool ignores_outer_ids);
  ~SharedObjects();
  SharedObjects(const SharedObjects&) = delete;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
  Table* outer_table_;

  friend std::shared_ptr<Configurable> shared_object(const Dict& config);
  friend void remember_shared(const Dict& config, const std::shared_ptr<Configurable>& object);
};
/// The object that was made of an earlier configuration with the same id; null if there is none.
std::shared_ptr<Configurable> shared_object(const Dict& config);
void remember_shared(const Dict& config, const std::shared_ptr<Configurable>& object);

}  // namespace crescent
