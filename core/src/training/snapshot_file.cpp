// Stores a snapshot as a file of arrays. One array is a JSON text, in which {"tensor": i} stands
// for the array named "i".
#include <algorithm>

#include "crescent/base/mapped.h"
#include "crescent/io/format.h"
#include "crescent/model/training_run.h"
#include "system/saved_file.h"
#include "training/input/start_together.h"
#include "training/sharing/write_together.h"
#include "training/snapshot_file.h"

namespace crescent {
namespace {

constexpr const char* kSnapshotKey = "snapshot";
constexpr const char* kTensor = "tensor";

Tensor bytes_of(const std::string& text) {
  return Tensor::from(std::vector<uint8_t>(text.begin(), text.end()),
                      {static_cast<int64_t>(text.size())});
}

std::string text_of(const Tensor& bytes) {
  if (bytes.dtype() != DType::uint8 || bytes.rank() != 1)
    fail("expected the text of a snapshot, got an array of ", bytes.dtype(), bytes.shape());
  const auto* data = bytes.data<uint8_t>();
  return std::string(data, data + bytes.dim(0));
}

const Tensor& array_named(const NamedTensors& arrays, std::string_view name,
                          const std::string& path) {
  for (const auto& [array_name, array] : arrays)
    if (array_name == name) return array;
  fail("'", path, "': expected the file of a training run, but it has no array '", name, "'");
}

const Value* tensor_number(const Value& value) {
  const bool is_placeholder = value.is_dict() && value.as_dict().size() == 1;
  return is_placeholder ? value.as_dict().find(kTensor) : nullptr;
}

}  // namespace

namespace {

void write_snapshot(const Value& snapshot, const std::string& path) {
  NamedTensors arrays;
  const Value text = mapped(snapshot, [&](const Value& value) -> std::optional<Value> {
    const auto boxed = value.object_as<BoxedTensor>();
    if (!boxed) return std::nullopt;
    arrays.emplace_back(std::to_string(arrays.size()), boxed->tensor);
    return Value(Dict{{kTensor, arrays.size() - 1}});
  });
  arrays.emplace_back(kSnapshotKey, bytes_of(to_json(text)));
  write_arrays(path, arrays);
}

}  // namespace

void TrainingRun::save(const std::string& path) const {
  write_together(state_of(model()), [&] { write_snapshot(snapshot(), path); });
  note_saved_file(path);
}

Value read_snapshot(const std::string& path) {
  const NamedTensors arrays = read_arrays(path);
  const Value text = parse_json(text_of(array_named(arrays, kSnapshotKey, path)));
  return mapped(text, [&](const Value& value) -> std::optional<Value> {
    const Value* number = tensor_number(value);
    if (!number) return std::nullopt;
    const std::string name = std::to_string(number->as_int());
    return Value(std::make_shared<BoxedTensor>(array_named(arrays, name, path)));
  });
}

void TrainingRun::load(const std::string& path) {
  const InterruptScope interrupt_scope;
  restore(read_snapshot(path));
}

}  // namespace crescent
