#include "keras/vocabulary/keras2_vocabulary.h"

#include <algorithm>

namespace crescent::keras {
namespace {

constexpr const char* kActivations =
    "softmax elu selu softplus softsign relu tanh sigmoid hard_sigmoid exponential linear";

// ---- options that many classes have

constexpr const char
    *kDense =
        "activation use_bias kernel_initializer bias_initializer "
        "kernel_regularizer bias_regularizer activity_regularizer "
        "kernel_constraint bias_constraint",
    *kConvolution = "filters kernel_size strides padding data_format dilation_rate",
    *kTransposed =
        "filters kernel_size strides padding data_format dilation_rate activation use_bias "
        "kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
        "activity_regularizer kernel_constraint bias_constraint",
    *kRecurrent =
        "units recurrent_initializer recurrent_regularizer recurrent_constraint "
        "dropout recurrent_dropout recurrent_activation unit_forget_bias "
        "reset_after return_sequences return_state go_backwards stateful unroll",
    *kConvRecurrent =
        "activation use_bias kernel_initializer bias_initializer "
        "kernel_regularizer bias_regularizer activity_regularizer "
        "kernel_constraint bias_constraint recurrent_initializer "
        "recurrent_regularizer recurrent_constraint dropout recurrent_dropout "
        "recurrent_activation unit_forget_bias return_sequences go_backwards "
        "stateful",
    *kOptimizer = "learning_rate clipvalue global_clipnorm",
    *kDepthwise =
        "activation use_bias bias_initializer bias_regularizer bias_constraint "
        "activity_regularizer depth_multiplier depthwise_initializer depthwise_regularizer "
        "depthwise_constraint pointwise_initializer pointwise_regularizer "
        "pointwise_constraint",
    *kPooling = "pool_size strides padding data_format", *kNone = "";

/// A class of Keras 2.3.1. Its options are the words in the texts `options` and `more_options`.
struct Keras2Class {
  const char *kind, *name, *options, *more_options;
};
// clang-format off
constexpr Keras2Class kClasses[] = {
    {"layer", "InputLayer", "sparse", kNone},
    {"layer", "Dense", "units", kDense},
    {"layer", "Activation", "activation", kNone},
    {"layer", "Dropout", "rate noise_shape seed", kNone},
    {"layer", "AlphaDropout", "rate", kNone},
    {"layer", "SpatialDropout1D", "rate", kNone},
    {"layer", "SpatialDropout2D", "rate data_format", kNone},
    {"layer", "SpatialDropout3D", "rate data_format", kNone},
    {"layer", "Flatten", "data_format", kNone},
    {"layer", "Reshape", "target_shape", kNone},
    {"layer", "Permute", "dims", kNone},
    {"layer", "RepeatVector", "n", kNone},
    {"layer", "ActivityRegularization", "l1 l2", kNone},
    {"layer", "Masking", "mask_value", kNone},
    {"layer", "Embedding",
     "input_dim output_dim embeddings_initializer embeddings_regularizer "
     "activity_regularizer embeddings_constraint mask_zero input_length", kNone},
    {"layer", "Conv1D", kConvolution, kDense},
    {"layer", "Conv2D", kConvolution, kDense},
    {"layer", "Conv3D", kConvolution, kDense},
    {"layer", "Conv2DTranspose", "output_padding", kTransposed},
    {"layer", "Conv3DTranspose",
     "filters kernel_size strides padding data_format output_padding", kDense},
    {"layer", "SeparableConv1D", kConvolution, kDepthwise},
    {"layer", "SeparableConv2D", kConvolution, kDepthwise},
    {"layer", "DepthwiseConv2D", kConvolution, kDepthwise},
    {"layer", "LocallyConnected1D", kConvolution, kDense},
    {"layer", "LocallyConnected2D", kConvolution, kDense},
    {"layer", "UpSampling1D", "size", kNone},
    {"layer", "UpSampling2D", "size data_format interpolation", kNone},
    {"layer", "UpSampling3D", "size data_format", kNone},
    {"layer", "ZeroPadding1D", "padding", kNone},
    {"layer", "Cropping1D", "cropping", kNone},
    {"layer", "ZeroPadding2D", "padding data_format", kNone},
    {"layer", "Cropping2D", "cropping data_format", kNone},
    {"layer", "ZeroPadding3D", "padding data_format", kNone},
    {"layer", "Cropping3D", "cropping data_format", kNone},
    {"layer", "MaxPooling1D", kPooling, kNone},
    {"layer", "GlobalMaxPooling1D", "data_format", kNone},
    {"layer", "MaxPooling2D", kPooling, kNone},
    {"layer", "GlobalMaxPooling2D", "data_format", kNone},
    {"layer", "MaxPooling3D", kPooling, kNone},
    {"layer", "GlobalMaxPooling3D", "data_format", kNone},
    {"layer", "AveragePooling1D", kPooling, kNone},
    {"layer", "GlobalAveragePooling1D", "data_format", kNone},
    {"layer", "AveragePooling2D", kPooling, kNone},
    {"layer", "GlobalAveragePooling2D", "data_format", kNone},
    {"layer", "AveragePooling3D", kPooling, kNone},
    {"layer", "GlobalAveragePooling3D", "data_format", kNone},
    {"layer", "BatchNormalization",
     "axis momentum epsilon center scale beta_initializer gamma_initializer "
     "moving_mean_initializer moving_variance_initializer beta_regularizer "
     "gamma_regularizer beta_constraint gamma_constraint", kNone},
    {"layer", "Add", kNone, kNone},
    {"layer", "Subtract", kNone, kNone},
    {"layer", "Multiply", kNone, kNone},
    {"layer", "Average", kNone, kNone},
    {"layer", "Maximum", kNone, kNone},
    {"layer", "Minimum", kNone, kNone},
    {"layer", "Concatenate", "axis", kNone},
    {"layer", "Dot", "axes normalize", kNone},
    {"layer", "RNN", "cell return_sequences return_state go_backwards stateful unroll", kNone},
    {"layer", "SimpleRNN", kRecurrent, kDense},
    {"layer", "SimpleRNNCell", kRecurrent, kDense},
    {"layer", "LSTM", kRecurrent, kDense},
    {"layer", "LSTMCell", kRecurrent, kDense},
    {"layer", "GRU", kRecurrent, kDense},
    {"layer", "GRUCell", kRecurrent, kDense},
    {"layer", "StackedRNNCells", "cells", kNone},
    {"layer", "TimeDistributed", "layer", kNone},
    {"layer", "Bidirectional", "layer merge_mode", kNone},
    {"layer", "ConvLSTM2D", kConvolution, kConvRecurrent},
    {"layer", "ConvLSTM2DCell", kConvolution, kConvRecurrent},
    {"layer", "LeakyReLU", "negative_slope alpha", kNone},
    {"layer", "ELU", "alpha", kNone},
    {"layer", "ThresholdedReLU", "theta", kNone},
    {"layer", "Softmax", "axis", kNone},
    {"layer", "ReLU", "max_value negative_slope threshold", kNone},
    {"layer", "PReLU", "alpha_initializer alpha_regularizer alpha_constraint shared_axes", kNone},
    {"layer", "GaussianNoise", "stddev", kNone},
    {"layer", "GaussianDropout", "rate", kNone},
    {"layer", "Lambda", "function output_shape mask arguments", kNone},
    {"initializer", "Zeros", kNone, kNone},
    {"initializer", "Ones", kNone, kNone},
    {"initializer", "Constant", "value", kNone},
    {"initializer", "RandomNormal", "mean stddev seed", kNone},
    {"initializer", "TruncatedNormal", "mean stddev seed", kNone},
    {"initializer", "RandomUniform", "minval maxval seed", kNone},
    {"initializer", "VarianceScaling", "scale mode distribution seed", kNone},
    {"initializer", "Orthogonal", "gain seed", kNone},
    {"initializer", "Identity", "gain", kNone},
    {"initializer", "GlorotUniform", "seed", kNone},
    {"initializer", "GlorotNormal", "seed", kNone},
    {"initializer", "HeUniform", "seed", kNone},
    {"initializer", "HeNormal", "seed", kNone},
    {"initializer", "LecunUniform", "seed", kNone},
    {"initializer", "LecunNormal", "seed", kNone},
    {"regularizer", "L1", "l1 l2", kNone},
    {"regularizer", "L2", "l1 l2", kNone},
    {"regularizer", "L1L2", "l1 l2", kNone},
    {"regularizer", "ActivityKeras2", "regularizer", kNone},
    {"constraint", "MaxNorm", "max_value axis", kNone},
    {"constraint", "NonNeg", kNone, kNone},
    {"constraint", "UnitNorm", "axis", kNone},
    {"constraint", "MinMaxNorm", "min_value max_value rate axis", kNone},
    {"optimizer", "SGD", kOptimizer, "momentum nesterov"},
    {"optimizer", "RMSprop", kOptimizer, "rho epsilon"},
    {"optimizer", "Adagrad", kOptimizer, "epsilon"},
    {"optimizer", "Adadelta", kOptimizer, "rho epsilon"},
    {"optimizer", "Adam", kOptimizer, "beta_1 beta_2 epsilon amsgrad"},
    {"optimizer", "Adamax", kOptimizer, "beta_1 beta_2 epsilon"},
    {"optimizer", "Nadam", kOptimizer, "beta_1 beta_2 epsilon schedule_decay"},
    {"loss", "MeanSquaredError", "reduction", kNone},
    {"loss", "MeanAbsoluteError", "reduction", kNone},
    {"loss", "MeanAbsolutePercentageError", "reduction", kNone},
    {"loss", "MeanSquaredLogarithmicError", "reduction", kNone},
    {"loss", "Hinge", "reduction", kNone},
    {"loss", "SquaredHinge", "reduction", kNone},
    {"loss", "CategoricalHinge", "reduction", kNone},
    {"loss", "Poisson", "reduction", kNone},
    {"loss", "LogCosh", "reduction", kNone},
    {"loss", "KLDivergence", "reduction", kNone},
    {"loss", "Huber", "reduction delta", kNone},
    {"loss", "BinaryCrossentropy", "reduction from_logits label_smoothing", kNone},
    {"loss", "CategoricalCrossentropy", "reduction from_logits label_smoothing", kNone},
    {"loss", "SparseCategoricalCrossentropy", "reduction from_logits", kNone},
    {"metric", "Mean", kNone, kNone},
    {"metric", "Sum", kNone, kNone},
    {"metric", "Accuracy", kNone, kNone},
    {"metric", "CategoricalAccuracy", kNone, kNone},
    {"metric", "SparseCategoricalAccuracy", kNone, kNone},
    {"metric", "MeanSquaredError", kNone, kNone},
    {"metric", "MeanAbsoluteError", kNone, kNone},
    {"metric", "MeanAbsolutePercentageError", kNone, kNone},
    {"metric", "MeanSquaredLogarithmicError", kNone, kNone},
    {"metric", "RootMeanSquaredError", kNone, kNone},
    {"metric", "Hinge", kNone, kNone},
    {"metric", "SquaredHinge", kNone, kNone},
    {"metric", "CategoricalHinge", kNone, kNone},
    {"metric", "LogCoshError", kNone, kNone},
    {"metric", "Poisson", kNone, kNone},
    {"metric", "KLDivergence", kNone, kNone},
    {"metric", "BinaryAccuracy", "threshold", kNone},
    {"metric", "TopKCategoricalAccuracy", "k", kNone},
    {"metric", "SparseTopKCategoricalAccuracy", "k", kNone},
    {"metric", "CosineSimilarity", "axis", kNone},
    {"metric", "BinaryCrossentropy", "from_logits label_smoothing", kNone},
    {"metric", "CategoricalCrossentropy", "from_logits label_smoothing", kNone},
    {"metric", "SparseCategoricalCrossentropy", "from_logits axis", kNone},
    {"metric", "TruePositives", "thresholds", kNone},
    {"metric", "FalsePositives", "thresholds", kNone},
    {"metric", "TrueNegatives", "thresholds", kNone},
    {"metric", "FalseNegatives", "thresholds", kNone},
    {"metric", "Precision", "thresholds top_k class_id", kNone},
    {"metric", "Recall", "thresholds top_k class_id", kNone},
    {"metric", "AUC", "num_thresholds curve summation_method thresholds", kNone},
    {"metric", "SensitivityAtSpecificity", "specificity num_thresholds", kNone},
    {"metric", "SpecificityAtSensitivity", "sensitivity num_thresholds", kNone},
};
// clang-format on

bool contains_word(std::string_view words, std::string_view word) {
  for (size_t begin = 0, end; begin < words.size(); begin = end + 1) {
    end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == word) return true;
  }
  return false;
}

const Keras2Class* find_row(std::string_view kind, const std::string& class_name) {
  const auto row =
      std::find_if(std::begin(kClasses), std::end(kClasses), [&](const Keras2Class& candidate) {
        return kind == candidate.kind && class_name == candidate.name;
      });
  return row == std::end(kClasses) ? nullptr : row;
}

}  // namespace

bool keras2_has_class(std::string_view kind, const std::string& class_name) {
  return find_row(kind, class_name) != nullptr;
}

bool keras2_has_option(std::string_view kind, const std::string& class_name,
                       const std::string& option) {
  const Keras2Class* row = find_row(kind, class_name);
  if (!row) return false;
  const bool is_common =
      kind == "layer" && contains_word("name trainable dtype batch_input_shape", option);
  return is_common || contains_word(row->options, option) ||
         contains_word(row->more_options, option);
}

bool keras2_has_activation(const std::string& name) { return contains_word(kActivations, name); }

}  // namespace crescent::keras
