#include "file_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "crc32c.h"
#include "crescent/error.h"
#include "file_size_signal.h"

namespace crescent::hdf5 {

/// Items of one operation; `places` say in messages where an item is.
struct FileReader::Request {
  Operation operation;
  std::vector<Packer> items;
  std::vector<std::string> places;
};

namespace {

constexpr uint64_t kAlignment = 64;

/// Names come from the file: no control characters reach the terminal.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  return text.size() > 200 ? text.substr(0, 200) + "..." : text;
}

std::string place(const std::string& object) {
  return "'/" + printable(object) + "'";
}

std::string place(const std::string& object, const std::string& attribute) {
  return "attribute '" + attribute + "' of " + place(object);
}

Descriptor open_regular(const std::string& path, uint64_t& size) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) fail("cannot open '", path, "': ", strerror(errno));
  if (S_ISDIR(status.st_mode))
    fail("cannot open '", path, "': it is a directory, not an HDF5 file");
  if (!S_ISREG(status.st_mode)) fail("cannot open '", path, "': it is not a regular file");
  if (status.st_size == 0) fail("cannot open '", path, "': the file is empty");
  size = static_cast<uint64_t>(status.st_size);
  return file;
}

/// Half a minute, and a second more for every 10 MB: slow disks are not hostile.
unsigned patience(uint64_t file_size) {
  return 30 + static_cast<unsigned>(file_size / 10'000'000);
}

/// Unmaps when the last array is gone.
std::shared_ptr<std::byte> map_private(int memory, uint64_t size) {
  void* start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, memory, 0);
  if (start == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(start), [size](std::byte* p) { munmap(p, size); }};
}

/// The memory of final size: were it to shrink under us, touching it would end this process with
/// SIGBUS.
std::shared_ptr<std::byte> shared_block(int memory, uint64_t size) {
  NoFileSizeSignal guard;
  if (ftruncate(memory, static_cast<off_t>(size)) != 0) return nullptr;
  if (fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return nullptr;
  return map_private(memory, size);
}

/// Any other byte in a bool is undefined behaviour for whoever reads it.
void normalize_booleans(std::byte* bytes, uint64_t size) {
  for (uint64_t i = 0; i < size; ++i) bytes[i] = std::byte{bytes[i] != std::byte{0}};
}

std::vector<uint64_t> unpack_shape(Unpacker& answer) {
  std::vector<uint64_t> shape(std::min<uint8_t>(answer.number<uint8_t>(), 32));
  for (uint64_t& dim : shape) dim = answer.number<uint64_t>();
  return shape;
}

std::vector<std::string> unpack_texts(Unpacker& answer) {
  std::vector<std::string> texts;
  for (auto left = answer.number<uint64_t>(); left > 0 && answer.ok(); --left)
    texts.push_back(answer.text());
  return texts;
}

std::optional<FileReader::AttributeValue> unpack_attribute(Unpacker& answer) {
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
  uint64_t size = 0;
  Descriptor file = open_regular(path, size);
  if (memory_ < 0) fail("cannot read '", path, "': ", strerror(errno));
  child_ = std::make_unique<Child>(file, memory_, size, patience(size));
  check_hello();
}

FileReader::~FileReader() = default;

void FileReader::check_hello() {
  auto hello = child_->receive();
  if (!hello) fail_dead("its beginning");
  if (hello->number<uint32_t>() != kWireVersion)
    fail("crescent-h5read is of another version than this library; install Crescent again");
  if (hello->number<Status>() != Status::ok)
    fail("cannot read '", path_, "' as an HDF5 file: ", printable(hello->text()));
}

void FileReader::fail_dead(const std::string& place) {
  fail("'", path_, "': the file is damaged or hostile (its reader ", child_->obituary(), " at ",
       place, "); nothing was loaded");
}

/// Answers in order; nothing for what is missing.
std::vector<std::optional<Unpacker>> FileReader::ask(const Request& request) {
  Packer frame;
  frame.add(request.operation).add(static_cast<uint64_t>(request.items.size()));
  for (const Packer& item : request.items) frame.add(item.bytes());
  std::vector<std::optional<Unpacker>> answers;
  if (request.items.empty()) return answers;
  if (!child_->send(frame)) fail_dead(request.places.front());
  for (const std::string& place : request.places) {
    auto answer = child_->receive();
    if (!answer) fail_dead(place);
    Status status = answer->number<Status>();
    if (status == Status::refused)
      fail("'", path_, "': ", place, ": ", printable(answer->text()), "; nothing was loaded");
    answers.push_back(status == Status::ok ? std::move(answer) : std::nullopt);
  }
  return answers;
}

std::optional<FileReader::AttributeValue> FileReader::attribute(const std::string& object,
                                                                const std::string& name) {
  Request request{Operation::attribute, {Packer().add(object).add(name)}, {place(object, name)}};
  auto answer = std::move(ask(request).front());
  if (!answer) return std::nullopt;
  auto value = unpack_attribute(*answer);
  if (!value || !answer->ok()) fail_dead(request.places.front());
  return value;
}

std::optional<std::string> FileReader::text(const std::string& object, const std::string& name) {
  auto value = attribute(object, name);
  if (!value) return std::nullopt;
  if (auto* text = std::get_if<std::string>(&*value)) return std::move(*text);
  fail("'", path_, "': ", place(object, name), ": expected a text; nothing was loaded");
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
    request.places.push_back(place(object, name));
  }
  std::vector<std::optional<std::vector<std::string>>> lists;
  for (auto& answer : ask(request)) {
    lists.emplace_back();
    if (!answer) continue;
    auto value = unpack_attribute(*answer);
    const std::string& where = request.places[lists.size() - 1];
    if (!value || !answer->ok()) fail_dead(where);
    auto* list = std::get_if<std::vector<std::string>>(&*value);
    if (!list) fail("'", path_, "': ", where, ": expected a list of texts; nothing was loaded");
    lists.back() = std::move(*list);
  }
  return lists;
}

