// RemoteMonitor sends the logs of epochs to a web server.
#include "crescent/base/strict_json.h"
#include "crescent/model/callback.h"
#include "crescent/registry/registration.h"
#include "http_post.h"

namespace crescent {
namespace {

class RemoteMonitor final : public Callback {
 public:
  static void describe(Schema<RemoteMonitor>& s) {
    s.doc("Sends the logs of each epoch to a server by HTTP POST.")
        .field("root", &RemoteMonitor::root_, "Address of the server: http://host:port.")
        .field("path", &RemoteMonitor::path_, "Path of the request.")
        .field("field", &RemoteMonitor::field_, "Name of the form field that holds the JSON.")
        .field("headers", &RemoteMonitor::headers_, "Additional headers of the request: a table.")
        .field("send_as_json", &RemoteMonitor::send_as_json_,
               "Send the JSON itself instead of a form.");
  }
  void configured() override {
    if (!root_.starts_with("http://")) fail("root must begin with http://, got '", root_, "'");
    header_lines_ = send_as_json_ ? "Content-Type: application/json\r\n"
                                  : "Content-Type: application/x-www-form-urlencoded\r\n";
    for (const DictEntry& header : headers_.value_or(Dict())) {
      const std::string line = concat(header.key, ": ", header.value.as_string());
      if (line.find_first_of("\r\n") != std::string::npos)
        fail("headers: a line of its own is needed for each, got '", line, "'");
      header_lines_ += line + "\r\n";
    }
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    Dict data{{"epoch", epoch}};
    for (const auto& [name, value] : logs.values()) data.set(name, value);
    const std::string json = to_strict_json(data);
    const std::string body =
        send_as_json_ ? json : concat(url_encoded(field_), "=", url_encoded(json));
    if (const std::string problem = http_post({root_ + path_, header_lines_, body});
        !problem.empty())
      warn("Could not reach RemoteMonitor root server at ", root_, ": ", problem);
  }
  bool writes_for_all() const override { return true; }

 private:
  std::string root_ = "http://localhost:9000", path_ = "/publish/epoch/end/", field_ = "data";
  std::optional<Dict> headers_;
  bool send_as_json_ = false;
  std::string header_lines_;
};

}  // namespace

CRESCENT_REGISTER(remote_monitor) { registry.add<RemoteMonitor>("RemoteMonitor"); }

}  // namespace crescent
