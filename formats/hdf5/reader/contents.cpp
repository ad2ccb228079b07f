#include "contents.h"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "../src/seal.h"
#include "attributes.h"
#include "refusal.h"

namespace crescent::hdf5 {
namespace {

constexpr hsize_t kMaxMembers = 65536;
constexpr uint64_t kMaxChunkBytes = uint64_t{256} << 20;

// ---- opening of files and objects

/// HDF5's driver for files in memory would copy the file. These callbacks make it use the mapped
/// file itself.
void* keep_image(size_t, H5FD_file_image_op_t, void* image) { return image; }
void* no_copy(void* destination, const void*, size_t, H5FD_file_image_op_t, void*) {
  return destination;
}
void* no_growth(void*, size_t, H5FD_file_image_op_t, void*) { return nullptr; }
herr_t no_free(void*, H5FD_file_image_op_t, void*) { return 0; }
void* same_user_data(void* image) { return image; }
herr_t keep_user_data(void*) { return 0; }

Handle open_image(std::span<const std::byte> image) {
  H5dont_atexit();
  H5open();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  // Forbids libhdf5 to load plugin libraries, which a file could otherwise request by its filters.
  H5PLset_loading_state(0);
  H5Lunregister(H5L_TYPE_EXTERNAL);
  Handle access_properties = checked_handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  check(H5Pset_fapl_core(access_properties, 1 << 20, false));
  void* image_start = const_cast<std::byte*>(image.data());
  H5FD_file_image_callbacks_t callbacks{keep_image,     no_copy,        no_growth,  no_free,
                                        same_user_data, keep_user_data, image_start};
  check(H5Pset_file_image_callbacks(access_properties, &callbacks));
  check(H5Pset_file_image(access_properties, image_start, image.size()));
  return checked_handle(H5Fopen("image", H5F_ACC_RDONLY, access_properties), H5Fclose);
}

/// The sorted names of the members of a group.
std::vector<std::string> member_names(hid_t group) {
  std::vector<std::string> names;
  check(H5Literate(
      group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr,
      [](hid_t, const char* name, const H5L_info_t*, void* names) -> herr_t {
        auto& list = *static_cast<std::vector<std::string>*>(names);
        list.emplace_back(name);
        return list.size() > kMaxMembers ? -1 : 0;
      },
      &names));
  std::sort(names.begin(), names.end());
  return names;
}

// ---- comparison of attributes with their seals (checksums)

[[noreturn]] void refuse_damage() {
  refuse("it is damaged: it is not what was saved under this name");
}

[[noreturn]] void refuse_missing_seal() { refuse("it is damaged: its checksum is missing"); }

std::vector<std::string> seals_of(hid_t object) { return OpenAttribute(object, kSeals).texts(); }

/// Compares an attribute of the object at `path` with its seal, which is a checksum of the path,
/// the name and the value of the attribute (seal.h). Fails if the attribute was added, changed or
/// removed after saving. Only the attribute kOwnAttribute, the description of the model by
/// Crescent, may have been removed: the model is then read from the attributes of Keras.
void check_seal(const std::vector<std::string>& seals, const std::string& path,
                const std::string& name, const std::optional<AttributeValue>& value) {
  if (seals.empty() || seals.front() != object_seal(path)) refuse_damage();
  auto seal = std::find_if(seals.begin(), seals.end(),
                           [&](const std::string& text) { return sealed_name(text) == name; });
  bool was_saved = seal != seals.end();
  if (was_saved && !value && name == kOwnAttribute) return;
  if (was_saved != value.has_value()) refuse_damage();
  if (was_saved && attribute_seal(path, {name, *value}) != *seal) refuse_damage();
}

// ---- types and checks of datasets

}  // namespace

/// The type of the elements of a dataset: as an ElementType, and as the type of libhdf5 in memory.
struct NumberType {
  ElementType element_type;
  Handle memory_type;
};

namespace {

NumberType native_type(ElementType element_type, hid_t type) {
  return {element_type, Handle(H5Tcopy(type), H5Tclose)};
}

bool equals_either(hid_t type, hid_t little, hid_t big) {
  return H5Tequal(type, little) > 0 || H5Tequal(type, big) > 0;
}

NumberType float_type(hid_t type) {
  if (equals_either(type, H5T_IEEE_F32LE, H5T_IEEE_F32BE))
    return native_type(ElementType::float32, H5T_NATIVE_FLOAT);
  if (equals_either(type, H5T_IEEE_F64LE, H5T_IEEE_F64BE))
    return native_type(ElementType::float64, H5T_NATIVE_DOUBLE);
  if (equals_either(type, half_type(), half_type(H5T_ORDER_BE)))
    return {ElementType::float16, half_type()};
  refuse("its floating-point format is not one of float16, float32 and float64");
}

/// Whether the dataset has the attribute by which earlier versions of Crescent marked integers as
/// bfloat16.
bool is_marked_bfloat16(hid_t dataset) {
  if (!has_attribute(dataset, "dtype")) return false;
  OpenAttribute attribute(dataset, "dtype");
  return attribute.has_class(H5T_STRING) &&
         attribute.texts() == std::vector<std::string>{"bfloat16"};
}

NumberType integer_type(hid_t dataset, hid_t type) {
  size_t size = H5Tget_size(type);
  bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
  if (H5Tget_precision(type) != 8 * size || size > 8 || (size == 8 && !is_signed))
    refuse("its integers are none of int8 to int64 or uint8 to uint32");
  if (size == 2 && !is_signed && is_marked_bfloat16(dataset))
    return native_type(ElementType::bfloat16, H5T_NATIVE_UINT16);
  if (size == 1 && !is_signed) return native_type(ElementType::uint8, H5T_NATIVE_UINT8);
  if (size == 1) return native_type(ElementType::int8, H5T_NATIVE_INT8);
  if (size == 2 && is_signed) return native_type(ElementType::int16, H5T_NATIVE_INT16);
  bool needs_wide = size == 8 || (size == 4 && !is_signed);
  return needs_wide ? native_type(ElementType::int64, H5T_NATIVE_INT64)
                    : native_type(ElementType::int32, H5T_NATIVE_INT32);
}

NumberType number_type(hid_t dataset, hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return float_type(type);
    case H5T_INTEGER:
      return integer_type(dataset, type);
    case H5T_ENUM:
      if (H5Tequal(type, bool_type()) > 0) return {ElementType::boolean, bool_type()};
      break;
    case H5T_OPAQUE:
      if (H5Tequal(type, bfloat16_type()) > 0) return {ElementType::bfloat16, bfloat16_type()};
      break;
    case H5T_COMPOUND:
      if (H5Tequal(type, complex_type()) > 0) return {ElementType::complex64, complex_type()};
      break;
    default:
      break;
  }
  refuse("it does not hold numbers");
}

void check_filters(hid_t creation) {
  constexpr H5Z_filter_t kKnownFilters[] = {H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE,
                                            H5Z_FILTER_FLETCHER32};
  int count = H5Pget_nfilters(creation);
  check(count);
  for (int i = 0; i < count; ++i) {
    unsigned flags, config;
    size_t parameter_count = 0;
    H5Z_filter_t filter = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags,
                                         &parameter_count, nullptr, 0, nullptr, &config);
    check(filter);
    if (std::find(std::begin(kKnownFilters), std::end(kKnownFilters), filter) ==
        std::end(kKnownFilters))
      refuse("it is packed with filter " + std::to_string(filter) + ", which is not known here");
  }
}

