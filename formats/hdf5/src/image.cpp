#include "image.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "crescent/base/error.h"
#include "files/crc32c.h"
#include "files/in_parallel.h"
#include "files/pieces.h"
#include "seal.h"
#include "sparse_file.h"

namespace crescent::hdf5 {
namespace {

Handle checked_handle(hid_t id, Handle::Close close, std::string_view object_label) {
  if (id < 0) fail("hdf5: cannot write ", object_label);
  return Handle(id, close);
}

void check(herr_t status, std::string_view object_label) {
  if (status < 0) fail("hdf5: cannot write ", object_label);
}

Handle new_file() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Handle creation = checked_handle(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "a file image");
  check(H5Pset_obj_track_times(creation, false), "a file image");
  return checked_handle(
      H5Fcreate("image", H5F_ACC_TRUNC, creation, SparseFile::access_properties()), H5Fclose,
      "a file image");
}

/// The properties with which a link is created together with missing intermediate groups.
Handle link_creation() {
  Handle creation = checked_handle(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "a link");
  check(H5Pset_create_intermediate_group(creation, true), "a link");
  return creation;
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 128; });
}

bool is_ascii(const std::vector<std::string>& texts) {
  return std::all_of(texts.begin(), texts.end(),
                     [](const std::string& text) { return is_ascii(text); });
}

Handle string_type(size_t size, bool is_pure_ascii) {
  Handle type = checked_handle(H5Tcopy(H5T_C_S1), H5Tclose, "a string");
  check(H5Tset_size(type, size), "a string");
  check(H5Tset_strpad(type, size == H5T_VARIABLE ? H5T_STR_NULLTERM : H5T_STR_NULLPAD), "a string");
  check(H5Tset_cset(type, is_pure_ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8), "a string");
  return type;
}

class AttributeWriter {
 public:
  AttributeWriter(hid_t object, const std::string& path, const std::string& name)
      : object_(object), name_(name), description_("attribute '" + name + "' of '/" + path + "'") {}

  /// Writes a text. Texts have fixed length, which all HDF5 readers support, with two exceptions of
  /// variable length: texts above the size limit, and the name of a dtype, which Keras compares
  /// with a string (h5py returns texts of fixed length as bytes).
  void operator()(const std::string& text) const {
    const bool is_dtype = name_ == "dtype";
    bool has_fixed_length = text.size() <= kHeaderLimit && !is_dtype;
    Handle type = string_type(has_fixed_length ? std::max<size_t>(1, text.size()) : H5T_VARIABLE,
                              is_ascii(text) && !is_dtype);
    const char* pointer = text.c_str();
    write(name_, type, scalar(), has_fixed_length ? static_cast<const void*>(pointer) : &pointer);
  }

  /// Writes a list of texts. As in Keras, a list above the size limit is divided evenly among
  /// attributes name0, name1, ...; their number is the smallest possible.
  void operator()(const std::vector<std::string>& texts) const {
    size_t width = max_length(texts);
    if (texts.size() * width <= kHeaderLimit) return write_list(name_, texts);
    if (width > kHeaderLimit)
      fail(description_, ": a name of ", width, " bytes is longer than HDF5 allows (", kHeaderLimit,
           ")");
    size_t piece_count = 1;
    while ((texts.size() + piece_count - 1) / piece_count * width > kHeaderLimit) ++piece_count;
    auto begin = texts.begin();
    for (size_t i = 0; i < piece_count; ++i) {
      auto end = begin + texts.size() / piece_count + (i < texts.size() % piece_count);
      write_list(name_ + std::to_string(i), {begin, end});
      begin = end;
    }
  }

  void operator()(int64_t number) const {
    write(name_, H5T_STD_I64LE, scalar(), &number, H5T_NATIVE_INT64);
  }
  void operator()(double number) const {
    write(name_, H5T_IEEE_F64LE, scalar(), &number, H5T_NATIVE_DOUBLE);
  }

 private:
  static size_t max_length(const std::vector<std::string>& texts) {
    size_t width = 1;
    for (const std::string& text : texts) width = std::max(width, text.size());
    return width;
  }

  void write_list(const std::string& name, const std::vector<std::string>& texts) const {
    hsize_t count = texts.size();
    Handle space = checked_handle(H5Screate_simple(1, &count, nullptr), H5Sclose, description_);
    // An empty list is written with the type float64, as by h5py.
    if (texts.empty()) return write(name, H5T_IEEE_F64LE, space, nullptr);
    size_t width = max_length(texts);
    std::string packed_texts(width * texts.size(), '\0');
    for (size_t i = 0; i < texts.size(); ++i) texts[i].copy(packed_texts.data() + i * width, width);
    write(name, string_type(width, is_ascii(texts)), space, packed_texts.data());
  }

