// Each C++ function gives the same results as the registered operation with the same name.
#include <catch2/catch.hpp>
#include <limits>

#include "call.h"

using namespace crescent;
using namespace crescent::operations_test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor floats(std::vector<float> values, const Shape& shape) { return Tensor::from(values, shape); }
Tensor int32_tensor(std::vector<int32_t> values, const Shape& shape) {
  return Tensor::from(values, shape);
}
Tensor booleans() { return ops::greater(floats({1, -1, 1, -1}, {4}), 0); }
Tensor other_booleans() { return ops::greater(floats({1, 1, -1, -1}, {4}), 0); }
Tensor matrix() { return floats({3, -1, 2, 5, -4, 0.5f}, {2, 3}); }
Tensor images() { return ops::reshape(ops::arange(48, DType::float32), {1, 4, 4, 3}); }

std::vector<double> numbers_of(const Tensor& x) {
  return (x.dtype() == DType::complex64 ? ops::view_as_real(x) : x).to_vector();
}

/// Checks that the tensors have equal specs and values, with NaN at the same positions.
void check_same(const Tensors& got, const Tensors& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i].spec() == wanted[i].spec());
    const auto a = numbers_of(got[i]), b = numbers_of(wanted[i]);
    REQUIRE(a.size() == b.size());
    for (size_t j = 0; j < a.size(); ++j) CHECK((a[j] == b[j] || (a[j] != a[j] && b[j] != b[j])));
  }
}

struct Sample {
  const char* row;
  Tensors typed;
  Dict arguments;
};

void check(const std::vector<Sample>& samples) {
  for (const Sample& sample : samples) {
    INFO(sample.row);
    check_same(sample.typed, Codec<Tensors>::decode(call(sample.row, sample.arguments)));
  }
}

}  // namespace

TEST_CASE("functions of numbers give what their rows give") {
  const Tensor a = booleans(), b = other_booleans(), x = matrix(),
               n = int32_tensor({7, -7, 5}, {3});
  check({{"add", {ops::add(a, b)}, {{"x1", boxed(a)}, {"x2", boxed(b)}}},
         {"multiply", {ops::multiply(a, b)}, {{"x1", boxed(a)}, {"x2", boxed(b)}}},
         {"abs", {ops::abs(a)}, {{"x", boxed(a)}}},
         {"sign", {ops::sign(a)}, {{"x", boxed(a)}}},
         {"floor", {ops::floor(n)}, {{"x", boxed(n)}}},
         {"ceil", {ops::ceil(n)}, {{"x", boxed(n)}}},
         {"clip", {ops::clip(x, 3, 1)}, {{"x", boxed(x)}, {"x_min", 3}, {"x_max", 1}}},
         {"hard_tanh", {ops::hard_tanh(x)}, {{"x", boxed(x)}}},
         {"leaky_relu", {ops::leaky_relu(x)}, {{"x", boxed(x)}}},
         {"gelu", {ops::gelu(x)}, {{"x", boxed(x)}}},
         {"round", {ops::round(x, -1)}, {{"x", boxed(x)}, {"decimals", -1}}},
         {"gcd", {ops::gcd(n, 14)}, {{"x1", boxed(n)}, {"x2", 14}}},
         {"hypot", {ops::hypot(x, 4)}, {{"x1", boxed(x)}, {"x2", 4}}},
         {"softmax", {ops::softmax(x, ops::Axes{0, 1})}, {{"x", boxed(x)}, {"axis", List{0, 1}}}}});
  const Tensor dividends = floats({kInfinity, -kInfinity, 7}, {3});
  const Tensor quotient = ops::floor_divide(dividends, 2);
  CHECK(quotient.to_vector()[0] != quotient.to_vector()[0]);
  check({{"floor_divide", {quotient}, {{"x1", boxed(dividends)}, {"x2", 2}}}});
}

