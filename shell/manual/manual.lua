-- Writes the manual: pages of HTML with a search that needs no server, from the guide's chapters
-- and from the listing of everything that can be called. Nothing here depends on the names of
-- layers, functions or chapters.
--
-- host.folder is the folder to write to, host.chapters the guide, host.images its pictures,
-- host.notes further notes on classes, host.commands the program's commands; host.markdown(text)
-- returns HTML, host.text(name) a file of this folder.
local cr, host = ...

local loaded_parts = {}
function host.part(name)
  if not loaded_parts[name] then
    loaded_parts[name] = assert(load(host.text(name .. ".lua"), "=manual/" .. name))(cr, host)
  end
  return loaded_parts[name]
end

--- Writes a file of the manual.
function host.write(name, text)
  local file = assert(io.open(host.folder .. "/" .. name, "w"))
  assert(file:write(text))
  assert(file:close())
end

host.listing = cr.listing()
local html, reference, guide = host.part "html", host.part "reference", host.part "guide"

--- All pages of the manual in their order; each page has a section, title, file and content.
local function all_pages()
  local pages = guide.pages()
  for _, page in ipairs(reference.pages()) do pages[#pages + 1] = page end
  return pages
end

local function menu_of(pages, current_page)
  local pieces, section = {}, nil
  for _, page in ipairs(pages) do
    if page.menu then
      if page.section ~= section then
        if section then pieces[#pieces + 1] = "</ul>" end
        section = page.section
        pieces[#pieces + 1] = html.element("h2", html.escaped(section)) .. "<ul>"
      end
      local is_current = page.file == current_page.file or page.file == current_page.parent_file
      local mark = is_current and ' aria-current="page"' or ""
      local attributes = ('href="%s"%s'):format(page.file, mark)
      local link = html.element("a", html.escaped(page.menu), attributes)
      pieces[#pieces + 1] = html.element("li", link)
    end
  end
  return table.concat(pieces, "\n") .. "</ul>"
end

local function cards(pages, section)
  local items = {}
  for _, page in ipairs(pages) do
    if page.menu and page.section == section then
      local card = html.element("b", html.escaped(page.menu))
        .. html.element("small", html.escaped(page.summary))
      items[#items + 1] = html.element("a", card, ('href="%s"'):format(page.file))
    end
  end
  return html.list(items, 'class="cards"')
end

local function first_page(pages)
  local content = html.element("h1", "Crescent")
    .. html.element("p", "Deep learning in C++20 with the object model of Keras and a Lua shell.")
  for _, section in ipairs { "Guide", "Reference" } do
    content = content .. html.element("h2", section) .. cards(pages, section)
  end
  return { title = "Crescent", file = "index.html", content = content }
end

--- The text as a JavaScript string literal, escaped so that it cannot end the script element.
local function quoted(text)
  local escaped = text:gsub('[\\"]', "\\%0"):gsub("%c+", " "):gsub("</", "<\\/")
  return '"' .. escaped .. '"'
end

local function names_for_search(pages)
  local rows = {}
  for _, page in ipairs(pages) do
    for _, name in ipairs(page.names or {}) do
      rows[#rows + 1] = ("[%s,%s,%s]"):format(quoted(name[1]), quoted(name[2]), quoted(name[3]))
    end
  end
  return "const names = [\n" .. table.concat(rows, ",\n") .. "\n];\n"
end

local pages = all_pages()
table.insert(pages, first_page(pages))
for _, page in ipairs(pages) do
  host.write(page.file, html.page {
    title = html.escaped(page.title == "Crescent" and page.title or page.title .. " · Crescent"),
    version = host.listing.version,
    menu = menu_of(pages, page),
    content = page.content,
  })
end
host.write("names.js", names_for_search(pages))
host.write("style.css", host.text "style.css")
host.write("search.js", host.text "search.js")
print(("%s/index.html: %d pages"):format(host.folder, #pages))
