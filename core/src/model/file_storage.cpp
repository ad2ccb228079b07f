#include "model/file_storage.h"

#include <algorithm>

namespace crescent {
namespace {

class FileStorage final : public Storage {
 public:
  FileStorage(InputFile file, size_t swapped_width) : file_(std::move(file)), swapped_width_(swapped_width) { bytes_ = file_.size(); }
  void read(size_t offset, size_t count, void* target) const override {
    file_.read(offset, count, target);
    if (swapped_width_ > 1) swap_elements(static_cast<std::byte*>(target), count, swapped_width_);
  }
  std::string place() const override { return "'" + file_.path() + "'"; }

 private:
  InputFile file_;
  size_t swapped_width_;
};

template <size_t Width>
void swap_bytes(std::byte* data, size_t bytes) {
  for (size_t i = 0; i + Width <= bytes; i += Width) std::reverse(data + i, data + i + Width);
}

}  // namespace

void swap_elements(std::byte* data, size_t bytes, size_t width) {
  if (width == 2) swap_bytes<2>(data, bytes);
  if (width == 4) swap_bytes<4>(data, bytes);
  if (width == 8) swap_bytes<8>(data, bytes);
}

std::shared_ptr<Storage> file_storage(InputFile file, size_t swapped_width) {
  return std::make_shared<FileStorage>(std::move(file), swapped_width);
}

std::shared_ptr<Storage> file_storage(int descriptor, const std::string& path) { return file_storage(InputFile(descriptor, path)); }

}  // namespace crescent
