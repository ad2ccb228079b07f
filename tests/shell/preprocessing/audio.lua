-- WAV files, and datasets made from folders of WAV files.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/preprocessing"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"

local function expect_refusal(f, arguments, ...)
  check.fails(function() f(table.unpack(arguments)) end, ...)
end

local path = check.temporary ".wav"
local function write_file(bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

do -- sounds are read as they were written, as exactly as the number of bits allows
  local audio = cr.tensor { { 0, -1 }, { 0.5, 0.25 }, { -0.3, 0.9 }, { 1.5, -2 } }
  local clipped_samples = { { 0, -1 }, { 0.5, 0.25 }, { -0.3, 0.9 }, { 1, -1 } }
  for _, bit_count in ipairs { 8, 16, 24, 32 } do
    cr.data.write_wav(path, audio, 8000, { bits = bit_count })
    local samples, rate = cr.data.read_wav(path)
    assert(rate == 8000 and samples.dtype == "float32")
    check.same(samples.shape, { 4, 2 })
    check.near(samples:totable(), clipped_samples, 1.01 / 2 ^ (bit_count - 1) + 1e-7)
    cr.data.write_wav(path, samples, 8000, { bits = bit_count })
    check.same(cr.data.read_wav(path):totable(), samples:totable())
  end
  cr.data.write_wav(path, audio, 44100, { bits = 32, float = true })
  local samples, rate = cr.data.read_wav(path)
  assert(rate == 44100)
  check.near(samples:totable(), audio:totable(), 0)
  cr.data.write_wav(path, cr.tensor { 0.5, 0.25, 0 }, 100, { bits = 8 })
  check.same(cr.data.read_wav(path):totable(), { { 0.5 }, { 0.25 }, { 0 } })
  check.same(cr.data.read(path):totable(), { { 0.5 }, { 0.25 }, { 0 } })
  cr.data.write_wav(path, cr.zeros { 0, 1 }, 100)
  check.same(cr.data.read_wav(path).shape, { 0, 1 })
end

-- Returns the bytes of a WAV file, by default with 16 bits and one channel.
local function make_wav(options)
  local fields = { coding = 1, channels = 1, rate = 100, bits = 16, frame = 2,
    data = string.pack("<i2i2", 16384, -32768), before = "" }
  for key, value in pairs(options or {}) do fields[key] = value end
  local format = string.pack("<I2I2I4I4I2I2", fields.coding, fields.channels, fields.rate,
    fields.rate * fields.frame,
    fields.frame, fields.bits) .. (fields.extension or "")
  local chunks = fields.before .. "fmt " .. string.pack("<s4", format) .. "data"
    .. string.pack("<I4", fields.size or #fields.data) .. fields.data
  return "RIFF" .. string.pack("<I4", #chunks + 4) .. "WAVE" .. chunks
end

do -- files with additional chunks, with extended formats, and with unknown lengths
  local function check_reading(options, expected)
    write_file(make_wav(options))
    check.near(cr.data.read_wav(path):totable(), expected, 1e-6)
  end
  check_reading({}, { { 0.5 }, { -1 } })
  check_reading({ before = "LIST" .. string.pack("<s4", "abc") .. "\0" }, { { 0.5 }, { -1 } })
  check_reading({ coding = 0xfffe, extension = string.pack("<I2I2I4I2", 22, 16, 4, 1)
    .. ("\0"):rep(14) }, { { 0.5 }, { -1 } })
  check_reading({ size = 0xffffffff }, { { 0.5 }, { -1 } })
  check_reading({ coding = 3, bits = 64, frame = 8, data = string.pack("<d", 0.125) },
    { { 0.125 } })
  check_reading({ bits = 24, frame = 3, data = "\0\0\x40\0\0\x80" }, { { 0.5 }, { -1 } })
end

do  -- files with contradictory headers
  local function check_read_fails(bytes, ...)
    write_file(bytes)
    expect_refusal(cr.data.read_wav, { path }, path, ...)
  end
  check_read_fails("", "is no WAV file")
  check_read_fails("RIFF\0\0\0\0AVI ", "is no WAV file")
  check_read_fails("RIFF\4\0\0\0WAVE", "holds no samples")
  check_read_fails(make_wav { size = 100 }, "is cut off")
  check_read_fails(make_wav { size = 3 }, "no whole number")
  check_read_fails(make_wav { coding = 2 }, "coding 2")
  check_read_fails(make_wav { bits = 12 }, "12 bits")
  check_read_fails(make_wav { coding = 3 }, "16 bits")
  check_read_fails(make_wav { channels = 0, frame = 0 }, "without channels")
  check_read_fails(make_wav { frame = 3 }, "3 bytes for 1 samples")
  check_read_fails(make_wav { rate = 0 }, "sampling rate of 0")
  check_read_fails("RIFF\4\0\0\0WAVEdata\0\0\0\0", "before their format")
  check_read_fails("RIFF\4\0\0\0WAVEfmt \2\0\0\0\1\0", "is cut off")
  check_read_fails("RIFF\4\0\0\0WAVEfmt \xff\xff\xff\xff\1\0", "is cut off")
  -- every truncation of a valid file and every changed byte gives sounds or an error, never a crash
  local wav_bytes = make_wav { before = "LIST" .. string.pack("<s4", "abcd") }
  for i = 0, #wav_bytes - 1 do
    write_file(wav_bytes:sub(1, i))
    assert(not pcall(cr.data.read_wav, path), i)
    for _, byte in ipairs { 0, 1, 127, 255 } do
      write_file(wav_bytes:sub(1, i) .. string.char(byte) .. wav_bytes:sub(i + 2))
      pcall(cr.data.read_wav, path)
    end
  end
  expect_refusal(cr.data.write_wav, { path, cr.zeros { 2, 2, 2 }, 100 }, path,
    "(samples, channels)")
  expect_refusal(cr.data.write_wav, { path, cr.zeros { 2 }, 0 }, "sampling rate")
  expect_refusal(cr.data.write_wav, { path, cr.zeros { 2 }, 100, { bits = 12 } }, "bits")
  expect_refusal(cr.data.read_wav, { "nowhere.wav" }, "nowhere.wav")
end
os.remove(path)

-- a folder with two classes: four low sounds and three high ones, each longer than the one before
local folder = check.temporary ""
assert(os.execute("mkdir -p '" .. folder .. "/high/more' '" .. folder .. "/low'"))
for i = 1, 4 do
  cr.data.write_wav(("%s/low/%d.wav"):format(folder, i), cr.full({ 10 * i }, -0.5), 1000)
end
for i = 1, 3 do
  cr.data.write_wav(("%s/high/%s%d.wav"):format(folder, i == 3 and "more/" or "", i),
    cr.full({ 10 * i }, 0.5), 1000)
end
local function dataset(options)
  options.verbose = false
  return cr.utils.audio_dataset_from_directory(folder, options)
end

do -- sounds of a batch are padded to the longest one, or to a given length
  local data = dataset { shuffle = false, batch_size = 3 }
  check.same(data.class_names, { "high", "low" })
  assert(data.batches == 3)
  local lengths, labels = {}, {}
  for x, y in data:elements() do
    assert(x.dtype == "float32" and #x.shape == 3 and x.shape[3] == 1)
    lengths[#lengths + 1] = x.shape[2]
    for i = 1, #y do
      labels[#labels + 1] = y[i]
      local last_sample = x[i]:totable()[x.shape[2]][1]
      assert(x[i]:totable()[1][1] == (y[i] == 0 and 0.5 or -0.5)
        and (last_sample == 0 or math.abs(last_sample) == 0.5))
    end
  end
  check.same(lengths, { 30, 30, 40 })
  check.same(labels, { 0, 0, 0, 1, 1, 1, 1 })
  for x, y in dataset { output_sequence_length = 25, label_mode = "categorical", batch_size = 7,
    sampling_rate = 1000 }:elements() do
    check.same(x.shape, { 7, 25, 1 })
    check.same(y.shape, { 7, 2 })
  end
  local count = 0
  for x, y in dataset { labels = false, batch_size = false }:elements() do
    assert(y == nil and #x.shape == 2)
    count = count + 1
  end
  assert(count == 7)
  local training_data, validation = dataset { validation_split = 0.3, subset = "both", seed = 1 }
  assert(#training_data.file_paths == 5 and #validation.file_paths == 2)
end

do -- a model learns from the dataset
  local layers = cr.layers
  local model = cr.Sequential {
    layers.MelSpectrogram { fft_length = 16, sequence_stride = 8, num_mel_bins = 4,
      sampling_rate = 1000, input_shape = { 20 } },
    layers.Flatten(), layers.Dense(1, { activation = "sigmoid" }) }
  model:compile { optimizer = "adam", loss = "binary_crossentropy" }
  local data = dataset { output_sequence_length = 20, label_mode = "binary" }
  model:fit(data:map(function(x, y) return x:squeeze(-1), y end), { epochs = 2, verbose = 0 })
end

do -- errors for invalid arguments
  expect_refusal(dataset, { { ragged = true } }, "ragged", "output_sequence_length")
  expect_refusal(dataset, { { sampling_rate = 0 } }, "sampling_rate")
  local function first_batch(options) for x in dataset(options):elements() do return x end end
  expect_refusal(first_batch, { { sampling_rate = 8000 } }, "1000 samples a second", "8000", ".wav")
  cr.data.write_wav(folder .. "/low/5.wav", cr.zeros { 10, 2 }, 1000)
  expect_refusal(first_batch, { { batch_size = 8 } }, "(")
end
os.execute("rm -r '" .. folder .. "'")
print "ok"