void check_chunks(hid_t dataset, hid_t creation, uint64_t element_size, uint64_t bytes,
                  uint64_t file_size) {
  hsize_t dims[H5S_MAX_RANK];
  int rank = H5Pget_chunk(creation, H5S_MAX_RANK, dims);
  check(rank);
  uint64_t chunk_elements = element_count({dims, dims + rank});
  if (chunk_elements > kMaxChunkBytes / element_size)
    refuse("its chunks are larger than " + std::to_string(kMaxChunkBytes) + " bytes");
  check_filters(creation);
  uint64_t stored_bytes = std::min<uint64_t>(H5Dget_storage_size(dataset), file_size);
  if (!can_unpack_to(bytes, stored_bytes))
    refuse("it promises " + std::to_string(bytes) + " bytes and stores " +
           std::to_string(stored_bytes));
}

void check_contiguous(hid_t dataset, uint64_t bytes, uint64_t file_size) {
  if (bytes == 0) return;
  uint64_t stored_bytes = H5Dget_storage_size(dataset);
  uint64_t offset = stored_bytes == 0 ? 0 : H5Dget_offset(dataset);
  if (stored_bytes < bytes || stored_bytes > file_size ||
      (offset != HADDR_UNDEF && offset > file_size - stored_bytes))
    refuse("it promises " + std::to_string(bytes) + " bytes, more than the file stores for it");
}

}  // namespace

