-- Sound classification: six kinds of sounds are generated from a random seed and written as WAV
-- files, one folder for each kind; a small convolutional network classifies their mel spectrograms.
--   crescent examples/sounds.lua [EPOCHS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local epochs = tonumber(arg[1]) or 8
print "Six kinds of sounds are written as WAV files, and told apart by their spectrograms."
local sampling_rate, seconds, sounds_per_kind = 8000, 0.75, 60
local sample_count = math.floor(sampling_rate * seconds)

-- ---- the sounds: the amplitude at time t in seconds, from -1 to 1; a and b are random numbers
-- drawn for each sound

local function sine(frequency, t) return math.sin(2 * math.pi * frequency * t) end
local amplitude_functions = {
  bell = function(t, a, b) return sine(300 + 900 * a, t) * math.exp(-(3 + 6 * b) * t) end,
  clicks = function(t, a, b)
    return (t * (6 + 8 * a) + b) % 1 < 0.03 and math.random() * 2 - 1 or 0
  end,
  falling = function(t, a, b) return sine(1200 + 800 * a - (700 + 300 * b) * t, t) end,
  noise = function() return math.random() * 2 - 1 end,
  rising = function(t, a, b) return sine(300 + 300 * a + (700 + 300 * b) * t, t) end,
  siren = function(t, a, b) return sine(600 + 600 * a, t + 0.02 * sine(3 + 3 * b, t)) end,
}
local kind_names = {}
for name in pairs(amplitude_functions) do kind_names[#kind_names + 1] = name end
table.sort(kind_names)

local folder = os.tmpname()
os.remove(folder)
math.randomseed(1)
for _, name in ipairs(kind_names) do
  assert(os.execute(("mkdir -p '%s/%s'"):format(folder, name)))
  for i = 1, sounds_per_kind do
    local a, b, loudness, hiss_level, sound = math.random(), math.random(),
      0.2 + 0.6 * math.random(),
      0.15 * math.random(), {}
    for k = 1, sample_count do
      sound[k] = loudness * amplitude_functions[name]((k - 1) / sampling_rate, a, b)
        + hiss_level * (math.random() * 2 - 1)
    end
    cr.data.write_wav(("%s/%s/%02d.wav"):format(folder, name, i), cr.tensor(sound), sampling_rate)
  end
end

-- ---- reads the files and computes the mel spectrograms once; the network sees each as a picture
-- of mel bins over time

local training_sounds, validation_sounds = cr.utils.audio_dataset_from_directory(folder,
  { sampling_rate = sampling_rate, output_sequence_length = sample_count, validation_split = 0.25,
    subset = "both", seed = 1 })
local spectrogram = layers.MelSpectrogram { fft_length = 512, sequence_stride = 256,
  sampling_rate = sampling_rate, num_mel_bins = 32 }
local function to_picture(x, y) return spectrogram(x:squeeze(-1)) / 40, y end
local train_data, test_data = training_sounds:map(to_picture):cache(),
  validation_sounds:map(to_picture):cache()

print "\nFrequencies from low (below) to high, over time:"
local shades, frame_count = " .:-=+*#%@", sample_count // 256 + 1
local shown_spectrograms = {}
for x, y in test_data:elements() do
  for i = 1, #y do shown_spectrograms[y[i]] = shown_spectrograms[y[i]] or x[i]:totable() end
end
for first_kind = 0, #kind_names - 1, 3 do
  for bin = 31, 1, -3 do
    local line = {}
    for kind = first_kind, first_kind + 2 do
      local row = shown_spectrograms[kind][bin]
      for time = 1, frame_count do
        local shade = math.max(1, math.min(#shades, math.floor((row[time] + 0.4) * 6) + 1))
        row[time] = shades:sub(shade, shade)
      end
      line[#line + 1] = table.concat(row)
    end
    print("  " .. table.concat(line, "   "))
  end
  for kind = first_kind, first_kind + 2 do
    io.write("  ", kind_names[kind + 1], (" "):rep(frame_count + 1 - #kind_names[kind + 1]))
  end
  print "\n"
end

cr.random.seed(1)
local model = cr.Sequential {
  layers.Reshape({ 32, frame_count, 1 }, { input_shape = { 32, frame_count } }),
  layers.Conv2D(8, 3, { activation = "relu" }), layers.MaxPooling2D(2),
  layers.Conv2D(16, 3, { activation = "relu" }), layers.MaxPooling2D(2),
  layers.Flatten(), layers.Dropout(0.3), layers.Dense(#kind_names, { activation = "softmax" }),
}
model:compile { optimizer = cr.optimizers.Adam { learning_rate = 3e-3 },
  loss = "sparse_categorical_crossentropy", metrics = { "accuracy" } }
model:fit(train_data, { epochs = epochs, verbose = 2 })

-- ---- counts, for the validation sounds of each kind, the predicted kinds

local counts, right_count, total_count = {}, 0, 0
for x, y in test_data:elements() do
  local predicted_kinds = ops.argmax(model:predict(x, { verbose = 0 }), -1)
  for i = 1, #y do
    local row = counts[y[i]] or {}
    counts[y[i]], row[predicted_kinds[i]] = row, (row[predicted_kinds[i]] or 0) + 1
    right_count, total_count = right_count + (y[i] == predicted_kinds[i] and 1 or 0),
      total_count + 1
  end
end
print(("\n%-8s taken for:%s"):format("", ("%9s"):rep(#kind_names):format(table.unpack(kind_names))))
for kind, name in ipairs(kind_names) do
  local row = {}
  for guess = 1, #kind_names do row[guess] = (counts[kind - 1] or {})[guess - 1] or "." end
  print(("%-19s%s"):format(name, ("%9s"):rep(#kind_names):format(table.unpack(row))))
end
print(("\n%d of %d sounds that it has not heard are named rightly"):format(right_count,
  total_count))
assert(os.execute(("rm -r '%s'"):format(folder)))
