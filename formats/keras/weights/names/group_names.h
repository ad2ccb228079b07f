// The names of groups of layers in a list in the layout of Keras 3: the class in snake case, with a
// number from the second layer of a class on.
#pragma once
#include <map>
#include <string>

#include "keras/export.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// "conv_lstm2d" for "ConvLSTM2D". In Keras 2 and tf.keras, and therefore in names of layers in
/// Crescent, it is "conv_lst_m2d".
CRESCENT_KERAS_API std::string keras3_snake_case(const std::string& class_name);

class GroupNames {
 public:
  /// Names for a list to write.
  GroupNames() = default;
  /// Names for the list in a group of a file, perhaps of tf.keras.
  GroupNames(WeightSource& file, std::string group) : file_(&file), group_(std::move(group)) {}

  /// The name of the next layer in the list.
  std::string next(const std::string& class_name);

 private:
  std::string base_of(const std::string& class_name);

  WeightSource* file_ = nullptr;
  std::string group_;
  std::map<std::string, std::string> bases_;  // the names of classes: "dense"
  std::map<std::string, int> count_;
};

}  // namespace crescent::keras
