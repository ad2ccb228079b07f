-- Notes on classes and functions that the manual shows besides their options. They are in files
-- *.notes beside the plugins, with lines such as "cr.optimizers.Adam paper: Kingma and Ba 2015,
-- arXiv:1412.6980" and "... keras: it ...".
local _, host = ...
local html = host.part "html"
local notes = {}

local headings = { paper = "Paper", keras = "Where it differs from Keras" }
local notes_by_path = {} -- the notes, as a list for each full name of a class or function

local function with_links(text)
  return (html.escaped(text):gsub("arXiv:(%d+%.%d+)", '<a href="https://arxiv.org/abs/%1">%0</a>'))
end

local function read_notes(text, file)
  for line in text:gmatch "[^\n]+" do
    local path, category, note_text = line:match "^(cr%.%S+) (%l+): (.+)$"
    local heading = headings[category]
    assert(heading, file .. ": this is no note: " .. line)
    notes_by_path[path] = notes_by_path[path] or {}
    table.insert(notes_by_path[path], { heading = heading, html = with_links(note_text) })
  end
end

for _, file in ipairs(host.notes) do read_notes(file.text, file.name) end

function notes.of(path) return notes_by_path[path] or {} end

--- Fails if a note is about a name that does not exist.
function notes.check(anchors)
  for path in pairs(notes_by_path) do
    assert(anchors[path], path .. " has a note and is not there")
  end
end

return notes
