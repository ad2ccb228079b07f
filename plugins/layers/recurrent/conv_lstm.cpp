// ConvLSTM (Shi et al. 2015): an LSTM whose products are convolutions. Computations use channels
// last.
#include "../../elementwise.h"
#include "../spatial.h"
#include "cell_layer.h"
#include "conv_lstm_steps.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

template <int Axes>
class ConvLstmCell final : public GatedCell {
 public:
  static constexpr const char* kName = "conv_lstm_cell";
  static void describe(Schema<ConvLstmCell>& s) {
    s.doc("A step of a convolutional LSTM, gates i, f, c, o.")
        .field("filters", &ConvLstmCell::units_, "Number of channels of the state.")
        .required()
        .min(1)
        .field("kernel_size", &ConvLstmCell::kernel_size_, "Size of the windows.")
        .required()
        .min(1)
        .field("strides", &ConvLstmCell::strides_, "Distance between windows of the input.")
        .min(1)
        .field("padding", &ConvLstmCell::padding_,
               "Padding of the input; the state is always padded as \"same\".")
        .choices({"valid", "same"})
        .field("data_format", &ConvLstmCell::data_format_,
               "Position of the channels: \"channels_last\" or \"channels_first\".")
        .choices({"channels_last", "channels_first"})
        .field("dilation_rate", &ConvLstmCell::dilation_,
               "Distance between the elements of a window of the input.")
        .min(1)
        .field("activation", &ConvLstmCell::activation_, "Activation function of the output.")
        .field("recurrent_activation", &ConvLstmCell::gate_activation_,
               "Activation function of the gates.");
    describe_weights(s);
    s.field("unit_forget_bias", &ConvLstmCell::unit_forget_bias_,
            "Start the bias of the forget gate at 1.");
    describe_penalties(s);
    describe_seed(s);
  }
  void configured() override {
    GatedCell::configured();
    kernel_size_ = per_axis(kernel_size_, Axes, "kernel_size");
    strides_ = per_axis(strides_, Axes, "strides");
    dilation_ = per_axis(dilation_, Axes, "dilation_rate");
    const auto is_above_one = [](int64_t size) { return size > 1; };
    if (std::any_of(strides_.begin(), strides_.end(), is_above_one) &&
        std::any_of(dilation_.begin(), dilation_.end(), is_above_one))
      fail(
          "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: strides=",
          Value(strides_), " and dilation_rate=", Value(dilation_));
  }
  size_t state_count() const override { return 2; }
  /// The shapes of the states h and c: (batch, spatial axes of the output..., filters), or (batch,
  /// filters, spatial axes...) with channels first.
  std::vector<Shape> state_shapes(const Shape& x) const override {
    expect_axes(x);
    Shape shape{x[0]};
    if (channels_first()) shape.append(units_);
    for (int i = 0; i < Axes; ++i) shape.append(extent(x[channels_first() ? i + 2 : i + 1], i));
    if (!channels_first()) shape.append(units_);
    return {shape, shape};
  }
  void build(const std::vector<Shape>& inputs) override {
    build_weights(inputs[0][channels_first() ? 1 : -1], 4, {4 * units_}, forgetting_bias(),
                  Shape(kernel_size_));
  }
  Tensor input_part(const Tensor& x) const override { return input_gates(with_dropout(x)); }
  /// The convolution of the input plus the bias, for all time steps at once, which are treated as
  /// samples.
  Tensor input_gates(const Tensor& x) const {
    const Shape& shape = x.shape();
    if (shape.rank() == Axes + 2) return convolve_to_gates(x);
    const Shape step_shape = shape.slice(2, shape.rank());
    if (!shape.is_known()) {
      const Shape gates_shape =
          convolve_to_gates(Tensor::abstract({x.dtype(), Shape{-1}.concat(step_shape)})).shape();
      return Tensor::abstract(
          {x.dtype(), shape.slice(0, 2).concat(gates_shape.slice(1, gates_shape.rank()))});
    }
    const Tensor gates =
        convolve_to_gates(ops::reshape(x, Shape{shape[0] * shape[1]}.concat(step_shape)));
    return ops::reshape(gates, shape.slice(0, 2).concat(gates.shape().slice(1, gates.rank())));
  }
  Tensors step(const Tensors& inputs) const override {
    const Tensor h = with_channels_last(dropped_state(inputs[1])),
                 c = with_channels_last(inputs[2]);
    const Tensors gates =
        blocks(inputs[0] + ops::conv(h, recurrent(), {1}, ops::Padding::same), units_, 4);
    const Tensor i = activate(gate_activation_, gates[0]), f = activate(gate_activation_, gates[1]),
                 o = activate(gate_activation_, gates[3]);
    const Tensor next_c = f * c + i * activate(activation_, gates[2]);
    const Tensor next_h = in_data_format(o * activate(activation_, next_c));
    return {next_h, next_h, in_data_format(next_c)};
  }
  bool is_standard() const {
    return has_standard_activation() && gate_activation_ &&
           gate_activation_->class_name() == "sigmoid";
  }
  bool channels_first() const { return data_format_ && *data_format_ == "channels_first"; }
  Tensor with_channels_last(const Tensor& x) const {
    return channels_first() ? channels_to_last(x) : x;
  }
  Tensor in_data_format(const Tensor& x) const {
    return channels_first() ? channels_to_first(x) : x;
  }
  /// Applies an activation function, which has the data format of the layer, to x, which has
  /// channels last.
  Tensor activate(const Ref<Activation>& activation, const Tensor& x) const {
    if (is_elementwise(activation)) return apply_activation(activation, x);
    return with_channels_last(apply_activation(activation, in_data_format(x)));
  }