TEST_CASE("functions of positions give what their rows give") {
  const Tensor x = matrix(), at = int32_tensor({-1, 0}, {2});
  CHECK(ops::take(x, at, 1).to_vector() == std::vector<double>{2, 3, 0.5, 5});
  check({{"take", {ops::take(x, at, 1)}, {{"x", boxed(x)}, {"indices", boxed(at)}, {"axis", 1}}},
         {"take", {ops::take(x, at)}, {{"x", boxed(x)}, {"indices", boxed(at)}}},
         {"argmax", {ops::argmax(x)}, {{"x", boxed(x)}}},
         {"argmin", {ops::argmin(x, 1, true)}, {{"x", boxed(x)}, {"axis", 1}, {"keepdims", true}}},
         {"cumsum", {ops::cumsum(x)}, {{"x", boxed(x)}}},
         {"cumsum", {ops::cumsum(x, 1)}, {{"x", boxed(x)}, {"axis", 1}}},
         {"top_k", ops::top_k(x, 2), {{"x", boxed(x)}, {"k", 2}}},
         {"one_hot",
          {ops::one_hot(at + 1, 3, 0)},
          {{"x", boxed(at + 1)}, {"num_classes", 3}, {"axis", 0}}},
         {"scatter_update",
          {ops::scatter_update(x, int32_tensor({1, 2}, {1, 2}), floats({9}, {1}), "add")},
          {{"inputs", boxed(x)},
           {"indices", boxed(int32_tensor({1, 2}, {1, 2}))},
           {"updates", boxed(floats({9}, {1}))},
           {"reduction", "add"}}},
         {"unique", {ops::unique(at).values}, {{"x", boxed(at)}}},
         {"max", {ops::max(booleans())}, {{"x", boxed(booleans())}}},
         {"max", {ops::max(x, {}, false, 9)}, {{"x", boxed(x)}, {"initial", 9}}},
         {"quantile", {ops::quantile(x, 0.3)}, {{"x", boxed(x)}, {"q", 0.3}}}});
}

TEST_CASE("functions of shapes give what their rows give") {
  const Tensor x = matrix();
  const Value xs = List{boxed(x), boxed(x)};
  check({{"concatenate", {ops::concatenate(Tensors{x, x})}, {{"xs", xs}}},
         {"tile", {ops::tile(x, {2, 1, 2})}, {{"x", boxed(x)}, {"repeats", List{2, 1, 2}}}},
         {"squeeze",
          {ops::squeeze(ops::expand_dims(x, ops::Axes{0, 3}), ops::Axes{0, 3})},
          {{"x", boxed(ops::reshape(x, {1, 2, 3, 1}))}, {"axis", List{0, 3}}}},
         {"split", ops::split(x, 3, 1), {{"x", boxed(x)}, {"indices_or_sections", 3}, {"axis", 1}}},
         {"split",
          ops::split_at(x, {1}, 1),
          {{"x", boxed(x)}, {"indices_or_sections", List{1}}, {"axis", 1}}},
         {"repeat", {ops::repeat(x, 2)}, {{"x", boxed(x)}, {"repeats", 2}}},
         {"flip", {ops::flip(x)}, {{"x", boxed(x)}}},
         {"roll", {ops::roll(x, {1})}, {{"x", boxed(x)}, {"shift", 1}}},
         {"pad",
          {ops::pad(x, ops::PadWidths{{{1, 0}, {0, 2}}}, "edge")},
          {{"x", boxed(x)}, {"pad_width", List{List{1, 0}, List{0, 2}}}, {"mode", "edge"}}},
         {"eye", {ops::eye(3, 4, 1)}, {{"N", 3}, {"M", 4}, {"k", 1}}},
         {"arange", {ops::arange(1, 7, 2)}, {{"start", 1}, {"stop", 7}, {"step", 2}}},
         {"arange", {ops::arange(1, 2, 0.5)}, {{"start", 1}, {"stop", 2}, {"step", 0.5}}},
         {"full",
          {ops::full({2, 3}, floats({1, 2, 3}, {3}))},
          {{"shape", List{2, 3}}, {"fill_value", boxed(floats({1, 2, 3}, {3}))}}},
         {"linspace", {ops::linspace(0, 1, 5)}, {{"start", 0}, {"stop", 1}, {"num", 5}}}});
}

