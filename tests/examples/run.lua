-- run.lua EXAMPLES NAME FOLDER COMMAND...: COMMAND runs the example with that name, or all of them,
-- with few steps in FOLDER (`-`: a new folder). The example must succeed without output on standard
-- error, and the numbers that it prints at its end must show that it learns.
local examples, chosen_name, folder = arg[1], arg[2], arg[3]
local command = table.concat(arg, " ", 4)

-- For each example: its arguments; a pattern to find in the output, in which # stands for a number;
-- the bounds of this number; and a file that the example writes.
local expectations = {
  apartments = { "", "\nall +%d+ +#%%", 80, 100 },
  autoencoder = { "2", "Mean squared error: #", 0, 0.06, "autoencoder.png" },
  boston = { "", "mean error: #", 0, 2.6 },
  cluster = { "", "loss after 5 epochs: #", 0, 0.6 },
  convolutions = { "1", "Accuracy: #", 0.7, 1, "convolutions_pixels.png" },
  custom_layer = { "", "A loss of #", 0, 0.0005 },
  detection = { "8", "overlap by #", 0.4, 1, "detection.png" },
  digits = { "", "Test accuracy: #", 0.97, 1, "digits.h5" },
  forecast = { "1", "passengers: #", 0, 200 },
  gan = { "15", "# off the ring", 0, 0.3, "gan.png" },
  gpt = { "20", "\n +20 +#\n", 1, 5.5 },
  image_folders = { "1", "right: # %%", 20, 100 },
  keras_file = { "20", "# after the last", 0, 1.3, "learned.onnx" },
  lora = { "1", "adapted[^\n]+ # %%\n", 80, 100 },
  segmentation = { "4", "classes: #", 0.45, 1, "segmentation.png" },
  seq2seq = { "8", "rightly: # %%", 50, 100 },
  sounds = { "1", "# of 90 sounds", 20, 90 },
  text_classification = { "2", "it has not seen: #", 0.9, 1 },
  tune = { "12", "has seen: # %%", 80, 100, "tune.svg" },
  train_step = { "1", "Robust[^\n]+ # %%", 30, 100 },
  training_loop = { "", "epoch 30: loss [%d.]+, accuracy #", 0.95, 1 },
  transfer = { "1", "nothing[^\n]+ # %%", 10, 100 },
  vae = { "2", "Loss: #", 50, 200, "vae.png" },
}

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

--- Checks that the file named in the example's last lines exists in the folder or among temporary
--- files.
local function check_written(name, text, temporary)
  local path = assert(text:match("[^ \n]*" .. name:gsub("%.", "%%.")), name .. " is not told of")
  if path:sub(1, 1) ~= "/" then path = temporary .. "/" .. path end
  assert(#read(path) > 100, path .. " is nearly empty")
end

local function run(name, temporary)
  local row = assert(expectations[name], name .. ".lua has no row in the test of the examples")
  local output_path, error_path = temporary .. "/out", temporary .. "/errors"
  local has_succeeded = os.execute(("cd '%s' && TMPDIR='%s' %s '%s/%s.lua' %s >'%s' 2>'%s'"):format(
    folder == "-" and temporary or folder, temporary, command, examples, name, row[1], output_path,
    error_path))
  local text = read(output_path)
  assert(has_succeeded, text .. read(error_path))
  assert(read(error_path) == "", name .. " complains: " .. read(error_path))
  assert(text:match "^[^\n]+ [^\n]+\n", name .. " does not say what it does: " .. text)
  local number = tonumber(text:match((row[2]:gsub("#", "(%%d+%%.?%%d*)"))))
  assert(number and number >= row[3] and number <= row[4], ("%s: expected a number from %g to %g "
    .. "by '%s', got %s in:\n%s"):format(name, row[3], row[4], row[2], tostring(number), text))
  if row[5] then check_written(row[5], text, temporary) end
  print(("ok %s: %g"):format(name, number))
end

local names = {}
for path in io.popen(("ls '%s'/*.lua"):format(examples)):lines() do
  local name = path:match "([^/]*)%.lua$"
  if chosen_name == "all" or chosen_name == name then names[#names + 1] = name end
end
assert(#names > 0, "there is no such example")
local temporary = os.tmpname()
os.remove(temporary)
assert(os.execute("mkdir " .. temporary))
for _, name in ipairs(names) do run(name, temporary) end
os.execute("rm -r " .. temporary)
