// Checks of communicators: in a single process, each collective operation must leave the data
// unchanged.
#include "check/checked_layer.h"
#include "check/classes.h"
#include "crescent/program/communicator.h"
#include "crescent/program/program.h"

namespace crescent::check {
namespace {

using Bytes = std::vector<std::byte>;

std::shared_ptr<Communicator> single_process_communicator(const CheckedClass& checked) {
  auto communicator = checked.make<Communicator>();
  const int rank = communicator->rank(), process_count = communicator->size();
  expect(rank >= 0 && rank < process_count, "rank() is ", rank,
         ", expected a number from 0 to size() - 1 = ", process_count - 1);
  if (process_count > 1) skip("it connects ", process_count, " processes; the checks are for one");
  return communicator;
}

Bytes bytes_of(const Tensor& t) {
  const auto* first_byte = static_cast<const std::byte*>(t.raw());
  return {first_byte, first_byte + t.bytes()};
}

/// Expects that f, which gets the address of the bytes, changes neither these bytes nor the memory
/// after them.
void expect_unchanged(const Bytes& bytes, const std::function<void(std::byte*)>& f,
                      std::string_view what) {
  Bytes buffer = bytes;
  buffer.resize(bytes.size() + 64, std::byte{0x5a});
  const Bytes buffer_before = buffer;
  f(buffer.data());
  expect(std::equal(bytes.begin(), bytes.end(), buffer.begin()), what,
         " over one process changed the values");
  expect(buffer == buffer_before, what, " wrote beyond its ", bytes.size(), " bytes");
}

std::string check_all_reduce(const CheckedClass& checked) {
  const auto communicator = single_process_communicator(checked);
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16,
                            DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8})
    for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::max, ReduceKind::min})
      for (const int64_t count : {0, 1, 100, 70000}) {
        const Bytes values =
            bytes_of(ops::cast(ops::mod(ops::arange(count, DType::float64) + 1.0, 100.0), dtype));
        expect_unchanged(
            values,
            [&](std::byte* data) {
              communicator->all_reduce(kind, dtype, data, static_cast<size_t>(count));
            },
            concat("all_reduce: the ", kind, " of ", count, " ", dtype));
      }
  return "sum, max and min of numbers of each dtype";
}

std::string check_copies(const CheckedClass& checked) {
  const auto communicator = single_process_communicator(checked);
  for (const size_t count : {0, 1, 70000}) {
    const Bytes bytes(count, std::byte{7});
    expect_unchanged(
        bytes, [&](std::byte* data) { communicator->broadcast(data, count, 0); },
        concat("broadcast of ", count, " bytes"));
    expect_unchanged(
        bytes, [&](std::byte* data) { communicator->gather(data, {count}); },
        concat("gather of ", count, " bytes"));
  }
  const std::vector<double> gathered_values = communicator->all_gather(2.5);
  expect(gathered_values == std::vector<double>{2.5}, "all_gather(2.5) gave ",
         gathered_values.size(), " values",
         gathered_values.empty() ? "" : concat(", first ", gathered_values.front()),
         ", expected 2.5 alone");
  communicator->barrier();
  return "broadcast, gather and all_gather keep what they are given";
}

std::string check_information(const CheckedClass& checked) {
  const auto communicator = single_process_communicator(checked);
  const Dict information = communicator->information();
  for (const auto& [name, value] :
       {std::pair("rank", communicator->rank()), std::pair("size", communicator->size())})
    expect(information.contains(name) && information.at(name) == Value(value),
           "information() has no '", name, "' of ", value);
  const std::vector<int> ranks = communicator->ranks_with("an error");
  expect(ranks == std::vector<int>{communicator->rank()}, "ranks_with() gave ", ranks.size(),
         " ranks, expected that of this process");
  communicator->leave("the check is over");
  return to_json(information);
}

/// While an object of this class lives, programs and training runs use this communicator.
class ScopedCommunicator {
 public:
  explicit ScopedCommunicator(std::shared_ptr<Communicator> new_communicator)
      : previous_communicator_(communicator()) {
    set_communicator(std::move(new_communicator));
  }
  ~ScopedCommunicator() { set_communicator(previous_communicator_); }
  ScopedCommunicator(const ScopedCommunicator&) = delete;

 private:
  std::shared_ptr<Communicator> previous_communicator_;
};

std::string check_training(const CheckedClass& checked) {
  const ModelPtr single_model = small_model(), group_model = small_model();
  train(*single_model);
  const auto communicator = single_process_communicator(checked);
  const ScopedCommunicator communicator_scope(communicator);
  train(*group_model);
  const Tensor x = SeedGenerator(5).normal({50, 3});
  expect_near(Function([](const Tensors& in) { return Tensors{ops::all_reduce(in[0])}; })({x}), {x},
              0, "ops::all_reduce beside its input");
  expect_near(group_model->predict({x}), single_model->predict({x}), 1e-6,
              "a model that was trained with it beside one that was trained without");
  return "a training run gives the weights that it gives without";
}

}  // namespace

void add_communicator_rows(CheckReport& report, const CheckedClass& checked) {
  add_result(report, "all_reduce", [&] { return check_all_reduce(checked); });
  add_result(report, "copies", [&] { return check_copies(checked); });
  add_result(report, "training", [&] { return check_training(checked); });
  add_result(report, "information", [&] { return check_information(checked); });
}

}  // namespace crescent::check
