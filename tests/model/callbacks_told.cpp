// Callbacks that report a run elsewhere: tables, TensorBoard files, a web server; and the callback
// SwapEMAWeights.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

#include "crescent/crescent.h"
#include "crescent/model/callback_hooks.h"

using namespace crescent;
using Catch::Contains;

namespace {

std::shared_ptr<Sequential> model_with(Dict optimizer) {
  set_random_seed(4);
  auto model = Sequential::make(
      {make<Layer>("Dense", {{"units", 1}, {"input_shape", List{2}}, {"name", "one"}})});
  model->compile({{"optimizer", std::move(optimizer)}, {"loss", "mse"}});
  return model;
}
Dict sgd(Dict options) { return {{"class_name", "SGD"}, {"config", std::move(options)}}; }
std::shared_ptr<History> fit_sums(Model& model, Value callbacks, int64_t epochs,
                                  Dict more_options = {}) {
  const Tensor x = SeedGenerator(1).normal({32, 2});
  more_options.set("callbacks", std::move(callbacks));
  more_options.set("epochs", epochs);
  more_options.set("verbose", 0);
  return model.fit({x}, {ops::sum(x, {1}, true)}, more_options);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// ---- a reader of TensorBoard files that is independent of the writer

/// CRC-32C, computed bit by bit, and masked as in TFRecord.
uint32_t checksum(const char* data, size_t size) {
  uint32_t crc = 0xffffffff;
  for (size_t i = 0; i < size; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      const bool is_odd = (crc ^ (static_cast<unsigned char>(data[i]) >> bit)) & 1;
      crc = (crc >> 1) ^ (is_odd ? 0x82f63b78 : 0);
    }
  crc ^= 0xffffffff;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

template <class T>
T number_at(const std::string& text, size_t position) {
  T value;
  REQUIRE(position + sizeof value <= text.size());
  std::memcpy(&value, text.data() + position, sizeof value);
  return value;
}

std::vector<std::string> records_of(const std::string& path) {
  const std::string file = text_of(path);
  std::vector<std::string> records;
  for (size_t position = 0; position < file.size();) {
    const auto length = number_at<uint64_t>(file, position);
    CHECK(number_at<uint32_t>(file, position + 8) == checksum(file.data() + position, 8));
    const char* data = file.data() + position + 12;
    CHECK(number_at<uint32_t>(file, position + 12 + length) == checksum(data, length));
    records.emplace_back(data, length);
    position += 16 + length;
  }
  return records;
}

/// The fields of a protocol buffer message: the bytes of each field number, in order.
std::multimap<int, std::string> fields_of(const std::string& message) {
  std::multimap<int, std::string> fields;
  size_t position = 0;
  auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(message.at(position++));
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (position < message.size()) {
    const uint64_t key = varint();
    const int wire_type = int(key & 7);
    if (wire_type == 0) {
      const uint64_t value = varint();
      fields.emplace(int(key >> 3), std::string(reinterpret_cast<const char*>(&value), 8));
      continue;
    }
    const size_t size = wire_type == 1 ? 8 : wire_type == 5 ? 4 : varint();
    fields.emplace(int(key >> 3), message.substr(position, size));
    position += size;
  }
  return fields;
}
std::string field(const std::string& message, int number) {
  const auto fields = fields_of(message);
  const auto field_entry = fields.find(number);
  return field_entry == fields.end() ? "" : field_entry->second;
}

struct SummaryRecord {
  int64_t step;
  std::string value;  // the bytes of the Summary.Value message
};
/// The records in a folder's file, by tag.
std::multimap<std::string, SummaryRecord> records_in(const std::string& folder) {
  std::multimap<std::string, SummaryRecord> all_records;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const auto records = records_of(file.path());
    CHECK(field(records.at(0), 3) == "brain.Event:2");
    for (size_t i = 1; i < records.size(); ++i) {
      const std::string step = field(records[i], 2), value = field(field(records[i], 5), 1);
      all_records.emplace(field(value, 1),
                          SummaryRecord{step.empty() ? 0 : number_at<int64_t>(step, 0), value});
    }
  }
  return all_records;
}
float scalar(const SummaryRecord& record) { return number_at<float>(field(record.value, 2), 0); }

// ---- a web server that answers some requests

class Server {
 public:
  explicit Server(int requests) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    socklen_t size = sizeof address;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    listen(socket_, 4);
    thread_ = std::thread([this, requests] {
      for (int i = 0; i < requests; ++i) serve();
    });
  }
  ~Server() { close(socket_); }
  std::vector<std::string> requests() {
    thread_.join();
    return requests_;
  }
  int port;

 private:
  void serve() {
    const int connection = accept(socket_, nullptr, nullptr);
    std::string text;
    char buffer[512];
    for (size_t wanted_size = std::string::npos; text.size() < wanted_size;) {
      const ssize_t n = recv(connection, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      text.append(buffer, size_t(n));
      const size_t end = text.find("\r\n\r\n"), length = text.find("Content-Length: ");
      if (end != std::string::npos) wanted_size = end + 4 + std::stoul(text.substr(length + 16));
    }
    requests_.push_back(text);
    const std::string answer = "HTTP/1.1 204 No Content\r\n\r\n";
    send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
    close(connection);
  }
  int socket_;
  std::thread thread_;
  std::vector<std::string> requests_;
};

}  // namespace

TEST_CASE("CSVLogger writes a line an epoch and goes on below it") {
  const std::string path = "model_test_log.csv";
  std::filesystem::remove(path);
  auto model = model_with(sgd({{"learning_rate", 0.1}}));
  auto csv_logger = [&](bool append) {
    return make<Callback>("CSVLogger",
                          {{"filename", path}, {"separator", ";"}, {"append", append}});
  };
  const auto first_history = fit_sums(*model, csv_logger(true), 2);
  const auto second_history = fit_sums(*model, csv_logger(true), 1);
  auto csv_line = [](int64_t epoch, double loss) { return concat(epoch, ";", loss, ";NA\r\n"); };
  CHECK(text_of(path) == "epoch;loss;val_loss\r\n" + csv_line(0, first_history->at("loss")[0]) +
                             csv_line(1, first_history->at("loss")[1]) +
                             csv_line(0, second_history->at("loss")[0]));
  const auto third_history = fit_sums(*model, csv_logger(false), 1, {{"validation_split", 0.5}});
  CHECK(text_of(path) == concat("epoch;loss;val_loss\r\n0;", third_history->at("loss")[0], ";",
                                third_history->at("val_loss")[0], "\r\n"));
  std::filesystem::remove(path);
  CHECK_THROWS_WITH(
      fit_sums(*model, make<Callback>("CSVLogger", {{"filename", "/no/such/folder/log.csv"}}), 1),
      Contains("cannot write '/no/such/folder/log.csv'"));
}

TEST_CASE("TensorBoard's files hold values, steps and histograms") {
  const std::string folder = "model_test_board";
  std::filesystem::remove_all(folder);
  auto model = model_with(sgd({{"learning_rate", 0.1}}));
  const Dict options{{"log_dir", folder}, {"histogram_freq", 2}, {"update_freq", "batch"}};
  const auto history = fit_sums(*model, make<Callback>("TensorBoard", options), 3,
                                {{"validation_split", 0.5}, {"batch_size", 8}});
  const auto train_records = records_in(folder + "/train"),
             validation_records = records_in(folder + "/validation");
  CHECK(train_records.count("epoch_loss") == 3);
  for (const auto& [tag, record] : train_records)
    if (tag == "epoch_loss")
      CHECK(scalar(record) == float(history->at("loss")[size_t(record.step)]));
  for (const auto& [tag, record] : validation_records)
    if (tag == "epoch_loss")
      CHECK(scalar(record) == float(history->at("val_loss")[size_t(record.step)]));
  CHECK(validation_records.count("evaluation_loss_vs_iterations") == 3);
  CHECK(train_records.count("batch_loss") == 6);
  CHECK(scalar(train_records.find("epoch_learning_rate")->second) == 0.1f);
  CHECK_THAT(field(train_records.find("keras")->second.value, 8), Contains("Sequential"));

  const auto histograms = train_records.equal_range("one/kernel/histogram");
  // One histogram for epoch 0 and one for epoch 2.
  CHECK(std::distance(histograms.first, histograms.second) == 2);
  const SummaryRecord& last_record = std::prev(histograms.second)->second;
  CHECK(last_record.step == 2);
  const std::string histogram = field(last_record.value, 5);
  const std::vector<double> kernel = model->get_weights()[0].to_vector();
  CHECK(number_at<double>(field(histogram, 1), 0) == std::min(kernel[0], kernel[1]));
  CHECK(number_at<double>(field(histogram, 2), 0) == std::max(kernel[0], kernel[1]));
  CHECK(number_at<double>(field(histogram, 3), 0) == 2);
  CHECK(number_at<double>(field(histogram, 4), 0) == kernel[0] + kernel[1]);
  const std::string limits = field(histogram, 6), counts = field(histogram, 7);
  REQUIRE(limits.size() == counts.size());
  for (const double x : kernel) {
    double count_inside = 0;
    for (size_t i = 8; i < limits.size(); i += 8)
      if (number_at<double>(limits, i - 8) < x && x <= number_at<double>(limits, i))
        count_inside = number_at<double>(counts, i);
    CHECK(count_inside >= 1);
  }
  std::filesystem::remove_all(folder);
  CHECK_THROWS_WITH(make<Callback>("TensorBoard", {{"write_images", true}}),
                    Contains("not supported"));
}

TEST_CASE("RemoteMonitor posts a form, or JSON") {
  auto model = model_with(sgd({{"learning_rate", 0.1}}));
  Server server(3);
  Dict options{{"root", concat("http://localhost:", server.port)},
               {"headers", Dict{{"X-Run", "7"}}}};
  const auto history = fit_sums(*model, make<Callback>("RemoteMonitor", options), 2);
  options.set("send_as_json", true);
  options.set("path", "/json");
  const auto sent_history = fit_sums(*model, make<Callback>("RemoteMonitor", options), 1);
  const std::vector<std::string> requests = server.requests();
  CHECK_THAT(requests[0], Contains("POST /publish/epoch/end/ HTTP/1.1\r\n") &&
                              Contains("X-Run: 7\r\n") &&
                              Contains("data=%7B%22epoch%22%3A%200%2C") &&
                              Contains("application/x-www-form-urlencoded"));
  CHECK_THAT(requests[2], Contains("POST /json HTTP/1.1\r\n") && Contains("application/json"));
  const Value sent_logs = parse_json(requests[2].substr(requests[2].find("\r\n\r\n") + 4));
  CHECK(sent_logs.as_dict().at("loss").as_float() == sent_history->at("loss")[0]);
  fit_sums(*model, make<Callback>("RemoteMonitor", {{"root", "http://localhost:1"}}), 1);  // warns
  CHECK_THROWS_WITH(make<Callback>("RemoteMonitor", {{"root", "ftp://x"}}), Contains("http://"));
}

TEST_CASE("a run with averages ends with them, and is validated with them if asked") {
  const Dict averaging{{"learning_rate", 0.1}, {"use_ema", true}, {"ema_momentum", 0.5}};
  auto kernel_after = [](Model& model, Value callbacks, int64_t epochs) {
    fit_sums(model, std::move(callbacks), epochs, {{"batch_size", 32}, {"shuffle", false}});
    return model.get_weights()[0].to_vector();
  };
  auto plain_model = model_with(sgd({{"learning_rate", 0.1}}));
  std::vector<double> kernels_after_steps[3], average_kernel;
  for (auto& step : kernels_after_steps) step = kernel_after(*plain_model, Value(), 1);
  average_kernel = kernels_after_steps[0];
  for (int i : {1, 2})
    for (size_t k = 0; k < 2; ++k)
      average_kernel[k] = 0.5 * average_kernel[k] + 0.5 * kernels_after_steps[i][k];
  auto averaging_model = model_with(sgd(averaging));
  const std::vector<double> final_kernel = kernel_after(*averaging_model, Value(), 3);
  for (size_t k = 0; k < 2; ++k) CHECK(final_kernel[k] == Approx(average_kernel[k]).epsilon(1e-5));

  auto swapping_model = model_with(sgd(averaging));
  auto swap_callback = make<Callback>("SwapEMAWeights", {{"swap_on_epoch", true}});
  CHECK(kernel_after(*swapping_model, swap_callback, 3) == final_kernel);
  CHECK_THROWS_WITH(
      fit_sums(*plain_model, make<Callback>("SwapEMAWeights", {{"swap_on_epoch", true}}), 1),
      Contains("SwapEMAWeights must be used when `use_ema=True`"));
}

namespace {

class RecordingCallback final : public ForwardingCallback {
 public:
  std::vector<std::string> calls;

 private:
  void forward(const CallbackHook& hook, int64_t number, const Logs& logs) override {
    calls.push_back(
        concat(hook.name, " ", hook.number ? hook.number : "-", " ", number, " ", logs.at("loss")));
  }
};

}  // namespace

TEST_CASE("each hook of the list calls its function, and forwarding callbacks hear it as itself") {
  RecordingCallback callback;
  Logs logs;
  logs.set("loss", 0.5);
  for (const CallbackHook& hook : kCallbackHooks) {
    hook.call(callback, 3, logs);
    hook.call(callback, 3, std::as_const(logs));
    const std::string expected =
        concat(hook.name, " ", hook.number ? hook.number : "-", " ", hook.number ? 3 : 0, " 0.5");
    CHECK(std::exchange(callback.calls, {}) == std::vector{expected, expected});
  }
}
