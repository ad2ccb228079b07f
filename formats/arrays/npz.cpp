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

constexpr const char* kEnding = ".npy";

/// An .npz archive that is open for reading.
struct OpenArchive {
  std::string path;
  std::shared_ptr<Storage> file;
  zip::Archive archive;

  explicit OpenArchive(const std::string& where)
      : path(where),
        file(file_storage(open_regular_file(where), where)),
        archive(file->bytes(), [this](uint64_t offset, std::span<std::byte> target) {
          file->read(offset, target.size(), target.data());
        }) {}
  OpenArchive(const OpenArchive&) = delete;
};
using OpenArchivePtr = std::shared_ptr<OpenArchive>;

/// The names of the archive and the member, joined by "', '" for an error message that puts the
/// result in quotes: "w.npz', 'kernel.npy".
std::string quoted_member(const OpenArchive& from, const zip::Member& member) {
  return from.path + "', '" + member.name;
}

std::string beginning(const OpenArchive& from, const zip::Member& member) {
  constexpr uint64_t kMaxHeaderBytes = 64 << 10;
  if (member.packed()) return from.archive.text(member);
  std::string start(std::min(member.size, kMaxHeaderBytes), '\0');
  from.file->read(member.start, start.size(), start.data());
  return start;
}

Tensor in_memory(const OpenArchivePtr& from, const zip::Member& member) {
  return load(quoted_member(*from, member), from->archive.text(member), npy_header);
}

/// Returns the result of `work`. If it throws an ArchiveError, throws an Error that names the file
/// instead.
template <class F>
auto with_path_in_errors(const std::string& path, const F& work) {
  try {
    return work();
  } catch (const zip::ArchiveError& refused) {
    fail("cannot read '", path, "': ", refused.what(), "; nothing was loaded");
  }
}

keras::NamedArray array_of(const OpenArchivePtr& from, const zip::Member& member) {
  const FileArray array = npy_header(quoted_member(*from, member), beginning(*from, member));
  check_size(quoted_member(*from, member), array, member.size - array.start);
  const std::string name = member.name.substr(0, member.name.size() - 4);
  std::vector<int64_t> dims = array.dims;
  if (array.fortran) std::reverse(dims.begin(), dims.end());
  const TensorSpec spec{array.type.dtype, Shape(dims)};
  return {name, spec, [from, member] {
            return with_path_in_errors(from->path, [&] { return in_memory(from, member); });
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
      const auto from = std::make_shared<OpenArchive>(path);
      const zip::Member* member = from->archive.find(name + kEnding);
      if (!member) fail("'", path, "' has no array '", name, "'");
      const std::string text = from->archive.text(*member);
      const std::string title = quoted_member(*from, *member);
      const size_t start = npy_objects(title, text);
      if (start == 0) fail("'", title, "': expected lists, got an array of numbers");
      const Ragged lists = read_ragged_pickle(title, std::string_view(text).substr(start));
      return {std::make_shared<BoxedTensor>(lists.values),
              std::make_shared<BoxedTensor>(lists.lengths)};
    });
  }
  /// Opens the array `array_path`. If its bytes in the file need no conversion, they stay in the
  /// file and are compared with the archive's checksum now; otherwise the array is read to memory.
  Tensor open_array(const std::string& path, const std::string& array_path) override {
    return with_path_in_errors(path, [&]() -> Tensor {
      const auto from = std::make_shared<OpenArchive>(path);
      const std::string name = open_file(path, array_path).find(array_path).name;
      const zip::Member& member = *from->archive.find(name + kEnding);
      const FileArray array = npy_header(quoted_member(*from, member), beginning(*from, member));
      const bool stays_in_file = !member.packed() && !array.type.needs_conversion() &&
                                 !array.fortran && array.type.dtype != DType::boolean;
      if (!stays_in_file || (array.swapped && array.type.width > 1)) return in_memory(from, member);
      from->archive.check(member);
      return Tensor::on(from->file, member.start + array.start,
                        {array.type.dtype, Shape(array.dims)});
    });
  }

  NamedTensors read_arrays(const std::string& path) override {
    return with_path_in_errors(path, [&] {
      const auto from = std::make_shared<OpenArchive>(path);
      NamedTensors arrays;
      for (const zip::Member& member : from->archive.members())
        if (member.name.ends_with(kEnding))
          arrays.emplace_back(member.name.substr(0, member.name.size() - 4),
                              in_memory(from, *from->archive.find(member.name)));
      return arrays;
    });
  }

  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    std::vector<std::string> starts;
    for (const auto& [name, tensor] : arrays) starts.push_back(npy_start(tensor));
    std::vector<zip::File> files;
    for (size_t i = 0; i < arrays.size(); ++i) {
      const auto& [name, tensor] = arrays[i];
      zip::File& file = files.emplace_back();
      file.name = name + kEnding;
      file.pieces.push_back(std::as_bytes(std::span(starts[i])));
      if (tensor.bytes() > 0)
        file.pieces.emplace_back(static_cast<const std::byte*>(tensor.raw()), tensor.bytes());
    }
    replace_file(path, zip::Image(files).pieces());
  }

 private:
  keras::NamedArrays open_file(const std::string& path,
                               const std::string& required_name) const override {
    return with_path_in_errors(path, [&]() -> keras::NamedArrays {
      const auto from = std::make_shared<OpenArchive>(path);
      std::vector<keras::NamedArray> arrays;
      for (const zip::Member& listed : from->archive.members()) {
        if (!listed.name.ends_with(kEnding)) continue;
        const zip::Member& member = *from->archive.find(listed.name);
        const bool has_objects =
            npy_objects(quoted_member(*from, member), beginning(*from, member)) > 0;
        if (!has_objects || member.name == required_name + kEnding)
          arrays.push_back(array_of(from, member));
      }
      return {path, std::move(arrays)};
    });
  }
};

void add_npz(Registry& registry) { registry.add<Npz>("npz"); }

}  // namespace crescent::arrays
