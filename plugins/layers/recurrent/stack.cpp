// Several cells as one: the output of each is the input of the next, states are those of all in
// turn.
#include "rnn.h"

namespace crescent {
namespace {

class StackedRnnCells final : public RnnCell {
 public:
  static void describe(Schema<StackedRnnCells>& s) {
    s.doc("Cells one above the other.")
        .field("cells", &StackedRnnCells::given_, "From the input upwards.")
        .kind("layer")
        .required()
        .property("cells", &StackedRnnCells::cells_, "From the input upwards.")
        .input("states", 1, "The states of all cells in turn.");
  }
  void configured() override {
    RnnCell::configured();
    if (!given_.is_list() || given_.as_list().empty())
      fail("cells: expected a list of cells, got ", given_);
    for (const Value& value : given_.as_list()) {
      cells_.push_back(cell_from(value));
      track(cells_.back());
    }
  }
  std::vector<int64_t> state_sizes() const override {
    std::vector<int64_t> sizes;
    for (const auto& cell : cells_)
      for (int64_t size : cell->state_sizes()) sizes.push_back(size);
    return sizes;
  }
  int64_t output_size() const override { return cells_.back()->output_size(); }
  void build(const std::vector<Shape>& inputs) override {
    Shape x = inputs[0];
    for (const auto& cell : cells_) {
      std::vector<Shape> shapes{x};
      for (int64_t size : cell->state_sizes()) shapes.push_back({x[0], size});
      cell->build_for(shapes);
      x = {x[0], cell->output_size()};
    }
  }
  void prepare(const Tensor& x, const Call& call) override {
    Tensor input = x;
    for (const auto& cell : cells_) {
      cell->prepare(input, call);
      input = zero_state(x, cell->output_size());
    }
  }
  Tensors step(const Tensors& inputs) const override {
    Tensors outputs{inputs[0]};
    auto state = inputs.begin() + 1;
    for (const auto& cell : cells_) {
      Tensors step{outputs[0]};
      step.insert(step.end(), state, state + int64_t(cell->state_sizes().size()));
      state += int64_t(cell->state_sizes().size());
      const Tensors after = cell->step(step);
      outputs[0] = after[0];
      outputs.insert(outputs.end(), after.begin() + 1, after.end());
    }
    return outputs;
  }
  Dict get_config() const override {
    Dict config = RnnCell::get_config();
    List cells;
    for (const auto& cell : cells_) cells.push_back(serialize(cell.get()));
    config.set("cells", cells);
    return config;
  }

 private:
  Value given_;
  std::vector<std::shared_ptr<RnnCell>> cells_;
};

}  // namespace

void add_stack(Registry& registry) { registry.add<StackedRnnCells>("StackedRNNCells"); }

}  // namespace crescent
