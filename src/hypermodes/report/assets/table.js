// The table: sorted by a click on a header, filtered as one types, a page at a time.

function makeTable(section) {
  const n = data.verdict.length;
  const verdict = (row) => data.verdicts[data.verdict[row]];
  const state = { column: -1, down: false, words: [], page: 0, size: 25, open: new Set() };
  // What the filter looks at: the number of the row, its verdict and the names of all its members.
  const text = Array.from({ length: n }, (_, row) =>
    [rowName(row), verdict(row).word, ...data.listings.flatMap(({ names, rows, rest }) => [...rows[row], ...rest[row]].map((k) => names[k]))]
      .join("\n").toLowerCase());

  const filter = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const size = make("select", {}, ...[25, 50, 100, 500].map((k) => make("option", { value: k }, String(k))));
  const count = make("p", { class: "count", role: "status", "aria-live": "polite" });
  const body = make("tbody");
  const heads = [];
  const table = make("table", {},
    make("caption", {}, `${capital(data.noun.many)} with their numbers and members. Press a header to sort by it.`),
    make("thead", {}, make("tr", {}, header(capital(data.noun.one), -1, "text"),
      ...data.columns.map((column, c) => header(column.title, c, column.main ? "" : "wide", column.help)),
      header("Certificate", data.columns.length, "text wide"),
      make("th", { scope: "col", class: "text" }, "Members"))),
    body);
  const before = make("button", { type: "button" }, "Previous"), after = make("button", { type: "button" }, "Next");
  const where = make("span", {});
  const pages = make("nav", { class: "pages", "aria-label": "Pages of the table" }, before, where, after);
  section.append(
    make("div", { class: "controls" },
      make("label", {}, `Filter by number, verdict or member`, filter), make("label", {}, "Rows", size), count),
    make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `Table of ${data.noun.many}` }, table), pages);

  function header(title, column, kind, help = "") {
    const button = make("button", { type: "button", title: help }, title);
    const head = make("th", { scope: "col", class: kind, "aria-sort": "none" }, button);
    button.addEventListener("click", () => {
      state.down = state.column === column ? !state.down : column >= 0 && column < data.columns.length;
      state.column = column;
      state.page = 0;
      show();
    });
    heads.push([column, head]);
    return head;
  }

  function value(row) {
    if (state.column < 0) return row;
    return state.column === data.columns.length ? verdict(row).word : data.columns[state.column].values[row];
  }
  /** Rows that fit the filter, in order; what has no value comes last either way, equals by number. */
  function chosen() {
    const rows = [];
    for (let row = 0; row < n; row++) if (state.words.every((word) => text[row].includes(word))) rows.push(row);
    const sign = state.down ? -1 : 1;
    return rows.sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      return x < y ? -sign : x > y ? sign : a - b;
    });
  }

  function show() {
    const rows = chosen();
    const last = Math.max(0, Math.ceil(rows.length / state.size) - 1);
    state.page = Math.min(state.page, last);
    const part = rows.slice(state.page * state.size, (state.page + 1) * state.size);
    body.replaceChildren(...part.flatMap(lineOf));
    if (!part.length) {
      body.append(make("tr", {}, make("td", { class: "text", colspan: heads.length + 1 },
        n ? "Nothing fits the filter." : `There are no ${data.noun.many}.`)));
    }
    for (const [column, head] of heads) {
      head.setAttribute("aria-sort", column !== state.column ? "none" : state.down ? "descending" : "ascending");
    }
    count.textContent = rows.length === n ? `${said(n)} ${n === 1 ? data.noun.one : data.noun.many}` : `${said(rows.length)} of ${said(n)} ${data.noun.many}`;
    where.textContent = `Page ${said(state.page + 1)} of ${said(last + 1)}`;
    before.disabled = state.page === 0;
    after.disabled = state.page === last;
    pages.hidden = last === 0;
    paintSwatches(body);
  }

  function lineOf(row) {
    const open = state.open.has(row);
    const toggle = make("button", { type: "button", class: "open-row", "aria-expanded": String(open) },
      make("span", { class: "swatch", "data-row": row }), String(row), make("span", { class: "unseen" }, ` ${data.noun.one}: details`));
    toggle.addEventListener("click", () => {
      if (open) state.open.delete(row); else state.open.add(row);
      show();
      body.querySelector(`[data-line="${row}"] button`).focus();
    });
    const line = make("tr", { "data-line": row, class: row === choice.row ? "chosen" : "" },
      make("th", { scope: "row", class: "text" }, toggle),
      ...data.columns.map((c) => make("td", { class: c.main ? "" : "wide" }, said(c.values[row], c.kind))),
      make("td", { class: "text wide" }, make("span", { class: verdict(row).good ? "good" : "open" }, verdict(row).word)),
      make("td", { class: "members" }, make("span", { class: "who" }, make("bdi", {}, membersOf(row, 8)))));
    return open ? [line, details(row)] : [line];
  }

  function details(row) {
    const numbersOf = make("dl", {}, ...data.columns.map((c) =>
      make("div", {}, make("dt", { title: c.help }, c.title), make("dd", {}, said(c.values[row], c.kind)))));
    const lists = data.listings.flatMap(({ title, names, rows, totals }) => {
      const more = totals[row] - rows[row].length;
      return [make("h4", {}, `${title} `, make("span", {}, said(totals[row]))),
        make("ul", { class: "names" }, ...rows[row].map((k) => make("li", {}, make("bdi", {}, names[k]))),
          ...(more > 0 ? [make("li", { class: "more" }, `and ${said(more)} more`)] : []))];
    });
    const word = make("p", { class: `verdict ${verdict(row).good ? "good" : "open"}` }, verdict(row).word);
    const pick = make("button", { type: "button" }, "Show in the drawings");
    pick.addEventListener("click", () => choice.set(row));
    return make("tr", {}, make("td", { class: "details", colspan: heads.length + 1 },
      word, make("p", {}, verdict(row).sentence), numbersOf, ...lists, make("p", {}, pick)));
  }

  filter.addEventListener("input", () => {
    state.words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    state.page = 0;
    show();
  });
  size.addEventListener("change", () => { state.size = Number(size.value); state.page = 0; show(); });
  before.addEventListener("click", () => { state.page--; show(); });
  after.addEventListener("click", () => { state.page++; show(); });
  choice.listeners.push((row) => {
    for (const line of body.querySelectorAll("tr[data-line]")) line.classList.toggle("chosen", Number(line.dataset.line) === row);
  });
  show();
}