TEST_CASE("functions of products give what their rows give") {
  const Tensor a = booleans(), b = other_booleans(), x = matrix();
  const Tensor stack = ops::reshape(ops::arange(12, DType::float32), {2, 3, 2});
  const Tensor kernel = ops::reshape(ops::arange(9, DType::float32), {1, 3, 1, 3});
  const Tensor first = ops::transpose(images(), {0, 3, 1, 2});
  CHECK(ops::matmul(a, b).dtype() == DType::boolean);
  CHECK(ops::dot(x, stack).shape() == Shape{2, 2, 2});
  check({{"matmul", {ops::matmul(a, b)}, {{"x1", boxed(a)}, {"x2", boxed(b)}}},
         {"dot", {ops::dot(x, stack)}, {{"x1", boxed(x)}, {"x2", boxed(stack)}}},
         {"einsum",
          {ops::einsum("ij,ik,il->jkl", Tensors{x, x, x})},
          {{"subscripts", "ij,ik,il->jkl"}, {"operands", List{boxed(x), boxed(x), boxed(x)}}}},
         {"tensordot",
          {ops::tensordot(x, ops::reshape(stack, {3, 4}), 1)},
          {{"x1", boxed(x)}, {"x2", boxed(ops::reshape(stack, {3, 4}))}, {"axes", 1}}},
         {"conv",
          {ops::conv(first, kernel, {1}, ops::Padding::same, {1}, {},
                     ops::DataFormat::channels_first)},
          {{"inputs", boxed(first)},
           {"kernel", boxed(kernel)},
           {"padding", "same"},
           {"data_format", "channels_first"}}},
         {"max_pool",
          {ops::max_pool(images(), {2})},
          {{"inputs", boxed(images())}, {"pool_size", 2}}},
         {"dot_product_attention",
          {ops::dot_product_attention(images(), images(), images(), {}, {}, 0.5, true)},
          {{"query", boxed(images())},
           {"key", boxed(images())},
           {"value", boxed(images())},
           {"scale", 0.5},
           {"is_causal", true}}}});
}

TEST_CASE("functions of linear algebra give what their rows give") {
  const Tensor a = floats({4, 1, 0, 1, 3, 1, 0, 1, 2}, {3, 3}), x = matrix();
  const Tensor b = floats({1, 2, 3}, {3}), singular = floats({1, 2, 2, 4}, {2, 2});
  const auto [w, v] = ops::eigh(a);
  const auto [values, vectors] = ops::eig(a);
  const auto [sign, log] = ops::slogdet(a);
  const auto [lu, rows] = ops::lu_factor(a);
  const ops::QrResult qr = ops::qr(x, "complete");
  const ops::SvdResult svd = ops::svd(x, true), alone = ops::svd(x, true, false);
  CHECK(svd.vt.shape() == Shape{3, 3});
  CHECK((!alone.u && !alone.vt));
  check({{"solve", {ops::solve(a, b)}, {{"a", boxed(a)}, {"b", boxed(b)}}},
         {"solve_triangular",
          {ops::solve_triangular(a, b, true)},
          {{"a", boxed(a)}, {"b", boxed(b)}, {"lower", true}}},
         {"inv", {ops::inv(a)}, {{"x", boxed(a)}}},
         {"pinv", {ops::pinv(x)}, {{"x", boxed(x)}}},
         {"lstsq", {ops::lstsq(x, floats({1, 2}, {2}))}, {{"a", boxed(x)}, {"b", List{1, 2}}}},
         {"det", {ops::det(a)}, {{"x", boxed(a)}}},
         {"logdet", {ops::logdet(a)}, {{"x", boxed(a)}}},
         {"slogdet", {sign, log}, {{"x", boxed(a)}}},
         {"lu_factor", {lu, rows}, {{"x", boxed(a)}}},
         {"cholesky", {ops::cholesky(a, true)}, {{"x", boxed(a)}, {"upper", true}}},
         {"cholesky_inverse", {ops::cholesky_inverse(a)}, {{"x", boxed(a)}}},
         {"eigh", {w, v}, {{"x", boxed(a)}}},
         {"eig", {values, vectors}, {{"x", boxed(a)}}},
         {"qr", {qr.q, qr.r}, {{"x", boxed(x)}, {"mode", "complete"}}},
         {"svd", {svd.u, svd.s, svd.vt}, {{"x", boxed(x)}}},
         {"svd", {alone.s}, {{"x", boxed(x)}, {"compute_uv", false}}},
         {"matrix_rank", {ops::matrix_rank(singular)}, {{"x", boxed(singular)}}},
         {"norm", {ops::norm(x, {}, false, "nuc")}, {{"x", boxed(x)}, {"ord", "nuc"}}},
         {"norm",
          {ops::norm(x, {1}, true, 3)},
          {{"x", boxed(x)}, {"ord", 3}, {"axis", 1}, {"keepdims", true}}}});
  CHECK_THROWS_WITH(ops::qr(x, "full"), "qr: mode must be 'reduced' or 'complete', got 'full'");
  CHECK_THROWS_WITH(ops::eig(floats({kInfinity}, {1, 1})), "eig: the matrix is not finite");
  CHECK_THROWS_WITH(ops::det(x), "det: expected square matrices, got shape (2, 3)");
}

