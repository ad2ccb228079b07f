-- Helpers for HTML pages: escaped texts, highlighted code, and the frame around the content of a
-- page.
local html = {}

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

function html.escaped(text) return (tostring(text):gsub('[&<>"]', entities)) end

--- The text of a piece of HTML, without tags.
function html.plain(code)
  return (code:gsub("<[^>]*>", ""):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"')
    :gsub("&amp;", "&"))
end

function html.element(tag, content, attributes)
  return ("<%s%s>%s</%s>"):format(tag, attributes and " " .. attributes or "", content, tag)
end

--- The anchor of a heading, as in Markdown: "keras-files" for "Keras' files".
function html.anchor(heading)
  return (heading:lower():gsub("[^%w%-_ ]", ""):gsub(" ", "-"))
end

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
  return then true until while]]):gmatch "%l+" do
  keywords[word] = true
end

local function coloured_span(class, text)
  return html.element("span", html.escaped(text), 'class="' .. class .. '"')
end

--- HTML for the word at this position, highlighted if it is a keyword or a number.
local function word_at(code, position)
  local word = code:match("^[%a_][%w_]*", position)
  if word then return word, keywords[word] and coloured_span("k", word) or html.escaped(word) end
  word = code:match("^%d[%w%.]*", position)
  if word then return word, coloured_span("n", word) end
end

--- HTML for the comment or string at this position, highlighted.
local function quoted_at(code, position)
  local comment = code:match("^%-%-[^\n]*", position)
  if comment then return comment, coloured_span("c", comment) end
  local quote = code:match("^[\"']", position)
  local text = quote and (code:match("^" .. quote .. "[^" .. quote .. "\n]*" .. quote, position))
  if text then return text, coloured_span("s", text) end
end

--- Lua code as HTML with spans around keywords, numbers, strings and comments.
function html.coloured_lua(code)
  local pieces, position = {}, 1
  while position <= #code do
    local text, piece = quoted_at(code, position)
    if not text then text, piece = word_at(code, position) end
    if not text then text = code:sub(position, position) end
    pieces[#pieces + 1] = piece or html.escaped(text)
    position = position + #text
  end
  return table.concat(pieces)
end

--- The HTML of an example: lines after "> " are entries of the prompt, the others their output or
--- the message of their error.
function html.session(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do
    local mark, code = line:match "^(>+ )(.*)$"
    lines[#lines + 1] = mark and coloured_span("p", mark) .. html.coloured_lua(code)
      or coloured_span(line:find "^crescent: " and "e" or "o", line)
  end
  return html.element("pre", table.concat(lines, "\n"))
end

function html.list(items, attributes)
  local rows = {}
  for i, item in ipairs(items) do rows[i] = html.element("li", item) end
  return html.element("ul", table.concat(rows, "\n"), attributes)
end

--- An HTML table with a heading; each row is a list of HTML cells.
function html.grid(heading, rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local cells = {}
    for j, cell in ipairs(row) do cells[j] = html.element("td", cell) end
    lines[i] = html.element("tr", table.concat(cells))
  end
  local names = {}
  for i, name in ipairs(heading) do names[i] = html.element("th", name) end
  local head = html.element("thead", html.element("tr", table.concat(names)))
  local body = html.element("tbody", table.concat(lines, "\n"))
  return html.element("div", html.element("table", head .. body), 'class="wide"')
end

local page_template = [[
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>@TITLE@</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<header>
<a class="home" href="index.html">&#9790; Crescent <small>@VERSION@</small></a>
<div class="search">
<input id="search" type="search" placeholder="Search (press /)" aria-label="Search"
  autocomplete="off" spellcheck="false">
<ol id="found" hidden></ol>
</div>
</header>
<div class="columns">
<nav aria-label="Pages">
<details><summary>Pages</summary>@MENU@</details>
</nav>
<main>
@CONTENT@
</main>
</div>
<script src="names.js"></script>
<script src="search.js"></script>
</body>
</html>
]]

--- A whole HTML page: the frame, in which each @NAME@ is replaced by the value of that name.
function html.page(values)
  return (page_template:gsub("@(%u+)@", function(name) return values[name:lower()] end))
end

return html
