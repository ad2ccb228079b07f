// Images: files read in each colour mode, resizing compared with Keras and Pillow, and arrays.
#include "crescent/data/images.h"

#include <catch2/catch.hpp>

#include "crescent/io/format.h"
#include "distance.h"
#include "folder.h"

using namespace crescent;
using Catch::Contains;

namespace {

using Doubles = std::vector<double>;

/// An image of one row of four grey pixels.
const Tensor kLine = Tensor::from(std::vector<uint8_t>{0, 100, 200, 40}, {1, 4, 1});

Doubles resized_as_pillow(int64_t width, const std::string& filter) {
  return resize_as_pillow(kLine, whole_image(kLine), {1, width}, filter).to_vector();
}
Doubles resized_as_tensorflow(int64_t width, const std::string& filter) {
  return resize_as_tensorflow(kLine, whole_image(kLine), {1, width}, filter).to_vector();
}

}  // namespace

TEST_CASE("Pillow's filters widen where an image shrinks") {
  CHECK(resized_as_pillow(2, "nearest") == Doubles{100, 40});
  CHECK(resized_as_pillow(2, "box") == Doubles{50, 120});
  CHECK(resized_as_pillow(2, "bilinear") == Doubles{71, 117});
  CHECK(resized_as_pillow(8, "bilinear") == Doubles{0, 25, 75, 125, 175, 160, 80, 40});
  CHECK_THROWS_WITH(resized_as_pillow(2, "area"), Contains("Invalid interpolation method area"));
}

TEST_CASE("TensorFlow's filters stay as wide as they are and give fractions") {
  CHECK(resized_as_tensorflow(2, "bilinear") == Doubles{50, 120});
  CHECK(resized_as_tensorflow(1, "bilinear") == Doubles{150});
  CHECK(farthest(resized_as_tensorflow(3, "area"), Doubles{25, 150, 80}) < 1e-4);
  CHECK(resized_as_tensorflow(8, "bilinear") == Doubles{0, 25, 75, 125, 175, 160, 80, 40});
  CHECK_THROWS_WITH(check_tensorflow_filter("bilinaer"), Contains("did you mean 'bilinear'?"));
  CHECK_NOTHROW(check_tensorflow_filter("mitchellcubic"));
}

TEST_CASE("pixels beyond a region count for Pillow alone") {
  const ImageRegion middle_region{0, 1, 1, 2};
  CHECK(resize_as_pillow(kLine, middle_region, {1, 4}, "bilinear").to_vector() ==
        Doubles{75, 125, 175, 160});
  CHECK(resize_as_tensorflow(kLine, middle_region, {1, 4}, "bilinear").to_vector() ==
        Doubles{100, 125, 175, 200});
}

TEST_CASE("regions have the proportions of the target") {
  const Tensor image({DType::uint8, {4, 10, 3}});
  const ImageRegion middle_region = central_region(image, {2, 2});
  CHECK((middle_region.top == 0 && middle_region.left == 3 && middle_region.height == 4 &&
         middle_region.width == 4));
  CHECK(padded_to_aspect_ratio(image, {2, 2}).shape() == Shape{10, 10, 3});
  const Tensor padded_line = padded_to_aspect_ratio(kLine, {3, 4}).view({12});
  CHECK(padded_line.to_vector() == Doubles{0, 0, 0, 0, 0, 100, 200, 40, 0, 0, 0, 0});
}

TEST_CASE("no image becomes one without pixels") {
  for (const ImageSize size : {ImageSize{0, 0}, ImageSize{0, 2}, ImageSize{2, -1}}) {
    CHECK_THROWS_WITH(smart_resize(kLine, size), Contains("expected a size of at least (1, 1)"));
    CHECK_THROWS_WITH(padded_to_aspect_ratio(kLine, size), Contains("a size of at least (1, 1)"));
    CHECK_THROWS_WITH(resize_as_pillow(kLine, whole_image(kLine), size, "box"),
                      Contains("a size of at least (1, 1)"));
  }
}

TEST_CASE("images of a batch are resized one by one") {
  const Tensor images = Tensor::from<float>({0, 100, 200, 40, 0, 1, 2, 3}, {2, 1, 4, 1});
  const Tensor resized = smart_resize(images, {1, 2});
  CHECK(resized.shape() == Shape{2, 1, 2, 1});
  CHECK(resized.to_vector() == Doubles{100, 200, 1, 2});
  CHECK(smart_resize(images, {1, 2}, "bilinear", "channels_first").shape() == Shape{2, 1, 1, 2});
  CHECK_THROWS_WITH(smart_resize(images.view({8}), {1, 2}),
                    Contains("incorrect rank, of shape (8,)"));
  CHECK_THROWS_WITH(smart_resize(images, {1, 2}, "bilinear", "first"), Contains("got \"first\""));
}

TEST_CASE("arrays become images and images arrays") {
  const Tensor pixel_values = Tensor::from<float>({-1, 0, 1}, {1, 3, 1});
  CHECK(array_to_image(pixel_values).to_vector() == Doubles{0, 127, 255});
  CHECK(array_to_image(pixel_values).dtype() == DType::uint8);
  CHECK(array_to_image(Tensor::from<float>({1, 300}, {1, 2, 1}), "channels_last", false).dtype() ==
        DType::int32);
  CHECK(image_to_array(kLine.view({1, 4})).shape() == Shape{1, 4, 1});
  CHECK(image_to_array(kLine, "channels_first").shape() == Shape{1, 1, 4});
  CHECK(image_to_array(kLine, "channels_last", DType::float64).dtype() == DType::float64);
  CHECK_THROWS_WITH(array_to_image(kLine.view({4})), Contains("to have rank 3 (single image)"));
  CHECK_THROWS_WITH(array_to_image(kLine.view({1, 2, 2})), "Unsupported channel number: 2");
  CHECK_THROWS_WITH(image_to_array(kLine.view({4})), "Unsupported image shape: (4,)");
}

TEST_CASE("images are saved, and loaded in the colours and the size that are asked for") {
  const Folder folder;
  const std::string path = folder.path("red.png");
  save_image(path, Tensor::from<float>({255, 0, 0, 0, 255, 0}, {1, 2, 3}), {.scale = false});
  CHECK(load_image(path).to_vector() == Doubles{255, 0, 0, 0, 255, 0});
  CHECK(load_image(path, {.color_mode = "rgba"}).to_vector() ==
        Doubles{255, 0, 0, 255, 0, 255, 0, 255});
  CHECK(load_image(path, {.color_mode = "grayscale"}).to_vector() == Doubles{76, 150});
  CHECK(load_image(path, {.target_size = ImageSize{2, 2}}).shape() == Shape{2, 2, 3});
  CHECK(load_image(path, {.target_size = ImageSize{1, 1}, .keep_aspect_ratio = true}).to_vector() ==
        Doubles{255, 0, 0});
  CHECK_THROWS_WITH(load_image(path, {.color_mode = "cmyk"}),
                    Contains("Received: color_mode=cmyk"));
  CHECK_THROWS_WITH(save_image(folder.path("x.png"), kLine, {.data_format = "last"}),
                    Contains("got \"last\""));
  write_arrays(folder.path("a.npy"), {{"", Tensor::from<float>({1, 2}, {2})}});
  CHECK_THROWS_WITH(read_image(folder.path("a.npy")), Contains("holds no image but an array"));
}
