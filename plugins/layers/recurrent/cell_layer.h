// The base of recurrent layers that make their own cell: their options are those of the cell and
// those of the loop over time.
#pragma once
#include <algorithm>

#include "cells.h"

namespace crescent {

/// A layer whose options are stored in its `Cell` and declared by Cell::describe.
template <class Cell>
class CellLayer : public BaseRnn {
 public:
  /// Declares the options of the cell as options of the layer; their values are read and written in
  /// the cell that the layer owns. As in Keras, the activity regularizer is declared before the
  /// constraints.
  template <class T>
  static void describe_cell(Schema<T>& s) {
    const Cell defaults;
    Schema<Cell> cell_schema(s.data().title, &defaults);
    Cell::describe(cell_schema);
    for (Field field : cell_schema.data().fields) {
      if (field.name == "kernel_constraint")
        s.field("activity_regularizer", &CellLayer::activity_regularizer_,
                "Penalty on the output that is added to the loss.");
      field.access = std::make_shared<CellAccess<T>>(field.access);
      s.data().fields.push_back(std::move(field));
    }
  }
  /// Moves an option of the cell behind the options that were declared so far, since it has this
  /// position in Keras.
  static void move_last(SchemaBuilder& s, std::string_view name) {
    auto& fields = s.data().fields;
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& field) { return field.name == name; });
    std::rotate(field, field + 1, fields.end());
  }
  template <class T>
  static void describe_cudnn(Schema<T>& s) {
    s.field("use_cudnn", &CellLayer::use_cudnn_,
            "\"auto\", true or false: cuDNN does not exist on this device; results are the same.")
        .not_stored();
  }
  CellLayer() : own_cell_(std::make_shared<Cell>()) {}
  void configured() override {
    BaseRnn::configured();
    if (!use_cudnn_.is_bool() && !(use_cudnn_ == Value("auto")))
      fail("use_cudnn: expected \"auto\", true or false, got ", use_cudnn_);
    own_cell_->set_name(Cell::kName);
    own_cell_->take_policy_of(*this);
    own_cell_->configured();
    set_cell(own_cell_);
  }

 protected:
  Cell& own_cell() const { return *own_cell_; }

 private:
  template <class T>
  class CellAccess final : public FieldAccess {
   public:
    explicit CellAccess(std::shared_ptr<const FieldAccess> cell_access)
        : cell_access_(std::move(cell_access)) {}
    Value get(const void* layer) const override { return cell_access_->get(cell_of(layer)); }
    void set(void* layer, const Value& value) const override {
      cell_access_->set(cell_of(layer), value);
    }

   private:
    static Cell* cell_of(const void* layer) {
      return static_cast<const T*>(layer)->own_cell_.get();
    }
    std::shared_ptr<const FieldAccess> cell_access_;
  };

  std::shared_ptr<Cell> own_cell_;
  Value use_cudnn_ = "auto";
};

}  // namespace crescent