/// A dataset whose header has passed every check.
struct OpenDataset {
  OpenDataset(Handle object, uint64_t file_size)
      : id(std::move(object)),
        space(checked_handle(H5Dget_space(id), H5Sclose)),
        file_type(checked_handle(H5Dget_type(id), H5Tclose)),
        type(number_type(id, file_type)) {
    H5S_class_t kind = H5Sget_simple_extent_type(space);
    if (kind != H5S_SCALAR && kind != H5S_SIMPLE) refuse("it has no shape");
    dims = dims_of(space);
    const std::vector<uint64_t> sizes = shape();
    auto size = byte_count(type.element_type, sizes);
    if (!size) refuse("its shape is impossibly large");
    bytes = *size;
    check_storage(file_size);
  }

  void check_storage(uint64_t file_size) const {
    Handle creation = checked_handle(H5Dget_create_plist(id), H5Pclose);
    if (H5Pget_external_count(creation) != 0)
      refuse("its numbers are in another file, which is never opened");
    uint64_t element_size = H5Tget_size(file_type);
    switch (H5Pget_layout(creation)) {
      case H5D_COMPACT:
        return;
      case H5D_CONTIGUOUS:
        return check_contiguous(id, bytes / info(type.element_type).size * element_size, file_size);
      case H5D_CHUNKED:
        return check_chunks(id, creation, element_size, bytes, file_size);
      default:
        refuse("it is a view of other files, which are never opened");
    }
  }

  std::vector<uint64_t> shape() const { return {dims.begin(), dims.end()}; }

  /// The offset of the values if the file represents them in the same way as memory; else
  /// kNoOffset.
  uint64_t file_offset(hid_t file) const {
    Handle creation = checked_handle(H5Dget_create_plist(id), H5Pclose),
           file_creation = checked_handle(H5Fget_create_plist(file), H5Pclose);
    hsize_t userblock = 0;
    check(H5Pget_userblock(file_creation, &userblock));
    bool has_memory_layout = H5Pget_layout(creation) == H5D_CONTIGUOUS && bytes > 0 &&
                             userblock == 0 && H5Tequal(file_type, type.memory_type) > 0 &&
                             H5Dget_storage_size(id) == bytes;
    haddr_t offset = has_memory_layout ? H5Dget_offset(id) : HADDR_UNDEF;
    return offset == HADDR_UNDEF ? kNoOffset : offset;
  }

  /// The number of rows (indices of the first axis) in a chunk.
  uint64_t rows_per_chunk() const {
    Handle creation = checked_handle(H5Dget_create_plist(id), H5Pclose);
    if (H5Pget_layout(creation) != H5D_CHUNKED) return 1;
    hsize_t chunk_dims[H5S_MAX_RANK];
    check(H5Pget_chunk(creation, H5S_MAX_RANK, chunk_dims));
    return std::min(chunk_dims[0], dims[0]);
  }
  uint64_t row_bytes() const { return dims.empty() || dims[0] == 0 ? 0 : bytes / dims[0]; }

  Handle id, space, file_type;
  NumberType type;
  std::vector<hsize_t> dims;
  uint64_t bytes = 0;
};

Contents::Contents(std::span<const std::byte> image, std::optional<uint64_t> start)
    : size_(image.size()), start_(start), file_(open_image(image)) {
  Handle root = open("");
  is_sealed_ = has_attribute(root, kSeals);
  is_written_by_crescent_ = is_sealed_ || has_attribute(root, kOwnAttribute);
  read_inventory(root);
}

