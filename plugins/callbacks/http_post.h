// One request to a web server.
#pragma once
#include <string>

namespace crescent {

struct HttpRequest {
  std::string url;      ///< "http://host:port/path"
  std::string headers;  ///< lines that end in "\r\n"
  std::string body;
};

/// Sends it as POST and waits for the answer's first line. Empty when the server took it (status
/// below 400), else what went wrong.
std::string http_post(const HttpRequest& request);

/// As the value of a form's field.
std::string url_encoded(const std::string& text);

}  // namespace crescent