  Handle scalar() const { return checked_handle(H5Screate(H5S_SCALAR), H5Sclose, description_); }

  void write(const std::string& name, hid_t type, hid_t space, const void* bytes,
             hid_t memory_type = -1) const {
    Handle attribute =
        checked_handle(H5Acreate2(object_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                       H5Aclose, description_);
    if (bytes)
      check(H5Awrite(attribute, memory_type < 0 ? type : memory_type, bytes), description_);
  }

  hid_t object_;
  const std::string& name_;
  std::string description_;
};

Handle copied_type(hid_t type) { return Handle(H5Tcopy(type), H5Tclose); }

/// The values in the file are represented as in the memory of this machine, which must therefore be
/// little-endian.
static_assert(std::endian::native == std::endian::little);
Handle number_type(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return copied_type(H5T_IEEE_F32LE);
    case ElementType::float64:
      return copied_type(H5T_IEEE_F64LE);
    case ElementType::float16:
      return half_type();
    case ElementType::bfloat16:
      return bfloat16_type();
    case ElementType::int32:
      return copied_type(H5T_STD_I32LE);
    case ElementType::int64:
      return copied_type(H5T_STD_I64LE);
    case ElementType::uint8:
      return copied_type(H5T_STD_U8LE);
    case ElementType::boolean:
      return bool_type();
    case ElementType::int8:
      return copied_type(H5T_STD_I8LE);
    case ElementType::int16:
      return copied_type(H5T_STD_I16LE);
    case ElementType::complex64:
      return complex_type();
  }
  fail("hdf5: unknown element type");
}

Handle dataset_creation() {
  Handle creation = checked_handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "a dataset");
  check(H5Pset_layout(creation, H5D_CONTIGUOUS), "a dataset");
  check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY), "a dataset");
  check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "a dataset");
  check(H5Pset_obj_track_times(creation, false), "a dataset");
  return creation;
}

Handle open_group(hid_t file, const std::string& path, std::string_view object_label) {
  if (path.empty()) return checked_handle(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, object_label);
  Handle creation = checked_handle(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, object_label);
  check(H5Pset_obj_track_times(creation, false), object_label);
  return checked_handle(H5Gcreate2(file, path.c_str(), link_creation(), creation, H5P_DEFAULT),
                        H5Gclose, object_label);
}

/// Fails for names that HDF5 would change: "." means the current group, and empty parts are
/// dropped.
void check_path(const std::string& path) {
  if (static_cast<size_t>(std::count(path.begin(), path.end(), '/')) >= kMaxPathDepth)
    fail("hdf5: '", path.substr(0, 60), "...' is more than ", kMaxPathDepth,
         " groups deep, too deep to be read again");
  for (size_t begin = 0; !path.empty() && begin <= path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string_view component(path.data() + begin, end - begin);
    if (component.empty() || component == "." || component.find('\0') != component.npos)
      fail("hdf5: '", path, "' cannot be the name of an object in a file");
    begin = end + 1;
  }
}

std::vector<std::string> seals_of(const Node& group) {
  std::vector<std::string> seals{object_seal(group.path)};
  for (const Attribute& attribute : group.attributes)
    seals.push_back(attribute_seal(group.path, attribute));
  return seals;
}

uint64_t bytes_of(const Node& node) {
  return node.data ? *byte_count(node.data->type, node.data->shape) : 0;
}

/// The attributes that Crescent adds to an array, by which damage is noticed when the file is read
/// (seal.h): a checksum of path, type, shape and values, and the checksums of the pieces of the
/// values.
std::vector<Attribute> seals_of_array(const Node& node, const std::vector<uint32_t>& checksums) {
  const uint32_t checksum = files::joined_checksum(checksums, bytes_of(node));
  std::vector<Attribute> seals{
      {kChecksum, sealed_checksum(node.path, node.data->type, node.data->shape, checksum)}};
  if (checksums.size() > 1) seals.push_back({kPieces, files::texts_of_checksums(checksums)});
  return seals;
}

/// The attributes that Crescent adds to an array or a group, by which damage is noticed when the
/// file is read (seal.h). Those of a group are checksums of its path and of its other attributes.
std::vector<Attribute> seals_of_node(const Node& node, const std::vector<uint32_t>& checksums) {
  if (node.data) return seals_of_array(node, checksums);
  return {{kSeals, seals_of(node)}};
}

