// Objects that stand at several places of one configuration, such as a layer that a model shares
// with a model inside it: each place has their number as "shared_object_id", as in Keras 3, by
// which they are one again where the configuration is read.
#pragma once
#include <functional>

#include "crescent/registry/registry.h"

namespace crescent {

inline constexpr const char* kSharedNumber = "shared_object_id";

/// What `make` gives, with numbers at objects that come more than once: it is called a second time
/// where there are some. Inside another call of this function, that one sees to it.
Dict with_shared_objects(const std::function<Dict()>& make);
/// Told of each object of which a {"class_name", "config"} is made: puts its number there.
void mark_shared(Dict& made, const Configurable& object);

/// While one exists, places with the same number are the same object.
class SharedObjects {
 public:
  /// `fresh`: numbers of the configuration that is read around this one, if any, say nothing here.
  explicit SharedObjects(bool fresh);
  ~SharedObjects();
  SharedObjects(const SharedObjects&) = delete;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
  Table* before_;

  friend std::shared_ptr<Configurable> shared_object(const Dict& place);
  friend void remember_shared(const Dict& place, const std::shared_ptr<Configurable>& object);
};
/// The object that an earlier place with this number gave; null where there is none.
std::shared_ptr<Configurable> shared_object(const Dict& place);
void remember_shared(const Dict& place, const std::shared_ptr<Configurable>& object);

}  // namespace crescent
