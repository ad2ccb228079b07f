#include "training/sharing/write_together.h"

#include <exception>

#include "crescent/program/communicator.h"
#include "program/recording/divided.h"

namespace crescent {
namespace {

/// Returns the text of rank 0, in all processes.
std::string text_of_rank_0(std::string text) {
  const auto group = communicator();
  auto length = static_cast<int64_t>(text.size());
  group->broadcast(&length, sizeof length, 0);
  text.resize(static_cast<size_t>(length));
  if (length > 0) group->broadcast(text.data(), text.size(), 0);
  return text;
}

}  // namespace

void write_together(const Variables& variables, const std::function<void()>& write) {
  Variables divided_variables = variables;
  std::erase_if(divided_variables, [](const Variable& v) { return !division_of(v); });
  if (divided_variables.empty()) return write();
  const GatheredValues gathered_values(divided_variables);
  std::exception_ptr exception;
  std::string message;
  if (communicator()->rank() == 0) try {
      write();
    } catch (const std::exception& error) {
      exception = std::current_exception();
      message = error.what();
    }
  message = text_of_rank_0(message);
  if (exception) std::rethrow_exception(exception);
  if (!message.empty()) fail(message);
}

}  // namespace crescent
