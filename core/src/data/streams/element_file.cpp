#include "data/streams/element_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "crescent/base/mapped.h"
#include "crescent/system/file.h"
#include "crescent/tensor/strings.h"

namespace crescent {
namespace {

// A record in the file consists of the length of a JSON text, the text, and the values of tensors.
// In the text, {"<tensor>": [dtype, shape]} stands for the next of these tensors; string tensors
// are contained in the text as {"<texts>": [texts, shape]}.
constexpr std::string_view kFileHeader = "crescent elements 1\n";
constexpr const char* kTensorKey = "<tensor>";
constexpr const char* kTextsKey = "<texts>";

Value value_of(const Shape& shape) { return List(shape.begin(), shape.end()); }

}  // namespace

ElementWriter::ElementWriter(const std::string& path)
    : path_(path), temporary_path_(concat(path, ".", getpid(), ".part")) {
  file_ = std::fopen(system_path(temporary_path_), "wbx");
  if (!file_) fail_writing();
  write_bytes(kFileHeader.data(), kFileHeader.size());
}

ElementWriter::~ElementWriter() {
  if (!file_) return;
  std::fclose(file_);
  std::remove(temporary_path_.c_str());
}

void ElementWriter::write(const Element& element) {
  Tensors tensors;
  const Value plain_value = mapped(Value(element), [&](const Value& value) -> std::optional<Value> {
    if (!value.object_as<BoxedTensor>() && !value.object_as<BoxedVariable>()) return std::nullopt;
    const Tensor tensor = tensor_of(value);
    if (tensor.dtype() == DType::string)
      return Dict{{kTextsKey, List{strings_of(tensor), value_of(tensor.shape())}}};
    tensors.push_back(tensor);
    return Dict{{kTensorKey, List{name_of(tensor.dtype()), value_of(tensor.shape())}}};
  });
  const std::string text = to_json(plain_value);
  const uint64_t length = text.size();
  write_bytes(&length, sizeof length);
  write_bytes(text.data(), text.size());
  for (const Tensor& tensor : tensors) write_bytes(tensor.to(nullptr).raw(), tensor.bytes());
}

void ElementWriter::finish() {
  const bool is_written = std::fflush(file_) == 0 && fsync(fileno(file_)) == 0;
  if (std::fclose(std::exchange(file_, nullptr)) != 0 || !is_written ||
      std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    std::remove(temporary_path_.c_str());
    errno = error;
    fail_writing();
  }
}

void ElementWriter::write_bytes(const void* bytes, size_t count) {
  const NoFileSizeSignal guard;
  if (std::fwrite(bytes, 1, count, file_) != count) fail_writing();
}

void ElementWriter::fail_writing() const {
  fail("cannot write '", path_, "': ", std::strerror(errno));
}

ElementReader::ElementReader(const std::string& path)
    : file_(path), size_(file_.size()), offset_(kFileHeader.size()) {
  std::string file_start(std::min(size_, kFileHeader.size()), '\0');
  file_.read(0, file_start.size(), file_start.data());
  if (file_start != kFileHeader)
    fail("'", path, "' is no cache of a dataset: it starts with other bytes");
}

bool ElementReader::next(Element& element) {
  if (offset_ == size_) return false;
  uint64_t length = 0;
  expect_remaining(sizeof length);
  file_.read(offset_, sizeof length, &length);
  offset_ += sizeof length;
  expect_remaining(length);
  std::string text(length, '\0');
  file_.read(offset_, length, text.data());
  offset_ += length;
  const Value element_value =
      mapped(parse_json(text), [&](const Value& value) -> std::optional<Value> {
        if (!value.is_dict()) return std::nullopt;
        const Value *tensor = value.as_dict().find(kTensorKey),
                    *texts = value.as_dict().find(kTextsKey);
        if (tensor) return Value(std::make_shared<BoxedTensor>(tensor_at(tensor->as_list())));
        if (texts) return Value(std::make_shared<BoxedTensor>(texts_of(texts->as_list())));
        return std::nullopt;
      });
  element = element_value.as_list();
  return true;
}

Tensor ElementReader::texts_of(const List& texts_and_shape) const {
  if (texts_and_shape.size() != 2) fail("'", file_.path(), "' is damaged before offset ", offset_);
  return string_tensor(Codec<std::vector<std::string>>::decode(texts_and_shape[0]),
                       Codec<Shape>::decode(texts_and_shape[1]));
}

Tensor ElementReader::tensor_at(const List& spec) {
  if (spec.size() != 2) fail("'", file_.path(), "' is damaged before offset ", offset_);
  const TensorSpec tensor_spec{dtype_named(spec[0].as_string()), Codec<Shape>::decode(spec[1])};
  if (tensor_spec.dtype == DType::string)
    fail("'", file_.path(), "' is damaged before offset ", offset_);
  const auto bytes = static_cast<uint64_t>(tensor_spec.bytes());
  expect_remaining(bytes);
  Tensor tensor = Tensor::uninitialized(tensor_spec);
  file_.read(offset_, bytes, tensor.mutable_raw());
  offset_ += bytes;
  return tensor;
}

void ElementReader::expect_remaining(uint64_t bytes) const {
  if (bytes > size_ - offset_)
    fail("'", file_.path(), "' ends inside the element at offset ", offset_);
}

}  // namespace crescent
