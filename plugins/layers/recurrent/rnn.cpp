#include "rnn.h"

#include "unmasked_steps.h"

namespace crescent {
namespace {

/// Swaps the first two axes: (batch, time, ...) <-> (time, batch, ...).
Tensor swap_time(const Tensor& x) { return ops::swap_axes(x, 0, 1); }

/// Selects, for each sample, a where keep (batch) is true and b elsewhere.
Tensor select_samples(Tensor takes_first, const Tensor& a, const Tensor& b) {
  while (takes_first.rank() < a.rank()) takes_first = ops::expand_dims(takes_first, -1);
  return ops::where(takes_first, a, b);
}

/// The last step of a sequence along the axis `time_axis`, whose size may be unknown.
Tensor last_step(const Tensor& sequence, int time_axis) {
  return ops::squeeze(ops::slice_axis(ops::flip(sequence, {time_axis}), time_axis, 0, 1),
                      time_axis);
}

/// The shape of one step of a sequence (batch, time, ...): (batch, ...).
Shape step_shape(const Shape& x) { return Shape{x[0]}.concat(x.slice(2, x.rank())); }

}  // namespace

Tensor zeros_or_abstract(const Shape& shape, DType dtype) {
  return shape.is_known() ? ops::zeros(shape, dtype) : Tensor::abstract({dtype, shape});
}

Value RnnCell::state_size() const {
  std::vector<int64_t> sizes;
  for (const Shape& shape : state_shapes({-1, -1})) sizes.push_back(shape[-1]);
  return sizes.size() == 1 ? Value(sizes.front()) : Codec<std::vector<int64_t>>::encode(sizes);
}

Tensors RnnCell::initial_states(int64_t batch_size) const {
  if (batch_size < 1)
    fail("get_initial_state: expected a batch_size of at least 1, got ", batch_size);
  Tensors states;
  for (const Shape& shape : state_shapes({batch_size, -1}))
    states.push_back(ops::zeros(shape, compute_dtype()));
  return states;
}

InputCount RnnCell::input_count() const {
  const size_t count = 1 + state_count();
  return {
      count, count,
      concat("it is a cell: it makes one step and is called on ", count,
             " inputs, {x, states...}; to go through the steps of a sequence, as in a Sequential, "
             "use the layer RNN(cell)")};
}

Tensors RnnCell::call(const Tensors& inputs, const Call& call) {
  prepare(inputs[0], call);
  return whole_step(inputs);
}

Tensors RnnCell::whole_step(Tensors inputs) const {
  inputs[0] = input_part(inputs[0]);
  return step(inputs);
}

namespace {

/// Fails for a cell with an activity regularizer, since penalties that are computed inside of a
/// step would not be added to the loss.
void refuse_penalty(const Layer& cell) {
  const Dict config = cell.get_config();
  const Value* penalty = config.find("activity_regularizer");
  if (penalty && !penalty->is_null())
    fail("cell: ", cell.name(), " has an activity_regularizer, which counts for outputs of layers ",
         "only; give it to the layer around the cell");
}

}  // namespace

std::shared_ptr<RnnCell> cell_from(const Value& value) {
  if (value.is_list())
    return std::dynamic_pointer_cast<RnnCell>(make<Layer>("StackedRNNCells", {{"cells", value}}));
  const LayerPtr layer = get<Layer>(value);
  if (!layer) fail("cell: expected a recurrent cell such as LSTMCell, got null");
  refuse_penalty(*layer);
  auto cell = std::dynamic_pointer_cast<RnnCell>(layer);
  return cell ? cell : wrap_as_cell(layer);
}

void BaseRnn::configured() {
  Layer::configured();
  set_supports_masking(true);
}

InputCount BaseRnn::input_count() const { return {1, 1 + cell_->state_count()}; }

void BaseRnn::set_cell(std::shared_ptr<RnnCell> cell) {
  if (cell_) untrack(cell_->as_layer());
  cell_ = std::move(cell);
  track(cell_->as_layer());
}

void BaseRnn::build(const std::vector<Shape>& inputs) {
  const Shape& x = inputs[0];
  if (x.rank() < 3) InputSpec::with_ndim(3).check(0, name(), {DType::float32, x});
  if (inputs.size() != 1 && inputs.size() != 1 + cell_->state_count())
    fail("Layer has ", cell_->state_count(), " states but was passed ", inputs.size() - 1,
         " initial states.");
  const std::vector<Shape> state_shapes = cell_->state_shapes(step_shape(x));
  std::vector<Shape> cell_input_shapes{step_shape(x)};
  cell_input_shapes.insert(cell_input_shapes.end(), state_shapes.begin(), state_shapes.end());
  build_cell(cell_input_shapes);
  if (!stateful_) return;
  if (x[0] < 0)
    fail(
        "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your "
        "input tensors: \n"
        "- If using a Sequential model, specify the batch size by passing a `batch_input_shape` "
        "argument to your first layer.\n"
        "- If using the functional API, specify the batch size by passing a `batch_shape` argument "
        "to your Input layer.");
  for (const Shape& shape : state_shapes)
    states_.push_back(Variable(Tensor(shape, variable_dtype()), {"state", false}));
}

/// Builds the cell. The paths of its weights begin with the name of the layer, since the cells of
/// several layers may have the same name: "forward_lstm_1/lstm_cell/kernel".
void BaseRnn::build_cell(const std::vector<Shape>& input_shapes) {
  const LayerPtr cell = cell_->as_layer();
  const bool is_new = !cell->built();
  cell_->build_for(input_shapes);
  if (!is_new) return;
  for (const Variable& weight : cell->weights()) weight.set_path(name() + "/" + weight.path());
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

/// The initial states: those that the call gives; else those after the previous batch if the layer
/// is stateful, or zeros.
Tensors BaseRnn::initial_states(const Tensors& inputs) const {
  const std::vector<Shape> state_shapes = cell_->state_shapes(step_shape(inputs[0].shape()));
  Tensors states(inputs.begin() + 1, inputs.end());
  if (!states.empty() && states.size() != state_shapes.size())
    fail_in_layer(name(), "Layer ", name(), " expects ", state_shapes.size(),
                  " states, but it received ", states.size(), " state values.");
  for (size_t i = 0; i < states.size(); ++i) {
    if (!states[i].shape().compatible(state_shapes[i]))
      fail_in_layer(name(), "State ", i, " is incompatible with layer ", name(),
                    ": expected shape=", state_shapes[i], ", found shape=", states[i].shape());
  }
  if (!states.empty()) return states;
  if (stateful_) return Tensors(states_.begin(), states_.end());
  for (const Shape& shape : state_shapes)
    states.push_back(zeros_or_abstract(shape, inputs[0].dtype()));
  return states;
}

Tensors BaseRnn::constants_of(const Call& call) const {
  const Value& argument = call.argument("constants");
  if (argument.is_null()) return {};
  if (!cell_->takes_constants())
    fail("constants: the cell takes none; only a cell of one's own gets them at every step");
  Tensors constants;
  for (const Value& item : argument.is_list() ? argument.as_list() : List{argument}) {
    auto boxed = item.object_as<BoxedTensor>();
    if (!boxed) fail("constants: expected tensors, got ", item);
    constants.push_back(boxed->tensor);
  }
  return constants;
}

Tensor BaseRnn::mask_of(const Tensors& inputs, const Call& call) const {
  const bool uses_mask = inputs.size() == 1 || mask_with_states_ || call.flag("mask");
  return uses_mask ? call.mask() : Tensor();
}

/// Casts tensors to the dtype in which the cell computes.
Tensors BaseRnn::in_cell_dtype(Tensors tensors) const {
  for (Tensor& t : tensors)
    if (t) t = ops::cast(t, cell_->as_layer()->policy().compute);
  return tensors;
}

Tensors BaseRnn::call(const Tensors& inputs, const Call& call) {
  const Tensors converted = in_cell_dtype(inputs), constants = constants_of(call);
  const Tensors states = in_cell_dtype(initial_states(converted));
  Tensor x = converted[0], mask = mask_of(inputs, call);
  if (go_backwards_) {
    x = ops::flip(x, {1});
    if (mask) mask = ops::flip(mask, {1});
  }
  cell_->prepare(Tensor::abstract({x.dtype(), step_shape(x.shape())}), call);
  std::optional<SequenceResult> sequence_result =
      mask ? fast_masked_run(x, states, mask) : fast_run(x, states);
  if (!sequence_result) sequence_result = run_steps(x, states, mask, constants);
  if (stateful_)
    for (size_t i = 0; i < states_.size(); ++i) states_[i].assign(sequence_result->states[i]);
  Tensors outputs{return_sequences_ ? sequence_result->sequence : sequence_result->last_output};
  if (return_state_)
    outputs.insert(outputs.end(), sequence_result->states.begin(), sequence_result->states.end());
  return outputs;
}

/// Computes all steps of a sequence with a mask by one op: moves the unmasked steps to the front
/// and calls fast_run(). The output of a masked step is that of the last unmasked step before it,
/// or zeros if there is none or zero_output_ is set. Returns nullopt if fast_run() does, or if the
/// shapes do not allow this.
std::optional<BaseRnn::SequenceResult> BaseRnn::fast_masked_run(const Tensor& x,
                                                                const Tensors& states,
                                                                const Tensor& mask) const {
  if (!x.shape().is_known() || x.rank() != 3 || x.dim(1) == 0 || mask.rank() != 2)
    return std::nullopt;
  const UnmaskedSteps steps(ops::cast(mask, DType::boolean));
  const std::optional<SequenceResult> result = fast_run(steps.to_front(x), states);
  if (!result) return std::nullopt;
  const Tensor& outputs = result->every_state[0];
  const Tensor zeros = ops::zeros_like(states[0]);
  SequenceResult masked_result;
  masked_result.sequence = steps.states_at_all_steps(outputs, zeros);
  masked_result.last_output = steps.state_at_last_step(outputs, zeros);
  if (zero_output_) {
    const Tensor is_visible = ops::cast(mask, DType::boolean);
    masked_result.sequence =
        select_samples(is_visible, masked_result.sequence, ops::zeros_like(outputs));
    masked_result.last_output =
        select_samples(last_step(is_visible, 1), masked_result.last_output, zeros);
  }
  for (size_t i = 0; i < states.size(); ++i)
    masked_result.states.push_back(steps.state_at_last_step(result->every_state[i], states[i]));
  return masked_result;
}

namespace {

/// Returns the same as ops::scan, but the program has instructions for each step.
ops::ScanResult unroll_scan(const ops::ScanBody& body, Tensors states, const Tensors& sequences) {
  std::vector<Tensors> outputs;  // the outputs of each step
  for (int64_t i = 0; i < sequences[0].dim(0); ++i) {
    Tensors step;
    for (const Tensor& sequence : sequences)
      step.push_back(ops::squeeze(ops::slice_axis(sequence, 0, i, i + 1), 0));
    ops::ScanResult result = body(states, step);
    states = std::move(result.states);
    outputs.push_back(std::move(result.outputs));
  }
  Tensors stacked;
  for (size_t k = 0; k < outputs.front().size(); ++k) {
    Tensors steps;
    for (const Tensors& step : outputs) steps.push_back(step[k]);
    stacked.push_back(ops::stack(steps, 0));
  }
  return {states, stacked};
}

}  // namespace

/// Runs the cell step by step. The previous output is an additional state; a masked step repeats it
/// as its output, or outputs zeros if zero_output_ is set.
BaseRnn::SequenceResult BaseRnn::run_steps(const Tensor& x, const Tensors& states,
                                           const Tensor& mask, const Tensors& constants) const {
  const RnnCell& cell = *cell_;
  const bool is_masked = bool(mask), outputs_zeros = zero_output_;
  Tensors initial_states = states, sequences{swap_time(cell.input_part(x))};
  initial_states.push_back(zeros_or_abstract(cell.output_shape(step_shape(x.shape())), x.dtype()));
  if (is_masked) sequences.push_back(ops::cast(swap_time(mask), DType::boolean));

  const ops::ScanBody body = [&cell, &constants, is_masked, outputs_zeros](
                                 const Tensors& states_before, const Tensors& step) {
    Tensors inputs{step[0]};
    inputs.insert(inputs.end(), states_before.begin(), states_before.end() - 1);
    inputs.insert(inputs.end(), constants.begin(), constants.end());
    Tensors results = cell.step(inputs);
    const Tensor cell_output = results[0];
    Tensor output = cell_output;
    Tensors next_states(results.begin() + 1, results.end());
    if (is_masked) {
      output = select_samples(step[1], cell_output, states_before.back());
      for (size_t i = 0; i < next_states.size(); ++i)
        next_states[i] = select_samples(step[1], next_states[i], states_before[i]);
    }
    next_states.push_back(output);
    const Tensor visible_output =
        is_masked && outputs_zeros
            ? select_samples(step[1], cell_output, ops::zeros_like(cell_output))
            : output;
    return ops::ScanResult{next_states, {visible_output}};
  };
  const ops::ScanResult result = unroll_ && x.dim(1) > 0
                                     ? unroll_scan(body, initial_states, sequences)
                                     : ops::scan(body, initial_states, sequences);
  const Tensor sequence = swap_time(result.outputs[0]);
  Tensor last_output = result.states.back();
  if (is_masked && outputs_zeros)
    last_output =
        select_samples(last_step(sequences.back(), 0), last_output, ops::zeros_like(last_output));
  return {sequence, last_output, Tensors(result.states.begin(), result.states.end() - 1)};
}

Tensors BaseRnn::compute_mask(const Tensors&, const Tensors& masks, const Tensors& outputs) {
  Tensors result(outputs.size());
  if (return_sequences_ && !masks.empty()) result[0] = masks[0];
  return result;
}

}  // namespace crescent
