// Images in other sizes. Two readings of a filter's name are in use: Pillow's, for 8 bit images,
// widens the filter where an image shrinks; that of datasets and layers does not, and gives
// fractions.
#pragma once
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent::lua {

/// A part of an image.
struct Box {
  int64_t top = 0, left = 0, height = 0, width = 0;
};
inline Box whole(const Tensor& image) { return {0, 0, image.dim(0), image.dim(1)}; }

/// The middle of an image that has the proportions of the target.
Box middle_of(const Tensor& image, int64_t height, int64_t width);
/// The image in the middle of zeros, in the proportions of the target.
Tensor padded_for(const Tensor& image, int64_t height, int64_t width);

/// As Pillow resizes: (height, width, channels) of uint8 or, 16 bits, int32.
Tensor pillow_resize(const Tensor& image, Box box, int64_t height, int64_t width,
                     const std::string& filter);

/// Fails where there is none of this name.
void check_plain_filter(const std::string& filter);
/// Fractions, float32; pixels are squares around their middles, and what is beyond the box does not
/// count (with Pillow it does).
Tensor plain_resize(const Tensor& image, Box box, int64_t height, int64_t width,
                    const std::string& filter);

}  // namespace crescent::lua
