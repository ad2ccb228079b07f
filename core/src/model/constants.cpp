#include "model/constants.h"

#include "crescent/tensor/strings.h"

namespace crescent {
namespace {

/// Returns the values as nested lists; whole numbers are integers.
Value numbers_in(const Tensor& tensor) {
  if (tensor.rank() > 0) {
    List rows;
    for (int64_t i = 0; i < tensor.dim(0); ++i)
      rows.push_back(
          numbers_in(tensor.view_rows(i, 1).view(tensor.shape().slice(1, tensor.rank()))));
    return rows;
  }
  if (tensor.dtype() == DType::boolean) return tensor.item() != 0;
  if (tensor.dtype() == DType::string) return strings_of(tensor).front();
  if (is_integer(tensor.dtype())) return ops::cast(tensor, DType::int64).data<int64_t>()[0];
  return tensor.item();
}

}  // namespace

Value encode_constant(const Tensor& tensor) {
  return Dict{{"class_name", "__tensor__"},
              {"config", Dict{{"value", numbers_in(tensor.to(nullptr))},
                              {"dtype", name_of(tensor.dtype())}}}};
}

std::optional<Value> decode_constant(const Value& value) {
  if (!value.is_dict()) return std::nullopt;
  const Value* class_name = value.as_dict().find("class_name");
  if (!class_name || (*class_name != Value("__tensor__") && *class_name != Value("__numpy__")))
    return std::nullopt;
  const Dict& config = value.as_dict().at("config").as_dict();
  const Value& stored_value = config.at("value");
  const Tensor tensor = stored_value.is_string() ? string_tensor({&stored_value.as_string(), 1}, {})
                                                 : Codec<Tensor>::decode(stored_value);
  const Value* dtype = config.find("dtype");
  return Codec<Tensor>::encode(
      dtype && dtype->is_string() ? ops::cast(tensor, dtype_named(dtype->as_string())) : tensor);
}

}  // namespace crescent
