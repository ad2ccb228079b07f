// RNN: runs a cell over the steps of (batch, time, features). SimpleRNN, LSTM and GRU are RNNs that
// make their own cell and may know a faster way through all steps at once.
#pragma once
#include "crescent/layer/layer.h"
#include "crescent/program/program.h"

namespace crescent {

/// Zeros of a shape; one with an unknown dim gives an abstract tensor.
Tensor zeros_of(const Shape& shape, DType dtype);

/// One step. Inputs of a call: x (batch, ...), states (batch, ...)...; outputs: output, next
/// states....
class RnnCell : public Layer {
 public:
  virtual size_t state_count() const = 0;
  /// With the batch, for a step's input of this shape.
  virtual std::vector<Shape> state_shapes(const Shape& x) const = 0;
  virtual Shape output_shape(const Shape& x) const { return state_shapes(x).front(); }
  InputCount input_count() const override;
  /// Draws what stays the same for all steps of a call (dropout masks), before step() runs.
  /// `like` has dtype and shape of a step's input, maybe no values.
  virtual void prepare(const Tensor& /*like*/, const Call&) {}
  Tensors call(const Tensors& inputs, const Call& call) override;
  /// What a step makes of its input alone; for all steps at once when x has a time axis.
  virtual Tensor input_part(const Tensor& x) const { return x; }
  /// The first input went through input_part.
  virtual Tensors step(const Tensors& inputs) const = 0;
  /// A step by itself: x did not go through input_part.
  Tensors whole_step(Tensors inputs) const;
  /// What `constants` of a call is to such a cell; the others take none.
  virtual bool takes_constants() const { return false; }
  /// The layer that users know: another one where the cell only stands for it.
  virtual LayerPtr as_layer() { return std::static_pointer_cast<Layer>(shared_from_this()); }
  /// Takes over the dtypes of the layer that made it.
  void compute_as(const Layer& layer) { policy_ = layer.policy(); }
};

/// Options of every RNN layer, and the loop.
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
  /// No values: zeros.
  void set_states(const Tensors& values);

 protected:
  template <class T>
  static void describe_loop(Schema<T>& s) {
    s.field("return_sequences", &BaseRnn::return_sequences_,
            "The output of every step, not of the last alone.")
        .field("return_state", &BaseRnn::return_state_, "The last states as further outputs.")
        .field("go_backwards", &BaseRnn::go_backwards_, "From the last step to the first.")
        .field("stateful", &BaseRnn::stateful_, "States carry over from batch to batch.")
        .field("unroll", &BaseRnn::unroll_,
               "Compile each of a known number of steps by itself, where there is no faster way.")
        .keyword_only(true)
        .field("zero_output_for_mask", &BaseRnn::zero_output_,
               "Masked steps output zeros instead of the output before.")
        .field("mask_with_states", &BaseRnn::mask_with_states_,
               "A mask that comes with the sequences counts in calls with initial_state too, as in "
               "Keras 2; else only one that the call is given does.")
        .keyword_only(false)
        .input("initial_state", 1,
               "The states before the first step: one, or a list of as many as the cell has.")
        .argument("constants", {},
                  "Tensors that a cell of one's own gets at every step, after its states.")
        .property("cell", &BaseRnn::cell_layer, "What makes one step.")
        .property("states", &BaseRnn::states_,
                  "What is carried to the next batch; none unless stateful and built.")
        .method("reset_states", &BaseRnn::set_states, "Sets the states of a stateful layer.")
        .arg("states", "A tensor for each; not given: zeros.", Value())
        .method("reset_state", &BaseRnn::reset_states, "The same with zeros.");
  }
  /// Result of all steps; sequence (batch, time, width) in the order of computation.
  struct SequenceResult {
    Tensor sequence, last;
    Tensors states;
    Tensors every_state{};  ///< (batch, time, size) each, of fast_run
  };
  /// A way through all steps at once, when there is one; x is already in the order of computation
  /// and the cell is prepared.
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
  Tensors as_cell_computes(Tensors tensors) const;
  Tensors initial_states(const Tensors& inputs) const;
  Tensor mask_of(const Tensors& inputs, const Call& call) const;
  Tensors constants_of(const Call& call) const;

  bool return_sequences_ = false, return_state_ = false, go_backwards_ = false, stateful_ = false,
       unroll_ = false, zero_output_ = false, mask_with_states_ = false;
  std::shared_ptr<RnnCell> cell_;
  Variables states_;
};

/// {class_name, config} of a cell, the cell itself, or a list of cells, which are stacked. A layer
/// written in Lua is one when it has the option state_size, or units.
std::shared_ptr<RnnCell> cell_from(const Value& value);
/// A cell that is another layer.
std::shared_ptr<RnnCell> cell_around(const LayerPtr& layer);

}  // namespace crescent
