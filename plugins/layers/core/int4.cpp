// Weights of 4 bits. A byte contains two neighbouring values of a row of the matrix, the left one
// in the lower half. A scale belongs to a column or, together with a zero point, to a block of rows
// in a column. In tables of embeddings rows and columns are exchanged; in tables of reversed
// embeddings a byte contains values of two rows instead.
#include <algorithm>

#include "crescent/device/quantized_op_types.h"
#include "crescent/registry/registration.h"
#include "quantized_product.h"

namespace crescent {
namespace {

constexpr int64_t kLowest = -8, kHighest = 7;
constexpr double kEpsilon = 1e-7;

/// Packs two values into each byte by packed_int4(): neighbouring values of a row or, for a
/// reversed embedding, of a column. unpacked_matrix() is the inverse.
Tensor packed_matrix(const QuantizedLayout& layout, const Tensor& values) {
  return layout.is_reverse ? ops::transpose(packed_int4(ops::transpose(values)))
                           : packed_int4(values);
}
Tensor unpacked_matrix(const QuantizedLayout& layout, const Tensor& bytes) {
  const Shape matrix_shape = layout.matrix();
  return layout.is_reverse ? ops::transpose(unpacked_int4(ops::transpose(bytes), matrix_shape[0]))
                           : unpacked_int4(bytes, matrix_shape[1]);
}

class Int4QuantizationConfig final : public QuantizationConfig {
 public:
  static void describe(Schema<Int4QuantizationConfig>& s) {
    s.doc("4-bit weights with a scale for each block of rows in a column, or for each column.")
        .field("weight_quantizer", &Int4QuantizationConfig::weight_quantizer_,
               "Quantizer of whole columns; null: AbsMaxQuantizer with the range -8 to 7.")
        .field("activation_quantizer", &Int4QuantizationConfig::activation_quantizer_,
               "Quantizer of the inputs, if scales are for whole columns; null: inputs are not "
               "quantized.")
        .field("block_size", &Int4QuantizationConfig::block_size_,
               "Number of rows that share a scale; -1 or null: all.")
        .property("mode", &Int4QuantizationConfig::mode, "\"int4\".");
  }
  void configured() override {
    if (block_size_ && *block_size_ != -1 && *block_size_ < 1)
      fail("block_size must be None, -1, or a positive integer. Received: block_size=",
           *block_size_);
    const AbsMaxQuantizer* quantizer = weight_quantizer();
    if (has_blocks() && (quantizer || input_rounding()))
      fail("Int4 sub-channel quantization (block_size > 0) does not support custom quantizers. ",
           "Received: block_size=", *block_size_);
    if (quantizer && !(quantizer->range().low == kLowest && quantizer->range().high == kHighest))
      fail("Int4QuantizationConfig requires a weight_quantizer with value_range=(-8, 7).");
  }
  std::string mode() const override { return "int4"; }
  std::string quantization() const override {
    return concat("int4/", has_blocks() ? *block_size_ : -1);
  }
  std::optional<AbsMax> input_rounding() const override {
    const auto* quantizer = dynamic_cast<const AbsMaxQuantizer*>(activation_quantizer_.get());
    return quantizer ? std::optional(quantizer->range()) : std::nullopt;
  }

  QuantizedComponents components(const QuantizedLayout& layout) const override {
    const Shape matrix_shape = layout.matrix();
    const auto half_size = [](int64_t n) { return (n + 1) / 2; };
    const QuantizedComponent bytes{"",
                                   layout.is_reverse
                                       ? Shape{half_size(matrix_shape[0]), matrix_shape[1]}
                                       : Shape{matrix_shape[0], half_size(matrix_shape[1])},
                                   DType::int8};
    if (!has_blocks()) return {bytes, {"_scale", {matrix_shape[layout.is_table() ? 0 : 1]}}};
    const Shape scales_shape = layout.is_table()
                                   ? Shape{matrix_shape[0], block_count(matrix_shape[1])}
                                   : Shape{block_count(matrix_shape[0]), matrix_shape[1]};
    const auto zero = layout.is_reverse ? std::nullopt : std::optional(DType::int8);
    QuantizedComponents components{bytes, {"_scale", scales_shape}, {"_zero", scales_shape, zero}};
    if (!layout.is_reverse)
      components.push_back({"g_idx", {summed_size(layout)}, DType::float32, true});
    return components;
  }

  Tensors encode(const QuantizedLayout& layout, const Tensor& floats) const override {
    const Tensor matrix = ops::reshape(floats, layout.matrix());
    const int axis = layout.is_table() ? 1 : 0;
    if (has_blocks()) return encoded_in_blocks(layout, matrix, axis);
    const AbsMaxQuantizer* quantizer = weight_quantizer();
    if (quantizer) quantizer->check_axes(layout);
    const AbsMax range{kLowest, kHighest, quantizer ? quantizer->range().epsilon : kEpsilon};
    const Quantized result = range(matrix, {axis});
    return {packed_matrix(layout, result.values), ops::reshape(result.scale, {-1})};
  }

