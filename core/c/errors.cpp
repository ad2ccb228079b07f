#include "errors.h"

#include <cstdlib>
#include <new>
#include <string>

#include "crescent/base/memory_error.h"

namespace crescent::c {
namespace {

struct ErrorObject {
  int code;
  std::string message;
};

/// The handle that is returned if no memory can be allocated for an error object. Its message is
/// "not enough memory".
crescent_error* const kNoMemory = reinterpret_cast<crescent_error*>(HandleKind::error);
constexpr const char* kNoMemoryMessage = "not enough memory";

crescent_error* make_error(int code, std::string message) noexcept try {
  auto object = std::make_shared<ErrorObject>(ErrorObject{code, std::move(message)});
  return reinterpret_cast<crescent_error*>(add_handle(HandleKind::error, std::move(object)));
} catch (...) {
  return kNoMemory;
}

std::shared_ptr<ErrorObject> find_error(const crescent_error* error) {
  return std::static_pointer_cast<ErrorObject>(find_handle(HandleKind::error, error));
}

}  // namespace

crescent_error* current_error(const char* function) noexcept try {
  throw;
} catch (const ArgumentError& error) {
  return make_error(CRESCENT_ERROR_ARGUMENT, concat(function, ": ", error.what()));
} catch (const Interrupted& error) {
  return make_error(CRESCENT_ERROR_INTERRUPTED, error.what());
} catch (const DataError& error) {
  return make_error(CRESCENT_ERROR_DATA, error.what());
} catch (const MemoryError& error) {
  return make_error(CRESCENT_ERROR_MEMORY, error.what());
} catch (const Error& error) {
  return make_error(CRESCENT_ERROR_FAILED, error.what());
} catch (const std::bad_alloc&) {
  return kNoMemory;
} catch (...) {
  return make_error(CRESCENT_ERROR_OTHER, exception_text());
}

crescent_error* new_error(const char* message) noexcept {
  return make_error(CRESCENT_ERROR_FAILED, message ? message : "an error without a message");
}

void throw_if(crescent_error* error) {
  if (!error) return;
  const int code = crescent_error_code_of(error);
  const std::string message = crescent_error_message(error);
  crescent_error_free(error);
  if (code == CRESCENT_ERROR_MEMORY) throw MemoryError(message);
  if (code == CRESCENT_ERROR_DATA) throw DataError(message);
  if (code == CRESCENT_ERROR_INTERRUPTED) throw Interrupted(message);
  fail(message);
}

}  // namespace crescent::c

using namespace crescent::c;

int crescent_error_code_of(const crescent_error* error) {
  if (!error) return CRESCENT_OK;
  if (error == kNoMemory) return CRESCENT_ERROR_MEMORY;
  const auto object = find_error(error);
  return object ? object->code : CRESCENT_ERROR_ARGUMENT;
}

const char* crescent_error_message(const crescent_error* error) {
  if (!error) return "";
  if (error == kNoMemory) return kNoMemoryMessage;
  const auto object = find_error(error);
  return object ? object->message.c_str() : "this is no error, or one that was freed";
}

void crescent_error_free(crescent_error* error) { remove_handle(HandleKind::error, error); }

void crescent_text_free(char* text) { std::free(text); }
