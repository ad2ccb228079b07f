#include "communicator.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "crescent/tensor/with_type.h"

namespace crescent::simulation {
namespace {

/// A random order of the ranks, which depends only on `call`.
std::vector<int> order_of_ranks(int rank_count, int64_t call) {
  std::vector<int> order(static_cast<size_t>(rank_count));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(static_cast<uint64_t>(call));
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

template <class T>
T combined(ReduceKind kind, T a, T b) {
  if (kind == ReduceKind::sum) return static_cast<T>(a + b);
  return kind == ReduceKind::max ? std::max(a, b) : std::min(a, b);
}

}  // namespace

void SimulatedCommunicator::begin(const std::string& call) {
  call_ = concat(call, " as collective call ", ++calls_);
  cluster_.pass_event_or_end();
}

/// Every message begins with the text of the collective call that it belongs to and a zero byte. If
/// the sender crashes, some of the other ranks may have got the message, and others not.
void SimulatedCommunicator::send_to_all(const void* data, size_t bytes) {
  Bytes message(call_.size() + 1 + bytes);
  std::memcpy(message.data(), call_.c_str(), call_.size() + 1);
  if (bytes > 0) std::memcpy(message.data() + call_.size() + 1, data, bytes);
  for (int i = 0; i < size(); ++i) {
    if (i == rank_) continue;
    cluster_.pass_event_or_end();
    cluster_.send(i, message);
  }
}

SimulatedCommunicator::Bytes SimulatedCommunicator::receive(int from) {
  Bytes message = cluster_.receive(from);
  const std::string other_call(reinterpret_cast<const char*>(message.data()));
  if (other_call != call_)
    fail("rank ", rank_, " calls ", call_, ", and rank ", from, " calls ", other_call);
  message.erase(message.begin(),
                message.begin() + static_cast<std::ptrdiff_t>(other_call.size() + 1));
  return message;
}

/// Ranks are combined in a random order, because a communicator promises none.
void SimulatedCommunicator::all_reduce(ReduceKind kind, DType dtype, void* data, size_t count) {
  begin(concat("all_reduce of ", count, " ", dtype, " by ", kind));
  const size_t bytes = count * size_of(dtype);
  send_to_all(data, bytes);
  std::vector<Bytes> messages(static_cast<size_t>(size()));
  for (int i = 0; i < size(); ++i) {
    const auto* own_bytes = static_cast<const std::byte*>(data);
    messages[static_cast<size_t>(i)] =
        i == rank_ ? Bytes(own_bytes, own_bytes + bytes) : receive(i);
  }
  const std::vector<int> order = order_of_ranks(size(), calls_);
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(data);
    for (size_t i = 0; i < order.size(); ++i) {
      const T* part = reinterpret_cast<const T*>(messages[static_cast<size_t>(order[i])].data());
      for (size_t k = 0; k < count; ++k) to[k] = i == 0 ? part[k] : combined(kind, to[k], part[k]);
    }
  });
}

void SimulatedCommunicator::broadcast(void* data, size_t bytes, int root) {
  begin(concat("broadcast of ", bytes, " bytes from rank ", root));
  if (rank_ == root) return send_to_all(data, bytes);
  const Bytes message = receive(root);
  if (bytes > 0) std::memcpy(data, message.data(), bytes);
}

void SimulatedCommunicator::gather(void* data, const std::vector<size_t>& bytes) {
  std::vector<std::string> sizes;
  for (size_t part_size : bytes) sizes.push_back(std::to_string(part_size));
  begin(concat("gather of ", join(sizes), " bytes"));
  auto* at = static_cast<std::byte*>(data);
  std::vector<std::byte*> part_starts;
  for (size_t part_size : bytes) part_starts.push_back(std::exchange(at, at + part_size));
  const auto own_rank = static_cast<size_t>(rank_);
  if (bytes[own_rank] > 0) send_to_all(part_starts[own_rank], bytes[own_rank]);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == own_rank || bytes[i] == 0) continue;
    const Bytes message = receive(static_cast<int>(i));
    std::memcpy(part_starts[i], message.data(), bytes[i]);
  }
}

void SimulatedCommunicator::leave(const std::string& reason) noexcept {
  cluster_.leave("left: " + reason);
}

}  // namespace crescent::simulation
