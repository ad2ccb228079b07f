#include "header.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <sstream>

#include "files/crc32c.h"
#include "files/pieces.h"

namespace crescent::safetensors {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kLengthBytes = sizeof(uint64_t), kAlignment = 8;
// the largest length of a header, the same as in the original implementation
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

struct NamedDType {
  const char* name;
  DType dtype;
};
constexpr NamedDType kNamedDTypes[] = {
    {"F32", DType::float32}, {"F64", DType::float64},  {"BF16", DType::bfloat16},
    {"F16", DType::float16}, {"I32", DType::int32},    {"I64", DType::int64},
    {"U8", DType::uint8},    {"BOOL", DType::boolean}, {"I8", DType::int8},
    {"I16", DType::int16},   {"C64", DType::complex64}};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  fail("'", path, "' is no safetensors file, or damaged: ", why, "; nothing was loaded");
}

DType dtype_of(const std::string& path, const std::string& name, const Value& type) {
  for (const NamedDType& named_dtype : kNamedDTypes)
    if (type == Value(named_dtype.name)) return named_dtype.dtype;
  fail("'", path, "': '", name, "': arrays of type ", type, " cannot be read");
}

std::vector<int64_t> numbers_of(const Value& list) {
  std::vector<int64_t> numbers;
  if (!list.is_list()) return {-1};
  for (const Value& number : list.as_list())
    numbers.push_back(number.is_int() ? number.as_int() : -1);
  return numbers;
}

/// The size of an array in bytes; fails for an invalid dimension or an overflow.
uint64_t bytes_of(const std::vector<int64_t>& dims, DType dtype, const std::string& path,
                  const std::string& name) {
  uint64_t bytes = size_of(dtype);
  bool is_valid = dims.size() <= Shape::kMaxRank;
  for (int64_t dim : dims)
    is_valid = is_valid && dim >= 0 &&
               !__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes) && !(bytes >> 62);
  if (!is_valid) refuse(path, concat("the shape of '", name, "' cannot be"));
  return bytes;
}

ArrayEntry entry_of(const std::string& path, const std::string& name, const Value& value,
                    size_t start, uint64_t* end) {
  if (!value.is_dict()) refuse(path, concat("'", name, "' is not described"));
  const Dict& dict = value.as_dict();
  const Value *type = dict.find("dtype"), *shape = dict.find("shape"),
              *offsets = dict.find("data_offsets");
  if (!type || !shape || !offsets) refuse(path, concat("'", name, "' is not described"));
  const DType dtype = dtype_of(path, name, *type);
  const std::vector<int64_t> dims = numbers_of(*shape), begin_and_end = numbers_of(*offsets);
  const uint64_t bytes = bytes_of(dims, dtype, path, name);
  if (begin_and_end.size() != 2 || begin_and_end[0] < 0 || begin_and_end[1] < begin_and_end[0] ||
      static_cast<uint64_t>(begin_and_end[1] - begin_and_end[0]) != bytes)
    refuse(path, concat("'", name, "' needs ", bytes, " bytes and has another number"));
  *end = static_cast<uint64_t>(begin_and_end[1]);
  return {name, {dtype, Shape(dims)}, start + static_cast<size_t>(begin_and_end[0])};
}

const char* code_of(DType dtype) {
  const auto named_dtype =
      std::find_if(std::begin(kNamedDTypes), std::end(kNamedDTypes),
                   [&](const NamedDType& type) { return type.dtype == dtype; });
  if (named_dtype == std::end(kNamedDTypes))
    fail("arrays of dtype ", dtype, " are not written as safetensors");
  return named_dtype->name;
}

/// The CRC-32C of an array's name, dtype, shape and bytes. `checksums` are those of the pieces
/// (files/pieces.h) into which the bytes are divided.
uint32_t checksum_of(const std::string& name, const TensorSpec& spec,
                     const std::vector<uint32_t>& checksums, uint64_t bytes) {
  const std::string text = concat(name, " ", code_of(spec.dtype), " ", spec.shape);
  return files::crc32c_joined(files::crc32c(text.data(), text.size()),
                              files::joined_checksum(checksums, bytes), bytes);
}

