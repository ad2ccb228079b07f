// RNN: a layer that runs a cell over the steps of (batch, time, features). SimpleRNN, LSTM and GRU
// make their own cell and may compute all steps by one op.
#pragma once
#include "crescent/layer/layer.h"
#include "crescent/program/program.h"

namespace crescent {

/// Zeros of a shape; an abstract tensor if a size of the shape is unknown.
Tensor zeros_or_abstract(const Shape& shape, DType dtype);

/// The base of cells, which compute one step. The inputs of a call are x (batch, ...) and the
/// states (batch, ...); the outputs are the output and the next states.
class RnnCell : public Layer {
 public:
  virtual size_t state_count() const = 0;
  /// The shapes of the states, including the batch axis; x is the shape of the input of a step.
  virtual std::vector<Shape> state_shapes(const Shape& x) const = 0;
  virtual Shape output_shape(const Shape& x) const { return state_shapes(x).front(); }
  InputCount input_count() const override;
  /// Prepares values that all steps of a call share, such as dropout masks; must be called before
  /// step(). `like` has the dtype and shape of the input of a step, and may have no values.
  virtual void prepare(const Tensor& /*like*/, const Call&) {}
  Tensors call(const Tensors& inputs, const Call& call) override;
  /// Computes the part of a step that depends only on the step's input x. If x has a time axis, the
  /// part is computed for all steps at once.
  virtual Tensor input_part(const Tensor& x) const { return x; }
  /// Computes the rest of a step: the first of `inputs` is a result of input_part(), the others are
  /// states.
  virtual Tensors step(const Tensors& inputs) const = 0;
  /// Computes a whole step, including input_part().
  Tensors whole_step(Tensors inputs) const;
  /// Declares the sizes of a cell without spatial axes, and its initial states.
  template <class T>
  static void describe_sizes(Schema<T>& s) {
    s.property("state_size", &RnnCell::state_size,
               "The size of the state, or a list of the sizes of the states.")
        .property("output_size", &RnnCell::output_size, "The size of the output of a step.")
        .method("get_initial_state", &RnnCell::initial_states, "Zeros for each state.")
        .arg("batch_size", "The number of samples.");
  }
  /// Whether the cell accepts the argument `constants` of a call.
  virtual bool takes_constants() const { return false; }
  /// The layer that the user made: this cell, or the layer that it wraps.
  virtual LayerPtr as_layer() { return std::static_pointer_cast<Layer>(shared_from_this()); }
  /// The size of the state, or a list of the sizes of the states, of a cell without spatial axes.
  Value state_size() const;
  int64_t output_size() const { return output_shape({-1, -1})[-1]; }
  /// Zeros for each state of a cell without spatial axes.
  Tensors initial_states(int64_t batch_size) const;
  /// Takes over the dtype policy of another layer.
  void take_policy_of(const Layer& layer) { policy_ = layer.policy(); }
};

/// The base of all recurrent layers: their options, and the loop over time.
class BaseRnn : public Layer {
 public:
  void configured() override;
  InputCount input_count() const final;
  void build(const std::vector<Shape>& inputs) override;
  Tensors call(const Tensors& inputs, const Call& call) override;
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks,
                       const Tensors& outputs) override;
  bool stateful() const override { return stateful_; }
  void reset_states() override;
  Variables states() const override { return states_; }
  /// Sets the states; an empty list sets them to zeros.
  void set_states(const Tensors& values);

 protected:
  template <class T>
  static void describe_loop(Schema<T>& s) {
    s.field("return_sequences", &BaseRnn::return_sequences_,
            "Return the output of every step instead of the last one only.")
        .field("return_state", &BaseRnn::return_state_,
               "Return the last states as further outputs.")
        .field("go_backwards", &BaseRnn::go_backwards_, "Process the steps from last to first.")
        .field("stateful", &BaseRnn::stateful_,
               "Use the last states of a batch as the initial states of the next one.")
        .field("unroll", &BaseRnn::unroll_,
               "Compile each step separately where the number of steps is known and no faster "
               "kernel exists.")
        .keyword_only(true)
        .field("zero_output_for_mask", &BaseRnn::zero_output_,
               "Output zeros for masked steps instead of repeating the previous output.")
        .field("mask_with_states", &BaseRnn::mask_with_states_,
               "Apply the mask of the sequences also in calls with initial_state, as in Keras 2; "
               "otherwise only a mask that is passed to the call.")
        .keyword_only(false)
        .input("initial_state", 1,
               "The initial states: a tensor, or a list with one for each state of the cell.")
        .argument("constants", {},
                  "Tensors that are passed to a custom cell at every step, after its states.")
        .property("cell", &BaseRnn::cell_layer, "The cell, which computes one step.")
        .property("states", &BaseRnn::states_,
                  "The states carried over to the next batch; none unless the layer is stateful "
                  "and built.")
        .method("reset_states", &BaseRnn::set_states, "Sets the states of a stateful layer.")
        .arg("states", "A tensor for each state; zeros when not given.", Value())
        .method("reset_state", &BaseRnn::reset_states, "Sets the states to zero.");
  }
  /// Declares the sizes of the states of a layer without spatial axes, and its initial states.
  template <class T>
  static void describe_states(Schema<T>& s) {
    s.property("state_size", &BaseRnn::state_size,
               "The size of the state, or a list of the sizes of the states.")
        .method("get_initial_state", &BaseRnn::zero_states, "Zeros for each state.")
        .arg("batch_size", "The number of samples.");
  }
  Value state_size() const { return cell_->state_size(); }
  Tensors zero_states(int64_t batch_size) const { return cell_->initial_states(batch_size); }
  /// The result of all steps. `sequence` is (batch, time, width), in the order in which steps are
  /// computed.
  struct SequenceResult {
    Tensor sequence, last_output;
    Tensors states;
    /// The states after every step, each (batch, time, size); empty unless fast_run() of a layer
    /// without spatial axes computed the result.
    Tensors every_state{};
  };
  /// Computes all steps by one op; returns nullopt if there is no such op. The steps of x are in
  /// the order in which they are computed, and the cell has been prepared.
  virtual std::optional<SequenceResult> fast_run(const Tensor& /*x*/,
                                                 const Tensors& /*states*/) const {
    return std::nullopt;
  }
  void set_cell(std::shared_ptr<RnnCell> cell);
  LayerPtr cell_layer() const { return cell_->as_layer(); }

 private:
  SequenceResult run_steps(const Tensor& x, const Tensors& states, const Tensor& mask,
                           const Tensors& constants) const;
  std::optional<SequenceResult> fast_masked_run(const Tensor& x, const Tensors& states,
                                                const Tensor& mask) const;
  Tensors in_cell_dtype(Tensors tensors) const;
  void build_cell(const std::vector<Shape>& input_shapes);
  Tensors initial_states(const Tensors& inputs) const;
  Tensor mask_of(const Tensors& inputs, const Call& call) const;
  Tensors constants_of(const Call& call) const;

  bool return_sequences_ = false, return_state_ = false, go_backwards_ = false, stateful_ = false,
       unroll_ = false, zero_output_ = false, mask_with_states_ = false;
  std::shared_ptr<RnnCell> cell_;
  Variables states_;
};

/// Reads a cell from a value: a configuration {class_name, config}, a cell, or a list of cells,
/// which are stacked. A layer written in Lua can be used as a cell if it has the option state_size
/// or units.
std::shared_ptr<RnnCell> cell_from(const Value& value);
/// Makes a cell that wraps another layer.
std::shared_ptr<RnnCell> wrap_as_cell(const LayerPtr& layer);

}  // namespace crescent
