#include "array_file.h"

#include <algorithm>
#include <cstring>

#include "crescent/data/data.h"
#include "crescent/ops/ops.h"
#include "crescent/system/file.h"

namespace crescent::arrays {
namespace {

/// Makes a tensor in memory from the values in `data`, the content of the file; values whose type
/// Crescent lacks are converted.
Tensor values_of(const std::string& data, const FileArray& array) {
  const FileType& type = array.type;
  const Shape shape(array.dims);
  std::string bytes = data.substr(array.start, static_cast<size_t>(shape.size()) * type.width);
  if (array.is_swapped)
    swap_elements(reinterpret_cast<std::byte*>(bytes.data()), bytes.size(), type.width);
  if (type.dtype == DType::boolean)
    normalize_booleans(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  if (!type.needs_conversion())
    return Tensor::from_bytes(bytes.data(), bytes.size(), {type.dtype, shape});
  std::vector<int32_t> values(shape.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (type.width == 1) values[i] = static_cast<int8_t>(bytes[i]);
    int16_t short_value;
    std::memcpy(&short_value, bytes.data() + i * type.width, std::min<size_t>(type.width, 2));
    if (type.width == 2)
      values[i] =
          type.kind == 'u' ? static_cast<int32_t>(static_cast<uint16_t>(short_value)) : short_value;
  }
  return Tensor::from(values, shape);
}

}  // namespace

void check_size(const std::string& path, const FileArray& array, size_t size) {
  size_t bytes = array.type.width;
  for (int64_t dim : array.dims)
    if (__builtin_mul_overflow(bytes, dim, &bytes))
      fail("'", path, "': the sizes in the file are too large");
  if (size != bytes)
    fail("'", path, "': expected ", bytes, " bytes of values for shape ", Shape(array.dims),
         ", got ", size);
}

Tensor load(const std::string& path, const std::string& data, ReadHeader* read_header) {
  const FileArray array = read_header(path, data);
  check_size(path, array, data.size() - array.start);
  const Tensor values = values_of(data, array);
  return array.is_fortran_order ? ops::transpose(values) : values;
}

Tensor open(const std::string& path, ReadHeader* read_header, const char* loader_name) {
  auto file = file_storage(open_regular_file(path), path);
  constexpr size_t kMaxHeaderBytes = size_t{1} << 20;
  std::string first_bytes(std::min(file->bytes(), kMaxHeaderBytes), '\0');
  file->read(0, first_bytes.size(), first_bytes.data());
  if (first_bytes.starts_with("\x1f\x8b"))
    fail("'", path, "' is packed: unpack it with gunzip, or load it whole with ", loader_name);
  const FileArray array = read_header(path, first_bytes);
  check_size(path, array, file->bytes() - array.start);
  if (array.type.needs_conversion() || array.is_fortran_order)
    fail("'", path, "': values are stored in another type or order than in memory; load them with ",
         loader_name);
  if (array.is_swapped && array.type.width > 1)
    file = swapped_storage(std::move(file), array.type.width);
  if (array.type.dtype == DType::boolean) file = boolean_storage(std::move(file));
  return Tensor::on(std::move(file), array.start, {array.type.dtype, Shape(array.dims)});
}

void require_no_name(const std::string& path, const std::string& name) {
  if (!name.empty()) fail("'", path, "' has no '", name, "': the file holds one array");
}

}  // namespace crescent::arrays
