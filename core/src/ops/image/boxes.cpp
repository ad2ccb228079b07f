// Conversion of bounding boxes between formats, and their transformation with the image.
#include "ops/image/boxes.h"

#include <algorithm>
#include <numbers>

namespace crescent::ops::bounding_boxes {
namespace {

/// The meaning of the last two numbers of a box, which follow a corner or the centre: the opposite
/// corner, the size of the box from the corner on, or its size around the centre.
enum class BoxExtent { corner, size, size_around_middle };

struct BoxFormat {
  const char* name;
  bool rows_first;  ///< whether y comes before x and height before width
  BoxExtent extent;
  bool is_relative;  ///< whether the numbers are fractions of the image size
};

constexpr BoxFormat kFormats[] = {
    {"xyxy", false, BoxExtent::corner, false},
    {"yxyx", true, BoxExtent::corner, false},
    {"xywh", false, BoxExtent::size, false},
    {"center_xywh", false, BoxExtent::size_around_middle, false},
    {"center_yxhw", true, BoxExtent::size_around_middle, false},
    {"rel_xyxy", false, BoxExtent::corner, true},
    {"rel_yxyx", true, BoxExtent::corner, true},
    {"rel_xywh", false, BoxExtent::size, true},
    {"rel_center_xywh", false, BoxExtent::size_around_middle, true},
};

const BoxFormat& box_format(const char* option, std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::string> format_names;
  for (const BoxFormat& format : kFormats) {
    if (name == format.name) return format;
    format_names.emplace_back(format.name);
  }
  fail("bounding_boxes: Invalid ", option, " format '", name,
       "'. Supported formats: ", join(format_names), did_you_mean(name, format_names));
}

Edges edges_in(const Tensor& boxes, const BoxFormat& format) {
  Edges e = edges_of(boxes);
  if (format.rows_first) std::swap(e[0], e[1]), std::swap(e[2], e[3]);
  if (format.extent == BoxExtent::corner) return e;
  if (format.extent == BoxExtent::size) return {e[0], e[1], e[0] + e[2], e[1] + e[3]};
  const Tensor half_width = e[2] / 2.0, half_height = e[3] / 2.0;
  return {e[0] - half_width, e[1] - half_height, e[0] + half_width, e[1] + half_height};
}

Tensor boxes_from_edges(const Edges& edges, const BoxFormat& format) {
  Edges e = edges;
  if (format.extent != BoxExtent::corner) {
    const Tensor box_width = e[2] - e[0], box_height = e[3] - e[1];
    if (format.extent == BoxExtent::size_around_middle)
      e[0] = e[0] + box_width / 2.0, e[1] = e[1] + box_height / 2.0;
    e[2] = box_width, e[3] = box_height;
  }
  if (format.rows_first) std::swap(e[0], e[1]), std::swap(e[2], e[3]);
  return concatenate(e, -1);
}

bool is_given(const Operand& size) { return size.tensor || size.number != 0; }

void expect_pixel_format(const char* name, const std::string& format) {
  if (format != kEdgeFormat)
    fail("bounding_boxes.", name, ": bounding_box_format must be 'xyxy', got '", format,
         "'; convert_format makes other formats 'xyxy'");
}

}  // namespace

void expect_boxes(const char* function, const Tensor& boxes) {
  if (boxes.rank() < 1 || boxes.dim(-1) != 4)
    fail("bounding_boxes.", function,
         ": `boxes` must be a tensor with the last dimension of 4. Received: boxes.shape=",
         boxes.shape());
}

bool is_relative(const std::string& format) {
  return box_format("bounding_box", format).is_relative;
}

Tensor converted_boxes(const Tensor& boxes, const std::string& source, const std::string& target,
                       const std::vector<int64_t>& image_shape) {
  if (!image_shape.empty() && image_shape.size() != 3)
    fail("bounding_boxes: image_shape must be (height, width, channels), got ", Value(image_shape));
  const auto size = [&](size_t i) { return Operand(image_shape.empty() ? 0 : image_shape[i]); };
  return convert_format(boxes, source, target, size(0), size(1));
}

Tensor convert_format(const Tensor& input, const std::string& source, const std::string& target,
                      const Operand& height, const Operand& width, DType dtype) {
  expect_boxes("convert_format", input);
  const BoxFormat &source_format = box_format("source", source),
                  &target_format = box_format("target", target);
  if ((source_format.is_relative || target_format.is_relative) &&
      !(is_given(height) && is_given(width)))
    fail(
        "convert_format() must receive `height` and `width` transforming between relative and "
        "absolute formats. convert_format() received source=`",
        source, "`, target=`", target, "`, but no height or no width");
  const Tensor boxes = cast(input, dtype);
  if (&source_format == &target_format) return boxes;
  Edges e = edges_in(boxes, source_format);
  if (source_format.is_relative != target_format.is_relative)
    for (size_t i = 0; i < 4; ++i) {
      const Operand& size = i % 2 == 0 ? width : height;
      e[i] = source_format.is_relative ? multiply(e[i], size) : divide(e[i], size);
    }
  return boxes_from_edges(e, target_format);
}

std::tuple<Tensor, Tensor> clip_to_image_size(const Tensor& boxes, const Tensor& labels,
                                              const Operand& height, const Operand& width,
                                              const std::string& format) {
  expect_boxes("clip_to_image_size", boxes);
  const bool is_relative = format == "rel_xyxy";
  if (!is_relative) {
    expect_pixel_format("clip_to_image_size", format);
    if (!is_given(height) || !is_given(width))
      fail(
          "bounding_boxes.clip_to_image_size: `height` and `width` must be set if "
          "`format='xyxy'`.");
  }
  Edges e = edges_of(boxes);
  for (size_t i = 0; i < 4; ++i) {
    const Operand upper_bound = is_relative ? Operand(1.0) : i % 2 == 0 ? width : height;
    e[i] = minimum(maximum(e[i], 0.0), upper_bound);
  }
  const Tensor clipped_boxes = concatenate(e, -1);
  if (!labels) return {clipped_boxes, clipped_boxes};
  const Tensor area = squeeze((e[2] - e[0]) * (e[3] - e[1]), -1);
  return {clipped_boxes, where(greater(area, 0), labels, -1)};
}

Tensor crop(const Tensor& boxes, const Operand& top, const Operand& left, const Operand& height,
            const Operand& width, const std::string& format) {
  expect_pixel_format("crop", format);
  expect_boxes("crop", boxes);
  Edges e = edges_of(boxes);
  for (size_t i = 0; i < 4; ++i) {
    const bool is_horizontal = i % 2 == 0;
    const Tensor moved_edge = subtract(e[i], is_horizontal ? left : top);
    e[i] = minimum(maximum(moved_edge, 0.0), is_horizontal ? width : height);
  }
  return concatenate(e, -1);
}

Tensor pad(const Tensor& boxes, const Operand& top, const Operand& left,
           const std::string& format) {
  expect_pixel_format("pad", format);
  expect_boxes("pad", boxes);
  Edges e = edges_of(boxes);
  for (size_t i = 0; i < 4; ++i) e[i] = add(e[i], i % 2 == 0 ? left : top);
  return concatenate(e, -1);
}

Tensor affine_transform(const Tensor& boxes, const AffineNumbers& numbers, const Operand& height,
                        const Operand& width, const std::string& format) {
  expect_pixel_format("affine_transform", format);
  expect_boxes("affine_transform", boxes);
  if (boxes.rank() != 2 && boxes.rank() != 3)
    fail("bounding_boxes.affine_transform: expected boxes (N, 4) or (batch, N, 4), got shape ",
         boxes.shape());
  const Tensor box_batch = floating(boxes.rank() == 2 ? expand_dims(boxes, 0) : boxes);
  const auto column_of = [&](const Operand& x) {  // (batch, 1), or (1, 1) for one number
    return reshape(cast(tensor_of(x), box_batch.dtype()), {-1, 1});
  };
  const auto negative_radians = [&](const Operand& degrees) {
    return column_of(degrees) * (-std::numbers::pi / 180);
  };
  const auto center_coordinate = [&](const Operand& fraction, const Tensor& last_pixel) {
    return is_given(fraction) ? column_of(fraction) * last_pixel : last_pixel * 0.5;
  };
  const Tensor right = column_of(width) - 1.0, bottom = column_of(height) - 1.0;
  const Tensor cx = center_coordinate(numbers.center_x, right),
               cy = center_coordinate(numbers.center_y, bottom);
  const Tensor x0 = cx - column_of(numbers.translate_x) * right,
               y0 = cy - column_of(numbers.translate_y) * bottom;
  const Tensor turn_angle = negative_radians(numbers.angle), sx = negative_radians(numbers.shear_x),
               sy = negative_radians(numbers.shear_y);
  const Tensor a = cos(turn_angle - sy) / cos(sy), c = sin(turn_angle - sy) / cos(sy);
  const Tensor shear_slope = tan(sx), scale = column_of(numbers.scale);
  const Tensor b = a * shear_slope + sin(turn_angle), d = cos(turn_angle) + c * shear_slope;
  const Tensor a0 = d * scale, a1 = negative(b) * scale, b0 = c * scale, b1 = a * scale;
  const Edges e = edges_of(box_batch);
  Tensors xs_of_corners, ys_of_corners;
  for (size_t x : {size_t{0}, size_t{2}})
    for (size_t y : {size_t{1}, size_t{3}}) {
      const Tensor px = squeeze(e[x], -1), py = squeeze(e[y], -1);
      xs_of_corners.push_back(a0 * px + a1 * py + (cx - a0 * x0 - a1 * y0));
      ys_of_corners.push_back(b0 * px + b1 * py + (cy - b0 * x0 - b1 * y0));
    }
  const Tensor xs = stack(xs_of_corners, -1), ys = stack(ys_of_corners, -1);
  const Tensor bounding_boxes =
      stack(Tensors{min(xs, {-1}), min(ys, {-1}), max(xs, {-1}), max(ys, {-1})}, -1);
  return boxes.rank() == 2 && bounding_boxes.dim(0) == 1 ? squeeze(bounding_boxes, 0)
                                                         : bounding_boxes;
}

}  // namespace crescent::ops::bounding_boxes
