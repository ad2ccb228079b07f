#include "layer/built_for.h"

#include <mutex>
#include <unordered_map>

namespace crescent {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<const Layer*, std::vector<Shape>> shapes;
};

/// The table is never destroyed, because static objects may still hold layers when the process
/// exits.
Table& table() {
  static Table& table = *new Table;
  return table;
}

}  // namespace

std::vector<Shape> built_for(const Layer& layer) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().shapes.find(&layer);
  return found == table().shapes.end() ? std::vector<Shape>() : found->second;
}

void set_built_for(const Layer& layer, std::vector<Shape> inputs) {
  const std::lock_guard lock(table().mutex);
  table().shapes[&layer] = std::move(inputs);
}

void forget_built_for(const Layer& layer) {
  const std::lock_guard lock(table().mutex);
  table().shapes.erase(&layer);
}

}  // namespace crescent
