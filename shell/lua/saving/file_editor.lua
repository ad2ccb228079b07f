-- cr.saving.KerasFileEditor shows what a file of weights of Keras 3 contains, edits it and saves it
-- as another file. Objects (layers, models, optimizers) are tables of their weights and of the
-- objects inside them, by name.
local cr, shell = ...

local Editor = { __name = "KerasFileEditor" }

-- For the table of each object, what the file says about the object besides its weights:
-- {attributes =, in_vars =}. `in_vars` is false if the weights are not in a group named vars inside
-- the group of the object.
local stored_facts = setmetatable({}, { __mode = "k" })

-- The names in the table of an object, numbers in their order.
local function sorted_names(object)
  local names = {}
  for name in pairs(object) do names[#names + 1] = name end
  table.sort(names, function(a, b)
    local x, y = math.tointeger(tonumber(a)), math.tointeger(tonumber(b))
    if x and y then return x < y end
    return a < b
  end)
  return names
end

local function is_object(value) return type(value) == "table" end

-- Whether the object, or one inside it, has weights.
local function has_weights(object)
  for _, value in pairs(object) do
    if not is_object(value) or has_weights(value) then return true end
  end
  return false
end

-- The names of the weights and of the inner objects that have weights.
local function shown_names(object)
  local names = {}
  for _, name in ipairs(sorted_names(object)) do
    if not is_object(object[name]) or has_weights(object[name]) then names[#names + 1] = name end
  end
  return names
end

-- Makes the tree of objects from `rows`, a list with the path and the weights of each object in a
-- file. Returns the table of the root object.
local function tree_of(rows)
  local root = {}
  for _, row in ipairs(rows) do
    local object = root
    for name in row.path:gmatch "[^/]+" do
      object[name] = object[name] or {}
      object = object[name]
    end
    stored_facts[object] = { attributes = row.attributes, in_vars = row.in_vars }
    for name, value in pairs(row.weights) do object[name] = value end
  end
  return root
end

-- Appends the rows of an object and of those inside it.
local function append_rows(rows, path, object)
  local facts = stored_facts[object] or { attributes = {}, in_vars = true }
  local row = { path = path, attributes = facts.attributes, in_vars = facts.in_vars, weights = {} }
  rows[#rows + 1] = row
  for _, name in ipairs(sorted_names(object)) do
    local value = object[name]
    if is_object(value) then
      append_rows(rows, path == "" and name or path .. "/" .. name, value)
    else
      row.weights[name] = value
    end
  end
end

-- ---- objects by name

local function expect_weights(weights)
  if type(weights) == "table" and #weights == 0 then return end
  shell.fail("Argument `weights` should be a table where keys are weight names (usually '0', '1', "
    .. "etc.) and values are tensors. Received: ", cr.show(weights))
end

-- The weights that the user gave, as tensors. A table with names is an object inside the object.
local function tensors_of(weights)
  local object = {}
  for name, value in pairs(weights) do
    local is_named = type(value) == "table" and #value == 0 and next(value) ~= nil
    object[tostring(name)] = is_named and tensors_of(value) or cr.ops.convert_to_tensor(value)
  end
  return object
end

-- The paths of all objects inside the object.
local function paths_in(object, path, paths)
  for _, name in ipairs(sorted_names(object)) do
    if is_object(object[name]) then
      paths[#paths + 1] = path .. name
      paths_in(object[name], path .. name .. "/", paths)
    end
  end
  return paths
end

-- The table that contains the object with this name or path, and its name in that table.
local function find_object(editor, name)
  shell.expect("string", name, "KerasFileEditor", "object_name")
  local paths, matches = paths_in(editor.weights_dict, "", {}), {}
  for _, path in ipairs(paths) do
    local is_match = path == name or not name:find "/" and path:match "[^/]*$" == name
    if is_match then matches[#matches + 1] = path end
  end
  if #matches > 1 then
    shell.fail("Name '", name, "' occurs more than once in the model; try passing a complete ",
      "path: ", table.concat(matches, ", "))
  elseif #matches == 0 then
    shell.fail(name:find "/" and "Path '" or "Source name '", name,
      name:find "/" and "' not found in model" or "' does not appear in the model",
      shell.did_you_mean(name, paths), ". Use `editor:summary()` to list all objects.")
  end
  local owner = editor.weights_dict
  for inner_name in matches[1]:gmatch "([^/]+)/" do owner = owner[inner_name] end
  return owner, matches[1]:match "[^/]*$"
end

--- Gives an object another name.
--- @param self the editor
--- @param object_name a string, the name or path of the object
--- @param new_name a string, a name without path
--- @return nothing
function Editor:rename_object(object_name, new_name)
  shell.expect("string", new_name, "rename_object", "new_name")
  if new_name:find "/" then
    shell.fail("Argument `target_name` should be a leaf name, not a full path name. Received: ",
      "target_name='", new_name, "'")
  end
  local owner, name = find_object(self, object_name)
  if new_name ~= name and owner[new_name] ~= nil then
    shell.fail("rename_object: there is an object '", new_name, "' beside '", name,
      "' already; delete or rename it first")
  end
  local object = owner[name]
  owner[name] = nil
  owner[new_name] = object
end

--- Removes an object, with those inside it.
--- @param self the editor
--- @param object_name a string, the name or path of the object
--- @return nothing
function Editor:delete_object(object_name)
  local owner, name = find_object(self, object_name)
  owner[name] = nil
end

--- Adds an object with its weights.
--- @param self the editor
--- @param object_path a string, "layers/dense_2"
--- @param weights a table of tensors by name, usually "0", "1" and so on
--- @return nothing
function Editor:add_object(object_path, weights)
  shell.expect("string", object_path, "add_object", "object_path")
  expect_weights(weights)
  local owner_path, name = object_path:match "^(.*)/([^/]*)$"
  local owner = self.weights_dict
  for inner_name in (owner_path or ""):gmatch "[^/]+" do
    owner = owner[inner_name]
    if not is_object(owner) then
      shell.fail("Path '", owner_path, "' not found in model",
        shell.did_you_mean(owner_path, paths_in(self.weights_dict, "", {})), ".")
    end
  end
  owner[name or object_path] = tensors_of(weights)
end

--- Removes a weight from an object.
--- @param self the editor
--- @param object_name a string, the name or path of the object
--- @param weight_name a string, usually "0", "1" and so on
--- @return nothing
function Editor:delete_weight(object_name, weight_name)
  local owner, name = find_object(self, object_name)
  local object, key = owner[name], tostring(weight_name)
  if object[key] == nil or is_object(object[key]) then
    local weight_names = {}
    for _, found_name in ipairs(sorted_names(object)) do
      if not is_object(object[found_name]) then
        weight_names[#weight_names + 1] = "'" .. found_name .. "'"
      end
    end
    shell.fail("Weight ", key, " not found in object ", object_name, ". Weights found: [",
      table.concat(weight_names, ", "), "]")
  end
  object[key] = nil
end

--- Adds weights to an object, or exchanges those of the same names.
--- @param self the editor
--- @param object_name a string, the name or path of the object
--- @param weights a table of tensors by name, usually "0", "1" and so on
--- @return nothing
function Editor:add_weights(object_name, weights)
  expect_weights(weights)
  local owner, name = find_object(self, object_name)
  for key, value in pairs(tensors_of(weights)) do owner[name][key] = value end
end

--- Saves what the file contains now as a file of weights. It replaces an older file as a whole.
--- @param self the editor
--- @param filepath a path that ends with ".weights.h5"
--- @return nothing
function Editor:save(filepath)
  shell.expect("string", filepath, "save", "filepath")
  if not filepath:find "%.weights%.h5$" then
    shell.fail("Invalid `filepath` argument: expected a `.weights.h5` extension. Received: ",
      "filepath=", filepath)
  end
  local rows = {}
  append_rows(rows, "", self.weights_dict)
  shell.call_format("hdf5", "write_objects", { path = filepath, objects = rows })
end

--- The same as save.
--- @param self the editor
--- @param filepath a path that ends with ".weights.h5"
--- @return nothing
function Editor:resave_weights(filepath) self:save(filepath) end

-- ---- texts

local function shape_text(tensor)
  return "(" .. table.concat(tensor.shape, ", ") .. (#tensor.shape == 1 and ",)" or ")")
end

local function print_structure(object, indentation, is_first)
  local names = shown_names(object)
  for i, name in ipairs(names) do
    local value, is_last = object[name], i == #names
    local connector = is_first and i == 1 and "> " or is_last and "└─ " or "├─ "
    if is_object(value) then
      local facts = stored_facts[value]
      local own_name = facts and facts.attributes.name
      print(indentation .. connector .. name .. (own_name and " ('" .. own_name .. "')" or ""))
      print_structure(value, indentation .. (is_last and "    " or "│   "))
    else
      print(indentation .. connector .. name .. ": shape=" .. shape_text(value) .. ", dtype="
        .. value.dtype)
    end
  end
end

--- Prints the objects of the file and their weights.
--- @param self the editor
--- @return nothing
function Editor:summary()
  print "Weights structure"
  print_structure(self.weights_dict, "  ", true)
end

local function has_same_shape(a, b) return shape_text(a) == shape_text(b) end

-- The names that shown_names returns, without those of groups that Crescent adds to the model, such
-- as crescent_random.
local function compared_names(object)
  local names = {}
  for _, name in ipairs(shown_names(object)) do
    if not name:find "^crescent_" then names[#names + 1] = name end
  end
  return names
end

-- Prints the objects and weights that `reference` has and `target` lacks. If `counts` has a
-- match_count, also prints the weights whose shapes differ.
local function compare_objects(target, reference, path, names, counts)
  for _, name in ipairs(compared_names(reference)) do
    local expected_value, found_value, inner_path =
      reference[name], target[name], path .. "/" .. name
    local kind = is_object(expected_value) and "Object" or "Weight"
    if found_value == nil or is_object(found_value) ~= is_object(expected_value) then
      counts.error_count = counts.error_count + 1
      print("..." .. kind .. " " .. inner_path .. " present in " .. names.reference
        .. ", missing from " .. names.target)
      if is_object(expected_value) then
        print("    In " .. names.reference .. ", " .. inner_path .. " contains the following keys: "
          .. table.concat(shown_names(expected_value), ", "))
      end
    elseif is_object(expected_value) then
      compare_objects(found_value, expected_value, inner_path, names, counts)
    elseif counts.match_count and not has_same_shape(found_value, expected_value) then
      counts.error_count = counts.error_count + 1
      print("...Weight shape mismatch for " .. inner_path)
      print("    In " .. names.reference .. ": shape=" .. shape_text(expected_value))
      print("    In " .. names.target .. ": shape=" .. shape_text(found_value))
    elseif counts.match_count then
      counts.match_count = counts.match_count + 1
    end
  end
end

local function count_text(count, word) return count .. " " .. word .. (count == 1 and "" or "s") end

--- Prints where the file and a model differ: objects and weights that only one of them has, and
--- weights of other shapes.
--- @param self the editor
--- @param reference_model a model
--- @return a table with status ("success" or "error"), error_count and match_count
function Editor:compare(reference_model)
  local rows = shell.call_format("hdf5", "objects_of", { model = reference_model })
  print "Running comparison"
  local reference = tree_of(rows)
  local counts, reverse_counts = { error_count = 0, match_count = 0 }, { error_count = 0 }
  compare_objects(self.weights_dict, reference, "",
    { target = "saved file", reference = "reference model" }, counts)
  compare_objects(reference, self.weights_dict, "",
    { target = "reference model", reference = "saved file" }, reverse_counts)
  local error_count = counts.error_count + reverse_counts.error_count
  print(("─"):rep(21))
  if error_count == 0 then
    print "Comparison successful: saved file is compatible with the reference model"
    print("    Found " .. count_text(counts.match_count, "matching weight"))
  else
    print("Found " .. count_text(error_count, "error")
      .. ": saved file is not compatible with the reference model")
  end
  return { status = error_count == 0 and "success" or "error", error_count = error_count,
    match_count = counts.match_count }
end

-- ---- opening

-- What the file says about its objects besides their weights, by path.
local function object_metadata(editor)
  local metadata = {}
  local function add(object, path)
    local facts = stored_facts[object]
    if facts and next(facts.attributes) ~= nil then metadata[path] = facts.attributes end
    for name, value in pairs(object) do
      if is_object(value) then add(value, path == "" and name or path .. "/" .. name) end
    end
  end
  add(editor.weights_dict, "")
  return metadata
end

function Editor.__index(editor, key)
  if key == "object_metadata" then return object_metadata(editor) end
  return Editor[key]
end
function Editor.__tostring(editor) return "<KerasFileEditor '" .. editor.filepath .. "'>" end

local function open_file(filepath)
  local editor = { filepath = filepath }
  if filepath:find "%.keras$" then
    local contents = shell.call_format("archive", "read_objects", { path = filepath })
    editor.config, editor.metadata = contents.config, contents.metadata
    editor.weights_dict = tree_of(contents.objects)
  elseif filepath:find "%.weights%.h5$" then
    editor.weights_dict = tree_of(shell.call_format("hdf5", "read_objects", { path = filepath }))
  else
    shell.fail("Invalid filename: expected a `.keras` `.weights.h5` extension. Received: filepath=",
      filepath)
  end
  print("Keras model file '" .. filepath .. "'")
  local metadata = editor.metadata
  if type(metadata) == "table" then
    local date = metadata.date_saved and " - date: " .. metadata.date_saved or ""
    print("Saved with Keras " .. tostring(metadata.keras_version) .. date)
  end
  return setmetatable(editor, Editor)
end

return shell.define("KerasFileEditor -> a file editor",
  "Shows and edits the weights in a file: editor:summary(), compare(model), rename_object, "
    .. "delete_object, add_object, add_weights, delete_weight, and save as another file. "
    .. "editor.weights_dict has the weights by name, in a table for each layer or other object.", {
    { name = "filepath", type = "a path", required = true,
      doc = "A file that ends with .keras or .weights.h5; it is not changed." },
  }, open_file)