/// Fails unless the file contains exactly the objects that were saved. A seal is a checksum that
/// Crescent stores in an attribute of an object (seal.h). If only the root has seals, another
/// program has written the file anew and copied only the attributes of the root; such a file is
/// read without comparing seals and checksums.
void Contents::read_inventory(hid_t root) {
  const auto contents_list = find_value(root, kContents);
  if (contents_list && !is_sealed_) refuse_missing_seal();
  if (is_sealed_) check_seal(seals_of(root), "", kContents, contents_list);
  if (!contents_list) return;
  const auto* texts = std::get_if<std::vector<std::string>>(&*contents_list);
  if (!texts) refuse_damage();
  inventory_.emplace(*texts);
  is_rewritten_ = !inventory_->entries().empty() && !any_object_has_checksum();
  if (is_rewritten_) {
    is_sealed_ = is_written_by_crescent_ = false;
    inventory_.reset();
  } else {
    check_members();
  }
}

bool Contents::any_object_has_checksum() const {
  for (const auto& [path, entry] : inventory_->entries()) try {
      Handle object = open(path);
      if (has_attribute(object, kSeals) || has_attribute(object, kChecksum)) return true;
    } catch (const MissingObject&) {
    }
  return false;
}

void Contents::check_members() const {
  for (const auto& [group, saved_names] : inventory_->members()) {
    const std::vector<std::string> names = member_names(open(group, H5I_GROUP));
    const auto quoted_path = [&](const std::string& name) {
      return "'/" + (group.empty() ? name : group + "/" + name) + "'";
    };
    for (const std::string& name : saved_names)
      if (!std::binary_search(names.begin(), names.end(), name))
        refuse("it is damaged: " + quoted_path(name) + " is missing");
    for (const std::string& name : names)
      if (!saved_names.contains(name))
        refuse("it was changed since it was saved: " + quoted_path(name) +
               " was added (whoever adds to such a file removes the attributes that begin with "
               "'crescent' from it)");
  }
}

Contents::~Contents() = default;

/// Opens an object by the parts of its path; follows hard links only.
Handle Contents::open(const std::string& path) const {
  Handle object = checked_handle(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose);
  size_t depth = 0;
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name.find('\0') != name.npos || ++depth > kMaxPathDepth)
      refuse("its path is not usable");
    if (H5Iget_type(object) != H5I_GROUP) throw MissingObject{};
    htri_t exists = H5Lexists(object, name.c_str(), H5P_DEFAULT);
    check(exists);
    if (!exists) throw MissingObject{};
    H5L_info_t link;
    check(H5Lget_info(object, name.c_str(), &link, H5P_DEFAULT));
    if (link.type != H5L_TYPE_HARD)
      refuse("'" + name + "' is a link to another place, which is never followed");
    object = checked_handle(H5Oopen(object, name.c_str(), H5P_DEFAULT), H5Oclose);
    begin = end + 1;
  }
  return object;
}

Handle Contents::open(const std::string& path, H5I_type_t type) const {
  Handle object = open(path);
  if (H5Iget_type(object) != type)
    refuse(type == H5I_GROUP ? "it is not a group" : "it is not a dataset");
  return object;
}

void Contents::write_attribute(const std::string& path, const std::string& name,
                               Packer& answer) const {
  Handle object = open(path);
  H5O_info_t object_info;
  check(H5Oget_info2(object, &object_info, H5O_INFO_NUM_ATTRS));
  if (object_info.num_attrs > kMaxAttributes)
    refuse("it has more than " + std::to_string(kMaxAttributes) + " attributes");
  auto value = find_value(object, name);
  if (is_rewritten_) {
    if (name == kOwnAttribute) throw MissingObject{};
  } else if (H5Iget_type(object) == H5I_DATASET && name == kPieces) {
    if (inventory_ && !value) refuse_missing_seal();
  } else if (has_attribute(object, kSeals)) {
    const std::vector<std::string> seals = seals_of(object);
    check_seal(seals, path, name, value);
    if (inventory_ && !path.empty() && !inventory_->contains_line(group_entry(path, seals)))
      refuse_damage();
  } else if (is_sealed_) {
    refuse_missing_seal();
  }
  if (!value) throw MissingObject{};
  pack(*value, answer);
}

