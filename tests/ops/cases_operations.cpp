// Ops of plugins/operations; the cases call them by the names of their functions.
#include "crescent/layer/operation.h"
#include "ops/cases.h"

namespace crescent::test {
namespace {

/// The tensors among the results of an operation, called with the inputs as its first arguments.
Tensors call(const char* name, const Tensors& inputs, const Dict& options) {
  const auto operation = get<Operation>(Value(name));
  List boxed;
  for (const Tensor& x : inputs) boxed.push_back(Codec<Tensor>::encode(x));
  const Value result = (*operation)(operation->arguments(boxed, options));
  return Codec<Tensors>::decode(result);
}

/// A symmetric matrix with well-separated positive eigenvalues.
Tensor positive_definite(const Tensor& x) {
  const int64_t n = x.dim(-1);
  const Tensor scale = ops::cast(ops::arange(n) + 2, x.dtype());
  return ops::matmul(x, x, false, true) * 0.1 + ops::eye(n, n, x.dtype()) * scale * scale;
}

}  // namespace

std::vector<Case> operation_cases() {
  std::vector<Case> cases;
  auto add = [&](std::string name, auto f, std::vector<In> in, bool has_gradient = true,
                 Dtypes dtypes = Dtypes::wide) {
    cases.push_back({std::move(name), f, std::move(in), dtypes, has_gradient, 16});
  };
  const auto plain = [](const char* name, Dict options = {}) {
    return [name, options](const Tensors& x) { return call(name, x, options); };
  };
  /// An operation whose first input is made positive definite.
  const auto definite = [](const char* name, Dict options = {}) {
    return [name, options](const Tensors& x) {
      Tensors inputs = x;
      inputs[0] = positive_definite(x[0]);
      return call(name, inputs, options);
    };
  };
  add("solve", definite("solve"), {{{2, 3, 3}}, {{2, 3, 2}}});
  add("solve vector", definite("solve"), {{{3, 3}}, {{3}}});
  add("solve_triangular", definite("solve_triangular"), {{{3, 3}}, {{3, 2}}});
  add("solve_triangular lower", definite("solve_triangular", {{"lower", true}}),
      {{{2, 3, 3}}, {{2, 3, 2}}});
  add("inv", definite("inv"), {{{2, 3, 3}}});
  add("cholesky", definite("cholesky"), {{{2, 3, 3}}});
  add("cholesky upper", definite("cholesky", {{"upper", true}}), {{{4, 4}}});
  add("lu_factor",
      [](const Tensors& x) { return Tensors{call("lu_factor", {positive_definite(x[0])}, {})[0]}; },
      {{{2, 3, 3}}});
  add("lu_factor wide",
      [](const Tensors& x) {
        const Tensor system = ops::concatenate(Tensors{positive_definite(x[0]), x[1]}, -1);
        return Tensors{call("lu_factor", {system}, {})[0]};
      },
      {{{3, 3}}, {{3, 2}}});
  add("det", definite("det"), {{{2, 3, 3}}});
  add("logdet", definite("logdet"), {{{3, 3}}});
  add("eigh values",
      [](const Tensors& x) { return Tensors{call("eigh", {positive_definite(x[0])}, {})[0]}; },
      {{{3, 3}}});
  add("svd values", plain("svd", {{"compute_uv", false}}), {{{2, 4, 3}}});
  const auto add_parts = [&](const char* name, const char* description, Dict options,
                             const Shape& shape) {
    add(std::string(name) + " " + description, plain(name, std::move(options)), {{shape}});
  };
  /// Adds a case of svd. The singular vectors are squared, because their signs depend on the
  /// device.
  const auto svd = [&](const char* description, Dict options, const Shape& shape) {
    add(std::string("svd ") + description,
        [options](const Tensors& x) {
          const Tensors add_parts = call("svd", x, options);
          return Tensors{ops::square(add_parts[0]), add_parts[1], ops::square(add_parts[2])};
        },
        {{shape}});
  };
  svd("tall", {{"full_matrices", false}}, {2, 4, 3});
  svd("wide", {{"full_matrices", false}}, {1, 2, 4});
  svd("tall, completed", {}, {2, 4, 3});
  svd("wide, completed", {}, {1, 3, 4});
  svd("square", {}, {1, 3, 3});
  add_parts("qr", "square", {{"mode", "complete"}}, {1, 3, 3});
  add_parts("qr", "tall", {}, {2, 4, 3});
  add_parts("qr", "wide", {}, {2, 3, 5});
  add_parts("pinv", "tall", {}, {2, 4, 3});
  add_parts("pinv", "wide", {}, {1, 3, 5});
  add("lstsq", plain("lstsq"), {{{2, 4, 3}}, {{2, 4, 2}}});
  /// The coordinates are not integers, because bilinear interpolation is not differentiable at
  /// integers.
  add("image.sample", plain("image.sample", {{"fill_mode", "reflect"}}),
      {{{2, 4, 5, 3}}, {{2, 3, 3}, -3, 7}, {{2, 3, 3}, -3, 7}});
  add("image.sample constant", plain("image.sample", {{"fill_value", 0.5}}),
      {{{1, 4, 5, 2}}, {{1, 2, 6}, -2, 6}, {{1, 2, 6}, -2, 6}});
  add("image.sample nearest",
      plain("image.sample", {{"fill_mode", "wrap"}, {"interpolation", "nearest"}}),
      {{{2, 4, 5, 1}}, {{2, 4, 5}, -9, 9}, {{2, 4, 5}, -9, 9}}, false);
  const auto transformed = [&](const char* name, const In& transforms, Dict options) {
    add(name, plain("image.affine_transform", std::move(options)), {{{2, 4, 5, 3}}, transforms},
        true);
  };
  transformed("image.affine_transform", {{2, 8}, 0.31, 0.73}, {{"fill_mode", "mirror"}});
  transformed("image.affine_transform of one for all", {{1, 8}, 0.31, 0.73}, {});
  add(
      "image.affine_transform nearest",
      [plain](const Tensors& x) {
        const Tensor transforms = ops::concatenate(
            Tensors{ops::slice_axis(x[1], 1, 0, 6), ops::zeros({2, 2}, x[1].dtype())}, 1);
        return plain("image.affine_transform", {{"interpolation", "nearest"}})({x[0], transforms});
      },
      {{{2, 6, 5, 2}}, {{2, 8}, -1, 1}}, false);
  add("image.map_coordinates",
      plain("image.map_coordinates", {{"order", 1}, {"fill_mode", "nearest"}}),
      {{{4, 5}}, {{2, 3, 4}, -2, 6}});
  for (const char* method : {"bilinear", "bicubic", "lanczos3"})
    for (const bool antialias : {false, true})
      add(std::string("image.resize ") + method + (antialias ? " smoothed" : ""),
          plain("image.resize",
                {{"size", List{3, 9}}, {"interpolation", method}, {"antialias", antialias}}),
          {{{2, 7, 4, antialias ? 3 : 5}}});
  add("image.extract_patches", plain("image.extract_patches", {{"size", 2}}), {{{2, 5, 4, 3}}},
      true, Dtypes::numbers);
  add("image.extract_patches that overlap",
      plain("image.extract_patches", {{"size", List{3, 2}},
                                      {"strides", List{2, 1}},
                                      {"dilation_rate", List{1, 2}},
                                      {"padding", "same"}}),
      {{{2, 5, 4, 3}}});
  add("image.extract_patches_3d",
      plain("image.extract_patches_3d", {{"size", 2}, {"strides", 1}, {"padding", "same"}}),
      {{{1, 3, 2, 4, 2}}});
  add("unfold", plain("unfold", {{"kernel_size", 2}, {"padding", 1}, {"stride", List{1, 2}}}),
      {{{2, 3, 4, 5}}});
  add("fold",
      plain("fold",
            {{"output_size", List{4, 5}}, {"kernel_size", 2}, {"padding", 1}, {"stride", 2}}),
      {{{2, 12, 9}}});
  add("fft",
      [](const Tensors& x) {
        return Tensors(call("fft", {}, {{"x", Codec<Tensors>::encode(x)}}));
      },
      {{{2, 6}}, {{2, 6}}});
  add("rfft", plain("rfft"), {{{2, 8}}});
  for (const int length : {7, 8})
    add("irfft to " + std::to_string(length),
        [length](const Tensors& x) {
          return Tensors(
              call("irfft", {}, {{"x", Codec<Tensors>::encode(x)}, {"fft_length", length}}));
        },
        {{{2, 5}}, {{2, 5}}});
  add("segment_max", plain("segment_max", {{"num_segments", 3}}), {{{6, 2}}, indices({6}, 3)});
  add("segment_prod", plain("segment_prod", {{"num_segments", 4}}), {{{6}}, indices({6}, 3)});
  add("erfinv", plain("erfinv"), {unit({3, 4})});
  add("i0", plain("i0"), {{{3, 4}}});
  add("nextafter", plain("nextafter"), {{{3}}, {{3}}});
  add("view", plain("view", {{"dtype", "int32"}}), {{{3, 2}}}, false, Dtypes::one);
  const In pairs{{3, 2}, -2, 2, DType::float32};
  const auto of_complex = [&](const char* name, bool gives_complex) {
    add(
        name,
        [name, gives_complex](const Tensors& x) {
          const Tensor y = call(name, {ops::view_as_complex(x[0])}, {})[0];
          return Tensors{gives_complex ? ops::view_as_real(y) : y};
        },
        {pairs}, false, Dtypes::one);
  };
  for (const char* name : {"real", "imag", "angle", "abs"}) of_complex(name, false);
  for (const char* name : {"conj", "exp", "square", "reciprocal"}) of_complex(name, true);
  add(
      "polar",
      [](const Tensors& x) {
        return Tensors{ops::view_as_real(call("polar", {x[0], x[1]}, {})[0])};
      },
      {{{4}, 0, 2, DType::float32}, {{4}, -3, 3, DType::float32}}, false, Dtypes::one);
  add("rearrange",
      plain("rearrange", {{"pattern", "a (b c) d -> (d a) c b"}, {"axes_lengths", Dict{{"b", 2}}}}),
      {{{3, 4, 2}}}, true, Dtypes::numbers);
  add("sort rows", plain("sort"), {{{3, 300}}}, true, Dtypes::one);
  add("sort short rows", plain("sort"), {{{4, 21}}}, true, Dtypes::wide);
  add(
      "top_k of many",
      [](const Tensors& x) {
        return Tensors{call("top_k", x, {{"k", 3}})[0]};
      },
      {{{2, 500}}}, true, Dtypes::one);
  add("gcd", plain("gcd"), {indices({4}, 30), indices({4}, 30)}, false, Dtypes::one);
  add("cumprod", plain("cumprod", {{"axis", 1}}), {{{2, 5}}});
  add("cumprod of columns", plain("cumprod", {{"axis", 1}}), {{{2, 4, 3}}});
  add("roll", plain("roll", {{"shift", List{2, -1}}, {"axis", List{1, 2}}}), {{{2, 3, 4}}}, true,
      Dtypes::numbers);
  add("roll flat", plain("roll", {{"shift", 4}}), {{{2, 3}}}, true, Dtypes::numbers);
  add("rot90", plain("rot90"), {{{3, 4}}}, true, Dtypes::numbers);
  add("rot90 back", plain("rot90", {{"k", 3}, {"axes", List{1, 2}}}), {{{2, 3, 4}}}, true,
      Dtypes::numbers);
  add("diff", plain("diff", {{"n", 2}, {"axis", 1}}), {{{2, 5, 3}}}, true, Dtypes::numbers);
  add(
      "slice_update",
      [](const Tensors& x) {
        return Tensors(
            call("slice_update", {x[0]},
                 {{"start_indices", List{0, 1, 2}}, {"updates", Codec<Tensor>::encode(x[1])}}));
      },
      {{{2, 4, 5}}, {{1, 3, 2}}}, true, Dtypes::numbers);
  add("sort", plain("sort", {{"axis", 1}}), {{{4, 3}}});
  add("quantile", plain("quantile", {{"q", 0.3}, {"axis", 1}}), {{{3, 6}}});
  return cases;
}

}  // namespace crescent::test