  Quantized decode(const QuantizedLayout& layout, const Tensors& component_values) const override {
    const Shape matrix_shape = layout.matrix();
    if (has_ops(layout)) {
      Int4Floats op;
      op.block = *block_size_;
      const Tensor zero = ops::cast(component_values[2], DType::int8);  // encode() gives floats
      return {
          ops::reshape(apply1(op, {component_values[0], component_values[1], zero}), layout.shape),
          {}};
    }
    const Tensor values = unpacked_matrix(layout, component_values[0]);
    if (!has_blocks()) {
      const bool is_table = layout.is_table();
      const Tensor scale =
          ops::broadcast_to(ops::expand_dims(component_values[1], is_table ? 1 : 0), matrix_shape);
      const Tensor scale_of_values = ops::reshape(scale, layout.shape);
      return {ops::reshape(values, layout.shape),
              layout.as_scale(first_of_summed_axis(layout, scale_of_values))};
    }
    return {ops::reshape(floats(values, component_values, block_indices_for(layout),
                                layout.is_table() ? 1 : 0, component_values[1].dtype()),
                         layout.shape),
            {}};
  }

  Tensor product(const std::string& equation, const Tensor& x, const QuantizedLayout& layout,
                 const Tensors& component_values) const override {
    if (!has_ops(layout) || equation != kLastByFirst)
      return product_of_decoded(*this, equation, x, layout, component_values);
    Int4Product op;
    op.block = *block_size_;
    return apply1(op, {x, component_values[0], component_values[1], component_values[2]});
  }

  Tensor rows(const QuantizedLayout& layout, const Tensors& component_values, const Tensor& ids,
              DType dtype) const override {
    Tensors gathered;
    for (size_t i = 0; i < std::min<size_t>(component_values.size(), 3); ++i)
      gathered.push_back(apply1(Gather(), {component_values[i], ids}));
    const Tensor values = unpacked_int4(gathered[0], layout.matrix()[1]);
    if (has_blocks())
      return ops::cast(floats(values, gathered, block_indices_for(layout), -1, dtype), dtype);
    return ops::cast(values, dtype) / ops::expand_dims(ops::cast(gathered[1], dtype), -1);
  }

 private:
  bool has_blocks() const { return block_size_.value_or(-1) > 0; }
  /// Whether the ops Int4Floats and Int4Product support weights of this layout.
  bool has_ops(const QuantizedLayout& layout) const {
    return has_blocks() && !layout.is_table() && !layout.is_reverse;
  }
  int64_t block_count(int64_t rows) const { return (rows + *block_size_ - 1) / *block_size_; }
  static int64_t summed_size(const QuantizedLayout& layout) {
    return layout.matrix()[layout.is_table() ? 1 : 0];
  }
  const AbsMaxQuantizer* weight_quantizer() const {
    return dynamic_cast<const AbsMaxQuantizer*>(weight_quantizer_.get());
  }
  /// For each index along the summed axis, the index of its block; the elements of a block share a
  /// scale.
  Tensor block_indices_for(const QuantizedLayout& layout) const {
    const Tensor numbers = ops::arange(summed_size(layout), DType::float32);
    return ops::cast(ops::floor(numbers / static_cast<double>(*block_size_)), DType::int32);
  }
  static Tensor first_of_summed_axis(const QuantizedLayout& layout, Tensor x) {
    for (int axis : layout.summed_axes) x = ops::slice_axis(x, axis, 0, 1);
    return x;
  }
  /// Computes (values - zero) * scale, where index i along `axis` has the zero point and the scale
  /// of the block with the index block_indices[i].
  static Tensor floats(const Tensor& values, const Tensors& component_values,
                       const Tensor& block_indices, int axis, DType dtype) {
    const auto expanded_to_rows = [&](const Tensor& x) {
      return ops::gather(ops::cast(x, dtype), block_indices, axis);
    };
    return (ops::cast(values, dtype) - expanded_to_rows(component_values[2])) *
           expanded_to_rows(component_values[1]);
  }

  /// Quantizes blocks. The range of a block, from its smallest to its largest value and including
  /// zero, is divided into 15 steps, so that zero is exactly one of the 16 integers: the zero
  /// point.
  Tensors encoded_in_blocks(const QuantizedLayout& layout, const Tensor& matrix, int axis) const {
    const Tensor block_indices = block_indices_for(layout);
    Tensors scales, zeros;
    for (int64_t block_start = 0; block_start < matrix.dim(axis); block_start += *block_size_) {
      const Tensor block = ops::slice_axis(matrix, axis, block_start, block_start + *block_size_);
      const Tensor minimum = ops::minimum(ops::min(block, {axis}, true), 0),
                   maximum = ops::maximum(ops::max(block, {axis}, true), 0);
      scales.push_back((maximum - minimum + kEpsilon) / static_cast<double>(kHighest - kLowest));
      zeros.push_back(ops::clip(ops::round(minimum * -1.0 / scales.back()) + double(kLowest),
                                kLowest, kHighest));
    }
    const Tensor scale = ops::concatenate(scales, axis), zero = ops::concatenate(zeros, axis);
    const Tensor values = ops::clip(ops::round(matrix / ops::gather(scale, block_indices, axis)) +
                                        ops::gather(zero, block_indices, axis),
                                    kLowest, kHighest);
    Tensors component_values{packed_matrix(layout, values), scale, zero};
    if (!layout.is_reverse) component_values.push_back(block_indices);
    return component_values;
  }

  Ref<Quantizer> weight_quantizer_, activation_quantizer_;
  std::optional<int64_t> block_size_ = 128;
};

}  // namespace

CRESCENT_REGISTER(int4) {
  registry.add<Int4QuantizationConfig>("Int4QuantizationConfig", {"int4"});
}

}  // namespace crescent
