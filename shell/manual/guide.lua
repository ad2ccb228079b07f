-- Writes the pages of the guide from its chapters in Markdown. A block of code is followed by a
-- block `text` with its output. Names in backticks become links to the reference. Pictures are
-- copied.
local _, host = ...
local html, reference = host.part "html", host.part "reference"
local guide = {}

--- The first heading of a chapter; fails if there is none.
local function heading_of(text)
  return assert(text:match "^# ([^\n]+)", "a chapter has no title")
end

--- The first paragraph of a chapter, without the marks of Markdown.
local function beginning_of(text)
  local paragraph = text:match "^# [^\n]+\n\n(.-)\n\n" or ""
  return (paragraph:gsub("%[([^%]]*)%]%b()", "%1"):gsub("[`*]", ""):gsub("\n", " "))
end

local function file_of(name) return "guide-" .. name:gsub("%.md$", ".html") end

--- Replaces links between chapters by links between their pages.
local function with_links(content)
  return (content:gsub('href="([%w%-]+%.md)(#?[^"]*)"', function(name, anchor)
    return ('href="%s%s"'):format(file_of(name), anchor)
  end))
end

local function with_anchors(content)
  return (content:gsub("<h([23])>(.-)</h%1>", function(level, heading)
    return ('<h%s id="%s">%s</h%s>'):format(level, html.anchor(html.plain(heading)), heading, level)
  end))
end

local function block_pattern(language)
  return '(<pre><code class="language%-' .. language .. '">[^<]*</code></pre>)'
end

--- Puts a program in Python and the same program in Lua side by side if the page is wide enough,
--- with what each prints below it.
local function with_pairs(content)
  local python, text, lua = block_pattern "python", block_pattern "text", block_pattern "lua"
  content = content:gsub(table.concat({ python, text, lua, text }, "%s*"),
    '<div class="pair printing">%1%2%3%4</div>')
  return (content:gsub(python .. "%s*" .. lua, '<div class="pair">%1%2</div>'))
end

local function with_code(content)
  content = content:gsub('<pre><code class="language%-lua">(.-)</code></pre>', function(code)
    return html.element("pre", html.element("code", html.coloured_lua(html.plain(code))))
  end)
  return (content:gsub('<pre><code class="language%-text">(.-)</code></pre>',
    '<pre class="output"><code>%1</code></pre>'))
end

local function with_names(content)
  return (content:gsub("<code>([%w_%.:]+)</code>", function(name)
    local page = reference.page_of(name)
    return page and html.element("a", html.element("code", name), ('href="%s"'):format(page))
  end))
end

--- Makes a figure of a paragraph that is a picture; its text becomes the caption.
local function with_figures(content)
  return (content:gsub('<p><img src="([^"]*)" alt="([^"]*)"></p>', '<figure><img src="%1" alt="">'
    .. "<figcaption>%2</figcaption></figure>"))
end

--- HTML links to the previous and the next chapter.
local function chapter_links(chapters, i)
  local function link(chapter, link_format)
    return chapter and html.element("a", link_format:format(html.escaped(heading_of(chapter.text))),
      ('href="%s"'):format(file_of(chapter.name))) or "<span></span>"
  end
  local links = link(chapters[i - 1], "&larr; %s") .. link(chapters[i + 1], "%s &rarr;")
  return html.element("div", links, 'class="turn"')
end

local function page(chapters, i)
  local chapter = chapters[i]
  local title, summary = heading_of(chapter.text), beginning_of(chapter.text)
  local content = with_anchors(with_links(host.markdown(chapter.text)))
  content = with_figures(with_names(with_code(with_pairs(content))))
  content = content:gsub("<table>", '<div class="wide"><table>'):gsub("</table>", "</table></div>")
  local file = file_of(chapter.name)
  return { section = "Guide", title = title, menu = title, summary = summary, file = file,
    content = content .. chapter_links(chapters, i), names = { { title, file, summary } } }
end

function guide.pages()
  local pages = {}
  for _, image in ipairs(host.images) do host.write(image.name, image.text) end
  for i in ipairs(host.chapters) do pages[i] = page(host.chapters, i) end
  return pages
end

return guide
