// Small things every part uses. What comes from the input reaches the page through textContent only.

const data = JSON.parse(document.getElementById("data").textContent);

/** Make an element: its attributes, then its children, which are elements or text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Four digits of a number, two where they do not matter, thousands apart; a dash for none. */
function said(value, kind) {
  if (value === null || value === undefined) return "–";
  if (kind === "share") return `${(100 * value).toFixed(1)}\u00a0%`;
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e6 ? String(Number(value.toPrecision(4))) : value.toExponential(1);
}

/** Numbers that came as bytes in base64. */
function numbers(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Kind(bytes.buffer);
}

const capital = (word) => word[0].toUpperCase() + word.slice(1);
const rowName = (row) => `${capital(data.noun.one)} ${row}`;

/** The first members of a row as one line. */
function membersOf(row, most = 6) {
  const { names, rows, totals } = data.listings[0];
  const first = rows[row].slice(0, most).map((k) => names[k]);
  const more = totals[row] - first.length;
  return first.join(", ") + (more > 0 ? ` and ${said(more)} more` : "");
}

/** The row that is looked at, in every part at once; -1 for none. */
const choice = {
  row: -1,
  listeners: [],
  set(row) {
    this.row = row === this.row ? -1 : row;
    for (const listener of this.listeners) listener(this.row);
  },
};

/** A box beside the pointer, kept inside its frame; lines of text, the first one bold. */
function makeTip(frame) {
  const tip = make("div", { class: "tip", hidden: true });
  frame.append(tip);
  return {
    show(x, y, [first, ...lines]) {
      tip.replaceChildren(make("b", {}, first), ...lines.map((line) => make("div", {}, line)));
      tip.hidden = false;
      const { clientWidth: w, clientHeight: h } = frame;
      tip.style.left = `${Math.max(4, Math.min(x + 14, w - tip.offsetWidth - 4))}px`;
      tip.style.top = `${y + 18 + tip.offsetHeight > h ? Math.max(4, y - tip.offsetHeight - 12) : y + 18}px`;
    },
    hide() { tip.hidden = true; },
  };
}
