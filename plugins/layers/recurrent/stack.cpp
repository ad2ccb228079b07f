// Several cells as one: the output of each is the input of the next, and the states are those of
// all cells in order.
#include "crescent/registry/registration.h"
#include "rnn.h"

namespace crescent {
namespace {

class StackedRnnCells final : public RnnCell {
 public:
  static void describe(Schema<StackedRnnCells>& s) {
    s.doc("Stacks cells: the output of one is the input of the next.")
        .field("cells", &StackedRnnCells::cells_option_, "The cells, from the input upwards.")
        .kind("layer")
        .required()
        .property("cells", &StackedRnnCells::layers, "The cells, from the input upwards.")
        .input("states", 1, "The states of all cells, in order.");
  }
  void configured() override {
    RnnCell::configured();
    if (!cells_option_.is_list() || cells_option_.as_list().empty())
      fail("cells: expected a list of cells, got ", cells_option_);
    for (const Value& value : cells_option_.as_list()) {
      cells_.push_back(cell_from(value));
      track(cells_.back()->as_layer());
    }
    // A stack of cells computes nothing itself, so its dtype policy is that of its first cell.
    take_policy_of(*cells_.front()->as_layer());
  }
  size_t state_count() const override {
    size_t count = 0;
    for (const auto& cell : cells_) count += cell->state_count();
    return count;
  }
  std::vector<Shape> state_shapes(const Shape& x) const override {
    std::vector<Shape> shapes;
    Shape input = x;
    for (const auto& cell : cells_) {
      const std::vector<Shape> cell_shapes = cell->state_shapes(input);
      shapes.insert(shapes.end(), cell_shapes.begin(), cell_shapes.end());
      input = cell->output_shape(input);
    }
    return shapes;
  }
  Shape output_shape(const Shape& x) const override {
    Shape input = x;
    for (const auto& cell : cells_) input = cell->output_shape(input);
    return input;
  }
  void build(const std::vector<Shape>& inputs) override {
    Shape x = inputs[0];
    for (const auto& cell : cells_) {
      std::vector<Shape> shapes = cell->state_shapes(x);
      shapes.insert(shapes.begin(), x);
      cell->build_for(shapes);
      x = cell->output_shape(x);
    }
  }
  void prepare(const Tensor& x, const Call& call) override {
    Tensor input = x;
    for (const auto& cell : cells_) {
      cell->prepare(input, call);
      input = Tensor::abstract({x.dtype(), cell->output_shape(input.shape())});
    }
  }
  Tensor input_part(const Tensor& x) const override { return cells_.front()->input_part(x); }
  Tensors step(const Tensors& inputs) const override {
    Tensors outputs{inputs[0]};
    auto next_state = inputs.begin() + 1;
    for (const auto& cell : cells_) {
      Tensors step_inputs{outputs[0]};
      step_inputs.insert(step_inputs.end(), next_state, next_state + int64_t(cell->state_count()));
      next_state += int64_t(cell->state_count());
      const Tensors results =
          &cell == &cells_.front() ? cell->step(step_inputs) : cell->whole_step(step_inputs);
      outputs[0] = results[0];
      outputs.insert(outputs.end(), results.begin() + 1, results.end());
    }
    return outputs;
  }
  Dict get_config() const override {
    Dict config = RnnCell::get_config();
    List cells;
    for (const LayerPtr& cell : layers()) cells.push_back(serialize(cell.get()));
    config.set("cells", cells);
    return config;
  }

 private:
  std::vector<LayerPtr> layers() const {
    std::vector<LayerPtr> layers;
    for (const auto& cell : cells_) layers.push_back(cell->as_layer());
    return layers;
  }

  Value cells_option_;
  std::vector<std::shared_ptr<RnnCell>> cells_;
};

}  // namespace

CRESCENT_REGISTER(stack) { registry.add<StackedRnnCells>("StackedRNNCells"); }

}  // namespace crescent
