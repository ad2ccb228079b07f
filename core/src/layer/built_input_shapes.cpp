#include "layer/built_input_shapes.h"

#include "layer/layer_table.h"

namespace crescent {
namespace {

LayerTable<std::vector<Shape>>& shape_table() {
  static auto& shape_table = *new LayerTable<std::vector<Shape>>;
  return shape_table;
}

}  // namespace

std::vector<Shape> built_input_shapes(const Layer& layer) { return shape_table().find(layer); }
void set_built_input_shapes(const Layer& layer, std::vector<Shape> shapes) {
  shape_table().set(layer, std::move(shapes));
}
void forget_built_input_shapes(const Layer& layer) { shape_table().forget(layer); }

}  // namespace crescent
