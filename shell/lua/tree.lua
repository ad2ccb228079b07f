-- cr.tree: nested structures. A table without a metatable is a structure, a list or one with names,
-- which are sorted; other values are leaves.
local _, shell = ...

local tree = {}

--- If the function that is passed to traverse returns this value, the part is replaced by nil.
tree.MAP_TO_NONE = setmetatable({}, { __name = "MAP_TO_NONE" })

--- Whether the value is a structure.
--- @param x any value
--- @return true or false
local function is_nested(x) return type(x) == "table" and shell.is_structure(x) end

-- Returns the structure; fails if a table in it contains itself.
local function without_cycles(structure)
  local enclosing_tables = {}
  local function check_part(part, path)
    if not is_nested(part) then return end
    if enclosing_tables[part] then
      shell.fail("a structure must have an end: the table at ", path, " contains itself")
    end
    enclosing_tables[part] = true
    for key, child in pairs(part) do
      check_part(child, path == "the top" and tostring(key) or path .. "." .. tostring(key))
    end
    enclosing_tables[part] = nil
  end
  check_part(structure, "the top")
  return structure
end

local function keys_of(structure)
  local keys = {}
  for key in pairs(structure) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) == "number" end
    return a < b
  end)
  return keys
end

local function visit(structure, path, f)
  if not is_nested(structure) then return f(structure, path) end
  for _, key in ipairs(keys_of(structure)) do
    local child_path = table.move(path, 1, #path, 1, {})
    child_path[#child_path + 1] = key
    visit(structure[key], child_path, f)
  end
end

local function path_text(path) return #path == 0 and "the top" or table.concat(path, ".") end

local function check_same_structure(a, b, path)
  if is_nested(a) ~= is_nested(b) then
    shell.fail("`a` and `b` don't have the same structure: at ", path_text(path),
      " one is a table and the other is not")
  end
  if not is_nested(a) then return end
  for _, pair in ipairs { { a, b }, { b, a } } do
    for _, key in ipairs(keys_of(pair[1])) do
      if pair[2][key] == nil then
        shell.fail("`a` and `b` don't have the same structure: only one of them has ",
          tostring(key), " at ", path_text(path))
      end
    end
  end
  for _, key in ipairs(keys_of(a)) do
    local child_path = table.move(path, 1, #path, 1, {})
    child_path[#child_path + 1] = tostring(key)
    check_same_structure(a[key], b[key], child_path)
  end
end

-- Returns a structure like `shallow` in which each leaf is the result of f, called with the parts
-- of all structures at this leaf.
local function map_up_to(name, shallow, f, structures, path)
  if not is_nested(shallow) then return f(table.unpack(structures)) end
  local result = {}
  for _, key in ipairs(keys_of(shallow)) do
    local parts = {}
    for i, structure in ipairs(structures) do
      if not is_nested(structure) or structure[key] == nil then
        shell.fail(name, ": structure ", i, " has no ", tostring(key), " at ",
          path_text(path))
      end
      parts[i] = structure[key]
    end
    local child_path = table.move(path, 1, #path, 1, {})
    child_path[#child_path + 1] = tostring(key)
    result[key] = map_up_to(name, shallow[key], f, parts, child_path)
  end
  return result
end

tree.is_nested = is_nested

--- The list of leaves in order.
--- @param structure a structure
--- @return a list
function tree.flatten(structure)
  local leaves = {}
  visit(without_cycles(structure), {}, function(leaf) leaves[#leaves + 1] = leaf end)
  return leaves
end

--- A list of {path, leaf} of all leaves; a path is the list of keys to the leaf.
--- @param structure a structure
--- @return a list of pairs
function tree.flatten_with_path(structure)
  local leaves = {}
  visit(without_cycles(structure), {}, function(leaf, path)
    leaves[#leaves + 1] = { path, leaf }
  end)
  return leaves
end

--- A structure nested as the given one, with these leaves.
--- @param structure a structure
--- @param flat a list
--- @return a structure
function tree.pack_sequence_as(structure, flat)
  local next_leaf = 0
  local function pack(part)
    if not is_nested(part) then
      next_leaf = next_leaf + 1
      return flat[next_leaf]
    end
    local result = {}
    for _, key in ipairs(keys_of(part)) do result[key] = pack(part[key]) end
    return result
  end
  local result = pack(without_cycles(structure))
  if next_leaf ~= #flat then
    shell.fail("pack_sequence_as: the structure has ", next_leaf, " leaves, got ", #flat)
  end
  return result
end

--- A structure with every part replaced by func(part) unless that is nil, from the top down or,
--- with top_down = false, from the leaves up.
--- @param func a function
--- @param structure a structure
--- @param top_down true or false
--- @return a structure
function tree.traverse(func, structure, top_down)
  shell.expect("function", func, "traverse", "func")
  local function replace_part(part)
    local result = func(part)
    if result == tree.MAP_TO_NONE then return nil, true end
    if result == nil then return part, false end
    return result, true
  end
  local function walk(part)
    local is_replaced = false
    if top_down ~= false then part, is_replaced = replace_part(part) end
    if not is_replaced and is_nested(part) then
      local result = {}
      for _, key in ipairs(keys_of(part)) do result[key] = walk(part[key]) end
      part = result
    end
    if top_down == false then part = replace_part(part) end
    return part
  end
  return walk(without_cycles(structure))
end

--- Raises an error unless two structures are nested alike.
--- @param a a structure
--- @param b a structure
--- @return nothing
function tree.assert_same_structure(a, b) check_same_structure(without_cycles(a), b, {}) end
--- Raises an error unless two structures have the same paths.
--- @param a a structure
--- @param b a structure
--- @return nothing
function tree.assert_same_paths(a, b) check_same_structure(without_cycles(a), b, {}) end

--- Applies func to every shape (a list of sizes) of a structure.
--- @param func a function
--- @param structure a structure of shapes
--- @return a structure
function tree.map_shape_structure(func, structure)
  shell.expect("function", func, "map_shape_structure", "func")
  local function is_shape(part)
    for key, size in pairs(part) do
      if math.type(key) ~= "integer" or math.type(size) ~= "integer" then return false end
    end
    return true
  end
  local function walk(part)
    if not is_nested(part) then
      shell.fail("map_shape_structure: expected shapes, got ", tostring(part))
    end
    if is_shape(part) then return func(part) end
    local result = {}
    for _, key in ipairs(keys_of(part)) do result[key] = walk(part[key]) end
    return result
  end
  return walk(without_cycles(structure))
end

--- Applies func to the corresponding leaves of structures that are nested alike.
--- @param func a function
--- @param structure a structure
--- @param ... a structure
--- @return a structure
function tree.map_structure(func, structure, ...)
  shell.expect("function", func, "map_structure", "func")
  without_cycles(structure)
  for _, further_structure in ipairs { ... } do
    check_same_structure(structure, further_structure, {})
  end
  return map_up_to("map_structure", structure, func, { structure, ... }, {})
end

--- Applies func to the parts of structures at the leaves of a shallower structure.
--- @param shallow_structure a structure
--- @param func a function
--- @param ... a structure
--- @return a structure
function tree.map_structure_up_to(shallow_structure, func, ...)
  shell.expect("function", func, "map_structure_up_to", "func")
  return map_up_to("map_structure_up_to", without_cycles(shallow_structure), func, { ... }, {})
end

--- The structure itself, because Lua has one kind of table.
--- @param structure a structure
--- @return a structure
function tree.lists_to_tuples(structure) return structure end

return tree
