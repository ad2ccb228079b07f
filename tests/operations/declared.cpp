// Every function of cr.ops also exists in C++: the compiler checks the names in this table, and the
// table is compared with the registered functions.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "call.h"

using namespace crescent;

namespace {

// clang-format off
#define CRESCENT_FUNCTIONS(F) \
  F(abs) F(adaptive_average_pool) F(adaptive_max_pool) F(add) F(add_n) F(all) F(all_reduce)        \
  F(allclose) F(amax) F(amin) F(angle) F(any) F(append) F(arange) F(arccos) F(arccosh) F(arcsin)   \
  F(arcsinh) F(arctan) F(arctan2) F(arctanh) F(argmax) F(argmin) F(argpartition) F(argsort)        \
  F(array) F(array_split) F(average) F(average_pool) F(bartlett) F(batch_normalization)            \
  F(binary_crossentropy) F(bincount) F(bitwise_and) F(bitwise_invert) F(bitwise_left_shift)        \
  F(bitwise_not) F(bitwise_or) F(bitwise_right_shift) F(bitwise_xor) F(blackman) F(broadcast_to)   \
  F(cast) F(categorical_crossentropy) F(cbrt) F(cdist) F(ceil) F(celu) F(cholesky)                 \
  F(cholesky_inverse) F(clip) F(concatenate) F(conj) F(conjugate) F(conv) F(conv_transpose)        \
  F(convert_to_tensor) F(copy) F(corrcoef) F(correlate) F(cos) F(cosh) F(count_nonzero) F(cross)   \
  F(ctc_decode) F(ctc_loss) F(cumprod) F(cumsum) F(deg2rad) F(depth_to_space) F(depthwise_conv)    \
  F(det) F(diag) F(diagflat) F(diagonal) F(diff) F(digitize) F(divide) F(divide_no_nan) F(dot)     \
  F(dot_product_attention) F(dsplit) F(dstack) F(eig) F(eigh) F(einsum) F(elu) F(empty)            \
  F(empty_like) F(equal) F(erf) F(erfc) F(erfinv) F(exp) F(exp2) F(expand_dims) F(expm1)           \
  F(extract_sequences) F(eye) F(fabs) F(fft) F(fft2) F(flatten) F(flip) F(fliplr) F(flipud)        \
  F(floor) F(floor_divide) F(fmax) F(fmin) F(fmod) F(fold) F(full) F(full_like) F(gcd) F(gelu)     \
  F(geomspace) F(get_item) F(glu) F(greater) F(greater_equal) F(hamming) F(hanning)                \
  F(hard_shrink) F(hard_sigmoid) F(hard_silu) F(hard_tanh) F(heaviside) F(histogram) F(hsplit)     \
  F(hstack) F(hypot) F(i0) F(identity) F(ifft2) F(imag) F(in_top_k) F(inner) F(inv) F(irfft)       \
  F(isclose) F(isfinite) F(isin) F(isinf) F(isnan) F(isneginf) F(isposinf) F(isreal) F(istft)      \
  F(kaiser) F(kron) F(layer_normalization) F(lcm) F(ldexp) F(leaky_relu) F(left_shift) F(less)     \
  F(less_equal) F(linspace) F(log) F(log10) F(log1p) F(log2) F(log_sigmoid) F(log_softmax)         \
  F(logaddexp) F(logaddexp2) F(logdet) F(logical_and) F(logical_not) F(logical_or) F(logical_xor)  \
  F(logspace) F(logsumexp) F(lstsq) F(lu_factor) F(matmul) F(matrix_rank) F(max) F(max_pool)       \
  F(maximum) F(mean) F(median) F(meshgrid) F(min) F(minimum) F(mod) F(moments) F(moveaxis)         \
  F(multi_hot) F(multiply) F(nan_to_num) F(nanargmax) F(nanargmin) F(nancumprod) F(nancumsum)      \
  F(nanmax) F(nanmean) F(nanmedian) F(nanmin) F(nanpercentile) F(nanprod) F(nanquantile)           \
  F(nanstd) F(nansum) F(nanvar) F(negative) F(nextafter) F(nonzero) F(norm) F(normalize)           \
  F(not_equal) F(one_hot) F(ones) F(ones_like) F(outer) F(pad) F(percentile) F(pinv) F(polar)      \
  F(power) F(prod) F(psnr) F(ptp) F(qr) F(quantile) F(rad2deg) F(ravel) F(real) F(rearrange)       \
  F(reciprocal) F(relu) F(relu6) F(repeat) F(reshape) F(rfft) F(right_shift) F(rms_normalization)  \
  F(roll) F(rot90) F(round) F(rsqrt) F(saturate_cast) F(scatter) F(scatter_update)                 \
  F(searchsorted) F(segment_max) F(segment_min) F(segment_prod) F(segment_sum) F(select) F(selu)   \
  F(separable_conv) F(sigmoid) F(sign) F(signbit) F(silu) F(sin) F(sinc) F(sinh) F(slice)          \
  F(slice_axis) F(slice_update) F(slogdet) F(soft_shrink) F(softmax) F(softmax_cross_entropy)      \
  F(softplus) F(softsign) F(solve) F(solve_triangular) F(sort) F(space_to_depth)                   \
  F(sparse_categorical_crossentropy) F(sparse_plus) F(sparse_sigmoid)                              \
  F(sparse_softmax_cross_entropy) F(sparsemax) F(split) F(sqrt) F(square) F(squared_difference)    \
  F(squareplus) F(squeeze) F(stack) F(std) F(stft) F(stop_gradient) F(subtract) F(sum) F(svd)      \
  F(swapaxes) F(take) F(take_along_axis) F(tan) F(tanh) F(tanh_shrink) F(tensordot) F(threshold)   \
  F(tile) F(top_k) F(trace) F(transpose) F(trapezoid) F(tri) F(tril) F(triu) F(true_divide)        \
  F(trunc) F(unfold) F(unique) F(unravel_index) F(unstack) F(vander) F(var) F(vdot) F(view)        \
  F(view_as_complex) F(view_as_real) F(vsplit) F(vstack) F(where) F(zeros) F(zeros_like)           \
  F(bounding_boxes::affine_transform) F(bounding_boxes::clip_to_image_size)                        \
  F(bounding_boxes::compute_ciou) F(bounding_boxes::compute_iou)                                   \
  F(bounding_boxes::convert_format) F(bounding_boxes::crop)                                        \
  F(bounding_boxes::decode_deltas_to_boxes) F(bounding_boxes::encode_box_to_deltas)                \
  F(bounding_boxes::pad) F(image::affine_transform) F(image::crop_images)                          \
  F(image::extract_patches) F(image::extract_patches_3d) F(image::gaussian_blur)                   \
  F(image::homography) F(image::hsv_to_rgb) F(image::map_coordinates) F(image::pad_images)         \
  F(image::perspective_transform) F(image::resize) F(image::rgb_to_grayscale)                      \
  F(image::rgb_to_hsv) F(image::sample) F(image::scale_and_translate) F(image::sobel_edges)        \
  F(image::ssim)
// clang-format on

namespace declared {
#define CRESCENT_DECLARED(name) using ops::name;
CRESCENT_FUNCTIONS(CRESCENT_DECLARED)
#undef CRESCENT_DECLARED
}  // namespace declared

/// Whether the function is in another library, or returns shapes and sizes, so that it is not
/// declared here.
bool is_elsewhere(const ClassInfo& row) {
  static const std::set<std::string> kHostValues = {"shape", "dtype", "ndim", "size"},
                                     kLibraries = {"fourier", "image_operations", "linalg",
                                                   "operations"};
  return kLibraries.count(row.plugin) == 0 || kHostValues.count(row.name) > 0;
}

/// The C++ name of a function such as "image.resize".
std::string qualified(const std::string& function) {
  const size_t point = function.find('.');
  return point == std::string::npos ? function
                                    : function.substr(0, point) + "::" + function.substr(point + 1);
}

}  // namespace

TEST_CASE("every row of operations has a function of its name in a public header") {
#define CRESCENT_NAME(name) #name,
  const std::set<std::string> functions = {CRESCENT_FUNCTIONS(CRESCENT_NAME)};
#undef CRESCENT_NAME
  size_t rows = 0;
  for (const std::string& name : registry().names("operation")) {
    const auto row = registry().find("operation", name);
    if (is_elsewhere(*row)) continue;
    INFO(name);
    ++rows;
    const Operation& operation = *get<Operation>(Value(name));
    const auto has_function = [&](const std::string& function_name) {
      return functions.count(qualified(function_name)) > 0;
    };
    const std::vector<std::string>& names = operation.schema().functions;
    CHECK(std::any_of(names.begin(), names.end(), has_function));
  }
  CHECK(rows >= 340);
}
