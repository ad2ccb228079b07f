// MNIST's idx files and NumPy's npy files.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "crescent/data.h"
#include "crescent/file.h"
#include "crescent/ops.h"
#include "data/file_storage.h"
#include "data/file_text.h"

namespace crescent {
namespace {

/// How a file holds its values.
struct FileType {
  size_t width;
  DType dtype;  ///< what it becomes
  char kind;    ///< 'u', 'i', 'f', 'b'
  bool converted() const { return width != size_of(dtype); }
};
struct FileArray {
  FileType type;
  std::vector<int64_t> dims;      ///< as they lie in the file
  size_t start;                   ///< of the values
  bool swapped, fortran = false;  ///< byte order of the other kind; axes reversed
};

/// The values of a whole file in memory, with conversion for types that we do not have.
Tensor load(const std::string& data, const FileArray& array) {
  const FileType& type = array.type;
  const Shape shape(array.dims);
  std::string bytes = data.substr(array.start, static_cast<size_t>(shape.size()) * type.width);
  if (array.swapped)
    swap_elements(reinterpret_cast<std::byte*>(bytes.data()), bytes.size(), type.width);
  if (!type.converted()) return Tensor::from_bytes(bytes.data(), bytes.size(), {type.dtype, shape});
  std::vector<int32_t> wide(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < wide.size(); ++i) {
    if (type.width == 1) wide[i] = static_cast<int8_t>(bytes[i]);
    int16_t half;
    std::memcpy(&half, bytes.data() + i * type.width, std::min<size_t>(type.width, 2));
    if (type.width == 2)
      wide[i] = type.kind == 'u' ? static_cast<int32_t>(static_cast<uint16_t>(half)) : half;
  }
  return Tensor::from(wide, shape);
}

/// Fails when the file has more or fewer bytes than its header says.
void check_size(const std::string& path, const FileArray& array, size_t file_size) {
  size_t bytes = array.type.width;
  for (int64_t dim : array.dims)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes))
      fail("'", path, "': the sizes in the file are too large");
  if (file_size - array.start != bytes)
    fail("'", path, "': expected ", bytes, " bytes of values for shape ", Shape(array.dims),
         ", got ", file_size - array.start);
}

using Header = FileArray(const std::string& path, std::string_view data);

Tensor open_file(const std::string& path, Header* header_of, const char* load_with) {
  InputFile file(path);
  constexpr size_t kLongestHeader = size_t{1} << 20;
  std::string start(std::min(file.size(), kLongestHeader), '\0');
  file.read(0, start.size(), start.data());
  if (start.starts_with("\x1f\x8b"))
    fail("'", path, "' is packed: unpack it with gunzip, or load it whole with ", load_with);
  const FileArray array = header_of(path, start);
  check_size(path, array, file.size());
  if (array.type.converted() || array.fortran)
    fail("'", path, "': values are stored in another type or order than in memory; load them with ",
         load_with);
  const size_t swapped_width = array.swapped ? array.type.width : 0;
  return Tensor::on(file_storage(std::move(file), swapped_width), array.start,
                    {array.type.dtype, Shape(array.dims)});
}

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
  const size_t start = 4 + 4 * rank;
  if (data.size() < start) fail("'", path, "' ends inside its header");
  std::vector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i) {
    const size_t at = 4 + 4 * i;
    dims.push_back(int64_t{byte_at(at)} << 24 | int64_t{byte_at(at + 1)} << 16 |
                   int64_t{byte_at(at + 2)} << 8 | byte_at(at + 3));
  }
  return {*type, std::move(dims), start, std::endian::native == std::endian::little};
}

}  // namespace

Tensor read_idx(const std::string& path) {
  const std::string data = read_file_unpacked(path);
  const FileArray array = idx_header(path, data);
  check_size(path, array, data.size());
  return load(data, array);
}

Tensor open_idx(const std::string& path) { return open_file(path, idx_header, "read_idx"); }

