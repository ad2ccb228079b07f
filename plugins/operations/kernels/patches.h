// Patches of images, with the channels last, and images of patches.
#pragma once
#include "../shared/shared.h"

namespace crescent::operations {

/// Where patches are: a number for each spatial axis.
struct PatchGrid {
  std::vector<int64_t> size, strides, dilation;
  bool same = false;  ///< a patch at every stride, with zeros beyond the border

  auto fields() const { return std::tie(size, strides, dilation, same); }
  bool operator==(const PatchGrid& other) const { return fields() == other.fields(); }
  size_t hash() const;
};
std::string to_text(const PatchGrid& grid);

/// (batch, spatial..., channels) -> (batch, places..., size... * channels)
Tensor patches_of(const Tensor& images, const PatchGrid& grid);
/// The other way round, to images of these spatial sizes: where patches overlap they are added.
Tensor sum_of_patches(const Tensor& patches, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial);

/// Images (batch, channels, height, width) -> (batch, channels * size, places): the elements of all
/// patches that are at the same place of their patch lie beside each other.
Tensor columns_of(const Tensor& images, const PatchGrid& grid);
/// The other way round, as above.
Tensor sum_of_columns(const Tensor& columns, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial);

}  // namespace crescent::operations
