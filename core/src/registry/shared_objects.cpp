#include "registry/shared_objects.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

namespace crescent {
namespace {

/// The objects in a configuration that with_shared_objects() makes. The first pass counts how often
/// each object occurs; the second pass gives ids to the objects that occur more than once.
struct SharingState {
  std::unordered_map<const Configurable*, int> use_counts;
  std::unordered_map<const Configurable*, int64_t> ids;
  bool is_second_pass = false;
};

thread_local SharingState* current_sharing = nullptr;

/// The shared_object_id in a configuration; nullopt if it has none.
std::optional<int64_t> shared_object_id_of(const Dict& config) {
  const Value* id = config.find(kSharedObjectIdKey);
  return id && id->is_int() ? std::optional(id->as_int()) : std::nullopt;
}

}  // namespace

Dict with_shared_objects(const std::function<Dict()>& make) {
  if (current_sharing) return make();
  SharingState sharing_state;
  struct Scope {
    ~Scope() { current_sharing = nullptr; }
  } scope;
  current_sharing = &sharing_state;
  Dict result = make();
  sharing_state.is_second_pass =
      std::any_of(sharing_state.use_counts.begin(), sharing_state.use_counts.end(),
                  [](const auto& entry) { return entry.second > 1; });
  return sharing_state.is_second_pass ? make() : result;
}

void mark_shared(Dict& config, const Configurable& object) {
  if (!current_sharing) return;
  if (!current_sharing->is_second_pass) return void(++current_sharing->use_counts[&object]);
  if (current_sharing->use_counts[&object] < 2) return;
  const auto next_id = static_cast<int64_t>(current_sharing->ids.size()) + 1;
  config.set(kSharedObjectIdKey, current_sharing->ids.try_emplace(&object, next_id).first->second);
}

struct SharedObjects::Table {
  std::map<int64_t, std::shared_ptr<Configurable>> objects;
  static thread_local Table* current;
};
thread_local SharedObjects::Table* SharedObjects::Table::current = nullptr;

SharedObjects::SharedObjects(bool ignores_outer_ids) : outer_table_(Table::current) {
  if (outer_table_ && !ignores_outer_ids) return;
  table_ = std::make_unique<Table>();
  Table::current = table_.get();
}
SharedObjects::~SharedObjects() { Table::current = outer_table_; }

std::shared_ptr<Configurable> shared_object(const Dict& config) {
  const auto* table = SharedObjects::Table::current;
  const auto id = shared_object_id_of(config);
  if (!table || !id) return nullptr;
  const auto entry = table->objects.find(*id);
  return entry == table->objects.end() ? nullptr : entry->second;
}

void remember_shared(const Dict& config, const std::shared_ptr<Configurable>& object) {
  auto* table = SharedObjects::Table::current;
  if (const auto id = shared_object_id_of(config); table && id) table->objects[*id] = object;
}

}  // namespace crescent
