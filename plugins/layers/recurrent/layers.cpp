// RNN with a given cell, and the three layers that make their own. A layer's options are its cell's
// plus the loop's: the cell is made from them by name.
#include "cells.h"

namespace crescent {
namespace {

class RnnLayer final : public BaseRnn {
 public:
  static void describe(Schema<RnnLayer>& s) {
    s.doc("Runs a cell over the steps of (batch, time, features).")
        .field("cell", &RnnLayer::given_, "The cell, or a list of cells that are stacked.")
        .kind("layer")
        .required();
    describe_loop(s);
  }
  void configured() override {
    BaseRnn::configured();
    cell_ = cell_from(given_);
    set_cell(cell_);
  }
  Dict get_config() const override {
    Dict config = BaseRnn::get_config();
    config.set("cell", serialize(cell_.get()));
    return config;
  }

 private:
  Value given_;
  std::shared_ptr<RnnCell> cell_;
};

/// A layer whose options are those of `Cell`, kept there. `s.doc`, units and so on come from
/// Cell::describe.
template <class Cell>
class CellLayer : public BaseRnn {
 public:
  /// The cell's fields, read and written in the cell this layer owns.
  template <class T>
  static void describe_cell(Schema<T>& s, const char* cell_class) {
    Schema<Cell> of_cell(cell_class);
    Cell::describe(of_cell);
    for (Field field : of_cell.data().fields) {
      field.access = std::make_shared<CellAccess<T>>(field.access);
      s.data().fields.push_back(std::move(field));
    }
    s.field("activity_regularizer", &CellLayer::activity_regularizer_, "Penalty on the output.");
  }
  CellLayer() : own_cell_(std::make_shared<Cell>()) {}
  void configured() override {
    BaseRnn::configured();
    set_activity_regularizer(activity_regularizer_.shared());
    own_cell_->set_name(to_snake_case(class_name()) + "_cell");
    own_cell_->compute_as(*this);
    own_cell_->configured();
    set_cell(own_cell_);
  }

 protected:
  Cell& own_cell() const { return *own_cell_; }

 private:
  template <class T>
  class CellAccess final : public FieldAccess {
   public:
    explicit CellAccess(std::shared_ptr<const FieldAccess> inner) : inner_(std::move(inner)) {}
    Value get(const void* layer) const override { return inner_->get(cell_of(layer)); }
    void set(void* layer, const Value& value) const override { inner_->set(cell_of(layer), value); }

   private:
    static Cell* cell_of(const void* layer) {
      return static_cast<const T*>(layer)->own_cell_.get();
    }
    std::shared_ptr<const FieldAccess> inner_;
  };

  std::shared_ptr<Cell> own_cell_;
  Ref<Regularizer> activity_regularizer_;
};

class SimpleRnnLayer final : public CellLayer<SimpleRnnCell> {
 public:
  static void describe(Schema<SimpleRnnLayer>& s) {
    s.doc(
        "Recurrent layer: h = activation(x . kernel + h . recurrent_kernel + bias). (batch, time, "
        "in) -> (batch[, time], units)");
    describe_cell(s, "SimpleRNN");
    describe_loop(s);
  }
};

class LstmLayer final : public CellLayer<LstmCell> {
 public:
  static void describe(Schema<LstmLayer>& s) {
    s.doc(
        "Long short-term memory (Hochreiter and Schmidhuber 1997). (batch, time, in) -> (batch[, "
        "time], units)");
    describe_cell(s, "LSTM");
    describe_loop(s);
  }

 protected:
  std::optional<Run> fast_run(const Tensor& x, const Tensors& states,
                              const Call& call) const override {
    LstmCell& cell = own_cell();
    if (!cell.standard() || (call.training && cell.drops_states()) || x.rank() != 3)
      return std::nullopt;
    const ops::LstmResult r = ops::lstm(cell.with_dropout(x), states[0], states[1], cell.kernel(),
                                        cell.recurrent(), cell.bias());
    return Run{r.sequence, r.h, {r.h, r.c}};
  }
};

class GruLayer final : public CellLayer<GruCell> {
 public:
  static void describe(Schema<GruLayer>& s) {
    s.doc("Gated recurrent unit (Cho et al. 2014). (batch, time, in) -> (batch[, time], units)");
    describe_cell(s, "GRU");
    describe_loop(s);
  }

 protected:
  std::optional<Run> fast_run(const Tensor& x, const Tensors& states,
                              const Call& call) const override {
    GruCell& cell = own_cell();
    if (!cell.standard() || (call.training && cell.drops_states()) || x.rank() != 3)
      return std::nullopt;
    const ops::GruResult r =
        ops::gru(cell.with_dropout(x), states[0], cell.kernel(), cell.recurrent(), cell.bias());
    return Run{r.sequence, r.h, {r.h}};
  }
};

}  // namespace

void add_rnns(Registry& registry) {
  registry.add<RnnLayer>("RNN");
  registry.add<SimpleRnnLayer>("SimpleRNN");
  registry.add<LstmLayer>("LSTM");
  registry.add<GruLayer>("GRU");
}

}  // namespace crescent
