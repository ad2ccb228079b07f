// The format "idx": the file format of the MNIST data set. Files may be compressed with gzip.
#include <unistd.h>

#include <bit>

#include "array_file.h"
#include "crescent/plugin.h"
#include "crescent/system/file.h"

namespace crescent::arrays {
namespace {

const FileType* idx_type(uint8_t code) {
  static const FileType u8{1, DType::uint8, 'u'}, i8{1, DType::int32, 'i'},
      i16{2, DType::int32, 'i'}, i32{4, DType::int32, 'i'}, f32{4, DType::float32, 'f'},
      f64{8, DType::float64, 'f'};
  switch (code) {
    case 0x08:
      return &u8;
    case 0x09:
      return &i8;
    case 0x0b:
      return &i16;
    case 0x0c:
      return &i32;
    case 0x0d:
      return &f32;
    case 0x0e:
      return &f64;
    default:
      return nullptr;
  }
}

FileArray idx_header(const std::string& path, std::string_view data) {
  auto byte_at = [&](size_t i) { return static_cast<uint8_t>(data[i]); };
  if (data.size() < 4 || byte_at(0) != 0 || byte_at(1) != 0)
    fail("'", path, "' is not an idx file: it starts with other bytes");
  const FileType* type = idx_type(byte_at(2));
  const size_t rank = byte_at(3);
  if (!type)
    fail("'", path, "': idx type ", static_cast<int>(byte_at(2)), " at offset 2 is unknown");
  if (rank > Shape::kMaxRank)
    fail("'", path, "': expected at most ", Shape::kMaxRank, " dimensions, got ", rank);
  const size_t values_offset = 4 + 4 * rank;
  if (data.size() < values_offset) fail("'", path, "' ends inside its header");
  std::vector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i) {
    const size_t offset = 4 + 4 * i;
    dims.push_back(int64_t{byte_at(offset)} << 24 | int64_t{byte_at(offset + 1)} << 16 |
                   int64_t{byte_at(offset + 2)} << 8 | byte_at(offset + 3));
  }
  return {*type, std::move(dims), values_offset, std::endian::native == std::endian::little};
}

bool is_gzipped(const std::string& path) {
  const Descriptor file(open_regular_file(path));
  char first_bytes[2];
  return read(file, first_bytes, sizeof first_bytes) == sizeof first_bytes &&
         first_bytes[0] == '\x1f' && first_bytes[1] == '\x8b';
}

}  // namespace

class Idx final : public Format, public ReadsArrays {
 public:
  static void describe(Schema<Idx>& s) {
    s.doc("MNIST's arrays, gzipped too.")
        .trait("endings", List{".idx", ".idx.gz", "-ubyte", "-ubyte.gz"});
  }
  Tensor read_array(const std::string& path, const std::string& name) override {
    require_no_name(path, name);
    return load(path, read_file_unpacked(path), idx_header);
  }
  /// A compressed file is read whole, because it cannot be mapped.
  Tensor open_array(const std::string& path, const std::string& name) override {
    if (is_gzipped(path)) return read_array(path, name);
    require_no_name(path, name);
    return open(path, idx_header, "read_idx");
  }
};

void add_idx(Registry& registry) { registry.add<Idx>("idx"); }

}  // namespace crescent::arrays
