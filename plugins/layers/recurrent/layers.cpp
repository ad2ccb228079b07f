// The layer RNN, which gets a cell, and the three layers that make their own cell from their
// options.
#include "cell_layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

class RnnLayer final : public BaseRnn {
 public:
  static void describe(Schema<RnnLayer>& s) {
    s.doc("Runs a cell over the steps of a sequence (batch, time, features).")
        .field("cell", &RnnLayer::cell_option_, "A cell, or a list of cells to stack.")
        .kind("layer")
        .required();
    describe_loop(s);
    describe_states(s);
  }
  void configured() override {
    BaseRnn::configured();
    set_cell(cell_from(cell_option_));
  }
  Dict get_config() const override {
    Dict config = BaseRnn::get_config();
    config.set("cell", serialize(cell_layer().get()));
    return config;
  }

 private:
  Value cell_option_;
};

class SimpleRnnLayer final : public CellLayer<SimpleRnnCell> {
 public:
  static void describe(Schema<SimpleRnnLayer>& s) {
    s.doc(
        "Recurrent layer: h = activation(x . kernel + h . recurrent_kernel + bias). (batch, time, "
        "in) -> (batch[, time], units)");
    describe_cell(s);
    describe_loop(s);
    move_last(s, "seed");
    describe_states(s);
  }
};

class LstmLayer final : public CellLayer<LstmCell> {
 public:
  static void describe(Schema<LstmLayer>& s) {
    s.doc(
        "Long short-term memory (Hochreiter and Schmidhuber 1997). (batch, time, in) -> (batch[, "
        "time], units)");
    describe_cell(s);
    describe_loop(s);
    describe_cudnn(s);
    move_last(s, "implementation");
    describe_states(s);
  }

 protected:
  std::optional<SequenceResult> fast_run(const Tensor& x, const Tensors& states) const override {
    LstmCell& cell = own_cell();
    if (!cell.is_standard() || x.rank() != 3) return std::nullopt;
    Tensors inputs{cell.with_dropout(x), states[0],        states[1],
                   cell.kernel(),        cell.recurrent(), cell.bias()};
    if (const Tensor& factors = cell.state_factors()) inputs.push_back(factors);
    const Tensors results = crescent::apply(std::make_shared<const Lstm>(), inputs);
    return SequenceResult{
        results[0], results[1], {results[1], results[2]}, {results[0], results[4]}};
  }
};

class GruLayer final : public CellLayer<GruCell> {
 public:
  static void describe(Schema<GruLayer>& s) {
    s.doc("Gated recurrent unit (Cho et al. 2014). (batch, time, in) -> (batch[, time], units)");
    describe_cell(s);
    describe_loop(s);
    move_last(s, "reset_after");
    describe_cudnn(s);
    move_last(s, "implementation");
    describe_states(s);
  }

 protected:
  std::optional<SequenceResult> fast_run(const Tensor& x, const Tensors& states) const override {
    GruCell& cell = own_cell();
    if (!cell.is_standard() || x.rank() != 3) return std::nullopt;
    Tensors inputs{cell.with_dropout(x), states[0], cell.kernel(), cell.recurrent(), cell.bias()};
    if (const Tensor& factors = cell.state_factors()) inputs.push_back(factors);
    const Tensors results = crescent::apply(std::make_shared<const Gru>(), inputs);
    return SequenceResult{results[0], results[1], {results[1]}, {results[0]}};
  }
};

}  // namespace

CRESCENT_REGISTER(rnns) {
  registry.add<RnnLayer>("RNN");
  registry.add<SimpleRnnLayer>("SimpleRNN");
  registry.add<LstmLayer>("LSTM", {"CuDNNLSTM"});
  registry.add<GruLayer>("GRU", {"CuDNNGRU"});
}

}  // namespace crescent