std::optional<std::vector<std::string>> FileReader::members(const std::string& group) {
  auto answer = std::move(ask({Operation::list, {Packer().add(group)}, {place(group)}}).front());
  if (!answer) return std::nullopt;
  return unpack_texts(*answer);
}

std::vector<DatasetInfo> FileReader::describe(const std::vector<std::string>& datasets) {
  Request request{Operation::describe, {}, {}};
  for (const std::string& dataset : datasets) {
    request.items.push_back(Packer().add(dataset));
    request.places.push_back(place(dataset));
  }
  std::vector<DatasetInfo> infos;
  for (auto& answer : ask(request)) {
    const std::string& where = request.places[infos.size()];
    if (!answer) fail("'", path_, "': there is no dataset ", where, "; nothing was loaded");
    DatasetInfo& info = infos.emplace_back();
    auto element = answer->number<uint8_t>();
    info.shape = unpack_shape(*answer);
    auto checksum = answer->number<int64_t>();
    if (!answer->ok() || element >= std::size(kElements)) fail_dead(where);
    info.element = static_cast<Element>(element);
    if (checksum >= 0) info.checksum = static_cast<uint32_t>(checksum);
  }
  return infos;
}

std::vector<Array> FileReader::read(const std::vector<std::string>& datasets,
                                    const std::vector<DatasetInfo>& infos) {
  Request request{Operation::read, {}, {}};
  std::vector<uint64_t> offsets, sizes;
  uint64_t total = 0;
  for (size_t i = 0; i < datasets.size(); ++i) {
    auto bytes = byte_count(infos[i].element, infos[i].shape);
    if (!bytes || *bytes > (uint64_t{1} << 62) - total)
      fail("'", path_, "': ", place(datasets[i]), " is impossibly large");
    offsets.push_back(total);
    sizes.push_back(*bytes);
    request.items.push_back(Packer().add(datasets[i]).add(total).add(*bytes));
    request.places.push_back(place(datasets[i]));
    total += (*bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  std::shared_ptr<std::byte> block = total > 0 ? shared_block(memory_, total) : nullptr;
  if (total > 0 && !block)
    fail("'", path_, "': no memory for ", total, " bytes of data: ", strerror(errno));
  child_->allow_memory(total);
  ask(request);
  child_.reset();  // from here on nobody else can change the block

  std::vector<Array> arrays;
  for (size_t i = 0; i < datasets.size(); ++i) {
    std::byte* bytes = block ? block.get() + offsets[i] : nullptr;
    if (infos[i].checksum && crc32c(bytes, sizes[i]) != *infos[i].checksum)
      fail("'", path_, "': ", request.places[i],
           " is damaged: its checksum differs; nothing was loaded");
    if (infos[i].element == Element::boolean) normalize_booleans(bytes, sizes[i]);
    arrays.push_back({infos[i].element, infos[i].shape, bytes, block});
  }
  return arrays;
}

}  // namespace crescent::hdf5
