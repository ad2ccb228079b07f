#include "layer/built_for.h"

#include "layer/layer_table.h"

namespace crescent {
namespace {

LayerTable<std::vector<Shape>>& table() {
  static auto& table = *new LayerTable<std::vector<Shape>>;
  return table;
}

}  // namespace

std::vector<Shape> built_for(const Layer& layer) { return table().find(layer); }
void set_built_for(const Layer& layer, std::vector<Shape> inputs) {
  table().set(layer, std::move(inputs));
}
void forget_built_for(const Layer& layer) { table().forget(layer); }

}  // namespace crescent
