// crescent-h5read SIZE SECONDS: the only process in which libhdf5 reads a file. formats/hdf5 starts
// it with the open file, a socket and a block of shared memory as descriptors 3, 4 and 5. It
// answers requests (wire.h) and ends with its parent. A file that crashes libhdf5 crashes only this
// process.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <optional>
#include <string>

#include "container.h"
#include "contents.h"
#include "heaps.h"
#include "refusal.h"
#include "sandbox.h"

namespace crescent::hdf5 {
namespace {

/// The shared memory of the parent, which is mapped on first use, when its size is known.
class SharedMemory {
 public:
  std::span<std::byte> range(uint64_t offset, uint64_t bytes) {
    if (bytes == 0) return {};
    if (!start_) map();
    if (offset > size_ || bytes > size_ - offset) throw RefusedError("there is no room for it");
    return {start_ + offset, bytes};
  }

 private:
  void map() {
    off_t end = lseek(kMemoryDescriptor, 0, SEEK_END);
    void* start = end > 0
                      ? mmap(nullptr, end, PROT_READ | PROT_WRITE, MAP_SHARED, kMemoryDescriptor, 0)
                      : MAP_FAILED;
    if (start == MAP_FAILED) throw RefusedError("there is no memory for it");
    start_ = static_cast<std::byte*>(start);
    size_ = static_cast<uint64_t>(end);
  }

  std::byte* start_ = nullptr;
  uint64_t size_ = 0;
};

/// Answers requests about the file in `contents`; values of arrays are written to the shared memory
/// `target`.
struct RequestHandler {
  const Container& container;
  Contents& contents;
  SharedMemory target{};

  void answer_item(Operation operation, Unpacker item, Packer& answer);
  void answer(Unpacker request);
};

void RequestHandler::answer_item(Operation operation, Unpacker item, Packer& answer) {
  std::string path = item.text();
  switch (operation) {
    case Operation::member:
      return container.write_member(path, answer);
    case Operation::names:
      return container.write_names(path, answer);
    case Operation::attribute:
      return contents.write_attribute(path, item.text(), answer);
    case Operation::describe:
      return contents.describe(path, answer);
    case Operation::list:
      return contents.list(path, answer);
    case Operation::read: {
      auto offset = item.number<uint64_t>(), bytes = item.number<uint64_t>();
      return contents.read(path, target.range(offset, bytes));
    }
    case Operation::rows: {
      auto offset = item.number<uint64_t>(), bytes = item.number<uint64_t>(),
           first = item.number<uint64_t>(), count = item.number<uint64_t>();
      return contents.read_rows(path, first, count, target.range(offset, bytes));
    }
  }
}

/// Calls `work`, which appends its result to the answer. The answer begins with `prefix` and a
/// status: ok, missing or refused.
template <class F>
Packer answer_of(Packer prefix, const F& work) {
  Packer failure_answer = prefix;
  try {
    work(prefix.add(Status::ok));
    return prefix;
  } catch (const MissingObject&) {
    return failure_answer.add(Status::missing);
  } catch (const RefusedError& error) {
    return failure_answer.add(Status::refused).add(error.what());
  } catch (const std::bad_alloc&) {
    return failure_answer.add(Status::refused).add("it needs more memory than a model has");
  }
}

void RequestHandler::answer(Unpacker request) {
  auto operation = request.number<Operation>();
  for (auto remaining_items = request.number<uint64_t>(); remaining_items > 0 && request.ok();
       --remaining_items) {
    Unpacker item(request.text());
    Packer answer =
        answer_of({}, [&](Packer& packer) { answer_item(operation, std::move(item), packer); });
    if (!send_frame(kSocketDescriptor, answer)) return;
  }
}

/// Answers requests until the socket is closed. The time limit applies to each request, not to the
/// time between two requests.
void serve(RequestHandler& handler, unsigned seconds) {
  auto always = [](int) { return true; };
  for (;;) {
    alarm(0);
    auto request = receive_frame(kSocketDescriptor, always);
    if (!request) return;
    alarm(seconds);
    handler.answer(std::move(*request));
  }
}

std::span<const std::byte> map_file(uint64_t size) {
  void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, kFileDescriptor, 0);
  if (start == MAP_FAILED) throw RefusedError("it cannot be mapped into memory");
  return {static_cast<const std::byte*>(start), size};
}

int run(uint64_t size, unsigned seconds) {
  set_limits(size, seconds);
  std::optional<Container> container;
  std::optional<Contents> contents;
  Packer greeting = answer_of(Packer().add(kWireVersion), [&](Packer&) {
    auto file = map_file(size);
    if (!lock_down())
      throw RefusedError("this system offers no way to lock its reader in (seccomp)");
    container.emplace(file);
    check_heaps(container->image());
    contents.emplace(container->image(), container->start());
    if (!contents->is_sealed()) container->check_image();
  });
  if (!send_frame(kSocketDescriptor, greeting) || !contents) return 1;
  RequestHandler handler{*container, *contents};
  serve(handler, seconds);
  return 0;
}

}  // namespace
}  // namespace crescent::hdf5

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return 2;
  _exit(crescent::hdf5::run(strtoull(arguments[1], nullptr, 10),
                            static_cast<unsigned>(atoi(arguments[2]))));
}
