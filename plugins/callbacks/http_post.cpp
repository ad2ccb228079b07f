#include "http_post.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "crescent/base/error.h"

namespace crescent {
namespace {

/// The time limit for connecting, for sending and for each part of the answer.
constexpr int kTimeoutSeconds = 5;

struct Address {
  std::string host, port = "80", path = "/";
};

/// Parses an address that begins with "http://"; fails for any other text.
Address address_of(const std::string& url) {
  const std::string url_scheme = "http://";
  if (!url.starts_with(url_scheme))
    fail("expected an address that begins with http://, got '", url, "'");
  Address address;
  const size_t path_position = url.find('/', url_scheme.size());
  address.host = url.substr(url_scheme.size(), path_position - url_scheme.size());
  if (path_position != std::string::npos) address.path = url.substr(path_position);
  const size_t colon = address.host.rfind(':');
  if (colon != std::string::npos && address.host.find(']', colon) == std::string::npos) {
    address.port = address.host.substr(colon + 1);
    address.host.resize(colon);
  }
  if (url.find_first_of("\r\n ") != std::string::npos || address.host.empty())
    fail("expected an address like http://localhost:9000/path, got '", url, "'");
  return address;
}

class Socket {
 public:
  explicit Socket(const addrinfo& address_info)
      : descriptor_(socket(address_info.ai_family, address_info.ai_socktype | SOCK_CLOEXEC,
                           address_info.ai_protocol)) {
    if (descriptor_ < 0) return;
    const timeval timeout{kTimeoutSeconds, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    is_connected_ = connect(descriptor_, address_info.ai_addr, address_info.ai_addrlen) == 0;
  }
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  bool is_connected() const { return is_connected_; }
  bool send_all(const std::string& text) const {
    for (size_t sent_bytes = 0; sent_bytes < text.size();) {
      const ssize_t n =
          send(descriptor_, text.data() + sent_bytes, text.size() - sent_bytes, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent_bytes += static_cast<size_t>(n);
    }
    return true;
  }
  /// Receives the first line of the answer, or the whole answer if it has no line end.
  std::string first_line() const {
    std::string line;
    char buffer[256];
    while (line.find('\n') == std::string::npos && line.size() < 4096) {
      const ssize_t n = recv(descriptor_, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      line.append(buffer, n);
    }
    return line.substr(0, line.find_first_of("\r\n"));
  }

 private:
  int descriptor_;
  bool is_connected_ = false;
};

/// The status code in a line such as "HTTP/1.1 200 OK"; 0 if the line has another form.
int status_of(const std::string& line) {
  int status = 0;
  return std::sscanf(line.c_str(), "HTTP/%*d.%*d %d", &status) == 1 ? status : 0;
}

std::string send_request(const Socket& socket, const std::string& text) {
  if (!socket.send_all(text)) return "the connection broke";
  const std::string line = socket.first_line();
  const int status = status_of(line);
  if (status == 0) return "there was no answer";
  return status < 400 ? "" : "the server answered " + line;
}

}  // namespace

std::string http_post(const HttpRequest& request) {
  const Address address = address_of(request.url);
  addrinfo hints{}, *addresses = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &addresses);
  if (error != 0) return gai_strerror(error);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses_owner(addresses, freeaddrinfo);
  const std::string text =
      concat("POST ", address.path, " HTTP/1.1\r\nHost: ", address.host, ":", address.port,
             "\r\nConnection: close\r\nContent-Length: ", request.body.size(), "\r\n",
             request.headers, "\r\n", request.body);
  for (const addrinfo* address_info = addresses; address_info; address_info = address_info->ai_next)
    if (const Socket socket(*address_info); socket.is_connected())
      return send_request(socket, text);
  return "no connection";
}

std::string url_encoded(const std::string& text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::strchr("-._~", c))
      out += c;
    else
      (out += '%') += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out;
}

}  // namespace crescent