TEST_CASE("Fourier transforms give what their rows give") {
  const Tensor re = matrix(), im = re * 2, signal = ops::arange(24, DType::float32);
  const Tensors pair{re, im};
  const Value complex_pair = List{boxed(re), boxed(im)};
  const auto tensors_of = [](const std::tuple<Tensor, Tensor>& x) {
    return Tensors{std::get<0>(x), std::get<1>(x)};
  };
  const Dict frame_options{{"sequence_length", 4}, {"sequence_stride", 2}, {"fft_length", 6}};
  const auto with_frames = [&](Dict arguments) {
    for (const DictEntry& entry : frame_options) arguments.set(entry.key, entry.value);
    return arguments;
  };
  const Tensors spectra = tensors_of(ops::stft(signal, 4, 2, 6));
  const Value boxed_spectra = List{boxed(spectra[0]), boxed(spectra[1])};
  check({{"fft", tensors_of(ops::fft(pair)), {{"x", complex_pair}}},
         {"fft2", tensors_of(ops::fft2(pair)), {{"x", complex_pair}}},
         {"ifft2", tensors_of(ops::ifft2(pair)), {{"x", complex_pair}}},
         {"rfft", tensors_of(ops::rfft(re, 5)), {{"x", boxed(re)}, {"fft_length", 5}}},
         {"irfft", {ops::irfft(pair)}, {{"x", complex_pair}}},
         {"stft", spectra, with_frames({{"x", boxed(signal)}})},
         {"stft", tensors_of(ops::stft(signal, 4, 2, 6, std::nullopt, false)),
          with_frames({{"x", boxed(signal)}, {"window", Value()}, {"center", false}})},
         {"istft",
          {ops::istft(spectra, 4, 2, 6, 20)},
          with_frames({{"x", boxed_spectra}, {"length", 20}})},
         {"istft",
          {ops::istft(spectra, 4, 2, 6, {}, floats({1, 2, 2, 1}, {4}))},
          with_frames({{"x", boxed_spectra}, {"window", List{1, 2, 2, 1}}})}});
  CHECK_THROWS_WITH(ops::stft(signal, 4, 2, 6, "hanning"),
                    "window must be 'hann', 'hamming', values or null, got \"hanning\"");
}

TEST_CASE("functions of images give what their rows give") {
  namespace image = ops::image;
  const Tensor x = images() / 48, first = ops::transpose(x, {0, 3, 1, 2});
  const Tensor shift = floats({1, 0, 0.5f, 0, 1, -1, 0, 0}, {8});
  const Tensor start = floats({0, 0, 3, 0, 0, 3, 3, 3}, {4, 2}), end = start * 0.5 + 0.5;
  const Tensor rows = floats({0.5f, 1, 2, 2.5f}, {1, 2, 2}), halves = floats({0.5f, 2}, {2});
  const Tensor positions = floats({0.5f, -1, 1, 2.5f}, {2, 2});
  const auto channels_first = ops::DataFormat::channels_first;
  const Dict images_argument{{"images", boxed(x)}};
  const auto with_images = [&](Dict arguments) {
    arguments.set("images", boxed(x));
    return arguments;
  };
  check(
      {{"image.resize",
        {image::resize(x, {7, 2}, {.interpolation = "bicubic", .antialias = true})},
        with_images({{"size", List{7, 2}}, {"interpolation", "bicubic"}, {"antialias", true}})},
       {"image.resize",
        {image::resize(first, {2, 6},
                       {.pad_to_aspect_ratio = true, .fill_value = 2, .format = channels_first})},
        {{"images", boxed(first)},
         {"size", List{2, 6}},
         {"pad_to_aspect_ratio", true},
         {"fill_value", 2},
         {"data_format", "channels_first"}}},
       {"image.scale_and_translate",
        {image::scale_and_translate(x, {1, 3, 4, 3}, halves, halves, {1, 2}, "linear")},
        with_images({{"output_shape", List{1, 3, 4, 3}},
                     {"scale", boxed(halves)},
                     {"translation", boxed(halves)},
                     {"spatial_dims", List{1, 2}},
                     {"method", "linear"}})},
       {"image.pad_images",
        {image::pad_images(x, {.top = 1, .left = 2, .target_height = 7, .target_width = 9})},
        with_images(
            {{"top_padding", 1}, {"left_padding", 2}, {"target_height", 7}, {"target_width", 9}})},
       {"image.crop_images",
        {image::crop_images(x, {.top = 1, .left = 2, .bottom = 0, .right = 1})},
        with_images({{"top_cropping", 1},
                     {"left_cropping", 2},
                     {"bottom_cropping", 0},
                     {"right_cropping", 1}})},
       {"image.rgb_to_grayscale", {image::rgb_to_grayscale(x)}, images_argument},
       {"image.rgb_to_hsv", {image::rgb_to_hsv(x)}, images_argument},
       {"image.hsv_to_rgb", {image::hsv_to_rgb(x)}, images_argument},
       {"image.gaussian_blur", {image::gaussian_blur(x)}, images_argument},
       {"image.sobel_edges", {image::sobel_edges(x)}, images_argument},
       {"image.ssim",
        {image::ssim(x, x * x, 1, 3)},
        {{"image1", boxed(x)}, {"image2", boxed(x * x)}, {"filter_size", 3}}},
       {"image.map_coordinates",
        {image::map_coordinates(matrix(), positions, 1, "wrap")},
        {{"inputs", boxed(matrix())},
         {"coordinates", boxed(positions)},
         {"order", 1},
         {"fill_mode", "wrap"}}},
       {"image.sample",
        {image::sample(x, rows, rows)},
        with_images({{"rows", boxed(rows)}, {"columns", boxed(rows)}})},
       {"image.affine_transform",
        {image::affine_transform(x, shift, "nearest", "reflect")},
        with_images(
            {{"transform", boxed(shift)}, {"interpolation", "nearest"}, {"fill_mode", "reflect"}})},
       {"image.perspective_transform",
        {image::perspective_transform(x, start, end)},
        with_images({{"start_points", boxed(start)}, {"end_points", boxed(end)}})},
       {"image.homography",
        {image::homography(start, end)},
        {{"start_points", boxed(start)}, {"end_points", boxed(end)}}}});
}