namespace {

/// The text after "'key':" in the header of an npy file.
std::string_view header_field(std::string_view header, std::string_view key,
                              const std::string& path) {
  const size_t at = header.find("'" + std::string(key) + "'");
  const size_t colon = at == header.npos ? at : header.find(':', at);
  if (colon == header.npos) fail("'", path, "': the npy header has no '", key, "'");
  std::string_view rest = header.substr(colon + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

std::vector<int64_t> npy_shape(std::string_view text, const std::string& path) {
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == text.npos)
    fail("'", path, "': the npy header has no shape");
  std::vector<int64_t> dims;
  int64_t value = -1;
  for (char c : text.substr(1, end)) {
    if (c >= '0' && c <= '9') {
      value = std::max<int64_t>(value, 0) * 10 + (c - '0');
      if (value > int64_t{1} << 48)
        fail("'", path, "': a dimension in the npy header is too large");
    } else {
      if (value >= 0) dims.push_back(value);
      value = -1;
    }
  }
  if (dims.size() > Shape::kMaxRank)
    fail("'", path, "': expected at most ", Shape::kMaxRank, " dimensions, got ", dims.size());
  return dims;
}

FileType npy_type(std::string_view descr, const std::string& path) {
  static const std::pair<const char*, FileType> kTypes[] = {
      {"f4", {4, DType::float32, 'f'}}, {"f8", {8, DType::float64, 'f'}},
      {"f2", {2, DType::float16, 'f'}}, {"i4", {4, DType::int32, 'i'}},
      {"i8", {8, DType::int64, 'i'}},   {"u1", {1, DType::uint8, 'u'}},
      {"b1", {1, DType::boolean, 'b'}}, {"i1", {1, DType::int32, 'i'}},
      {"i2", {2, DType::int32, 'i'}},   {"u2", {2, DType::int32, 'u'}}};
  for (const auto& [name, type] : kTypes)
    if (descr.size() >= 4 && descr.substr(2, 2) == name) return type;
  fail("'", path, "': arrays of dtype ", descr.substr(0, 6), " cannot be read");
}

FileArray npy_header(const std::string& path, std::string_view data) {
  if (data.size() < 10 || !data.starts_with("\x93NUMPY"))
    fail("'", path, "' is not an npy file: it starts with other bytes");
  auto byte_at = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(data[i])); };
  const bool long_header = byte_at(6) >= 2;
  const size_t start = long_header ? 12 : 10;
  if (data.size() < start) fail("'", path, "' ends inside its header");
  const size_t length =
      byte_at(8) | byte_at(9) << 8 | (long_header ? byte_at(10) << 16 | byte_at(11) << 24 : 0);
  if (data.size() - start < length) fail("'", path, "' ends inside its header");
  const std::string_view header = data.substr(start, length);
  const std::string_view descr = header_field(header, "descr", path);
  const FileType type = npy_type(descr, path);
  std::vector<int64_t> dims = npy_shape(header_field(header, "shape", path), path);
  const bool fortran = header_field(header, "fortran_order", path).starts_with("True");
  const bool swapped = descr[1] == (std::endian::native == std::endian::little ? '>' : '<');
  if (fortran) std::reverse(dims.begin(), dims.end());
  return {type, std::move(dims), start + length, swapped, fortran && dims.size() > 1};
}

}  // namespace

Tensor read_npy(const std::string& path) {
  const std::string data = read_file(path);
  const FileArray array = npy_header(path, data);
  check_size(path, array, data.size());
  const Tensor values = load(data, array);
  return array.fortran ? ops::transpose(values) : values;
}

Tensor open_npy(const std::string& path) { return open_file(path, npy_header, "read_npy"); }

void write_npy(const std::string& path, const Tensor& tensor) {
  static const char* const kDescr[kDTypeCount] = {"f4", "f8", nullptr, "f2",
                                                  "i4", "i8", "u1",    "b1"};
  const char* descr = kDescr[static_cast<size_t>(tensor.dtype())];
  if (!descr) fail("write_npy: NumPy has no dtype ", tensor.dtype(), "; cast to float32 first");
  std::string dims;
  for (int64_t dim : tensor.shape()) dims += std::to_string(dim) + ", ";
  if (tensor.rank() > 1) dims.resize(dims.size() - 2);
  const char* order = size_of(tensor.dtype()) == 1                 ? "|"
                      : std::endian::native == std::endian::little ? "<"
                                                                   : ">";
  std::string header =
      concat("{'descr': '", order, descr, "', 'fortran_order': False, 'shape': (", dims, "), }");
  constexpr size_t kAlignment = 64, kStart = 10;
  header.append(kAlignment - (kStart + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 0xff);
  start += static_cast<char>(header.size() >> 8);
  start += header;
  const std::span<const std::byte> pieces[] = {
      std::as_bytes(std::span(start)),
      {static_cast<const std::byte*>(tensor.raw()), tensor.bytes()}};
  replace_file(path, pieces);
}

}  // namespace crescent
