-- Checks that the glossary uses names of the code: a name in backticks in the first column of a row
-- must occur in a file to which the row links, or in the path of such a file.
--   lua5.4 tests/documents/terms.lua [FOLDER]        FOLDER: another tree
local script_folder = arg[0]:match "^(.*)/[^/]*$" or "."
local root = arg[1] or script_folder .. "/../.."
local glossary = root .. "/core/GLOSSARY.md"

local function text_of(path)
  local file = io.open(path)
  local text = file and file:read "a"  -- reading a folder gives nil
  if file then file:close() end
  return text or ""
end

--- The paths that a row links to, and the text of these files.
local function linked_texts(row)
  local texts = {}
  for target in row:gmatch "%]%(([^)#%s]+)%)" do
    table.insert(texts, target)
    table.insert(texts, text_of(root .. "/core/" .. target))
  end
  return table.concat(texts, "\n")
end

local function has_word(text, word) return text:find("%f[%w_]" .. word .. "%f[^%w_]") end

local errors, name_count, line_number = {}, 0, 0
for line in io.lines(glossary) do
  line_number = line_number + 1
  local term, links = line:match "^| ([^|]+) |(.*)$"
  if term then
    local text
    for name in term:gmatch "`([%w_]+)`" do
      name_count, text = name_count + 1, text or linked_texts(links)
      if not has_word(text, name) then
        table.insert(errors,
          ("core/GLOSSARY.md:%d: no file of the row has %s"):format(line_number, name))
      end
    end
  end
end

if #errors > 0 then
  print(table.concat(errors, "\n"))
  os.exit(1)
end
assert(name_count > 0, "no name was found: the glossary is read wrongly")
print(("ok %d names"):format(name_count))
