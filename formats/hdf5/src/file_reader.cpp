#include "file_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "crescent/base/error.h"
#include "crescent/base/progress.h"
#include "crescent/data/data.h"
#include "crescent/model/model.h"
#include "crescent/system/file.h"
#include "files/crc32c.h"
#include "files/in_parallel.h"
#include "files/release_pages.h"

namespace crescent::hdf5 {

/// A request to apply an operation to several items; `titles` are the names of the items for
/// messages.
struct FileReader::Request {
  Operation operation;
  std::vector<Packer> items;
  std::vector<std::string> titles;
  /// the size of the values of each item, if values are read
  std::vector<uint64_t> value_bytes = {};
};

namespace {

using files::in_parallel, files::Chunk, files::chunks_of;

constexpr uint64_t kAlignment = 64;

/// Replaces control characters, which must not reach the terminal, in a name of the file.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  if (text.size() > 200) text.replace(200, std::string::npos, "...");
  return text;
}

std::string title_of(const std::string& object) { return "'/" + printable(object) + "'"; }

std::string title_of(const std::string& object, const std::string& attribute) {
  return "attribute '" + attribute + "' of " + title_of(object);
}

Descriptor open_sized_file(const std::string& path, uint64_t& size) {
  Descriptor file(open_regular_file(path));
  struct stat status;
  if (fstat(file, &status) != 0) fail("cannot read '", path, "': ", strerror(errno));
  if (status.st_size == 0) fail("cannot read '", path, "': the file is empty");
  size = static_cast<uint64_t>(status.st_size);
  return file;
}

/// The time limit of a request in seconds: 30, and one more for each 10 MB of the file, for slow
/// disks.
unsigned time_limit(uint64_t file_size) {
  return 30 + static_cast<unsigned>(file_size / 10'000'000);
}

/// Maps memory; returns null if mmap fails. The memory is unmapped when the last pointer to it is
/// destroyed.
std::shared_ptr<std::byte> map_memory(uint64_t size, int protection, int flags, int memory = -1) {
  void* start = mmap(nullptr, size, protection, flags, memory, 0);
  if (start == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(start), [size](std::byte* p) { munmap(p, size); }};
}

/// Sets the size of the shared memory and seals it against changes: if the reader process could
/// shrink it, an access would end this process with SIGBUS.
bool resize_memory(int memory, uint64_t size) {
  NoFileSizeSignal guard;
  return ftruncate(memory, static_cast<off_t>(size)) == 0 &&
         fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

using WordPair = uint64_t __attribute__((vector_size(16)));

/// Whether all numbers are finite. In NaN and infinity all bits of the exponent are set, so adding
/// 1 at the lowest of these bits carries into the sign bit. `exponent_mask` has the bits of the
/// exponents in a word, `lowest_bits` the lowest bit of each exponent.
bool has_only_finite(const std::byte* bytes, uint64_t size, uint64_t exponent_mask,
                     uint64_t lowest_bits) {
  WordPair carries{}, words{};
  for (; size >= sizeof words; size -= sizeof words, bytes += sizeof words) {
    std::memcpy(&words, bytes, sizeof words);
    carries |= (words & exponent_mask) + lowest_bits;
  }
  words = WordPair{};
  if (size > 0) std::memcpy(&words, bytes, size);
  carries |= (words & exponent_mask) + lowest_bits;
  uint64_t sign_mask = ~exponent_mask & (exponent_mask << 1);
  return ((carries[0] | carries[1]) & sign_mask) == 0;
}

bool all_finite(ElementType type, const std::byte* bytes, uint64_t size) {
  if (type == ElementType::float32)
    return has_only_finite(bytes, size, 0x7f800000'7f800000, 0x00800000'00800000);
  return type != ElementType::float64 ||
         has_only_finite(bytes, size, 0x7ff00000'00000000, 0x00100000'00000000);
}

/// The time of the last change of the contents in nanoseconds (mtime). The time of the last status
/// change (ctime) would not do: it also changes when the file is renamed.
int64_t time_of_change(int file) {
  struct stat status {};
  fstat(file, &status);
  return status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
}

[[noreturn]] void fail_out_of_memory(const std::string& path, uint64_t bytes) {
  fail("'", path, "': no memory for ", bytes, " bytes of data: ", strerror(errno));
}

std::vector<uint64_t> unpack_shape(Unpacker& answer) {
  std::vector<uint64_t> shape(std::min<uint8_t>(answer.number<uint8_t>(), 32));
  for (uint64_t& dim : shape) dim = answer.number<uint64_t>();
  return shape;
}

std::vector<std::string> unpack_texts(Unpacker& answer) {
  std::vector<std::string> texts;
  for (auto remaining = answer.number<uint64_t>(); remaining > 0 && answer.ok(); --remaining)
    texts.push_back(answer.text());
  return texts;
}

std::optional<AttributeValue> unpack_attribute(Unpacker& answer) {
  switch (answer.number<AttributeKind>()) {
    case AttributeKind::text:
      return answer.text();
    case AttributeKind::texts:
      return unpack_texts(answer);
    case AttributeKind::integer:
      return answer.number<int64_t>();
    case AttributeKind::real:
      return answer.number<double>();
  }
  return std::nullopt;
}

}  // namespace

FileReader::FileReader(const std::string& path)
    : path_(path), memory_(memfd_create("hdf5", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  Descriptor file = open_sized_file(path, size_);
  if (memory_ < 0) fail("cannot read '", path, "': ", strerror(errno));
  child_ = std::make_unique<Child>(file, memory_, size_, time_limit(size_));
  file_ = file;
  contents_ = file_storage(file.release(), path);
  check_greeting();
}

FileReader::~FileReader() = default;

void FileReader::check_greeting() {
  auto greeting = child_->receive();
  if (!greeting) fail_reader_ended("its beginning");
  if (greeting->number<uint32_t>() != kWireVersion)
    fail("crescent-h5read is of another version than this library; install Crescent again");
  if (greeting->number<Status>() != Status::ok)
    fail("cannot read '", path_, "' as an HDF5 file: ", printable(greeting->text()));
}

void FileReader::fail_reader_ended(const std::string& title) {
  if (child_->was_interrupted_by_user()) {
    if (interrupted())
      throw Interrupted(concat("'", path_, "': interrupted while reading ", title));
    fail("'", path_, "': reading it was interrupted before; open the file again");
  }
  fail("'", path_, "': the file is damaged or hostile (its reader ", child_->failure_reason(),
       " at ", title, "); nothing was loaded");
}

/// Sends a request to the reader process. Returns one answer per item, in the order of the items;
/// nullopt for an item that does not exist. The bytes of each answered item are added to `progress`
/// unless it is null.
std::vector<std::optional<Unpacker>> FileReader::ask_reader(const Request& request,
                                                            FileProgress* progress) {
  Packer frame;
  frame.add(request.operation).add(static_cast<uint64_t>(request.items.size()));
  for (const Packer& item : request.items) frame.add(item.bytes());
  std::vector<std::optional<Unpacker>> answers;
  if (request.items.empty()) return answers;
  if (!child_->send(frame)) fail_reader_ended(request.titles.front());
  for (const std::string& title : request.titles) {
    auto answer = child_->receive();
    if (!answer) fail_reader_ended(title);
    Status status = answer->number<Status>();
    if (status == Status::refused)
      fail("'", path_, "': ", title, ": ", printable(answer->text()), "; nothing was loaded");
    answers.push_back(status == Status::ok ? std::move(answer) : std::nullopt);
    if (progress) progress->add(request.value_bytes[answers.size() - 1]);
  }
  return answers;
}

std::optional<AttributeValue> FileReader::attribute(const std::string& object,
                                                    const std::string& name) {
  Request request{Operation::attribute, {Packer().add(object).add(name)}, {title_of(object, name)}};
  auto answer = std::move(ask_reader(request).front());
  if (!answer) return std::nullopt;
  auto value = unpack_attribute(*answer);
  if (!value || !answer->ok()) fail_reader_ended(request.titles.front());
  return value;
}

std::optional<std::string> FileReader::text(const std::string& object, const std::string& name) {
  auto value = attribute(object, name);
  if (!value) return std::nullopt;
  if (auto* text = std::get_if<std::string>(&*value)) return std::move(*text);
  fail("'", path_, "': ", title_of(object, name), ": expected a text; nothing was loaded");
}

std::optional<std::vector<std::string>> FileReader::texts(const std::string& object,
                                                          const std::string& name) {
  return texts(std::vector<std::string>{object}, name).front();
}

std::vector<std::optional<std::vector<std::string>>> FileReader::texts(
    const std::vector<std::string>& objects, const std::string& name) {
  Request request{Operation::attribute, {}, {}};
  for (const std::string& object : objects) {
    request.items.push_back(Packer().add(object).add(name));
    request.titles.push_back(title_of(object, name));
  }
  std::vector<std::optional<std::vector<std::string>>> lists;
  for (auto& answer : ask_reader(request)) {
    lists.emplace_back();
    if (!answer) continue;
    auto value = unpack_attribute(*answer);
    const std::string& title = request.titles[lists.size() - 1];
    if (!value || !answer->ok()) fail_reader_ended(title);
    auto* list = std::get_if<std::vector<std::string>>(&*value);
    if (!list) fail("'", path_, "': ", title, ": expected a list of texts; nothing was loaded");
    lists.back() = std::move(*list);
  }
  return lists;
}

std::optional<std::vector<std::string>> FileReader::members(const std::string& group) {
  auto answer =
      std::move(ask_reader({Operation::list, {Packer().add(group)}, {title_of(group)}}).front());
  if (!answer) return std::nullopt;
  return unpack_texts(*answer);
}

std::optional<std::string> FileReader::member(const std::string& name) {
  const std::string title = "'" + name + "'";
  auto answer = std::move(ask_reader({Operation::member, {Packer().add(name)}, {title}}).front());
  if (!answer) return std::nullopt;
  std::string text = answer->text();
  if (!answer->ok()) fail_reader_ended(title);
  return text;
}

std::vector<std::string> FileReader::member_names(const std::string& prefix) {
  const std::string title = "'" + prefix + "'";
  auto answer = std::move(ask_reader({Operation::names, {Packer().add(prefix)}, {title}}).front());
  if (!answer) return {};
  std::vector<std::string> names = unpack_texts(*answer);
  if (!answer->ok()) fail_reader_ended(title);
  return names;
}

std::vector<DatasetInfo> FileReader::describe(const std::vector<std::string>& datasets) {
  Request request{Operation::describe, {}, {}};
  for (const std::string& dataset : datasets) {
    request.items.push_back(Packer().add(dataset));
    request.titles.push_back(title_of(dataset));
  }
  std::vector<DatasetInfo> infos;
  for (auto& answer : ask_reader(request)) {
    const std::string& title = request.titles[infos.size()];
    if (!answer) fail("'", path_, "': there is no dataset ", title, "; nothing was loaded");
    DatasetInfo& info = infos.emplace_back();
    auto type = answer->number<uint8_t>();
    info.shape = unpack_shape(*answer);
    auto checksum = answer->number<int64_t>();
    auto start = answer->number<uint64_t>();
    info.rows_per_chunk = std::max<uint64_t>(1, answer->number<uint64_t>());
    auto bytes = byte_count(static_cast<ElementType>(type % std::size(kElements)), info.shape);
    bool is_inside = bytes && *bytes <= size_ && start <= size_ - *bytes;
    if (!answer->ok() || type >= std::size(kElements) || (start != kNoOffset && !is_inside))
      fail_reader_ended(title);
    info.type = static_cast<ElementType>(type);
    if (start != kNoOffset) info.file_offset = start;
    if (checksum >= 0) info.checksum = static_cast<uint32_t>(checksum);
  }
  return infos;
}

/// The results of checking a chunk of values: its checksum, and whether all values are finite.
struct FileReader::ChunkCheck {
  uint32_t checksum = 0;
  bool is_finite = true;
};

/// Reads datasets that are compressed or that libhdf5 must convert. `total_bytes` is the size
/// of their values.
std::shared_ptr<std::byte> FileReader::read_packed(const Request& request, uint64_t total_bytes,
                                                   FileProgress& progress) {
  if (total_bytes == 0) return nullptr;
  if (!can_unpack_to(total_bytes, size_))
    fail("'", path_, "': it promises ", total_bytes, " bytes of data and has ", size_,
         "; nothing was loaded");
  if (!resize_memory(memory_, total_bytes)) fail_out_of_memory(path_, total_bytes);
  auto block = map_memory(total_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, memory_);
  if (!block) fail_out_of_memory(path_, total_bytes);
  child_->allow_memory(total_bytes);
  ask_reader(request, &progress);
  return block;
}

bool FileReader::prevent_changes() {
  lease_.emplace(file_);
  const auto bytes = static_cast<int64_t>(contents_->bytes());
  if (lease_->is_held() && contents_->bytes() >= size_)
    mapped_file_ = map_array(Tensor::on(contents_, 0, {DType::uint8, {bytes}}));
  change_time_ = time_of_change(file_);
  return static_cast<bool>(mapped_file_);
}

void FileReader::check_unchanged() const {
  check_intact(mapped_file_);
  if (time_of_change(file_) != change_time_) fail("'", path_, "' was changed while it was read");
}

/// Whether the values can be used in the mapped file. Booleans cannot, because each of their bytes
/// must first be set to 0 or 1.
bool FileReader::stays_in_file(const DatasetInfo& info) const {
  return mapped_file_ && info.file_offset && info.type != ElementType::boolean;
}

/// Checks a chunk of a dataset piece by piece, while each piece is in the processor cache: computes
/// its checksum, and whether its values are finite. First reads the chunk to `bytes` unless they
/// already have its values.
FileReader::ChunkCheck FileReader::check_chunk(const DatasetInfo& info, uint64_t offset,
                                               uint64_t size, std::byte* bytes) const {
  constexpr uint64_t kPieceSize = uint64_t{256} << 10;
  ChunkCheck check{.checksum = files::crc32c(nullptr, 0)};
  for (uint64_t piece_offset = 0; piece_offset < size; piece_offset += kPieceSize) {
    std::byte* piece = bytes + piece_offset;
    const uint64_t count = std::min(kPieceSize, size - piece_offset);
    if (info.file_offset && !stays_in_file(info))
      contents_->read(*info.file_offset + offset + piece_offset, count, piece);
    if (info.checksum)
      check.checksum = files::crc32c_joined(check.checksum, files::crc32c(piece, count), count);
    if (info.type == ElementType::boolean) normalize_booleans(piece, count);
    check.is_finite &= all_finite(info.type, piece, count);
  }
  if (stays_in_file(info) && size_ > files::kMaxMappedBytes) files::release_pages(bytes, size);
  return check;
}

std::vector<Array> FileReader::read(const std::vector<std::string>& datasets,
                                    const std::vector<DatasetInfo>& infos) {
  Request packed_request{Operation::read, {}, {}};
  // the offset of each dataset in its block of memory, and its size
  std::vector<uint64_t> offsets, sizes;
  uint64_t packed_total = 0, plain_total = 0;
  for (size_t i = 0; i < datasets.size(); ++i) {
    auto bytes = byte_count(infos[i].type, infos[i].shape);
    uint64_t mapped_total = 0;
    uint64_t& total = stays_in_file(infos[i]) ? mapped_total
                      : infos[i].file_offset  ? plain_total
                                              : packed_total;
    if (!bytes || *bytes > (uint64_t{1} << 62) - total)
      fail("'", path_, "': ", title_of(datasets[i]), " is impossibly large");
    offsets.push_back(total);
    sizes.push_back(*bytes);
    if (!infos[i].file_offset) {
      packed_request.items.push_back(Packer().add(datasets[i]).add(total).add(*bytes));
      packed_request.titles.push_back(title_of(datasets[i]));
      packed_request.value_bytes.push_back(*bytes);
    }
    total += (*bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  const uint64_t total_bytes = std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
  FileProgress progress("reading", path_, total_bytes);
  auto packed_block = read_packed(packed_request, packed_total, progress);
  auto plain_block = plain_total > 0 ? Storage::allocate(plain_total, false) : nullptr;
  child_.reset();  // ends the reader process, so that it can no longer change the shared memory

  std::vector<Array> arrays;
  auto bytes_of = [&](size_t i) -> std::byte* {
    if (stays_in_file(infos[i])) return mapped_file_.storage()->host() + *infos[i].file_offset;
    if (infos[i].file_offset) return plain_block ? plain_block->host() + offsets[i] : nullptr;
    return packed_block ? packed_block.get() + offsets[i] : nullptr;
  };
  for (size_t i = 0; i < datasets.size(); ++i) {
    Array& array =
        arrays.emplace_back(Array{infos[i].type, infos[i].shape, bytes_of(i), packed_block});
    if (infos[i].file_offset)
      array.owner = stays_in_file(infos[i]) ? mapped_file_.storage() : plain_block;
  }
  std::vector<Chunk> chunks = chunks_of(offsets, sizes);
  std::vector<ChunkCheck> checks(chunks.size());
  in_parallel(chunks.size(), [&](size_t k) {
    const auto& [i, offset, size] = chunks[k];
    checks[k] = check_chunk(infos[i], offset, size, bytes_of(i) + offset);
    if (infos[i].file_offset) progress.add(size);
  });
  std::vector<uint32_t> checksums(datasets.size(), files::crc32c(nullptr, 0));
  for (size_t k = 0; k < chunks.size(); ++k) {
    uint32_t& checksum = checksums[chunks[k].array_index];
    checksum = files::crc32c_joined(checksum, checks[k].checksum, chunks[k].size);
    arrays[chunks[k].array_index].is_finite &= checks[k].is_finite;
  }
  for (size_t i = 0; i < datasets.size(); ++i)
    if (infos[i].checksum && *infos[i].checksum != checksums[i])
      fail("'", path_, "': ", title_of(datasets[i]),
           " is damaged: its checksum differs; nothing was loaded");
  if (mapped_file_) check_unchanged();
  return arrays;
}

const std::byte* FileReader::read_rows(const std::string& dataset, const DatasetInfo& info,
                                       uint64_t first, uint64_t count) {
  uint64_t row_bytes = info.shape.empty() || info.shape[0] == 0
                           ? 0
                           : *byte_count(info.type, info.shape) / info.shape[0];
  uint64_t size = std::max(kWindowBytes, row_bytes);
  if (!row_window_) {
    if (resize_memory(memory_, size))
      row_window_ = map_memory(size, PROT_READ, MAP_SHARED, memory_);
    if (!row_window_) fail_out_of_memory(path_, size);
    child_->allow_memory(size);
  }
  child_->allow_time();
  uint64_t bytes = count * row_bytes;
  ask_reader({Operation::rows,
              {Packer().add(dataset).add(uint64_t{0}).add(bytes).add(first).add(count)},
              {concat("rows from ", first + 1, " of ", title_of(dataset))}});
  return row_window_.get();
}

}  // namespace crescent::hdf5
