-- save_assets and load_assets of classes: files beside the weights, in archives and folders of
-- Keras 3.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

local function write_file(path, content)
  local file = assert(io.open(path, "wb"))
  file:write(content)
  file:close()
end

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local content = file:read "a"
  file:close()
  return content
end

local function remove(path) assert(os.execute("rm -r '" .. path .. "'")) end

local WordsLayer = cr.Layer:subclass "Words"
function WordsLayer:call(inputs) return inputs * 2 end
function WordsLayer:save_assets(dir_path)
  if self.words then write_file(dir_path .. "/words.txt", self.words) end
end
function WordsLayer:load_assets(dir_path) self.words = read_file(dir_path .. "/words.txt") end

local function new_words(words)
  local layer = WordsLayer()
  layer.words = words
  return layer
end

-- Saves the model as an archive and as a folder, and passes what is loaded from each to `visit`.
local function for_loaded(model, visit)
  for _, options in ipairs { { zipped = true }, { zipped = false } } do
    local path = check.temporary(options.zipped and ".keras" or "")
    model:save(path, options)
    visit(cr.models.load_model(path), path)
    remove(path)
  end
end

do -- layers of a graph, with one that wrote no file
  local input = cr.Input { shape = { 2 } }
  local output = new_words "c\0d" (new_words() (new_words "a\nb" (input)))
  for_loaded(cr.Model { inputs = input, outputs = output }, function(model)
    check.same(model.layers[2].words, "a\nb")
    check.same(model.layers[3].words, nil)
    check.same(model.layers[4].words, "c\0d")
  end)
end

do -- layers in attributes, and a model with files of its own
  local OuterLayer = cr.Layer:subclass "OuterOfWords"
  function OuterLayer:init() self.parts = { new_words(), { new_words() } } end
  function OuterLayer:call(inputs) return self.parts[2][1](self.parts[1](inputs)) end
  local TextModel = cr.Model:subclass "TextModel"
  function TextModel:init() self.outer = OuterLayer() end
  function TextModel:call(inputs) return self.outer(inputs) end
  function TextModel:save_assets(dir_path) write_file(dir_path .. "/model.txt", self.text) end
  function TextModel:load_assets(dir_path) self.text = read_file(dir_path .. "/model.txt") end
  local model = TextModel()
  model(cr.ones { 1, 2 })
  model.text, model.outer.parts[1].words, model.outer.parts[2][1].words = "m", "first", "second"
  for_loaded(model, function(loaded_model, path)
    check.same(loaded_model.text, "m")
    check.same(loaded_model.outer.parts[1].words, "first")
    check.same(loaded_model.outer.parts[2][1].words, "second")
    if path:find "%.keras$" then return end
    check.same(read_file(path .. "/assets/model.txt"), "m")
    local folder = path .. "/assets/layers/outer_of_words/parts/"
    check.same(read_file(folder .. "words/words.txt"), "first")
    check.same(read_file(folder .. "container/words/words.txt"), "second")
  end)
end

do -- a class with one of the two functions
  local ReadingLayer = cr.Layer:subclass "ReadingWords"
  function ReadingLayer:call(inputs) return inputs end
  function ReadingLayer:load_assets(dir_path) self.words = read_file(dir_path .. "/words.txt") end
  local path = check.temporary ""
  local model = cr.Sequential { cr.Input { shape = { 2 } }, ReadingLayer() }
  model:save(path, { zipped = false })
  check.same(cr.models.load_model(path).layers[1].words, nil)
  assert(os.execute(("mkdir -p '%s/assets/layers/reading_words'"):format(path)))
  write_file(path .. "/assets/layers/reading_words/words.txt", "from elsewhere")
  check.same(cr.models.load_model(path).layers[1].words, "from elsewhere")
  remove(path)
end

do -- a class derived from a built-in one
  local DerivedLayer = cr.layers.Dense:subclass "DenseWithWords"
  DerivedLayer.save_assets, DerivedLayer.load_assets =
    WordsLayer.save_assets, WordsLayer.load_assets
  local layer = DerivedLayer(3)
  layer.words = "kept"
  for_loaded(cr.Sequential { cr.Input { shape = { 2 } }, layer }, function(model)
    check.same(model.layers[1].words, "kept")
    check.near(model(cr.ones { 1, 2 }), layer(cr.ones { 1, 2 }))
  end)
end

do -- errors in the functions name the layer, and files of other formats leave the files out
  local model = cr.Sequential { cr.Input { shape = { 2 } }, new_words "x" }
  model.layers[1].name = "the_words"
  local path = check.temporary ".keras"
  model:save(path)
  local load_assets = WordsLayer.load_assets
  function WordsLayer:load_assets() error "no such words" end
  check.fails(function() cr.models.load_model(path) end, path, "'the_words'", "load_assets()",
    "no such words")
  WordsLayer.load_assets = load_assets
  remove(path)
  function WordsLayer:save_assets() error "no ink" end
  check.fails(function() model:save(path) end, "'the_words'", "save_assets()", "no ink")
  assert(not io.open(path))

  local ok, output = check.run(([[
    local WordsLayer = cr.Layer:subclass "Words"
    function WordsLayer:call(inputs) return inputs end
    function WordsLayer:save_assets(dir_path) error "not called" end
    cr.Sequential({ cr.Input { shape = { 2 } }, WordsLayer { name = "dictionary" } }):save "%s.h5"
  ]]):format(path))
  assert(ok, output)
  assert(output:find("the files of save_assets() of layer 'dictionary' are left out", 1, true),
    output)
  remove(path .. ".h5")
end