/// The checksums of the pieces (files/pieces.h) of each array in the tree; no checksums for a
/// group.
std::vector<std::vector<uint32_t>> checksums_of(const Tree& tree) {
  std::vector<std::vector<uint32_t>> checksums;
  std::vector<files::Chunk> chunks;
  for (const Node& node : tree) {
    const uint64_t size = bytes_of(node);
    for (uint64_t offset = 0; offset < size; offset += files::kPieceBytes)
      chunks.push_back({checksums.size(), offset, std::min(files::kPieceBytes, size - offset)});
    checksums.emplace_back((size + files::kPieceBytes - 1) / files::kPieceBytes);
  }
  files::in_parallel(chunks.size(), [&](size_t k) {
    const auto& [i, offset, size] = chunks[k];
    auto* bytes = static_cast<const std::byte*>(tree[i].data->bytes);
    checksums[i][offset / files::kPieceBytes] = files::crc32c(bytes + offset, size);
  });
  return checksums;
}

/// The root group with its attributes and one more: the list of all other objects, each with a
/// checksum. If an object is missing or was added, the reader finds out from this list.
Node root_of(const Tree& tree, const std::vector<std::vector<Attribute>>& seals) {
  Node root;
  std::vector<std::string> contents;
  for (size_t i = 0; i < tree.size(); ++i) {
    const Node& node = tree[i];
    const auto& seal = seals[i].front().value;
    if (node.path.empty())
      root.attributes = node.attributes;
    else if (node.data)
      contents.push_back(array_entry(node.path, std::get<int64_t>(seal)));
    else
      contents.push_back(group_entry(node.path, std::get<std::vector<std::string>>(seal)));
  }
  root.attributes.push_back({kContents, std::move(contents)});
  return root;
}

}  // namespace

/// Writes the header of a dataset without its values. Adds to dataset_bytes_ the offset in the file
/// at which the values belong.
Handle FileImage::write_dataset(hid_t file, const Node& node, std::string_view object_label) {
  const Array& data = *node.data;
  std::vector<hsize_t> dims(data.shape.begin(), data.shape.end());
  Handle space =
      dims.empty()
          ? checked_handle(H5Screate(H5S_SCALAR), H5Sclose, object_label)
          : checked_handle(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                           H5Sclose, object_label);
  Handle dataset = checked_handle(H5Dcreate2(file, node.path.c_str(), number_type(data.type), space,
                                             link_creation(), dataset_creation(), H5P_DEFAULT),
                                  H5Dclose, object_label);
  if (size_t size = bytes_of(node); size > 0) {
    haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF) fail("hdf5: cannot write ", object_label);
    dataset_bytes_.push_back({offset, {static_cast<const std::byte*>(data.bytes), size}});
  }
  return dataset;
}

void FileImage::write_node(hid_t file, const Node& node, const std::vector<Attribute>& seals) {
  std::string object_label = "'/" + node.path + "'";
  if (!node.path.empty() && H5Lexists(file, node.path.c_str(), H5P_DEFAULT) > 0)
    fail("hdf5: cannot write two objects of the name ", object_label);
  Handle object = node.data ? write_dataset(file, node, object_label)
                            : open_group(file, node.path, object_label);
  auto write = [&](const Attribute& attribute) {
    std::visit(AttributeWriter(object, node.path, attribute.name), attribute.value);
  };
  for (const Attribute& attribute : node.attributes) write(attribute);
  for (const Attribute& seal : seals) write(seal);
}

/// Splits the file into consecutive pieces: references to the values of arrays, and copies of the
/// bytes between the arrays.
void FileImage::split_into_pieces(hid_t file) {
  const SparseFile& image = SparseFile::of(file);
  std::sort(dataset_bytes_.begin(), dataset_bytes_.end(),
            [](const DatasetBytes& a, const DatasetBytes& b) { return a.offset < b.offset; });
  dataset_bytes_.push_back({image.size(), {}});
  size_t position = 0;
  for (const DatasetBytes& dataset : dataset_bytes_) {
    auto& gap = gaps_.emplace_back(dataset.offset - position);
    image.read(position, gap);
    pieces_.push_back(gap);
    pieces_.push_back(dataset.bytes);
    position = dataset.offset + dataset.bytes.size();
  }
}

FileImage::FileImage(const Tree& tree) {
  for (const Node& node : tree) check_path(node.path);
  Handle file = new_file();
  const std::vector<std::vector<uint32_t>> checksums = checksums_of(tree);
  std::vector<std::vector<Attribute>> seals;
  for (size_t i = 0; i < tree.size(); ++i) seals.push_back(seals_of_node(tree[i], checksums[i]));
  const Node root = root_of(tree, seals);
  write_node(file, root, seals_of_node(root, {}));
  for (size_t i = 0; i < tree.size(); ++i)
    if (!tree[i].path.empty()) write_node(file, tree[i], seals[i]);
  check(H5Fflush(file, H5F_SCOPE_GLOBAL), "the file image");
  split_into_pieces(file);
}

}  // namespace crescent::hdf5