/// Parses a JSON text that must be an object.
Dict dict_in(const std::string& path, const std::string& text, const char* json_name) {
  try {
    const Value value = parse_json(text);
    if (!value.is_dict()) fail("it is no object");
    return value.as_dict();
  } catch (const Error& error) {
    refuse(path, concat(json_name, " is no JSON: ", error.what()));
  }
}

constexpr const char *kMetadata = "__metadata__", *kChecksums = "crescent_seals",
                     *kOldChecksums = "crescent_crc32c";

/// The checksums in a text such as "1a2b3c4d 5e6f7081".
std::vector<uint32_t> checksums_in(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> texts;
  for (std::string word; words >> word;) texts.push_back(word);
  return files::checksums_of_texts(texts);
}

/// Sets the checksums of arrays from a text that earlier versions of Crescent wrote. It lists them
/// without names, so there must be one per array.
void set_unnamed_checksums(const std::string& path, const std::string& text,
                           std::vector<ArrayEntry>& entries) {
  const std::vector<uint32_t> checksums = checksums_in(text);
  if (checksums.size() != entries.size())
    refuse(path,
           concat("it was saved with ", checksums.size(), " arrays and has ", entries.size()));
  for (size_t i = 0; i < entries.size(); ++i) entries[i].checksum = checksums[i];
}

/// Sets the checksums of arrays by name; fails unless the file has exactly the arrays that were
/// saved.
void set_named_checksums(const std::string& path, const Dict& checksums,
                         std::vector<ArrayEntry>& entries) {
  std::set<std::string> names;
  for (ArrayEntry& array_entry : entries) {
    names.insert(array_entry.name);
    const Value* value = checksums.find(array_entry.name);
    if (!value)
      refuse(path, concat("'", array_entry.name,
                          "' was added since it was saved (whoever changes such a ",
                          "file removes '", kChecksums, "' from its metadata)"));
    std::vector<uint32_t> checksums_of_array =
        checksums_in(value->is_string() ? value->as_string() : "");
    if (checksums_of_array.empty()) refuse(path, concat("'", array_entry.name, "' has no seal"));
    array_entry.checksum = checksums_of_array.front();
    array_entry.piece_checksums.assign(checksums_of_array.begin() + 1, checksums_of_array.end());
  }
  for (const DictEntry& entry : checksums)
    if (!names.contains(entry.key)) refuse(path, concat("'", entry.key, "' is missing"));
}

/// Sets the checksums of arrays; files of other programs have none.
void set_checksums(const std::string& path, const Value& metadata,
                   std::vector<ArrayEntry>& entries) {
  if (!metadata.is_dict()) return;
  const auto text = [&](const char* key) {
    const Value* value = metadata.as_dict().find(key);
    return value && value->is_string() ? &value->as_string() : nullptr;
  };
  if (const std::string* old_text = text(kOldChecksums))
    set_unnamed_checksums(path, *old_text, entries);
  if (const std::string* value = text(kChecksums))
    set_named_checksums(path, dict_in(path, *value, "the list of its seals"), entries);
}

/// Fails unless `checksums`, those of the array's pieces (files/pieces.h), give the checksum that
/// the file has for the whole array.
void check_pieces(const std::string& path, const ArrayEntry& array_entry,
                  const std::vector<uint32_t>& checksums) {
  if (array_entry.checksum !=
      checksum_of(array_entry.name, array_entry.spec, checksums, array_entry.bytes()))
    fail("'", path, "' is damaged: '", array_entry.name,
         "' is not what was saved; nothing was loaded");
}

Dict json_header(const std::string& path, const Storage& file, uint64_t length) {
  std::string text(length, '\0');
  file.read(kLengthBytes, length, text.data());
  return dict_in(path, text, "its header");
}

}  // namespace