TEST_CASE("functions of bounding boxes give what their rows give") {
  namespace bounding_boxes = ops::bounding_boxes;
  const Tensor x = floats({1, 2, 5, 9, -1, 0, 4, 3}, {2, 4}), anchors = x + 1;
  const auto with_boxes = [&](Dict arguments) {
    arguments.set("boxes", boxed(x));
    return arguments;
  };
  const auto [cut, again] = bounding_boxes::clip_to_image_size(x, {}, 6, 7);
  check({{"bounding_boxes.convert_format",
          {bounding_boxes::convert_format(x, "xyxy", "rel_center_xywh", 10, 20)},
          with_boxes(
              {{"source", "xyxy"}, {"target", "rel_center_xywh"}, {"height", 10}, {"width", 20}})},
         {"bounding_boxes.clip_to_image_size",
          {cut, again},
          with_boxes({{"height", 6}, {"width", 7}})},
         {"bounding_boxes.crop",
          {bounding_boxes::crop(x, 1, 2, 5, 6)},
          with_boxes({{"top", 1}, {"left", 2}, {"height", 5}, {"width", 6}})},
         {"bounding_boxes.pad",
          {bounding_boxes::pad(x, 1, 2)},
          with_boxes({{"top", 1}, {"left", 2}})},
         {"bounding_boxes.affine_transform",
          {bounding_boxes::affine_transform(x, {.angle = 30, .translate_x = 0.25, .shear_y = 5}, 10,
                                            20)},
          with_boxes({{"angle", 30},
                      {"translate_x", 0.25},
                      {"translate_y", 0},
                      {"scale", 1},
                      {"shear_x", 0},
                      {"shear_y", 5},
                      {"height", 10},
                      {"width", 20}})},
         {"bounding_boxes.encode_box_to_deltas",
          {bounding_boxes::encode_box_to_deltas(anchors, x, "xyxy", "xyxy",
                                                {.variance = floats({1, 2, 3, 4}, {4})})},
          with_boxes({{"anchors", boxed(anchors)},
                      {"anchor_format", "xyxy"},
                      {"box_format", "xyxy"},
                      {"variance", List{1, 2, 3, 4}}})},
         {"bounding_boxes.decode_deltas_to_boxes",
          {bounding_boxes::decode_deltas_to_boxes(anchors, x * 0.1, "xyxy", "yxyx")},
          {{"anchors", boxed(anchors)},
           {"boxes_delta", boxed(x * 0.1)},
           {"anchor_format", "xyxy"},
           {"box_format", "yxyx"}}},
         {"bounding_boxes.compute_iou",
          {bounding_boxes::compute_iou(x, anchors, "xyxy", -2)},
          {{"boxes1", boxed(x)},
           {"boxes2", boxed(anchors)},
           {"bounding_box_format", "xyxy"},
           {"use_masking", true},
           {"mask_val", -2}}},
         {"bounding_boxes.compute_ciou",
          {bounding_boxes::compute_ciou(x, anchors, "xyxy")},
          {{"boxes1", boxed(x)}, {"boxes2", boxed(anchors)}, {"bounding_box_format", "xyxy"}}}});
}
