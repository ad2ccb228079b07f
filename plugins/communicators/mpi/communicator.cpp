// The communicator of processes that mpirun or srun started. Before each exchange all processes
// wait for each other (World::meet), so that waiting for a missing process ends with an error that
// gives its rank; the exchange itself is done by MPI.
#include "crescent/program/communicator.h"

#include "crescent/plugin.h"
#include "world.h"

namespace crescent::mpi {
namespace {

/// The largest number of elements or bytes in one call of MPI.
constexpr size_t kMaxCallCount = size_t{1} << 28;

MPI_Datatype type_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return MPI_FLOAT;
    case DType::float64:
      return MPI_DOUBLE;
    case DType::int32:
      return MPI_INT32_T;
    case DType::int64:
      return MPI_INT64_T;
    case DType::uint8:
      return MPI_UINT8_T;
    case DType::int8:
      return MPI_INT8_T;
    case DType::int16:
      return MPI_INT16_T;
    case DType::complex64:
      return MPI_C_FLOAT_COMPLEX;
    default:
      fail("mpi: cannot combine values of dtype ", dtype);
  }
}

MPI_Op operation_of(ReduceKind kind) {
  if (kind == ReduceKind::sum) return MPI_SUM;
  if (kind == ReduceKind::max) return MPI_MAX;
  if (kind == ReduceKind::min) return MPI_MIN;
  fail("mpi: expected sum, max or min, got ", name_of(kind));
}

/// Calls exchange(first, count) for consecutive parts of at most kMaxCallCount elements, since MPI
/// counts with int.
template <class F>
void exchange_in_parts(size_t count, F exchange) {
  for (size_t first = 0; first < count; first += kMaxCallCount)
    exchange(first, static_cast<int>(std::min(kMaxCallCount, count - first)));
}

class Mpi final : public Communicator {
 public:
  static void describe(Schema<Mpi>& s) {
    s.doc("Processes that mpirun or srun started, on one machine or many.");
    describe_timeout(s, &Mpi::timeout_);
  }
  int rank() const override { return World::instance().rank(); }
  int size() const override { return World::instance().size(); }

  void all_reduce(ReduceKind kind, DType dtype, void* data, size_t count) override {
    if (dtype == DType::bfloat16)
      return reduce_half(kind, data, count, bfloat16_to_float, float_to_bfloat16);
    if (dtype == DType::float16)
      return reduce_half(kind, data, count, float16_to_float, float_to_float16);
    const MPI_Datatype type = type_of(dtype);
    const MPI_Op operation = operation_of(kind);
    meet();
    exchange_in_parts(count, [&](size_t first, int n) {
      std::byte* const first_byte = static_cast<std::byte*>(data) + first * size_of(dtype);
      World::instance().exchange([&](MPI_Comm communicator) {
        check(MPI_Allreduce(MPI_IN_PLACE, first_byte, n, type, operation, communicator),
              "MPI_Allreduce");
      });
    });
  }
  void broadcast(void* data, size_t bytes, int root) override {
    if (root < 0 || root >= size())
      fail("broadcast: there is no process of rank ", root, " among ", size());
    meet();
    exchange_in_parts(bytes, [&](size_t first, int n) {
      World::instance().exchange([&](MPI_Comm communicator) {
        check(MPI_Bcast(static_cast<std::byte*>(data) + first, n, MPI_BYTE, root, communicator),
              "MPI_Bcast");
      });
    });
  }
  void gather(void* data, const std::vector<size_t>& bytes) override {
    size_t total_bytes = 0;
    std::vector<int> counts, offsets;
    for (size_t byte_count : bytes) {
      counts.push_back(static_cast<int>(std::min(byte_count, kMaxCallCount)));
      offsets.push_back(static_cast<int>(std::min(total_bytes, kMaxCallCount)));
      total_bytes += byte_count;
    }
    if (total_bytes > kMaxCallCount) return Communicator::gather(data, bytes);
    meet();
    World::instance().exchange([&](MPI_Comm communicator) {
      check(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts.data(), offsets.data(),
                           MPI_BYTE, communicator),
            "MPI_Allgatherv");
    });
  }
  void barrier() override { meet(); }
  Dict information() override {
    Dict result = Communicator::information();
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(library, &length);
    const std::string_view version(library);
    result.set("transport", std::string(version.substr(0, version.find(','))));
    List hosts;
    for (const std::string& host : World::instance().hosts()) hosts.emplace_back(host);
    result.set("hosts", std::move(hosts));
    return result;
  }
  void leave(const std::string& reason) noexcept override {
    World::instance().leave("left: " + reason);
  }
  std::vector<int> ranks_with(const std::string& error) override {
    return World::instance().ranks_with(error);
  }

 private:
  void meet() const {
    const World::AbsentProcesses absent = World::instance().meet(timeout_);
    if (!absent.ranks.empty()) fail_timeout(absent.ranks, timeout_, absent.descriptions);
  }
  /// Reduces half-width floats, which MPI cannot add, by converting them to float32 and back.
  void reduce_half(ReduceKind kind, void* data, size_t count, float widen(uint16_t),
                   uint16_t narrow(float)) {
    auto* const halves = static_cast<uint16_t*>(data);
    std::vector<float> floats(count);
    std::transform(halves, halves + count, floats.begin(), widen);
    all_reduce(kind, DType::float32, floats.data(), count);
    std::transform(floats.begin(), floats.end(), halves, narrow);
  }

  double timeout_ = kTimeout;
};

}  // namespace
}  // namespace crescent::mpi

CRESCENT_PLUGIN("mpi", CRESCENT_VERSION) { registry.add<crescent::mpi::Mpi>("mpi"); }
