-- Checks the manual that the program writes: every link leads to an existing page and anchor, every
-- name that `crescent describe` lists can be searched for, every chapter of the guide has a page,
-- and the files for editors can be read.
--   lua5.4 tests/documents/manual.lua PROGRAM FOLDER        FOLDER: where the pages go
local program, folder = arg[1], arg[2]
local script_folder = arg[0]:match "^(.*)/[^/]*$" or "."

local function output_of(command)
  local pipe <close> = assert(io.popen(command))
  return pipe:read "a"
end

local function contents(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

assert(os.execute(("rm -rf '%s' && '%s' manual '%s' && '%s' editor '%s/editor'"):format(folder,
  program, folder, program, folder)))

local pages, problems, link_count = {}, {}, 0
for name in output_of(("ls '%s'"):format(folder)):gmatch "[^\n]+" do
  if name ~= "editor" then pages[name] = contents(folder .. "/" .. name) end
end

local anchors = {}
for name, text in pairs(pages) do
  anchors[name] = {}
  for anchor in text:gmatch 'id="([^"]*)"' do anchors[name][anchor] = true end
end

local function check_link(from, target)
  if target:find "^https?:" or target:find "^data:" then return end
  link_count = link_count + 1
  local file, anchor = target:match "^([^#]*)#?(.*)$"
  file = file == "" and from or file
  if not pages[file] or anchor ~= "" and not anchors[file][anchor] then
    table.insert(problems, ("%s: %s leads nowhere"):format(from, target))
  end
end

for name, text in pairs(pages) do
  for target in text:gmatch '[hs][rr][ec]f?="([^"]*)"' do check_link(name, target) end
end

local names = {}
for name, link in pages["names.js"]:gmatch '%["([^"]*)","([^"]*)"' do
  names[name] = true
  check_link("names.js", link)
end

-- Collects the names that `crescent describe` lists. Members of base classes are left out, because
-- they are also listed as members of objects.
local listed_names = {}
for line in output_of(("'%s' describe"):format(program)):gmatch "[^\n]+" do
  local name = line:match "^cr%.[^(]*"
  local is_member = name and name:find "%.%u[%w]*%.[%l_]+$"
  if name and not is_member then
    table.insert(listed_names, name)
    if not names[name] then table.insert(problems, "the search does not know " .. name) end
  end
end

local guide_files = output_of(("ls '%s'/../../examples/guide"):format(script_folder))
for name in guide_files:gmatch "([^\n]+)%.md\n" do
  if not pages["guide-" .. name .. ".html"] then table.insert(problems, name .. " has no page") end
end
-- Classes that come from a paper name it in their page, and its arXiv number or DOI is a link.
local papers = {
  activations = "celu elu gelu glu mish relu relu6 selu silu sparsemax squareplus",
  initializers = [[GlorotNormal GlorotUniform HeNormal HeUniform LecunNormal LecunUniform
    Orthogonal]],
  layers = [[AdditiveAttention AlphaDropout Attention AugMix BatchNormalization Bidirectional
    ContrastLimitedAdaptiveHistogramEqualization Conv2D Conv2DTranspose ConvLSTM1D ConvLSTM2D
    ConvLSTM3D CutMix Dropout ELU GaussianDropout GlobalAveragePooling2D GroupNormalization
    GroupedQueryAttention GRU GRUCell HashedCrossing Hashing LayerNormalization LayerScale LeakyReLU
    LSTM LSTMCell MixUp MultiHeadAttention PReLU RandAugment RandomElasticTransform RandomErasing
    ReLU ReversibleEmbedding RMSNormalization SeparableConv1D SeparableConv2D SimpleRNN
    SimpleRNNCell SpatialDropout1D SpatialDropout2D SpatialDropout3D SpectralNormalization
    StochasticDepth ThresholdedReLU]],
  losses = [[BinaryFocalCrossentropy CategoricalFocalCrossentropy
    CategoricalGeneralizedCrossEntropy Circle CTC Dice Huber KLDivergence Tversky]],
  metrics = "BinaryIoU F1Score FBetaScore IoU KLDivergence MeanIoU OneHotIoU OneHotMeanIoU",
  optimizers = [[Adadelta Adafactor Adagrad Adam Adamax AdamW Ftrl Lamb Lion LossScaleOptimizer Muon
    Nadam RMSprop ScheduleFreeAdamW SGD]],
  schedules = "CosineDecay CosineDecayRestarts",
}
for kind, words in pairs(papers) do
  for class_name in words:gmatch "%S+" do
    local name = ("cr.%s.%s.html"):format(kind, class_name)
    local paper = (pages[name] or ""):match "<h2>Paper</h2>%s*<p>(.-)</p>"
    if not paper then table.insert(problems, name .. " names no paper") end
    if paper and paper:find "arXiv" and not paper:find "https://arxiv.org/abs/%d+%.%d+" then
      table.insert(problems, name .. ": " .. paper)
    end
  end
end
assert(pages["cr.layers.TextVectorization.html"]:find "Where it differs from Keras")
assert(pages["cr.ops.html"]:find "complex numbers are refused")

-- Signatures must be valid Lua calls, except that parameters may be named like keywords of Lua.
local signature_count = 0
for name, text in pairs(pages) do
  for html in text:gmatch '<pre class="signature">(.-)</pre>' do
    local call = html:gsub("<[^>]*>", ""):gsub("&lt;", "<"):gsub("&gt;", ">")
      :gsub("&quot;", '"'):gsub("&#39;", "'"):gsub("&amp;", "&")
    local valid_call = call:gsub("([(, ])(%l+)%f[,)]", function(before, word)
      return before .. (load("local " .. word) and word or word == "nil" and word or word .. "_")
    end)
    signature_count = signature_count + 1
    if not load("return " .. valid_call) then
      table.insert(problems, ("%s: this is no call: %s"):format(name, call))
    end
  end
end
assert(signature_count > 500, "there are no signatures")
local dropout = pages["cr.layers.Dropout.html"]:gsub("<[^>]*>", "")
assert(dropout:find("cr.layers.Dropout(rate, {", 1, true))
assert(pages["cr.layers.Dense.html"]:find "must be at least 1, got 0\n", "no errors")
for name, text in pairs(pages) do
  if text:find "must be at %a+ [^\n<]*, got %-?%d+%.0[\n<]" then
    table.insert(problems, name .. ": an integer is written as a fraction")
  end
end
for name in output_of(("'%s' --help"):format(program)):gmatch "\n  ([%u_]+)  " do
  if not names[name] then table.insert(problems, "the search does not know " .. name) end
end
assert(names.CRESCENT_DEVICE and pages["commands.html"]:find "CRESCENT_INIT")

-- The language server LuaLS reads this file only for types; its functions do nothing.
local types = assert(loadfile(folder .. "/editor/crescent.d.lua"))()
assert(types.layers.Dense and types.ops["repeat"])
for _, name in ipairs(listed_names) do
  local value = { cr = types }
  for member in name:gmatch "[^.]+" do value = value and value[member] end
  if value == nil then table.insert(problems, "not in crescent.d.lua: " .. name) end
end
local stubs = contents(folder .. "/editor/crescent.d.lua")
for _, line in ipairs { "function type_1:abs() end", "function type_1:add(x2) end",
  "function cr.ops.abs(x) end", "---@operator add(any): crescent.tensor",
  "---@operator unm: crescent.symbol" } do
  assert(stubs:find("\n" .. line .. "\n", 1, true), "not in crescent.d.lua: " .. line)
end
for _, name in ipairs { "tensor", "variable", "symbol" } do
  assert(stubs:find("%-%-%-@class crescent%." .. name .. "[^\n]*\n%-%-%-@operator add%("), name)
end
assert(contents(folder .. "/editor/crescent.code-snippets"):find 'layers%.Dense%(%${1:units}%)')

if #problems > 0 then
  print(table.concat(problems, "\n"))
  os.exit(1)
end
assert(link_count > 10000 and #listed_names > 900, "the pages or the listing are read wrongly")
print(("ok %d links, %d names"):format(link_count, #listed_names))