/// The CRC-32C of the dataset's bytes; -1 if the file is of another program and has no checksum.
int64_t Contents::checksum_of(const OpenDataset& dataset, const std::string& path) const {
  if (!has_attribute(dataset.id, kChecksum)) {
    if (is_written_by_crescent_) refuse_missing_seal();
    return -1;
  }
  OpenAttribute attribute(dataset.id, kChecksum);
  if (!attribute.has_class(H5T_INTEGER) || !attribute.dims.empty()) refuse_damage();
  auto checksum = attribute.integer();
  auto bytes_checksum = static_cast<uint32_t>(checksum);
  bool has_seal = is_sealed_ || checksum != bytes_checksum;
  if (has_seal &&
      checksum != sealed_checksum(path, dataset.type.element_type, dataset.shape(), bytes_checksum))
    refuse_damage();
  if (inventory_ && !inventory_->contains_line(array_entry(path, checksum))) refuse_damage();
  return bytes_checksum;
}

void Contents::describe(const std::string& path, Packer& answer) const {
  OpenDataset dataset(open(path, H5I_DATASET), size_);
  answer.add(dataset.type.element_type).add(static_cast<uint8_t>(dataset.dims.size()));
  for (hsize_t dim : dataset.dims) answer.add(static_cast<uint64_t>(dim));
  const uint64_t file_offset = start_ ? dataset.file_offset(file_) : kNoOffset;
  answer.add(checksum_of(dataset, path))
      .add(file_offset == kNoOffset ? file_offset : *start_ + file_offset);
  answer.add(dataset.rows_per_chunk());
}

void Contents::list(const std::string& path, Packer& answer) const {
  const std::vector<std::string> names = member_names(open(path, H5I_GROUP));
  answer.add(static_cast<uint64_t>(names.size()));
  for (const std::string& name : names) answer.add(name);
}

void Contents::read(const std::string& path, std::span<std::byte> target) const {
  OpenDataset dataset(open(path, H5I_DATASET), size_);
  if (dataset.bytes != target.size()) refuse("its size changed while it was read");
  if (!target.empty())
    check(H5Dread(dataset.id, dataset.type.memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                  target.data()));
}

OpenDataset& Contents::open_for_rows(const std::string& path) {
  auto& dataset = row_datasets_[path];
  if (dataset) return *dataset;
  constexpr uint64_t kMinCache = uint64_t{1} << 20, kMaxCache = uint64_t{256} << 20;
  OpenDataset uncached_dataset(open(path, H5I_DATASET), size_);
  uint64_t cache_bytes = 2 * uncached_dataset.rows_per_chunk() * uncached_dataset.row_bytes();
  Handle access_properties = checked_handle(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  check(H5Pset_chunk_cache(access_properties, H5D_CHUNK_CACHE_NSLOTS_DEFAULT,
                           std::clamp(cache_bytes, kMinCache, kMaxCache),
                           H5D_CHUNK_CACHE_W0_DEFAULT));
  dataset = std::make_unique<OpenDataset>(
      checked_handle(H5Dopen2(file_, path.c_str(), access_properties), H5Dclose), size_);
  return *dataset;
}

void Contents::read_rows(const std::string& path, uint64_t first, uint64_t count,
                         std::span<std::byte> target) {
  const OpenDataset& dataset = open_for_rows(path);
  uint64_t bytes = 0;
  if (dataset.dims.empty() || first > dataset.dims[0] || count > dataset.dims[0] - first ||
      __builtin_mul_overflow(count, dataset.row_bytes(), &bytes) || bytes != target.size())
    refuse("its size changed while it was read");
  if (target.empty()) return;
  std::vector<hsize_t> start(dataset.dims.size(), 0), counts = dataset.dims;
  start[0] = first;
  counts[0] = count;
  check(H5Sselect_hyperslab(dataset.space, H5S_SELECT_SET, start.data(), nullptr, counts.data(),
                            nullptr));
  Handle memory_space = checked_handle(
      H5Screate_simple(static_cast<int>(counts.size()), counts.data(), nullptr), H5Sclose);
  check(H5Dread(dataset.id, dataset.type.memory_type, memory_space, dataset.space, H5P_DEFAULT,
                target.data()));
}

}  // namespace crescent::hdf5
