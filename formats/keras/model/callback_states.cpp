#include "keras/model/callback_states.h"

#include "crescent/base/mapped.h"

namespace crescent::keras {
namespace {

constexpr const char* kCallbacks = "crescent_callbacks";
constexpr const char* kTensor = "crescent_tensor";

std::string callback_path(int64_t i) { return concat(kCallbacks, "/", i); }

/// The number i of {"crescent_tensor": i}.
std::optional<int64_t> tensor_number(const Value& value) {
  if (!value.is_dict() || value.as_dict().size() != 1) return std::nullopt;
  const Value* index = value.as_dict().find(kTensor);
  return index && index->is_int() ? std::optional(index->as_int()) : std::nullopt;
}

}  // namespace

Value write_callback_states(Entries& entries, const Value& states) {
  int64_t count = 0;
  return mapped(states, [&](const Value& value) -> std::optional<Value> {
    auto boxed = value.object_as<BoxedTensor>();
    if (!boxed) return std::nullopt;
    entries.push_back({callback_path(count), {}, boxed->tensor});
    return Value(Dict{{kTensor, count++}});
  });
}

CallbackStates::CallbackStates(WeightSource& file, Value saved_states)
    : path_(file.path()), saved_states_(std::move(saved_states)) {
  std::vector<std::string> datasets;
  mapped(saved_states_, [&](const Value& value) -> std::optional<Value> {
    const auto index = tensor_number(value);
    if (!index) return std::nullopt;
    if (*index != static_cast<int64_t>(datasets.size()))
      fail("'", path_, "': run_state: expected tensor ", datasets.size(), ", got ", *index);
    datasets.push_back(callback_path(*index));
    return value;
  });
  const std::vector<TensorSpec> specs = file.describe(datasets);
  for (size_t i = 0; i < datasets.size(); ++i)
    matches_.push_back({datasets[i], Variable(Tensor(specs[i])), nullptr, "callbacks"});
}

Value CallbackStates::with_tensors() const {
  return mapped(saved_states_, [&](const Value& value) -> std::optional<Value> {
    const auto index = tensor_number(value);
    if (!index) return std::nullopt;
    return Value(std::make_shared<BoxedTensor>(matches_[*index].variable.value()));
  });
}

void CallbackStates::give_to(Model& model) const {
  if (saved_states_.is_null()) return;
  try {
    model.set_run_state(with_tensors());
  } catch (const Error& error) {
    fail("'", path_, "': ", error.what());
  }
}

}  // namespace crescent::keras