std::vector<ArrayEntry> read_header(const std::string& path, const Storage& file) {
  uint64_t length = 0;
  if (file.bytes() < kLengthBytes) refuse(path, "it is too short");
  file.read(0, kLengthBytes, &length);
  if (length > kMaxHeaderBytes || length > file.bytes() - kLengthBytes)
    refuse(path, concat("a header of ", length, " bytes does not fit into it"));
  const size_t start = kLengthBytes + length;
  struct ParsedEntry {
    ArrayEntry array_entry;
    uint64_t end;
  };
  std::vector<ParsedEntry> parsed_entries;
  const Dict header = json_header(path, file, length);
  for (const DictEntry& entry : header) {
    if (entry.key == kMetadata) continue;
    uint64_t end = 0;
    ArrayEntry array_entry = entry_of(path, entry.key, entry.value, start, &end);
    parsed_entries.push_back({std::move(array_entry), start + end});
  }
  std::stable_sort(
      parsed_entries.begin(), parsed_entries.end(), [](const ParsedEntry& a, const ParsedEntry& b) {
        return std::pair(a.array_entry.start, a.end) < std::pair(b.array_entry.start, b.end);
      });
  uint64_t offset = start;
  std::vector<ArrayEntry> entries;
  for (ParsedEntry& parsed_entry : parsed_entries) {
    if (parsed_entry.array_entry.start != offset)
      refuse(path, concat("'", parsed_entry.array_entry.name,
                          "' does not begin where the one before it ends"));
    offset = parsed_entry.end;
    entries.push_back(std::move(parsed_entry.array_entry));
  }
  if (offset != file.bytes()) refuse(path, "its arrays do not end where it does");
  if (const Value* metadata = header.find(kMetadata)) set_checksums(path, *metadata, entries);
  return entries;
}

void verify_checksum(const std::string& path, const Storage& file, const ArrayEntry& array_entry) {
  if (!array_entry.checksum) return;
  std::vector<uint32_t> checksums;
  std::vector<std::byte> piece(std::min(files::kPieceBytes, array_entry.bytes()));
  for (uint64_t offset = 0; offset < array_entry.bytes(); offset += piece.size()) {
    const uint64_t count = std::min<uint64_t>(piece.size(), array_entry.bytes() - offset);
    file.read(array_entry.start + offset, count, piece.data());
    checksums.push_back(files::crc32c(piece.data(), count));
  }
  check_pieces(path, array_entry, checksums);
}

Tensor checked_array(const std::string& path, const std::shared_ptr<Storage>& file,
                     const ArrayEntry& array_entry) {
  if (array_entry.piece_checksums.empty()) {
    verify_checksum(path, *file, array_entry);
    return Tensor::on(file, array_entry.start, array_entry.spec);
  }
  check_pieces(path, array_entry, array_entry.piece_checksums);
  return Tensor::on(files::checked_storage(file, array_entry.start, array_entry.bytes(),
                                           array_entry.piece_checksums,
                                           concat("'", path, "': '", array_entry.name, "'")),
                    0, array_entry.spec);
}

/// The checksum of an array, followed by those of its pieces, as text: "1a2b3c4d 5e6f7081 ...".
std::string checksum_text(const std::string& name, const Tensor& array) {
  const auto* bytes = static_cast<const std::byte*>(array.raw());
  std::vector<uint32_t> checksums;
  for (uint64_t offset = 0; offset < array.bytes(); offset += files::kPieceBytes)
    checksums.push_back(files::crc32c(
        bytes + offset, std::min<uint64_t>(files::kPieceBytes, array.bytes() - offset)));
  std::vector<uint32_t> array_and_piece_checksums{
      checksum_of(name, array.spec(), checksums, array.bytes())};
  if (checksums.size() > 1)
    array_and_piece_checksums.insert(array_and_piece_checksums.end(), checksums.begin(),
                                     checksums.end());
  return join(files::texts_of_checksums(array_and_piece_checksums), " ");
}

std::string header_of(const NamedTensors& arrays) {
  Dict header{{kMetadata, Dict()}}, checksums;
  int64_t offset = 0;
  for (const auto& [name, tensor] : arrays) {
    checksums.set(name, checksum_text(name, tensor));
    const int64_t end = offset + static_cast<int64_t>(tensor.bytes());
    List dims(tensor.shape().begin(), tensor.shape().end());
    header.set(name, Dict{{"dtype", code_of(tensor.dtype())},
                          {"shape", std::move(dims)},
                          {"data_offsets", List{offset, end}}});
    offset = end;
  }
  header.set(kMetadata, Dict{{"format", "keras"}, {kChecksums, to_json(checksums)}});
  std::string text = to_json(header);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes + text;
}

}  // namespace crescent::safetensors
