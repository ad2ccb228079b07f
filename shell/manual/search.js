// The search of the manual, which needs no server: names.js has rows of a name, its page and a
// description.
(() => {
  const box = document.getElementById("search"), found = document.getElementById("found");
  const most = 30;
  let chosen = -1;

  // The score by which a row matches a lower-case word; 0 if it does not match. The last part of a
  // name, as in cr.ops.abs, model:fit and "crescent convert", counts most.
  function fit([name, , text], word) {
    const full = name.toLowerCase(), last = full.split(/[.: ]/).pop();
    if (last === word || full === word) return 100 - full.length / 100;
    if (last.startsWith(word)) return 80 - full.length / 100;
    if (full.includes(word)) return 60 - full.length / 100;
    if (text.toLowerCase().includes(word)) return 20 - full.length / 100;
    return 0;
  }

  // The rows that match all the words, the best first.
  function matches(words) {
    const rows = [];
    for (const row of names) {
      const fits = words.map((word) => fit(row, word));
      if (fits.every((each) => each > 0)) rows.push([Math.min(...fits), row]);
    }
    return rows.sort((a, b) => b[0] - a[0]).slice(0, most).map(([, row]) => row);
  }

  function item([name, page, text]) {
    const line = document.createElement("li"), link = document.createElement("a");
    const said = document.createElement("small");
    link.href = page;
    link.textContent = name;
    said.textContent = text;
    link.append(said);
    line.append(link);
    return line;
  }

  function choose(position) {
    const lines = found.children;
    if (lines[chosen]) lines[chosen].classList.remove("chosen");
    chosen = Math.max(-1, Math.min(position, lines.length - 1));
    if (lines[chosen]) {
      lines[chosen].classList.add("chosen");
      lines[chosen].scrollIntoView({ block: "nearest" });
    }
  }

  function show() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = words.length ? matches(words) : [];
    found.replaceChildren(...rows.map(item));
    if (words.length && !rows.length) found.textContent = "Nothing has these words.";
    found.hidden = !words.length;
    choose(rows.length ? 0 : -1);
  }

  function go() {
    const link = found.querySelector(".chosen a");
    if (!link) return;
    location.href = link.href;
    found.hidden = true;
  }

  box.addEventListener("input", show);
  box.addEventListener("focus", show);
  box.addEventListener("keydown", (event) => {
    const act = { ArrowDown: () => choose(chosen + 1), ArrowUp: () => choose(chosen - 1),
      Enter: go, Escape: () => { found.hidden = true; box.blur(); } }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === box) return;
    event.preventDefault();
    box.focus();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) found.hidden = true;
  });

  // In a wide window the list of pages stays open.
  const menu = document.querySelector("nav details");
  const wide = matchMedia("(min-width: 56.01rem)");
  const open = () => { menu.open = wide.matches; };
  wide.addEventListener("change", open);
  open();
})();
