// Layers that map images to images, with optional labels, bounding boxes and segmentation masks.
// Images are (batch, height, width, channels), with channels_first (batch, channels, height,
// width), or a single image without batch.
#pragma once
#include "bounding_boxes.h"

namespace crescent {

/// Converts the tensors of a call to a batch with channels last, and results back to the layout
/// that the images of the call have.
class BatchConverter {
 public:
  BatchConverter(const Tensor& image, bool channels_first)
      : is_single_image_(image.rank() == 3), channels_first_(channels_first) {}
  Tensor to_batch(const Tensor& x) const {
    const Tensor batch = add_batch_axis(x);
    return channels_first_ ? ops::transpose(batch, {0, 2, 3, 1}) : batch;
  }
  Tensor from_batch(const Tensor& x) const {
    return drop_batch_axis(channels_first_ ? ops::transpose(x, {0, 3, 1, 2}) : x);
  }
  /// Adds the batch axis, if the call has a single image, to a tensor that has no axis of channels.
  Tensor add_batch_axis(const Tensor& x) const {
    return is_single_image_ ? ops::expand_dims(x, 0) : x;
  }
  Tensor drop_batch_axis(const Tensor& x) const {
    return is_single_image_ ? ops::squeeze(x, 0) : x;
  }

 private:
  bool is_single_image_, channels_first_;
};

/// The inputs of an image layer, converted to a batch with channels last; inputs that were not
/// given are null.
struct ImageParts {
  Tensor images, labels, masks;
  std::optional<BoundingBoxes> boxes;  ///< boxes in the format of the layer
};

/// Applies f to masks as floating point numbers; the result has the dtype of the masks.
template <class F>
Tensor apply_as_floats(const Tensor& masks, F f) {
  const DType dtype = masks.dtype();
  const bool is_wide = dtype == DType::float32 || dtype == DType::float64;
  return ops::cast(f(is_wide ? masks : ops::cast(masks, DType::float32)), dtype);
}

class ImageLayer : public Layer {
 public:
  InputCount input_count() const final { return {1, 1}; }
  void configured() override {
    Layer::configured();
    InputSpec spec = InputSpec::with_min_ndim(3);
    spec.max_ndim = 4;
    set_input_specs({spec});
  }
  /// The input is the images; labels, bounding boxes and masks are arguments of the call. The
  /// results are the images, then those of labels, boxes, labels of boxes, and masks that were
  /// given.
  Tensors call(const Tensors& inputs, const Call& call) final {
    const BatchConverter batch_converter(inputs[0], data_format_ == "channels_first");
    ImageParts parts{batch_converter.to_batch(inputs[0]), {}, {}, {}};
    if (const Tensor labels = call.tensor("labels"))
      parts.labels = batch_converter.add_batch_axis(labels);
    if (const Value& boxes_value = call.argument("bounding_boxes"); !boxes_value.is_null())
      parts.boxes = boxes_in(boxes_value, batch_converter);
    if (const Tensor masks = call.tensor("segmentation_masks")) {
      if (masks.rank() != inputs[0].rank())
        fail("expected segmentation_masks with as many axes as the images, which have shape ",
             inputs[0].shape(), ", got shape ", masks.shape());
      parts.masks = batch_converter.to_batch(masks);
    }
    const ImageParts result = change_parts(std::move(parts), call);
    Tensors results{batch_converter.from_batch(result.images)};
    if (result.labels) results.push_back(batch_converter.drop_batch_axis(result.labels));
    if (result.boxes)
      for (const Tensor& tensor : {result.boxes->boxes, result.boxes->labels})
        results.push_back(batch_converter.drop_batch_axis(tensor));
    if (result.masks) results.push_back(batch_converter.from_batch(result.masks));
    return results;
  }

 protected:
  virtual ImageParts change_parts(ImageParts parts, const Call& call) = 0;

  /// Declares the inputs that may accompany images: labels, boxes, masks.
  template <class T>
  static void describe_companions(Schema<T>& s) {
    s.input("images", 0, "The images.")
        .argument("labels", Value(), "Labels of the images, returned as a result too.")
        .argument(
            "bounding_boxes", Value(),
            "A table of boxes (batch, count, 4) and labels (batch, count), returned as a result "
            "too: boxes follow their images, and a box that leaves the image gets the label -1.")
        .argument("segmentation_masks", Value(),
                  "Segmentation masks of the images, returned as a result too.")
        .keyword_only(true)
        .field("bounding_box_format", &ImageLayer::bounding_box_format_,
               "Format of the bounding boxes.")
        .choices({"xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", "rel_xyxy", "rel_yxyx",
                  "rel_xywh", "rel_center_xywh"})
        .omit_null()
        .keyword_only(false);
  }
  template <class T>
  static void describe_data_format(Schema<T>& s) {
    s.field("data_format", &ImageLayer::data_format_,
            "Position of the channels: \"channels_last\" or \"channels_first\".")
        .choices({"channels_last", "channels_first"});
  }
  /// Calls move(boxes) with the boxes in pixels (xyxy) of images of extent `old_extent`, cuts the
  /// results off at the edges of images of extent `new_extent`, and converts them back to the
  /// layer's format.
  template <class F>
  BoundingBoxes move_in_pixels(const BoundingBoxes& boxes, Extent old_extent, Extent new_extent,
                               F move) const {
    const std::string& format = *bounding_box_format_;
    return move(boxes.in_format(format, "xyxy", old_extent))
        .clipped_to(new_extent)
        .in_format("xyxy", format, new_extent);
  }

 private:
  BoundingBoxes boxes_in(const Value& boxes_value, const BatchConverter& batch_converter) const {
    if (!bounding_box_format_)
      fail(
          "You passed an input with a 'bounding_boxes' key, but you didn't specify a bounding box "
          "format. Pass a `bounding_box_format` argument to your ",
          class_name(), " layer, e.g. `bounding_box_format='xyxy'`.");
    const Dict* table = boxes_value.is_dict() ? &boxes_value.as_dict() : nullptr;
    const Value *boxes = table ? table->find("boxes") : nullptr,
                *labels = table ? table->find("labels") : nullptr;
    if (!boxes || !labels || table->size() != 2)
      fail(
          "Expected `bounding_boxes` argument to be a dict with keys 'boxes' and 'labels'. "
          "Received: bounding_boxes=",
          boxes_value);
    const BoundingBoxes result{batch_converter.add_batch_axis(Codec<Tensor>::decode(*boxes)),
                               batch_converter.add_batch_axis(Codec<Tensor>::decode(*labels))};
    const Shape &boxes_shape = result.boxes.shape(), &labels_shape = result.labels.shape();
    if (boxes_shape.rank() != 3 || boxes_shape[2] != 4 ||
        !labels_shape.compatible(boxes_shape.slice(0, 2)))
      fail(
          "expected bounding_boxes with boxes (batch, count, 4) and labels (batch, count), without "
          "the batch of a single image; got shapes ",
          result.boxes.shape(), " and ", result.labels.shape());
    return result;
  }

  std::optional<std::string> data_format_ = "channels_last", bounding_box_format_;
};

}  // namespace crescent
