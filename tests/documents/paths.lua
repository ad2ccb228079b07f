-- Checks that every relative link and every path in backticks in every document (*.md), and every
-- path of the tree in code examples, leads to something that exists; anchors are checked too.
--   lua5.4 tests/documents/paths.lua [FOLDER]        FOLDER: another tree
--
-- A word with a slash or the ending of a source file is a path, relative to the folder of the
-- document, a folder above it, or an include folder; a file without a folder may be in any folder.
-- `engine/plan` means plan.h or plan.cpp, `cases_*.cpp` any matching file. Words in capitals are
-- placeholders (`formats/NAME`), and `build/...` are files of the build; neither is checked.
local script_folder = arg[0]:match "^(.*)/[^/]*$" or "."
local root = arg[1] or script_folder .. "/../.."

-- Paths in documents that are not in this tree: files inside archives, recorded cases, test
-- results. An entry that no document mentions any more is an error.
local kPathsOutsideTree = {
  ["core/src/compile/passes/README.md"] = { "rules.md" },
  ["examples/guide/11-several-machines.md"] = { "dense/kernel", "lstm_cell/kernel",
    "query/kernel" },
  ["formats/archive/README.md"] = { "preprocessors/" },
  ["formats/keras/README.md"] = { "assets/" },
  ["shell/README.md"] = { "rest/c_loss" },
  ["tests/golden/README.md"] = { "case.lua", "grad_inputs/i", "inputs/0", "inputs/i", "outputs/0",
    "outputs/i", "programs/check.lua", "programs/custom.lua", "upstream/i" },
}
local kSourceEndings = { h = true, cpp = true, lua = true, cmake = true, txt = true, sh = true,
  py = true, md = true }
local kTopFolders = { core = true, plugins = true, shell = true, formats = true, tests = true,
  examples = true }
local kIncludeFolders = { "core/include", "core/include/crescent", "core/src", "plugins/cpu",
  "formats", "formats/hdf5/src", "shell/module" }

-- ---- listing the files of the tree

local files, folders, names = {}, { [""] = true }, {}
local function read_tree()
  local list = assert(io.popen("cd '" .. root .. "' && find . -path ./build -prune -o -path ./.git"
    .. " -prune -o -type f -print"))
  for line in list:lines() do
    local path = line:sub(3)
    files[path] = true
    names[path:match "[^/]*$"] = true
    local folder = path:match "^(.*)/"
    while folder do
      folders[folder] = true
      folder = folder:match "^(.*)/"
    end
  end
  list:close()
  assert(files["CMakeLists.txt"], root .. " is no tree of Crescent")
end

local function path_exists(path) return files[path] or folders[path] end

--- Normalizes a path: "a/./b/../c/" -> "a/c"; nil if the path leads out of the tree.
local function normalized(path)
  local parts = {}
  for part in path:gmatch "[^/]+" do
    if part == ".." then
      if #parts == 0 then return nil end
      table.remove(parts)
    elseif part ~= "." then
      table.insert(parts, part)
    end
  end
  return table.concat(parts, "/")
end

local function joined(folder, path)
  return normalized(folder == "" and path or folder .. "/" .. path)
end

local function pattern_of(glob)
  return "^" .. glob:gsub("[%-%.%+]", "%%%0"):gsub("%*", "[^/]*") .. "$"
end

local function matches_any(glob, set)
  local pattern = pattern_of(glob)
  for path in pairs(set) do
    if path:find(pattern) then return true end
  end
  return false
end

--- Whether the path exists, perhaps with the ending of a header or source added.
local function leads_somewhere(path)
  if not path then return false end
  if path:find("*", 1, true) then return matches_any(path, files) or matches_any(path, folders) end
  return path_exists(path) or files[path .. ".h"] or files[path .. ".cpp"] or files[path .. ".lua"]
end

-- ---- finding paths in documents

