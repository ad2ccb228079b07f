// The graphics protocol of kitty: https://sw.kovidgoyal.net/kitty/graphics-protocol/
#include "crescent/base/error.h"
#include "targets/base64.h"
#include "targets/graphics.h"
#include "targets/png.h"

namespace crescent::pictures {

std::string kitty_of(const Raster& raster) {
  constexpr size_t kChunkBytes = 4096;
  const std::string encoded_png = base64(encode_png(raster.rgb, raster.rows, raster.columns));
  std::string text;
  for (size_t i = 0; i < encoded_png.size(); i += kChunkBytes) {
    const bool has_more = i + kChunkBytes < encoded_png.size();
    text += concat("\033_G", i == 0 ? "a=T,f=100,q=2," : "", "m=", has_more ? 1 : 0, ";",
                   encoded_png.substr(i, kChunkBytes), "\033\\");
  }
  return text + "\n";
}

}  // namespace crescent::pictures
