// What the groups of layers in a list are called in the layout of Keras 3: the snake case of the
// class, and from the second of a class on a number.
#pragma once
#include <map>
#include <string>

#include "keras/export.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// "ConvLSTM2D" -> "conv_lstm2d". In Keras 2 and tf.keras, and so in names of layers here, it is
/// "conv_lst_m2d".
CRESCENT_KERAS_API std::string keras3_snake_case(const std::string& class_name);

class GroupNames {
 public:
  /// Of a list that is written.
  GroupNames() = default;
  /// Of the list in a group of a file, which may be tf.keras'.
  GroupNames(WeightSource& file, std::string group) : file_(&file), group_(std::move(group)) {}

  /// Of the next layer in the list.
  std::string next(const std::string& class_name);

 private:
  std::string base_of(const std::string& class_name);

  WeightSource* file_ = nullptr;
  std::string group_;
  std::map<std::string, std::string> bases_;  // of classes, "dense"
  std::map<std::string, int> count_;
};

}  // namespace crescent::keras