 private:
  Tensor convolve_to_gates(const Tensor& x) const {
    const Tensor gates =
        ops::conv(with_channels_last(x), kernel(), strides_,
                  padding_ == "same" ? ops::Padding::same : ops::Padding::valid, dilation_);
    return use_bias_ ? gates + bias() : gates;
  }
  static void expect_axes(const Shape& x) {
    if (x.rank() != Axes + 2)
      fail("expected ndim=", Axes + 3, ", found ndim=", x.rank() + 1, ". Shape of a step: ", x);
  }
  /// The number of windows along spatial axis i of the input if the axis has `size` elements; -1 if
  /// the size is unknown.
  int64_t extent(int64_t size, int i) const {
    if (size < 0) return -1;
    const auto axis = static_cast<size_t>(i);
    const int64_t extent = padding_ == "same" ? 1 : (kernel_size_[axis] - 1) * dilation_[axis] + 1;
    if (size < extent) fail("a window of ", extent, " does not fit an axis of ", size, " elements");
    return (size - extent) / strides_[axis] + 1;
  }

  std::vector<int64_t> kernel_size_, strides_{1}, dilation_{1};
  std::string padding_ = "valid";
  std::optional<std::string> data_format_ = "channels_last";
  Ref<Activation> gate_activation_ = "sigmoid";
};

template <int Axes>
class ConvLstmLayer final : public CellLayer<ConvLstmCell<Axes>> {
 public:
  static void describe(Schema<ConvLstmLayer>& s) {
    s.doc(concat("Convolutional LSTM over steps with ", Axes, " spatial ",
                 Axes == 1 ? "axis" : "axes",
                 ". (batch, time, space, channels) -> (batch[, time], new space, "
                 "filters)"));
    CellLayer<ConvLstmCell<Axes>>::describe_cell(s);
    BaseRnn::describe_loop(s);
  }

 protected:
  using SequenceResult = BaseRnn::SequenceResult;
  std::optional<SequenceResult> fast_run(const Tensor& x, const Tensors& states) const override {
    const ConvLstmCell<Axes>& cell = this->own_cell();
    if (!cell.is_standard() || !x.shape().is_known() || x.dim(1) == 0) return std::nullopt;
    const Tensor gates = cell.input_gates(ops::swap_axes(cell.with_dropout(x), 0, 1));
    Tensors inputs{gates, cell.with_channels_last(states[0]), cell.with_channels_last(states[1]),
                   cell.recurrent()};
    if (const Tensor& factors = cell.state_factors())
      inputs.push_back(cell.with_channels_last(factors));
    const Tensors results = crescent::apply(std::make_shared<const ConvLstmSteps>(), inputs);
    const Tensor last_h = cell.in_data_format(results[1]);
    return SequenceResult{
        output_sequence(cell, results[0]), last_h, {last_h, cell.in_data_format(results[2])}};
  }

 private:
  /// Converts the states after all steps, (time, batch, space..., filters), to the layer's output:
  /// the batch comes first, and the filters are where the data format has channels.
  static Tensor output_sequence(const ConvLstmCell<Axes>& cell, const Tensor& steps) {
    const Tensor x = ops::swap_axes(steps, 0, 1);
    if (!cell.channels_first()) return x;
    std::vector<int> axes{0, 1, Axes + 2};
    for (int i = 0; i < Axes; ++i) axes.push_back(2 + i);
    return ops::transpose(x, axes);
  }
};

}  // namespace

CRESCENT_REGISTER(conv_lstm) {
  registry.add<ConvLstmLayer<1>>("ConvLSTM1D");
  registry.add<ConvLstmLayer<2>>("ConvLSTM2D");
  registry.add<ConvLstmLayer<3>>("ConvLSTM3D");
}

}  // namespace crescent
