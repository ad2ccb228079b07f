#include "entries.h"

#include <cmath>

#include "crescent/ops/ops.h"

namespace crescent::pictures {
namespace {

double number_in(const Value& item) {
  if (item.is_null()) return std::nan("");
  return item.is_bool() ? item.as_bool() : item.as_float();
}

void check_numbers(const Tensor& tensor, std::string_view name) {
  if (tensor.dtype() == DType::complex64 || tensor.dtype() == DType::string)
    fail(name, ": expected real numbers, got ", tensor.spec());
}

}  // namespace

const Value& entry(const Dict& figure, std::string_view name) {
  static const Value null;
  const Value* stored_entry = figure.find(name);
  return stored_entry ? *stored_entry : null;
}

std::string text_entry(const Dict& figure, std::string_view name) {
  const Value& text = entry(figure, name);
  return text.is_null() ? "" : printable(text.is_string() ? text.as_string() : to_text(text));
}

std::vector<std::string> texts_entry(const Dict& figure, std::string_view name) {
  std::vector<std::string> texts;
  const Value& text_list = entry(figure, name);
  if (text_list.is_null()) return texts;
  for (const Value& item : text_list.as_list())
    texts.push_back(printable(item.is_string() ? item.as_string() : to_text(item)));
  return texts;
}

std::vector<std::string> texts_with_count(const Dict& figure, std::string_view name, size_t count) {
  std::vector<std::string> texts = texts_entry(figure, name);
  if (texts.size() != count) fail(name, ": expected ", count, " texts, got ", texts.size());
  return texts;
}

bool is_set(const Dict& figure, std::string_view name) {
  const Value& flag = entry(figure, name);
  return !flag.is_null() && flag.as_bool();
}

std::vector<double> numbers_in(const Value& value, std::string_view name) {
  if (const auto boxed_tensor = value.object_as<BoxedTensor>()) {
    check_numbers(boxed_tensor->tensor, name);
    return boxed_tensor->tensor.to_vector();
  }
  std::vector<double> numbers;
  for (const Value& item : value.as_list()) numbers.push_back(number_in(item));
  return numbers;
}

Tensor tensor_entry(const Dict& figure, std::string_view name) {
  const auto boxed_tensor = figure.at(name).object_as<BoxedTensor>();
  if (!boxed_tensor) fail(name, ": expected a tensor, got ", figure.at(name));
  check_numbers(boxed_tensor->tensor, name);
  return boxed_tensor->tensor;
}

}  // namespace crescent::pictures
