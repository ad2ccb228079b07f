// The format "npz": archives of NumPy arrays, such as the weights of a model. Arrays that are not
// compressed can stay in the file.
#include <algorithm>

#include "crescent/data/data.h"
#include "crescent/ops/ops.h"
#include "crescent/system/file.h"
#include "files/zip/archive.h"
#include "files/zip/image.h"
#include "keras/model/named_format.h"
#include "npy.h"
#include "pickle.h"

namespace crescent::arrays {
namespace {

constexpr const char* kArrayEnding = ".npy";

/// An .npz archive that is open for reading.
struct OpenArchive {
  std::string path;
  std::shared_ptr<Storage> file;
  zip::Archive archive;

  explicit OpenArchive(const std::string& archive_path)
      : path(archive_path),
        file(file_storage(open_regular_file(archive_path), archive_path)),
        archive(file->bytes(), [this](uint64_t offset, std::span<std::byte> target) {
          file->read(offset, target.size(), target.data());
        }) {}
  OpenArchive(const OpenArchive&) = delete;
};
using OpenArchivePtr = std::shared_ptr<OpenArchive>;

/// The names of the archive and the member, joined by "', '" for an error message that puts the
/// result in quotes: "w.npz', 'kernel.npy".
std::string quoted_member(const OpenArchive& source, const zip::Member& member) {
  return source.path + "', '" + member.name;
}

std::string first_bytes(const OpenArchive& source, const zip::Member& member) {
  constexpr uint64_t kMaxHeaderBytes = 64 << 10;
  if (member.is_compressed()) return source.archive.text(member);
  std::string start(std::min(member.size, kMaxHeaderBytes), '\0');
  source.file->read(member.start, start.size(), start.data());
  return start;
}

Tensor load_member(const OpenArchivePtr& source, const zip::Member& member) {
  return load(quoted_member(*source, member), source->archive.text(member), npy_header);
}

/// Returns the result of `work`. If it throws an ArchiveError, throws an Error that names the file
/// instead.
template <class F>
auto with_path_in_errors(const std::string& path, const F& work) {
  try {
    return work();
  } catch (const zip::ArchiveError& error) {
    fail("cannot read '", path, "': ", error.what(), "; nothing was loaded");
  }
}

keras::NamedArray array_of(const OpenArchivePtr& source, const zip::Member& member) {
  const FileArray array = npy_header(quoted_member(*source, member), first_bytes(*source, member));
  check_size(quoted_member(*source, member), array, member.size - array.start);
  const std::string name = member.name.substr(0, member.name.size() - 4);
  std::vector<int64_t> dims = array.dims;
  if (array.is_fortran_order) std::reverse(dims.begin(), dims.end());
  const TensorSpec spec{array.type.dtype, Shape(dims)};
  return {name, spec, [source, member] {
            return with_path_in_errors(source->path, [&] { return load_member(source, member); });
          }};
}

}  // namespace

class Npz final : public keras::NamedFormat {
 public:
  static void describe(Schema<Npz>& s) {
    s.doc("Archives of NumPy's arrays.")
        .trait("endings", List{".npz"})
        .trait("signatures", List{"504b0304"})
        .method("inspect", &Npz::inspect, "What a file says about itself.")
        .arg("path", "Of the file.")
        .method(
            "read_ragged", &Npz::read_ragged,
            "Of an array of lists of whole numbers: all numbers, and how many are in each list.")
        .arg("path", "Of the file.")
        .arg("name", "Of the array.");
  }
  List read_ragged(const std::string& path, const std::string& name) {
    return with_path_in_errors(path, [&]() -> List {
      const auto source = std::make_shared<OpenArchive>(path);
      const zip::Member* member = source->archive.find(name + kArrayEnding);
      if (!member) fail("'", path, "' has no array '", name, "'");
      const std::string text = source->archive.text(*member);
      const std::string quoted_name = quoted_member(*source, *member);
      const size_t start = npy_pickle_offset(quoted_name, text);
      if (start == 0) fail("'", quoted_name, "': expected lists, got an array of numbers");
      const Ragged lists = read_ragged_pickle(quoted_name, std::string_view(text).substr(start));
      return {std::make_shared<BoxedTensor>(lists.values),
              std::make_shared<BoxedTensor>(lists.lengths)};
    });
  }
  /// Opens the array `array_path`. If its bytes in the file need no conversion, they stay in the
  /// file and their checksum is verified when the array is opened; otherwise the array is read to
  /// memory.
  Tensor open_array(const std::string& path, const std::string& array_path) override {
    return with_path_in_errors(path, [&]() -> Tensor {
      const auto source = std::make_shared<OpenArchive>(path);
      const std::string name = open_file(path, array_path).find(array_path).name;
      const zip::Member& member = *source->archive.find(name + kArrayEnding);
      const FileArray array =
          npy_header(quoted_member(*source, member), first_bytes(*source, member));
      const bool can_stay_in_file = !member.is_compressed() && !array.type.needs_conversion() &&
                                    !array.is_fortran_order && array.type.dtype != DType::boolean;
      if (!can_stay_in_file || (array.is_swapped && array.type.width > 1))
        return load_member(source, member);
      source->archive.check(member);
      return Tensor::on(source->file, member.start + array.start,
                        {array.type.dtype, Shape(array.dims)});
    });
  }

  NamedTensors read_arrays(const std::string& path) override {
    return with_path_in_errors(path, [&] {
      const auto source = std::make_shared<OpenArchive>(path);
      NamedTensors arrays;
      for (const zip::Member& member : source->archive.members())
        if (member.name.ends_with(kArrayEnding))
          arrays.emplace_back(member.name.substr(0, member.name.size() - 4),
                              load_member(source, *source->archive.find(member.name)));
      return arrays;
    });
  }

  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    std::vector<std::string> prefixes;
    for (const auto& [name, tensor] : arrays) prefixes.push_back(npy_prefix(tensor));
    std::vector<zip::File> files;
    for (size_t i = 0; i < arrays.size(); ++i) {
      const auto& [name, tensor] = arrays[i];
      zip::File& file = files.emplace_back();
      file.name = name + kArrayEnding;
      file.pieces.push_back(std::as_bytes(std::span(prefixes[i])));
      if (tensor.bytes() > 0)
        file.pieces.emplace_back(static_cast<const std::byte*>(tensor.raw()), tensor.bytes());
    }
    replace_file(path, zip::Image(files).pieces());
  }

 private:
  keras::NamedArrays open_file(const std::string& path,
                               const std::string& required_name) const override {
    return with_path_in_errors(path, [&]() -> keras::NamedArrays {
      const auto source = std::make_shared<OpenArchive>(path);
      std::vector<keras::NamedArray> arrays;
      for (const zip::Member& listed_member : source->archive.members()) {
        if (!listed_member.name.ends_with(kArrayEnding)) continue;
        const zip::Member& member = *source->archive.find(listed_member.name);
        const bool has_objects =
            npy_pickle_offset(quoted_member(*source, member), first_bytes(*source, member)) > 0;
        if (!has_objects || member.name == required_name + kArrayEnding)
          arrays.push_back(array_of(source, member));
      }
      return {path, std::move(arrays)};
    });
  }
};

void add_npz(Registry& registry) { registry.add<Npz>("npz"); }

}  // namespace crescent::arrays
