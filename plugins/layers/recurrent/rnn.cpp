#include "rnn.h"

#include "crescent/plugin.h"

namespace crescent {
namespace {

/// (batch, time, ...) <-> (time, batch, ...).
Tensor swap_time(const Tensor& x) { return ops::swap_axes(x, 0, 1); }

/// keep (batch) ? a : b, row by row.
Tensor choose(const Tensor& keep, const Tensor& a, const Tensor& b) {
  return ops::where(ops::expand_dims(keep, -1), a, b);
}

}  // namespace

Tensor zero_state(const Tensor& like, int64_t width) {
  const Shape shape{like.dim(0), width};
  return shape.is_known() ? ops::zeros(shape, like.dtype())
                          : Tensor::abstract({like.dtype(), shape});
}

InputCount RnnCell::input_count() const {
  const size_t count = 1 + state_sizes().size();
  return {
      count, count,
      concat("it is a cell: it makes one step and is called on ", count,
             " inputs, {x, states...}; to go through the steps of a sequence, as in a Sequential, "
             "use the layer RNN(cell)")};
}

std::shared_ptr<RnnCell> cell_from(const Value& value) {
  if (value.is_list())
    return std::dynamic_pointer_cast<RnnCell>(make<Layer>("StackedRNNCells", {{"cells", value}}));
  const LayerPtr layer = get<Layer>(value);
  auto cell = std::dynamic_pointer_cast<RnnCell>(layer);
  if (!cell)
    fail("cell: expected a recurrent cell such as LSTMCell, got ",
         layer ? layer->class_name() : "null");
  return cell;
}

void BaseRnn::configured() {
  Layer::configured();
  set_supports_masking(true);
}

InputCount BaseRnn::input_count() const { return {1, 1 + cell_->state_sizes().size()}; }

void BaseRnn::set_cell(std::shared_ptr<RnnCell> cell) {
  cell_ = std::move(cell);
  track(cell_);
}

void BaseRnn::build(const std::vector<Shape>& inputs) {
  const Shape& x = inputs[0];
  if (x.rank() < 3)
    fail_in_layer(name(), "Input 0 is incompatible with layer ", name(),
                  ": expected ndim=3, found ndim=", x.rank());
  const std::vector<int64_t> sizes = cell_->state_sizes();
  if (inputs.size() != 1 && inputs.size() != 1 + sizes.size())
    fail("Layer has ", sizes.size(), " states but was passed ", inputs.size() - 1,
         " initial states.");
  std::vector<Shape> step{Shape{x[0]}.concat(x.slice(2, x.rank()))};
  for (int64_t size : sizes) step.push_back({x[0], size});
  cell_->build_for(step);
  if (!stateful_) return;
  if (x[0] < 0)
    fail(
        "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your "
        "input tensors: \n"
        "- If using a Sequential model, specify the batch size by passing a `batch_input_shape` "
        "argument to your first layer.\n"
        "- If using the functional API, specify the batch size by passing a `batch_shape` argument "
        "to your Input layer.");
  for (int64_t size : sizes)
    states_.push_back(Variable(Tensor({x[0], size}, DType::float32), {"state", false}));
}

void BaseRnn::reset_states() { set_states({}); }

void BaseRnn::set_states(const Tensors& values) {
  if (!stateful_) fail_in_layer(name(), "Layer ", name(), " must be stateful to reset its states.");
  if (!values.empty() && values.size() != states_.size())
    fail_in_layer(name(), "Layer ", name(), " expects ", states_.size(),
                  " states, but it received ", values.size(), " state values.");
  for (size_t i = 0; i < states_.size(); ++i)
    states_[i].assign(values.empty() ? Tensor(states_[i].spec()) : values[i]);
}

/// Given states, those kept from the last batch, or zeros.
Tensors BaseRnn::initial_states(const Tensors& inputs) const {
  const std::vector<int64_t> sizes = cell_->state_sizes();
  Tensors states(inputs.begin() + 1, inputs.end());
  if (!states.empty() && states.size() != sizes.size())
    fail_in_layer(name(), "Layer ", name(), " expects ", sizes.size(), " states, but it received ",
                  states.size(), " state values.");
  for (size_t i = 0; i < states.size(); ++i) {
    const Shape expected{inputs[0].dim(0), sizes[i]};
    if (!states[i].shape().compatible(expected))
      fail_in_layer(name(), "State ", i, " is incompatible with layer ", name(),
                    ": expected shape=", expected, ", found shape=", states[i].shape());
  }
  if (!states.empty()) return states;
  if (stateful_) return Tensors(states_.begin(), states_.end());
  for (int64_t size : sizes) states.push_back(zero_state(inputs[0], size));
  return states;
}

Tensors BaseRnn::call(const Tensors& inputs, const Call& call) {
  Tensor x = inputs[0], mask = call.mask();
  const Tensors states = initial_states(inputs);
  if (go_backwards_) {
    x = ops::flip(x, {1});
    if (mask) mask = ops::flip(mask, {1});
  }
  cell_->prepare(
      Tensor::abstract({x.dtype(), Shape{x.dim(0)}.concat(x.shape().slice(2, x.rank()))}), call);
  std::optional<Run> run;
  if (!mask) run = fast_run(x, states, call);
  if (!run) run = run_steps(x, states, mask);
  if (stateful_)
    for (size_t i = 0; i < states_.size(); ++i) states_[i].assign(run->states[i]);
  Tensors outputs{return_sequences_ ? run->sequence : run->last};
  if (return_state_) outputs.insert(outputs.end(), run->states.begin(), run->states.end());
  return outputs;
}

/// With a mask, the states carry one more: the output before, which a masked step repeats.
BaseRnn::Run BaseRnn::run_steps(const Tensor& x, const Tensors& states, const Tensor& mask) const {
  const RnnCell& cell = *cell_;
  const bool masked = bool(mask), zero = zero_output_;
  Tensors carried = states, sequences{swap_time(x)};
  carried.push_back(zero_state(x, cell.output_size()));
  if (masked) sequences.push_back(ops::cast(swap_time(mask), DType::boolean));

  const ops::ScanResult result = ops::scan(
      [&cell, masked, zero](const Tensors& before, const Tensors& step) {
        Tensors inputs{step[0]};
        inputs.insert(inputs.end(), before.begin(), before.end() - 1);
        Tensors after = cell.step(inputs);
        const Tensor computed = after[0];
        Tensor output = computed;
        Tensors next(after.begin() + 1, after.end());
        if (masked) {
          output = choose(step[1], computed, before.back());
          for (size_t i = 0; i < next.size(); ++i) next[i] = choose(step[1], next[i], before[i]);
        }
        next.push_back(output);
        const Tensor shown =
            masked && zero ? choose(step[1], computed, ops::zeros_like(computed)) : output;
        return ops::ScanResult{next, {shown}};
      },
      carried, sequences);
  const Tensor sequence = swap_time(result.outputs[0]);
  return {sequence, result.states.back(), Tensors(result.states.begin(), result.states.end() - 1)};
}

Tensors BaseRnn::compute_mask(const Tensors&, const Tensors& masks, const Tensors& outputs) {
  Tensors result(outputs.size());
  if (return_sequences_ && !masks.empty()) result[0] = masks[0];
  return result;
}

}  // namespace crescent

CRESCENT_PLUGIN("recurrent", CRESCENT_VERSION) {
  crescent::add_cells(registry);
  crescent::add_stack(registry);
  crescent::add_rnns(registry);
}