--- The folders that a path in a document of `folder` may be relative to.
local function base_folders_of(folder)
  local list = { folder }
  while folder ~= "" do
    folder = folder:match "^(.*)/" or ""
    table.insert(list, folder)
  end
  table.move(kIncludeFolders, 1, #kIncludeFolders, #list + 1, list)
  return list
end

--- Returns `words` if they have the form of a path of this tree, else nil.
local function path_in(words)
  if words:find "[^%w_%-%./%*]" or words:find "%.%.%." or words:find "^[/%*%.]" then return end
  if words:find "%f[%w]%u%u+%f[%W]" and not words:find "%.md$" then return end
  if words:find "^build/" then return end
  local ending = words:match "%.(%w+)$"
  local is_source = ending and kSourceEndings[ending] and words:find "^[%w_%-/%*]+%.%w+$"
  if words:find "/" or is_source then return words end
end

local function is_found(path, folder)
  for _, base_folder in ipairs(base_folders_of(folder)) do
    if leads_somewhere(joined(base_folder, path)) then return true end
  end
  return not path:find "/" and matches_any(path, names)
end

--- The anchor of a heading: "Keras' files" -> "keras-files".
local function anchor_of(heading)
  return (heading:lower():gsub("`", ""):gsub("[^%w%-_ ]", ""):gsub(" ", "-"))
end

local function anchors_in(document)
  local anchors, in_code = {}, false
  for line in io.lines(root .. "/" .. document) do
    if line:find "^```" then in_code = not in_code end
    local heading = not in_code and line:match "^#+%s+(.-)%s*$"
    if heading then anchors[anchor_of(heading)] = true end
  end
  return anchors
end

-- ---- checking all documents

local errors, link_count, path_count = {}, 0, 0
local used_exceptions = {}

local function report(document, line_number, text)
  table.insert(errors, ("%s:%d: %s"):format(document, line_number, text))
end

local function check_link(document, line_number, target)
  if target:find "^%a+:" then return end
  link_count = link_count + 1
  local path, anchor = target:match "^([^#]*)#?(.*)$"
  local folder = document:match "^(.*)/" or ""
  local full_path = path == "" and document or joined(folder, path)
  if not full_path or not path_exists(full_path) then
    report(document, line_number, ("the link (%s) leads nowhere"):format(target))
  elseif anchor ~= "" and not (files[full_path] and anchors_in(full_path)[anchor]) then
    report(document, line_number, ("(%s): there is no such heading"):format(target))
  end
end

local function is_outside_tree(document, path)
  for _, outside_path in ipairs(kPathsOutsideTree[document] or {}) do
    if outside_path == path then
      used_exceptions[document .. "\n" .. path] = true
      return true
    end
  end
  return false
end

local function check_words(document, line_number, words)
  local folder = document:match "^(.*)/" or ""
  local path = path_in(words)
  if not path then return end
  path_count = path_count + 1
  if not is_found(path, folder) and not is_outside_tree(document, path) then
    report(document, line_number, ("there is no `%s`"):format(path))
  end
end

--- Checks the paths in a line of code that begin at the top of the tree.
local function check_code(document, line_number, line)
  for words in line:gmatch "[%w_%-%./]+" do
    if kTopFolders[words:match "^(%w+)/" or ""] and path_in(words) then
      path_count = path_count + 1
      if not leads_somewhere(normalized(words)) then
        report(document, line_number, ("there is no %s"):format(words))
      end
    end
  end
end

local function check(document)
  local in_code, line_number = false, 0
  for line in io.lines(root .. "/" .. document) do
    line_number = line_number + 1
    if line:find "^```" then
      in_code = not in_code
    elseif in_code then
      check_code(document, line_number, line)
    else
      for target in line:gmatch "%]%(([^)%s]+)%)" do check_link(document, line_number, target) end
      for words in line:gmatch "`([^`]+)`" do check_words(document, line_number, words) end
    end
  end
  if in_code then report(document, line_number, "code that never ends") end
end

local function check_exceptions()
  for document, list in pairs(kPathsOutsideTree) do
    for _, path in ipairs(list) do
      if not used_exceptions[document .. "\n" .. path] then
        report(document, 0, ("%s is no exception any more: take it out of paths.lua"):format(path))
      end
    end
  end
end

read_tree()
local documents = {}
for path in pairs(files) do
  if path:find "%.md$" then table.insert(documents, path) end
end
table.sort(documents)
for _, document in ipairs(documents) do check(document) end
check_exceptions()

if #errors > 0 then
  print(table.concat(errors, "\n"))
  os.exit(1)
end
assert(link_count > 0 and path_count > 0,
  "no link and no path was found: the documents are read wrongly")
print(("ok %d documents, %d links, %d paths"):format(#documents, link_count, path_count))
