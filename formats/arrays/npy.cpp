// The format "npy": an array of NumPy.
#include <algorithm>
#include <bit>
#include <span>

#include "crescent/plugin.h"
#include "crescent/system/file.h"
#include "npy.h"

namespace crescent::arrays {
namespace {

/// The text that follows "'key':" in the header of an npy file.
std::string_view header_field(std::string_view header, std::string_view key,
                              const std::string& path) {
  const size_t key_position = header.find("'" + std::string(key) + "'");
  const size_t colon = key_position == header.npos ? key_position : header.find(':', key_position);
  if (colon == header.npos) fail("'", path, "': the npy header has no '", key, "'");
  std::string_view field_text = header.substr(colon + 1);
  field_text.remove_prefix(std::min(field_text.find_first_not_of(' '), field_text.size()));
  return field_text;
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
      {"f4", {4, DType::float32, 'f'}},  {"f8", {8, DType::float64, 'f'}},
      {"f2", {2, DType::float16, 'f'}},  {"i4", {4, DType::int32, 'i'}},
      {"i8", {8, DType::int64, 'i'}},    {"u1", {1, DType::uint8, 'u'}},
      {"b1", {1, DType::boolean, 'b'}},  {"i1", {1, DType::int8, 'i'}},
      {"i2", {2, DType::int16, 'i'}},    {"u2", {2, DType::int32, 'u'}},
      {"c8", {8, DType::complex64, 'c'}}};
  for (const auto& [name, type] : kTypes)
    if (descr.size() >= 4 && descr.substr(2, 2) == name) return type;
  fail("'", path, "': arrays of dtype ", descr.substr(0, 6), " cannot be read");
}

}  // namespace

namespace {

/// The header of an npy file, which is the text of a Python dictionary, and the offset of the first
/// byte after it.
std::pair<std::string_view, size_t> npy_header_text(const std::string& path,
                                                    std::string_view data) {
  if (data.size() < 10 || !data.starts_with("\x93NUMPY"))
    fail("'", path, "' is not an npy file: it starts with other bytes");
  auto byte_at = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(data[i])); };
  const bool has_long_header = byte_at(6) >= 2;
  const size_t header_offset = has_long_header ? 12 : 10;
  if (data.size() < header_offset) fail("'", path, "' ends inside its header");
  const size_t length =
      byte_at(8) | byte_at(9) << 8 | (has_long_header ? byte_at(10) << 16 | byte_at(11) << 24 : 0);
  if (data.size() - header_offset < length) fail("'", path, "' ends inside its header");
  return {data.substr(header_offset, length), header_offset + length};
}

}  // namespace

size_t npy_pickle_offset(const std::string& path, std::string_view data) {
  const auto [header, end] = npy_header_text(path, data);
  return header_field(header, "descr", path).starts_with("'|O") ? end : 0;
}

FileArray npy_header(const std::string& path, std::string_view data) {
  const auto [header, end] = npy_header_text(path, data);
  const std::string_view descr = header_field(header, "descr", path);
  const FileType type = npy_type(descr, path);
  std::vector<int64_t> dims = npy_shape(header_field(header, "shape", path), path);
  const bool is_fortran_order = header_field(header, "fortran_order", path).starts_with("True");
  const bool is_swapped = descr[1] == (std::endian::native == std::endian::little ? '>' : '<');
  if (is_swapped && type.kind == 'c')
    fail("'", path, "': complex numbers in the byte order of other machines cannot be read");
  const bool is_column_major = is_fortran_order && dims.size() > 1;
  if (is_column_major) std::reverse(dims.begin(), dims.end());
  return {type, std::move(dims), end, is_swapped, is_column_major};
}

std::string npy_prefix(const Tensor& tensor) {
  static const char* const kDescr[kDTypeCount] = {"f4", "f8", nullptr, "f2", "i4", "i8",
                                                  "u1", "b1", "i1",    "i2", "c8", nullptr};
  const char* descr = kDescr[static_cast<size_t>(tensor.dtype())];
  if (tensor.dtype() == DType::string) fail("a tensor of strings is not written as an array");
  if (!descr) fail("NumPy has no dtype ", tensor.dtype(), "; cast to float32 first");
  std::string dims;
  for (int64_t dim : tensor.shape()) dims += std::to_string(dim) + ", ";
  if (tensor.rank() > 1) dims.resize(dims.size() - 2);
  const char* order = size_of(tensor.dtype()) == 1                 ? "|"
                      : std::endian::native == std::endian::little ? "<"
                                                                   : ">";
  std::string header =
      concat("{'descr': '", order, descr, "', 'fortran_order': False, 'shape': (", dims, "), }");
  constexpr size_t kAlignment = 64, kPrefixBytes = 10;
  header.append(kAlignment - (kPrefixBytes + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(header.size() & 0xff);
  prefix += static_cast<char>(header.size() >> 8);
  return prefix + header;
}

namespace {

void write(const std::string& path, const Tensor& tensor) {
  const std::string prefix = npy_prefix(tensor);
  const std::span<const std::byte> pieces[] = {
      std::as_bytes(std::span(prefix)),
      {static_cast<const std::byte*>(tensor.raw()), tensor.bytes()}};
  replace_file(path, pieces);
}

}  // namespace

class Npy final : public Format, public ReadsArrays, public WritesArrays {
 public:
  static void describe(Schema<Npy>& s) {
    s.doc("Arrays of NumPy.")
        .trait("endings", List{".npy"})
        .trait("signatures", List{"934e554d5059"});
  }
  Tensor read_array(const std::string& path, const std::string& member) override {
    require_no_name(path, member);
    return load(path, read_file(path), npy_header);
  }
  Tensor open_array(const std::string& path, const std::string& member) override {
    require_no_name(path, member);
    return open(path, npy_header, "read_npy");
  }
  /// Writes `arrays`, which must contain exactly one array; the name of the array is not stored.
  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    if (arrays.size() != 1)
      fail("'", path, "': a file of format npy takes one array, got ", arrays.size());
    write(path, arrays.front().second);
  }
};

void add_idx(Registry& registry);
void add_npz(Registry& registry);
void add_pickle(Registry& registry);

CRESCENT_PLUGIN("arrays", CRESCENT_VERSION) {
  registry.add<Npy>("npy");
  add_npz(registry);
  add_pickle(registry);
  add_idx(registry);
}

}  // namespace crescent::arrays
