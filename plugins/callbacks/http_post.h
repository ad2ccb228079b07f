// POST requests to web servers.
#pragma once
#include <string>

namespace crescent {

struct HttpRequest {
  std::string url;      ///< "http://host:port/path"
  std::string headers;  ///< lines that end in "\r\n"
  std::string body;
};

/// Sends the request by POST and waits for the first line of the answer. Returns an empty text if
/// the status is below 400, else the error.
std::string http_post(const HttpRequest& request);

/// The text encoded as the value of a form field.
std::string url_encoded(const std::string& text);

}  // namespace crescent
