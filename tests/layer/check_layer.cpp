// check_layer: what must hold of every layer, said once; a row says how to make one and what to
// feed it.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include "crescent/crescent.h"
#include "distance.h"
#include "poison.h"

using namespace crescent;

namespace {

struct Row {
  const char* name;
  Dict options;
  std::vector<Shape> inputs;
  double low = -1, high = 1;  ///< range of the input's values
  DType dtype = DType::float32;
};

/// The layer inside another.
Dict inside(const char* name, const Dict& options) {
  return {{"class_name", name}, {"config", options}};
}

const Row kRows[] = {
    {"Dense", {{"units", 3}, {"activation", "tanh"}}, {{4, 5}}},
    {"Dense", {{"units", 3}, {"use_bias", false}}, {{2, 3, 5}}},
    {"EinsumDense", {{"equation", "abc,cd->abd"}, {"output_shape", List{Value(), 6}}}, {{2, 3, 4}}},
    {"EinsumDense",
     {{"equation", "...x,xy->...y"}, {"output_shape", 5}, {"bias_axes", "y"}},
     {{2, 3, 4}}},
    {"EinsumDense",
     {{"equation", "ab...,bc->ac..."}, {"output_shape", 5}, {"bias_axes", "c"}},
     {{2, 3, 4, 2}}},
    {"EinsumDense",
     {{"equation", "a...b,bc->a...c"}, {"output_shape", 5}, {"bias_axes", "c"}},
     {{2, 3, 4, 2}}},
    {"Activation", {{"activation", "sigmoid"}}, {{4, 5}}},
    {"Activation", {{"activation", "gelu"}, {"activity_regularizer", "l2"}}, {{2, 3, 5}}},
    {"Identity", {}, {{4, 5}}},
    {"Identity", {}, {{2, 3, 4}}},
    {"Masking", {}, {{2, 3, 4}}},
    {"Masking", {{"mask_value", 2}}, {{2, 3, 4}}},
    {"Embedding", {{"input_dim", 10}, {"output_dim", 4}}, {{3, 5}}, 0, 10, DType::int32},
    {"Embedding",
     {{"input_dim", 10}, {"output_dim", 4}, {"mask_zero", true}, {"input_length", 5}},
     {{3, 5}},
     0,
     10,
     DType::int32},
    {"ReversibleEmbedding", {{"input_dim", 10}, {"output_dim", 4}}, {{3, 5}}, 0, 10, DType::int32},
    {"ReversibleEmbedding",
     {{"input_dim", 6}, {"output_dim", 3}, {"embeddings_initializer", "ones"}, {"mask_zero", true}},
     {{2, 4}},
     0,
     6,
     DType::int32},
    {"Dropout", {{"rate", 0.5}}, {{4, 5}}},
    {"Dropout", {{"rate", 0.5}, {"noise_shape", List{Value(), 1, 5}}, {"seed", 7}}, {{2, 3, 5}}},
    {"SpatialDropout1D", {{"rate", 0.5}}, {{2, 3, 4}}},
    {"SpatialDropout1D", {{"rate", 0.2}, {"seed", 7}}, {{2, 3, 4}}},
    {"SpatialDropout2D", {{"rate", 0.5}}, {{2, 3, 4, 2}}},
    {"SpatialDropout2D", {{"rate", 0.5}, {"data_format", "channels_first"}}, {{2, 3, 4, 2}}},
    {"SpatialDropout3D", {{"rate", 0.5}}, {{2, 3, 2, 4, 2}}},
    {"SpatialDropout3D", {{"rate", 0.5}, {"data_format", "channels_first"}}, {{2, 3, 2, 4, 2}}},
    {"GaussianNoise", {{"stddev", 0.5}}, {{4, 5}}},
    {"GaussianNoise", {{"stddev", 1.5}, {"seed", 7}}, {{2, 3, 5}}},
    {"GaussianDropout", {{"rate", 0.5}}, {{4, 5}}},
    {"GaussianDropout", {{"rate", 0.1}, {"seed", 7}}, {{2, 3, 5}}},
    {"AlphaDropout", {{"rate", 0.5}}, {{4, 5}}},
    {"AlphaDropout", {{"rate", 0.3}, {"noise_shape", List{2, 1, 5}}, {"seed", 7}}, {{2, 3, 5}}},
    {"ActivityRegularization", {{"l2", 0.5}}, {{4, 5}}},
    {"ActivityRegularization", {{"l1", 0.5}, {"l2", 0.1}}, {{4, 5}}},
    {"Flatten", {}, {{2, 3, 4}}},
    {"Flatten", {{"data_format", "channels_first"}}, {{2, 3, 4, 2}}},
    {"Reshape", {{"target_shape", List{4, 3}}}, {{2, 3, 4}}},
    {"Reshape", {{"target_shape", List{-1, 2, 2}}}, {{2, 3, 4}}},
    {"Permute", {{"dims", List{2, 1}}}, {{2, 3, 4}}},
    {"Permute", {{"dims", List{3, 1, 2}}}, {{2, 3, 4, 2}}},
    {"RepeatVector", {{"n", 3}}, {{2, 4}}},
    {"RepeatVector", {{"n", 1}}, {{3, 2}}},
    {"UpSampling1D", {{"size", 2}}, {{2, 3, 4}}},
    {"UpSampling1D", {{"size", 3}}, {{1, 2, 3}}},
    {"UpSampling2D", {{"size", 2}}, {{2, 3, 4, 2}}},
    {"UpSampling2D", {{"size", List{3, 2}}, {"interpolation", "bilinear"}}, {{2, 3, 4, 2}}},
    {"UpSampling2D",
     {{"data_format", "channels_first"}, {"interpolation", "bicubic"}},
     {{2, 2, 3, 4}}},
    {"UpSampling2D", {{"interpolation", "lanczos3"}}, {{1, 8, 7, 2}}},
    {"UpSampling2D", {{"interpolation", "lanczos5"}}, {{1, 5, 6, 2}}},
    {"UpSampling3D", {}, {{1, 2, 3, 2, 2}}},
    {"UpSampling3D",
     {{"size", List{1, 2, 3}}, {"data_format", "channels_first"}},
     {{1, 2, 2, 3, 2}}},
    {"ZeroPadding1D", {{"padding", 2}}, {{2, 3, 4}}},
    {"ZeroPadding1D", {{"padding", List{0, 2}}, {"data_format", "channels_first"}}, {{2, 3, 4}}},
    {"ZeroPadding2D", {{"padding", 1}}, {{2, 3, 4, 2}}},
    {"ZeroPadding2D", {{"padding", List{List{1, 0}, 2}}}, {{2, 3, 4, 2}}},
    {"ZeroPadding3D", {}, {{1, 2, 3, 2, 2}}},
    {"ZeroPadding3D",
     {{"padding", List{1, 0, 2}}, {"data_format", "channels_first"}},
     {{1, 2, 2, 3, 2}}},
    {"Cropping1D", {{"cropping", 1}}, {{2, 5, 4}}},
    {"Cropping1D", {{"cropping", List{0, 2}}}, {{2, 5, 4}}},
    {"Cropping2D", {{"cropping", 1}}, {{2, 5, 4, 2}}},
    {"Cropping2D",
     {{"cropping", List{List{0, 1}, 2}}, {"data_format", "channels_first"}},
     {{2, 2, 4, 6}}},
    {"Cropping3D", {}, {{1, 3, 4, 3, 2}}},
    {"Cropping3D", {{"cropping", List{0, List{0, 1}, 1}}}, {{1, 2, 3, 4, 2}}},
    {"Conv1D", {{"filters", 3}, {"kernel_size", 3}, {"padding", "causal"}}, {{2, 6, 4}}},
    {"Conv2D",
     {{"filters", 3}, {"kernel_size", 3}, {"strides", 2}, {"padding", "same"}},
     {{2, 6, 5, 2}}},
    {"Conv2D", {{"filters", 2}, {"kernel_size", 2}, {"activation", "relu"}}, {{1, 5, 5, 3}}},
    {"Conv1D",
     {{"filters", 4}, {"kernel_size", 2}, {"dilation_rate", 2}, {"groups", 2}},
     {{2, 6, 4}}},
    {"Conv1D",
     {{"filters", 3}, {"kernel_size", 2}, {"strides", 2}, {"data_format", "channels_first"}},
     {{2, 4, 6}}},
    {"Conv2D",
     {{"filters", 6},
      {"kernel_size", 3},
      {"groups", 3},
      {"padding", "same"},
      {"data_format", "channels_first"}},
     {{1, 3, 5, 6}}},
    {"Conv2D",
     {{"filters", 2}, {"kernel_size", 3}, {"dilation_rate", List{2, 1}}, {"use_bias", false}},
     {{1, 6, 5, 2}}},
    {"Conv3D",
     {{"filters", 4}, {"kernel_size", List{1, 2, 3}}, {"groups", 2}, {"padding", "same"}},
     {{1, 3, 3, 4, 2}}},
    {"Conv3D", {{"filters", 2}, {"kernel_size", 2}}, {{1, 4, 4, 4, 2}}},
    {"Conv1DTranspose", {{"filters", 3}, {"kernel_size", 3}, {"strides", 2}}, {{2, 4, 2}}},
    {"Conv2DTranspose", {{"filters", 3}, {"kernel_size", 2}, {"strides", 2}}, {{2, 4, 3, 2}}},
    {"Conv3DTranspose", {{"filters", 2}, {"kernel_size", 2}, {"strides", 2}}, {{1, 2, 2, 3, 2}}},
    {"Conv1DTranspose",
     {{"filters", 2}, {"kernel_size", 3}, {"padding", "same"}, {"dilation_rate", 2}},
     {{2, 4, 3}}},
    {"Conv2DTranspose",
     {{"filters", 2},
      {"kernel_size", 3},
      {"strides", 2},
      {"output_padding", 1},
      {"data_format", "channels_first"}},
     {{1, 2, 3, 4}}},
    {"Conv3DTranspose",
     {{"filters", 2}, {"kernel_size", 2}, {"padding", "same"}, {"use_bias", false}},
     {{1, 2, 3, 2, 2}}},
    {"DepthwiseConv1D", {{"kernel_size", 3}}, {{2, 6, 4}}},
    {"DepthwiseConv1D",
     {{"kernel_size", 2}, {"depth_multiplier", 3}, {"data_format", "channels_first"}},
     {{2, 3, 6}}},
    {"DepthwiseConv2D", {{"kernel_size", 3}}, {{1, 5, 5, 3}}},
    {"DepthwiseConv2D",
     {{"kernel_size", List{2, 3}}, {"strides", 2}, {"padding", "same"}, {"depth_multiplier", 2}},
     {{2, 5, 6, 3}}},
    {"DepthwiseConv2D",
     {{"kernel_size", 3}, {"dilation_rate", 2}, {"activation", "relu"}, {"use_bias", false}},
     {{1, 6, 7, 4}}},
    {"SeparableConv1D", {{"filters", 2}, {"kernel_size", 3}, {"padding", "causal"}}, {{2, 6, 3}}},
    {"SeparableConv1D",
     {{"filters", 4}, {"kernel_size", 2}, {"strides", 2}, {"depth_multiplier", 2}},
     {{2, 6, 3}}},
    {"SeparableConv2D", {{"filters", 2}, {"kernel_size", 3}}, {{1, 5, 5, 3}}},
    {"SeparableConv2D",
     {{"filters", 3},
      {"kernel_size", 2},
      {"depth_multiplier", 2},
      {"padding", "same"},
      {"data_format", "channels_first"},
      {"activation", "tanh"}},
     {{2, 2, 4, 5}}},
    {"LocallyConnected1D", {{"filters", 2}, {"kernel_size", 3}}, {{2, 5, 2}}},
    {"LocallyConnected1D",
     {{"filters", 3},
      {"kernel_size", 2},
      {"strides", 2},
      {"data_format", "channels_first"},
      {"use_bias", false}},
     {{2, 2, 7}}},
    {"LocallyConnected2D", {{"filters", 2}, {"kernel_size", List{2, 3}}}, {{2, 3, 4, 2}}},
    {"LocallyConnected2D",
     {{"filters", 2},
      {"kernel_size", 2},
      {"strides", List{2, 1}},
      {"data_format", "channels_first"},
      {"activation", "tanh"}},
     {{1, 3, 4, 3}}},
    {"MaxPooling1D", {{"pool_size", 2}}, {{2, 6, 3}}},
    {"MaxPooling2D", {{"pool_size", 2}}, {{2, 6, 5, 3}}},
    {"AveragePooling1D", {{"pool_size", 2}, {"padding", "same"}}, {{2, 5, 3}}},
    {"AveragePooling2D", {{"pool_size", 2}}, {{2, 6, 4, 3}}},
    {"MaxPooling3D", {{"pool_size", 2}}, {{1, 4, 4, 4, 2}}},
    {"AveragePooling3D", {{"pool_size", 2}}, {{1, 4, 4, 4, 2}}},
    {"GlobalMaxPooling3D", {}, {{2, 3, 2, 4, 3}}},
    {"GlobalAveragePooling3D", {}, {{2, 3, 2, 4, 3}}},
    {"GlobalMaxPooling1D", {}, {{2, 6, 3}}},
    {"GlobalMaxPooling2D", {}, {{2, 3, 4, 3}}},
    {"GlobalAveragePooling1D", {}, {{2, 6, 3}}},
    {"GlobalAveragePooling2D", {}, {{2, 3, 4, 3}}},
    {"MaxPooling2D",
     {{"pool_size", 3}, {"strides", 2}, {"padding", "same"}, {"data_format", "channels_first"}},
     {{1, 2, 5, 6}}},
    {"GlobalMaxPooling1D", {{"data_format", "channels_first"}, {"keepdims", true}}, {{2, 3, 6}}},
    {"GlobalAveragePooling1D", {{"keepdims", true}}, {{2, 6, 3}}},
    {"AdaptiveAveragePooling1D", {{"output_size", 3}}, {{2, 8, 3}}},
    {"AdaptiveAveragePooling1D",
     {{"output_size", 4}, {"data_format", "channels_first"}},
     {{2, 3, 8}}},
    {"AdaptiveAveragePooling2D", {{"output_size", List{3, 2}}}, {{2, 7, 6, 2}}},
    {"AdaptiveAveragePooling2D",
     {{"output_size", 5}, {"data_format", "channels_first"}},
     {{1, 2, 3, 9}}},
    {"AdaptiveAveragePooling3D", {{"output_size", 2}}, {{1, 3, 4, 5, 2}}},
    {"AdaptiveAveragePooling3D",
     {{"output_size", List{1, 3, 2}}, {"data_format", "channels_first"}},
     {{1, 2, 3, 4, 5}}},
    {"AdaptiveMaxPooling1D", {{"output_size", 3}}, {{2, 8, 3}}},
    {"AdaptiveMaxPooling1D", {{"output_size", 4}, {"data_format", "channels_first"}}, {{2, 3, 8}}},
    {"AdaptiveMaxPooling2D", {{"output_size", List{3, 2}}}, {{2, 7, 6, 2}}},
    {"AdaptiveMaxPooling2D",
     {{"output_size", 5}, {"data_format", "channels_first"}},
     {{1, 2, 3, 9}}},
    {"AdaptiveMaxPooling3D", {{"output_size", 2}}, {{1, 3, 4, 5, 2}}},
    {"AdaptiveMaxPooling3D",
     {{"output_size", List{1, 3, 2}}, {"data_format", "channels_first"}},
     {{1, 2, 3, 4, 5}}},
    {"BatchNormalization", {}, {{6, 3}}},
    {"BatchNormalization", {{"axis", 1}, {"scale", false}}, {{3, 2, 4, 5}}},
    {"BatchNormalization", {{"synchronized", true}}, {{6, 3}}},
    {"LayerNormalization", {}, {{4, 6}}},
    {"LayerNormalization", {{"axis", List{1, 3}}}, {{2, 3, 2, 4}}},
    {"LayerNormalization", {{"rms_scaling", true}}, {{4, 6}}},
    {"RMSNormalization", {}, {{4, 6}}},
    {"RMSNormalization", {{"axis", List{1, 2}}, {"epsilon", 1e-3}}, {{2, 3, 4}}},
    {"GroupNormalization", {{"groups", 2}}, {{2, 3, 4}}},
    {"GroupNormalization", {{"groups", -1}, {"axis", 1}, {"center", false}}, {{2, 3, 4, 2}}},
    {"UnitNormalization", {}, {{4, 5}}},
    {"UnitNormalization", {{"axis", List{1, 2}}}, {{2, 3, 4}}},
    {"Rescaling", {{"scale", 0.5}, {"offset", -1}}, {{2, 4, 4, 3}}},
    {"Rescaling", {{"scale", List{0.5, 2, 3}}}, {{4, 3}}},
    {"Normalization", {}, {{4, 3}}},
    {"Normalization",
     {{"axis", List{1, 3}}, {"mean", List{1, 2, 3}}, {"variance", List{4, 5, 6}}},
     {{2, 2, 4, 3}}},
    {"Normalization",
     {{"axis", Value()}, {"mean", 2}, {"variance", 4}, {"invert", true}},
     {{4, 3}}},
    {"SimpleRNN", {{"units", 3}}, {{2, 4, 5}}},
    {"SimpleRNN", {{"units", 3}, {"return_sequences", true}, {"go_backwards", true}}, {{2, 4, 5}}},
    {"LSTM", {{"units", 3}}, {{2, 4, 5}}},
    {"LSTM", {{"units", 3}, {"return_sequences", true}}, {{2, 4, 5}}},
    {"LSTM", {{"units", 3}, {"dropout", 0.3}, {"recurrent_dropout", 0.3}}, {{2, 4, 5}}},
    {"GRU", {{"units", 3}}, {{2, 4, 5}}},
    {"GRU", {{"units", 3}, {"reset_after", false}}, {{2, 4, 5}}},
    {"GRU", {{"units", 3}, {"dropout", 0.3}, {"recurrent_dropout", 0.3}}, {{2, 4, 5}}},
    {"SimpleRNN",
     {{"units", 3}, {"dropout", 0.3}, {"recurrent_dropout", 0.3}, {"unroll", true}},
     {{2, 4, 5}}},
    {"LSTM",
     {{"units", 3}, {"activation", "relu"}, {"unroll", true}, {"return_state", true}},
     {{2, 4, 5}}},
    {"RNN",
     {{"cell", inside("LSTMCell", {{"units", 3}, {"recurrent_dropout", 0.3}})},
      {"return_state", true}},
     {{2, 4, 5}}},
    {"RNN",
     {{"cell", List{inside("GRUCell", {{"units", 3}}),
                    inside("SimpleRNNCell", {{"units", 2}, {"dropout", 0.3}})}},
      {"return_sequences", true}},
     {{2, 4, 5}}},
    {"ConvLSTM1D", {{"filters", 2}, {"kernel_size", 2}, {"strides", 2}}, {{2, 3, 5, 2}}},
    {"ConvLSTM1D",
     {{"filters", 2},
      {"kernel_size", 3},
      {"padding", "same"},
      {"data_format", "channels_first"},
      {"return_sequences", true}},
     {{2, 3, 2, 4}}},
    {"ConvLSTM2D",
     {{"filters", 2},
      {"kernel_size", List{2, 3}},
      {"dilation_rate", 2},
      {"return_sequences", true}},
     {{2, 3, 4, 6, 2}}},
    {"ConvLSTM2D",
     {{"filters", 2},
      {"kernel_size", 2},
      {"padding", "same"},
      {"dropout", 0.3},
      {"recurrent_dropout", 0.3},
      {"return_state", true}},
     {{2, 3, 3, 3, 2}}},
    {"ConvLSTM3D", {{"filters", 2}, {"kernel_size", 2}}, {{1, 2, 3, 3, 3, 2}}},
    {"ConvLSTM3D",
     {{"filters", 1}, {"kernel_size", 2}, {"padding", "same"}, {"go_backwards", true}},
     {{1, 2, 2, 2, 2, 2}}},
    {"Add", {}, {{2, 3}, {2, 3}}},
    {"Add", {}, {{2, 3, 4}, {2, 4}, {2, 1, 4}}},
    {"Subtract", {}, {{2, 3}, {2, 3}}},
    {"Subtract", {}, {{2, 4}, {2, 3, 4}}},
    {"Multiply", {}, {{2, 3}, {2, 3}, {2, 3}}},
    {"Multiply", {}, {{2, 3, 4}, {2, 3, 1}}},
    {"Average", {}, {{2, 3}, {2, 3}}},
    {"Average", {}, {{2, 3, 4}, {2, 1, 4}, {2, 3, 1}}},
    {"Maximum", {}, {{2, 3}, {2, 3}}},
    {"Maximum", {}, {{2, 3, 4}, {2, 1, 4}, {2, 3, 1}}},
    {"Minimum", {}, {{2, 3}, {2, 3}}},
    {"Minimum", {}, {{2, 3, 4}, {2, 1, 4}, {2, 3, 1}}},
    {"Concatenate", {{"axis", 1}}, {{2, 3}, {2, 4}}},
    {"Concatenate", {}, {{2, 3, 1}, {2, 3, 2}, {2, 3, 3}}},
    {"Dot", {{"axes", 1}}, {{2, 3}, {2, 3}}},
    {"Dot", {{"axes", List{2, 1}}, {"normalize", true}}, {{2, 3, 4}, {2, 4, 5}}},
    {"ReLU", {}, {{4, 5}}},
    {"LeakyReLU", {}, {{4, 5}}},
    {"PReLU", {}, {{4, 5}}},
    {"ReLU", {{"max_value", 0.5}, {"negative_slope", 0.1}, {"threshold", 0.2}}, {{4, 5}}},
    {"LeakyReLU", {{"negative_slope", 0.1}}, {{2, 3, 5}}},
    {"PReLU", {{"shared_axes", List{1}}, {"alpha_initializer", "glorot_uniform"}}, {{2, 3, 5}}},
    {"ThresholdedReLU", {{"theta", 0.3}}, {{4, 5}}},
    {"ThresholdedReLU", {{"theta", 0}}, {{2, 3, 5}}},
    {"ELU", {}, {{4, 5}}},
    {"ELU", {{"alpha", 0.5}}, {{2, 3, 5}}},
    {"Softmax", {}, {{4, 5}}},
    {"Softmax", {{"axis", 1}}, {{2, 3, 5}}},
    {"MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 3}}, {{2, 4, 6}, {2, 5, 6}}},
    {"MultiHeadAttention",
     {{"num_heads", 2}, {"key_dim", 3}, {"dropout", 0.3}},
     {{2, 4, 6}, {2, 5, 6}}},
    {"Wrapper", {{"layer", inside("Dense", {{"units", 3}})}}, {{4, 5}}},
    {"TimeDistributed", {{"layer", inside("Dense", {{"units", 3}})}}, {{2, 4, 5}}},
    {"TimeDistributed",
     {{"layer", inside("Conv1D", {{"filters", 2}, {"kernel_size", 2}})}},
     {{2, 3, 4, 5}}},
    {"TimeDistributed", {{"layer", inside("BatchNormalization", {})}}, {{6, 3, 2}}},
    {"Bidirectional", {{"layer", inside("LSTM", {{"units", 3}})}}, {{2, 4, 5}}},
    {"Bidirectional",
     {{"layer", inside("GRU", {{"units", 3}, {"return_sequences", true}})}, {"merge_mode", "sum"}},
     {{2, 4, 5}}},
    {"Bidirectional",
     {{"layer", inside("SimpleRNN", {{"units", 3}, {"return_state", true}})},
      {"merge_mode", Value()}},
     {{2, 4, 5}}},
    {"Attention", {}, {{2, 4, 3}, {2, 5, 3}}},
    {"Attention",
     {{"use_scale", true}, {"score_mode", "concat"}, {"dropout", 0.3}},
     {{2, 4, 3}, {2, 5, 6}, {2, 5, 3}}},
    {"AdditiveAttention", {}, {{2, 4, 3}, {2, 5, 3}}},
    {"AdditiveAttention",
     {{"use_scale", false}, {"dropout", 0.3}},
     {{2, 4, 3}, {2, 5, 6}, {2, 5, 3}}},
    {"MultiHeadAttention",
     {{"num_heads", 2},
      {"key_dim", 3},
      {"value_dim", 4},
      {"output_shape", List{2, 5}},
      {"use_gate", true},
      {"sliding_window", 2}},
     {{2, 4, 6}, {2, 5, 7}, {2, 5, 3}}},
    {"MultiHeadAttention",
     {{"num_heads", 2}, {"key_dim", 3}, {"attention_axes", List{2}}, {"dropout", 0.3}},
     {{2, 3, 4, 5}, {2, 3, 2, 6}}},
    {"MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 3}}, {{2, 3, 4, 5}, {2, 3, 2, 6}}},
    {"GroupedQueryAttention",
     {{"head_dim", 3}, {"num_query_heads", 4}, {"num_key_value_heads", 2}},
     {{2, 4, 6}, {2, 5, 7}}},
    {"GroupedQueryAttention",
     {{"head_dim", 3},
      {"num_query_heads", 2},
      {"num_key_value_heads", 1},
      {"use_gate", true},
      {"dropout", 0.3}},
     {{2, 4, 6}, {2, 4, 6}}},
};

/// Rows that wait for their layer, which is not there yet.
const std::set<std::string> kMissing = {};

Tensors inputs_of(const Row& row) {
  const SeedGenerator random(11);
  Tensors inputs;
  for (const Shape& shape : row.inputs)
    inputs.push_back(ops::cast(random.uniform(shape, row.low, row.high), row.dtype));
  return inputs;
}

std::vector<Shape> shapes_of(const Tensors& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

bool near(const Tensor& a, const Tensor& b, double tolerance) {
  const auto x = a.to_vector(), y = b.to_vector();
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    const double away = apart(x[i], y[i]);
    if (!std::isfinite(away) || away > tolerance * std::max(1.0, std::abs(x[i]))) return false;
  }
  return true;
}

/// The same for layers inside.
Dict with_dtype(Dict options, const char* dtype) {
  options.set("dtype", dtype);
  for (const char* option : {"layer", "cell"}) {
    Value* inside = options.find(option);
    if (!inside) continue;
    List layers = inside->is_list() ? inside->as_list() : List{*inside};
    for (Value& layer : layers) {
      Value& config = layer.as_dict()["config"];
      config = with_dtype(config.as_dict(), dtype);
    }
    *inside = inside->is_list() ? Value(layers) : layers.front();
  }
  return options;
}

LayerPtr layer_of(const Row& row, const char* dtype = "float32") {
  return make<Layer>(row.name, with_dtype(row.options, dtype));
}

/// Calls of a layer in one mode; each draws the random numbers that the first one drew.
class Calls {
 public:
  Calls(Layer& layer, bool training) : layer_(layer) {
    options_.training = training;
    for (Layer* inner : layer.flatten_layers())
      for (const SeedGenerator& seeds : inner->seed_generators()) {
        states_.push_back(seeds.state());
        first_.push_back(seeds.state().value().clone());
      }
  }
  Tensors operator()(const Tensors& inputs) const {
    for (size_t i = 0; i < states_.size(); ++i) states_[i].assign(first_[i]);
    return layer_(inputs, options_);
  }

 private:
  Layer& layer_;
  CallOptions options_;
  Variables states_;
  Tensors first_;
};

/// Sum of outputs with uneven factors, so that no gradient vanishes by symmetry.
Tensor objective(const Calls& layer, const Tensors& inputs) {
  Tensors terms;
  for (const Tensor& y : layer(inputs)) {
    const Tensor factors = ops::cos(ops::arange(y.size(), y.dtype()));
    terms.push_back(ops::sum(ops::reshape(y, {y.size()}) * factors));
  }
  return ops::add_n(terms);
}

void check_shapes(const Row& row, Layer& layer, const Tensors& inputs, const Tensors& outputs) {
  std::vector<Shape> unknown;
  for (Shape shape : shapes_of(inputs)) {
    shape.set(0, -1);
    unknown.push_back(shape);
  }
  const std::vector<Shape> symbolic = layer.compute_output_shape(unknown);
  REQUIRE(symbolic.size() == outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    INFO(row.name << " symbolic " << to_text(symbolic[i]) << " real "
                  << to_text(outputs[i].shape()));
    CHECK(symbolic[i].compatible(outputs[i].shape()));
  }
}

void check_config(Layer& layer, const Tensors& inputs, const Tensors& outputs) {
  const Dict config = layer.get_config();
  auto again = make<Layer>(layer.class_name(), parse_json(to_json(config)).as_dict());
  CHECK(again->get_config() == config);
  again->build_for(shapes_of(inputs));
  again->set_weights(layer.get_weights());
  const Tensors repeated = (*again)(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) CHECK(near(repeated[i], outputs[i], 1e-6));
}

void check_compiled(const Calls& layer, const Tensors& inputs) {
  const Tensors outputs = layer(inputs);
  const Function function([&](const Tensors& x) { return layer(x); });
  const Tensors compiled = function(inputs);
  REQUIRE(compiled.size() == outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) CHECK(near(compiled[i], outputs[i], 1e-5));
}

/// In float64, against differences along one direction for each weight and floating input.
void check_gradients(const Row& row, bool training) {
  const LayerPtr made = layer_of(row, "float64");
  Tensors inputs = inputs_of(row);
  for (Tensor& t : inputs)
    if (is_floating(t.dtype())) t = ops::cast(t, DType::float64);
  (*made)(inputs);
  const Calls layer(*made, training);
  const Variables weights = made->trainable_weights();
  GradientTape tape;
  for (const Tensor& t : inputs)
    if (is_floating(t.dtype())) tape.watch(t);
  const Tensor value = objective(layer, inputs);
  tape.stop();
  constexpr double kStep = 1e-5;
  const SeedGenerator random(23);
  auto slope = [&](const std::function<double(double)>& at) {
    return (at(kStep) - at(-kStep)) / (2 * kStep);
  };
  const Tensors by_weight = tape.gradient(value, std::span<const Variable>(weights));
  for (size_t i = 0; i < weights.size(); ++i) {
    const Tensor start = weights[i].value().clone(),
                 direction = random.normal(start.shape(), 0, 1, start.dtype());
    const double numeric = slope([&](double step) {
      weights[i].assign(start + direction * step);
      return objective(layer, inputs).item();
    });
    weights[i].assign(start);
    INFO(row.name << " " << weights[i].path() << (training ? " in training" : ""));
    REQUIRE(by_weight[i]);
    CHECK(ops::sum(by_weight[i] * direction).item() == Approx(numeric).epsilon(1e-4).margin(1e-6));
  }
  if (!is_floating(row.dtype)) return;
  const Tensors by_input = tape.gradient(value, std::span<const Tensor>(inputs));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor direction = random.normal(inputs[i].shape(), 0, 1, DType::float64);
    const double numeric = slope([&](double step) {
      Tensors moved = inputs;
      moved[i] = inputs[i] + direction * step;
      return objective(layer, moved).item();
    });
    INFO(row.name << " input " << i << (training ? " in training" : ""));
    REQUIRE(by_input[i]);
    CHECK(ops::sum(by_input[i] * direction).item() == Approx(numeric).epsilon(1e-4).margin(1e-6));
  }
}

/// Half-width computation on float32 weights: outputs of the policy's dtype, near those of float32.
void check_mixed(const Row& row, Layer& layer, const Tensors& inputs, const Tensors& outputs) {
  const LayerPtr mixed = layer_of(row, "mixed_bfloat16");
  mixed->build_for(shapes_of(inputs));
  mixed->set_weights(layer.get_weights());
  for (const Variable& v : mixed->weights())
    CHECK((v.dtype() == DType::float32 || !is_floating(v.dtype())));
  const Tensors rough = (*mixed)(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    INFO(row.name << ": " << to_text(rough[i].dtype()));
    CHECK(rough[i].dtype() == DType::bfloat16);
    CHECK(near(rough[i], outputs[i], 0.1));
  }
  GradientTape tape;
  const Tensor value = objective(Calls(*mixed, false), inputs);
  tape.stop();
  const Variables weights = mixed->trainable_weights();
  for (const Tensor& g : tape.gradient(value, std::span<const Variable>(weights)))
    CHECK((g && g.dtype() == DType::float32));
}

/// As the only layer of a model: predicts what it computes, and the same after a trip through a
/// file.
void check_saving(const Row& row, const Tensors& inputs) {
  std::vector<Symbol> symbols;
  for (const Tensor& t : inputs) {
    InputOptions options;
    options.shape = t.shape().slice(1, t.rank());
    options.dtype = t.dtype();
    symbols.push_back(Input(options));
  }
  const LayerPtr layer = layer_of(row);
  auto model = Functional::make(symbols, (*layer)(symbols));
  const Tensors outputs = (*layer)(inputs), predicted = model->predict(inputs);
  const std::string path = "check_layer_test.h5";
  save_model(*model, path);
  const Tensors loaded = load_model(path, {{"compile", false}})->predict(inputs);
  std::remove(path.c_str());
  for (size_t i = 0; i < outputs.size(); ++i) {
    INFO(row.name);
    CHECK(near(predicted[i], outputs[i], 1e-5));
    CHECK(near(loaded[i], predicted[i], 1e-6));
  }
}

void check_training(Layer& layer, const Tensors& inputs, const Tensors& outputs) {
  CallOptions training;
  training.training = true;
  CHECK(shapes_of(layer(inputs, training)) == shapes_of(outputs));
}

void check_layer(const Row& row) {
  const LayerPtr layer = layer_of(row);
  const Tensors inputs = inputs_of(row);
  const Tensors outputs = (*layer)(inputs);
  check_shapes(row, *layer, inputs, outputs);
  check_config(*layer, inputs, outputs);
  check_training(*layer, inputs, outputs);
  for (const bool training : {false, true}) {
    check_compiled(Calls(*layer, training), inputs);
    check_gradients(row, training);
  }
  check_mixed(row, *layer, inputs, outputs);
  check_saving(row, inputs);
  CHECK_FALSE(layer->info()->schema.description.empty());
  for (const Field& field : layer->info()->schema.fields) CHECK_FALSE(field.doc.empty());
}

}  // namespace

TEST_CASE("every layer keeps the rules of layers") {
  for (const Row& row : kRows) {
    if (!registry().find(Layer::kKind, row.name)) continue;
    DYNAMIC_SECTION(row.name << " " << to_text(Value(row.options))) {
      try {
        check_layer(row);
      } catch (const Error& error) {
        FAIL_CHECK(row.name << ": " << error.what());
      }
    }
  }
}

TEST_CASE("every row has its layer, except for those that wait for it") {
  for (const Row& row : kRows) {
    const bool there = registry().find(Layer::kKind, row.name) != nullptr;
    if (there == kMissing.contains(row.name))
      FAIL_CHECK(row.name << (there ? " is there: take it out of the list" : " is not registered"));
  }
}

TEST_CASE("every registered layer has a row") {
  std::set<std::string> covered{"InputLayer", "Sequential", "Functional"};
  for (const Row& row : kRows) covered.insert(row.name);
  const std::set<std::string> wrapping{"Lambda",   "RNN",     "SimpleRNNCell",
                                       "LSTMCell", "GRUCell", "StackedRNNCells"};
  for (const std::string& name : registry().names(Layer::kKind)) {
    INFO(name);
    CHECK((covered.contains(name) || wrapping.contains(name)));
  }
}

// ---- arrays without elements

namespace {

/// Outputs, then gradients of their sum by weights and inputs.
Tensors outputs_and_gradients(Layer& layer, const Tensors& inputs) {
  GradientTape tape;
  for (const Tensor& t : inputs)
    if (is_floating(t.dtype())) tape.watch(t);
  Tensors results = layer(inputs), sums;
  for (const Tensor& y : results) sums.push_back(ops::sum(y));
  const Tensor sum = ops::add_n(sums);
  tape.stop();
  const Variables weights = layer.trainable_weights();
  for (const Tensors& gradients : {tape.gradient(sum, std::span<const Variable>(weights)),
                                   tape.gradient(sum, std::span<const Tensor>(inputs))})
    for (const Tensor& g : gradients)
      if (g) results.push_back(g);
  return results;
}

/// The same whatever lay in the memory before, eagerly and compiled.
void check_empty(const Row& row) {
  try {
    const LayerPtr layer = layer_of(row);
    const Tensors inputs = inputs_of(row);
    auto run = [&](uint8_t byte, bool compiled) {
      test::poison(byte);
      auto f = [&](const Tensors& x) { return outputs_and_gradients(*layer, x); };
      return compiled ? Function(f)(inputs) : f(inputs);
    };
    const Tensors first = run(0x55, false);
    CHECK(test::same_values(first, run(0xaa, false)));
    CHECK(test::same_values(first, run(0x55, true)));
    CHECK(test::same_values(first, run(0xaa, true)));
    CallOptions training;
    training.training = true;
    (*layer)(inputs, training);
    Function([&](const Tensors& x) { return (*layer)(x, training); })(inputs);
  } catch (const Error& error) {
    CHECK_FALSE(std::string(error.what()).empty());
  }
}

}  // namespace

TEST_CASE("every layer takes arrays without elements or says what is missing") {
  for (const Row& row : kRows) {
    if (!registry().find(Layer::kKind, row.name)) continue;
    for (size_t i = 0; i < row.inputs.size(); ++i) {
      for (int axis = 0; axis < row.inputs[i].rank(); ++axis) {
        INFO(row.name << " " << to_text(Value(row.options)) << ", input " << i << ", axis "
                      << axis);
        Row one_input = row, all_inputs = row;
        one_input.inputs[i].set(axis, 0);
        for (Shape& shape : all_inputs.inputs)
          if (axis < shape.rank()) shape.set(axis, 0);
        check_empty(one_input);
        check_empty(all_inputs);
      }
    }
  }
}

TEST_CASE("layers without elements give zeros, their bias, or nothing") {
  auto result = [](const char* name, const Dict& options, const Shape& input,
                   bool training = false) {
    const LayerPtr layer = make<Layer>(name, options);
    CallOptions call;
    call.training = training;
    return (*layer)(Tensors{Tensor(input, DType::float32)}, call).front();
  };
  CHECK(result("LayerNormalization", {}, {3, 0}).shape() == Shape{3, 0});
  CHECK(result("BatchNormalization", {}, {3, 1, 0}).shape() == Shape{3, 1, 0});
  CHECK(result("BatchNormalization", {}, {3, 1, 0}, true).shape() == Shape{3, 1, 0});
  CHECK(result("PReLU", {}, {3, 0}).shape() == Shape{3, 0});
  const Dict conv{{"filters", 2}, {"kernel_size", 1}, {"bias_initializer", "ones"}};
  CHECK(result("Conv2D", conv, {1, 1, 2, 0}).to_vector() == std::vector<double>(4, 1));
  CHECK(result("Conv2DTranspose", conv, {1, 1, 2, 0}).to_vector() == std::vector<double>(4, 1));
  CHECK(result("Dense", {{"units", 2}, {"bias_initializer", "ones"}}, {1, 0}).to_vector() ==
        std::vector<double>(2, 1));
  CHECK(result("LSTM", {{"units", 2}}, {1, 3, 0}).to_vector() == std::vector<double>(2, 0));
}

TEST_CASE("a layer is called on as many inputs as it declares") {
  const Tensor x({2, 3}, DType::float32), h({2, 2}, DType::float32);
  using Catch::Matchers::Contains;
  for (const char* name : {"SimpleRNNCell", "GRUCell", "LSTMCell"}) {
    const LayerPtr cell = make<Layer>(name, {{"units", 2}});
    const size_t states = std::string(name) == "LSTMCell" ? 2 : 1;
    CHECK_THROWS_WITH((*cell)(x),
                      Contains("is a cell") && Contains("RNN(cell)") && Contains("Got 1 inputs"));
    CHECK_THROWS_WITH(cell->build_for({{2, 3}}), Contains("is a cell"));
    Tensors inputs(1 + states, h);
    inputs[0] = x;
    CHECK((*cell)(inputs).size() == 1 + states);
    CHECK_THROWS_WITH((*cell)(x), Contains("is a cell"));
    auto model = Sequential::make({}, "");
    model->add(make<Layer>("InputLayer", {{"batch_input_shape", List{Value(), 3}}}));
    CHECK_THROWS_WITH(model->add(make<Layer>(name, {{"units", 2}})), Contains("RNN(cell)"));
  }
  for (const Row& row : kRows) {
    if (!registry().find(Layer::kKind, row.name)) continue;
    INFO(row.name);
    const LayerPtr built = layer_of(row), fresh = layer_of(row);
    const Tensors inputs = inputs_of(row);
    (*built)(inputs);
    for (const LayerPtr& layer : {built, fresh}) {
      CHECK_THROWS_AS((*layer)(Tensors{}), Error);
      CHECK_THROWS_AS(layer->compute_output_shape({}), Error);
      if (layer->input_count().min > 1) CHECK_THROWS_AS((*layer)(Tensors{inputs[0]}), Error);
      if (layer->input_count().max < 9) CHECK_THROWS_AS((*layer)(Tensors(9, inputs[0])), Error);
    }
  }
}

TEST_CASE("options that cannot be are refused, and null is what Keras makes of it") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(make<Layer>("Dot", {{"axes", List{}}}), Contains("expected 1 or 2 integers"));
  CHECK_THROWS_WITH(make<Layer>("LayerNormalization", {{"axis", List{}}}),
                    Contains("at least one"));
  const Dict attention{{"num_heads", 1}, {"key_dim", 2}, {"output_shape", List{}}};
  CHECK_THROWS_WITH(make<Layer>("MultiHeadAttention", attention), Contains("output_shape"));
  for (const char* name : {"LSTM", "GRU", "SimpleRNN", "Dense"}) {
    const LayerPtr layer = make<Layer>(name, {{"units", 4},
                                              {"bias_initializer", Value()},
                                              {"kernel_initializer", Value()},
                                              {"kernel_regularizer", Value()},
                                              {"bias_constraint", Value()},
                                              {"activation", Value()}});
    CHECK_NOTHROW((*layer)(Tensors{Tensor({2, 3, 5}, DType::float32)}));
    const Tensor kernel = layer->get_weights().front();
    CHECK(ops::max(ops::abs(kernel)).item() > 0);
    CHECK(
        layer->get_config().find("kernel_initializer")->as_dict().find("class_name")->as_string() ==
        "GlorotUniform");
  }
}
