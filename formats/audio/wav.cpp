// The format "wav": audio as float32 (samples, channels); integers are scaled to -1 to 1.
#include "wav.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "crescent/io/format.h"
#include "crescent/plugin.h"
#include "crescent/system/file.h"

namespace crescent {
namespace {

/// Reads little-endian numbers from the bytes of a file, one after another.
class ByteReader {
 public:
  ByteReader(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}
  size_t remaining() const { return bytes_.size(); }
  std::string_view read(size_t count) {
    if (count > bytes_.size())
      fail("'", path_, "' is cut off: expected ", count, " more bytes, there are ", bytes_.size());
    const std::string_view bytes_read = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return bytes_read;
  }
  template <class T>
  T number() {
    T value = 0;
    const std::string_view bytes_read = read(sizeof value);
    for (size_t i = sizeof value; i-- > 0;)
      value = static_cast<T>((value << 8U) | static_cast<uint8_t>(bytes_read[i]));
    return value;
  }

 private:
  const std::string& path_;
  std::string_view bytes_;
};

/// How the samples of a file are stored.
struct SampleFormat {
  bool is_floating = false;
  uint32_t sampling_rate = 0;
  uint16_t channels = 0, bits = 0;
  size_t sample_bytes() const { return bits / 8U; }
};

constexpr uint16_t kPcm = 1, kFloating = 3, kExtensible = 0xfffe;

SampleFormat read_sample_format(const std::string& path, std::string_view chunk) {
  ByteReader bytes(path, chunk);
  SampleFormat format;
  auto coding = bytes.number<uint16_t>();
  format.channels = bytes.number<uint16_t>();
  format.sampling_rate = bytes.number<uint32_t>();
  bytes.read(4);  // skips the field with the bytes per second
  const auto frame_bytes = bytes.number<uint16_t>();
  format.bits = bytes.number<uint16_t>();
  if (coding == kExtensible) {
    // skips the size of the extension, the number of valid bits and the mask of loudspeakers
    bytes.read(8);
    coding = bytes.number<uint16_t>();
  }
  if (coding != kPcm && coding != kFloating)
    fail("'", path, "': sound of coding ", coding,
         ", which cannot be read: expected 1 (whole numbers) or 3 (floating point)");
  format.is_floating = coding == kFloating;
  const bool is_supported = format.is_floating ? format.bits == 32 || format.bits == 64
                                               : format.bits == 8 || format.bits == 16 ||
                                                     format.bits == 24 || format.bits == 32;
  if (!is_supported)
    fail("'", path, "': samples of ", format.bits, " bits, expected ",
         format.is_floating ? "32 or 64 of floating point" : "8, 16, 24 or 32");
  if (format.channels == 0) fail("'", path, "': sound without channels");
  if (frame_bytes != format.channels * format.sample_bytes())
    fail("'", path, "': ", frame_bytes, " bytes for ", format.channels, " samples of ", format.bits,
         " bits");
  if (format.sampling_rate == 0) fail("'", path, "': a sampling rate of 0");
  return format;
}

float sample_of(const uint8_t* bytes, const SampleFormat& format) {
  if (format.is_floating && format.bits == 32) {
    float value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  if (format.is_floating) {
    double value;
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<float>(value);
  }
  if (format.bits == 8) return static_cast<float>(bytes[0] - 128) / 128;
  uint32_t bits = 0;
  for (size_t i = 0; i < format.sample_bytes(); ++i)
    bits |= uint32_t{bytes[i]} << (32 - format.bits + 8 * i);
  return static_cast<float>(static_cast<double>(static_cast<int32_t>(bits)) / 2147483648.0);
}

struct Chunks {
  SampleFormat format;
  std::string_view samples;
};

Chunks read_chunks(const std::string& path, std::string_view file) {
  ByteReader bytes(path, file);
  if (bytes.remaining() < 12 || bytes.read(4) != "RIFF" || (bytes.read(4), bytes.read(4)) != "WAVE")
    fail("'", path, "' is no WAV file");
  std::optional<SampleFormat> format;
  while (bytes.remaining() >= 8) {
    const std::string_view name = bytes.read(4);
    const auto chunk_bytes = bytes.number<uint32_t>();
    if (name != "data") {
      const std::string_view chunk = bytes.read(chunk_bytes);
      if (name == "fmt ") format = read_sample_format(path, chunk);
      if (chunk_bytes % 2 != 0 && bytes.remaining() > 0) bytes.read(1);
      continue;
    }
    if (!format) fail("'", path, "': the samples come before their format");
    // Programs that stream a recording to a file write this number in place of the size, which is
    // not yet known.
    constexpr uint32_t kUnknownSize = 0xffffffff;
    const size_t byte_count = chunk_bytes == kUnknownSize ? bytes.remaining() : chunk_bytes;
    const size_t frame_bytes = format->channels * format->sample_bytes();
    if (chunk_bytes != kUnknownSize && byte_count % frame_bytes != 0)
      fail("'", path, "': ", byte_count, " bytes of samples are no whole number of ", frame_bytes);
    return {*format, bytes.read(byte_count / frame_bytes * frame_bytes)};
  }
  fail("'", path, "' holds no samples");
}

Tensor samples_of(const Chunks& chunks) {
  const size_t sample_bytes = chunks.format.sample_bytes(),
               count = chunks.samples.size() / sample_bytes;
  const auto channels = static_cast<int64_t>(chunks.format.channels);
  Tensor result =
      Tensor::uninitialized({DType::float32, {static_cast<int64_t>(count) / channels, channels}});
  const auto* bytes = reinterpret_cast<const uint8_t*>(chunks.samples.data());
  float* samples = result.mutable_data<float>();
  for (size_t i = 0; i < count; ++i)
    samples[i] = sample_of(bytes + i * sample_bytes, chunks.format);
  return result;
}

}  // namespace

Tensor decode_wav(const std::string& path, std::string_view bytes) {
  return samples_of(read_chunks(path, bytes));
}

namespace {

// ---- writing of WAV files

template <class T>
void append(std::string& file, T value, size_t bytes = sizeof(T)) {
  for (size_t i = 0; i < bytes; ++i)
    file.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff));
}

void append_sample(std::string& file, float value, uint16_t bits_per_sample, bool is_floating) {
  if (is_floating) {
    uint32_t value_bits;
    std::memcpy(&value_bits, &value, sizeof value_bits);
    return append(file, value_bits);
  }
  const double scale = std::ldexp(1.0, bits_per_sample - 1);
  const double scaled = std::isnan(value) ? 0 : std::nearbyint(double(value) * scale);
  const auto integer = static_cast<int64_t>(std::clamp(scaled, -scale, scale - 1));
  append(file, bits_per_sample == 8 ? integer + 128 : integer, bits_per_sample / 8U);
}

std::string encode_wav(const std::string& path, const Tensor& audio, int64_t rate, int64_t bits,
                       bool is_floating) {
  if (audio.rank() != 2 || audio.dim(1) < 1 || audio.dim(1) > 65535 / 8)
    fail("'", path, "': expected sound (samples, channels), got shape ", audio.shape());
  if (rate < 1 || rate > 0xffffffff)
    fail("'", path, "': expected a sampling rate of at least 1, got ", rate);
  if (is_floating ? bits != 32 : bits != 8 && bits != 16 && bits != 24 && bits != 32)
    fail("'", path, "': expected samples of 8, 16, 24 or 32 bits, or 32 of floating point, got ",
         bits);
  const Tensor samples = ops::cast(audio, DType::float32).to(nullptr);
  const int64_t frame_bytes = samples.dim(1) * bits / 8, data_bytes = frame_bytes * samples.dim(0);
  if (data_bytes > 0xfffffff0 - 36) fail("'", path, "': too long for a WAV file");
  std::string file = "RIFF";
  append(file, static_cast<uint32_t>(36 + data_bytes + data_bytes % 2));
  file += "WAVEfmt ";
  append(file, uint32_t{16});
  append(file, is_floating ? kFloating : kPcm);
  append(file, static_cast<uint16_t>(samples.dim(1)));
  append(file, static_cast<uint32_t>(rate));
  append(file, static_cast<uint32_t>(rate * frame_bytes));
  append(file, static_cast<uint16_t>(frame_bytes));
  append(file, static_cast<uint16_t>(bits));
  file += "data";
  append(file, static_cast<uint32_t>(data_bytes));
  for (int64_t i = 0; i < samples.size(); ++i)
    append_sample(file, samples.data<float>()[i], static_cast<uint16_t>(bits), is_floating);
  if (data_bytes % 2 != 0) file.push_back(0);
  return file;
}

/// Reads and writes WAV files as the arrays "" (also named "audio") and "sampling_rate"; the arrays
/// "bits" and "float" select the sample format for writing.
class Wav final : public Format, public ReadsArrays, public WritesArrays {
 public:
  static void describe(Schema<Wav>& s) {
    s.doc("Sound, not packed: whole numbers of 8 to 32 bits, or floating point.")
        .trait("endings", List{".wav"})
        .trait("signatures", List{"52494646"});
  }
  Tensor read_array(const std::string& path, const std::string& member) override {
    const std::string file = read_file(path);
    if (member == "sampling_rate")
      return Tensor::scalar(read_chunks(path, file).format.sampling_rate, DType::int64);
    if (!member.empty() && member != "audio")
      fail("'", path, "' holds 'audio' and its 'sampling_rate', not '", member, "'");
    return decode_wav(path, file);
  }
  Tensor open_array(const std::string& path, const std::string& member) override {
    return read_array(path, member);
  }
  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    Tensor audio;
    int64_t rate = 44100, bits = 16;
    bool is_floating = false;
    for (const auto& [name, tensor] : arrays)
      if (name.empty() || name == "audio")
        audio = tensor;
      else if (name == "sampling_rate")
        rate = static_cast<int64_t>(tensor.item());
      else if (name == "bits")
        bits = static_cast<int64_t>(tensor.item());
      else if (name == "float")
        is_floating = tensor.item() != 0;
      else
        fail("'", path, "': a WAV file holds 'audio' and its 'sampling_rate', not '", name, "'");
    if (!audio) fail("'", path, "': expected sound to write");
    replace_file(path, encode_wav(path, audio, rate, bits, is_floating));
  }
};

}  // namespace

CRESCENT_PLUGIN("audio", CRESCENT_VERSION) { registry.add<Wav>("wav"); }

}  // namespace crescent
