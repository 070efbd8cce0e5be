// Light or dark, and the colour of each row: twelve in turn, the same in every part of the page.

const COLOURS = 12;
const themeListeners = [];
const dark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

function themeChanged() {
  document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
  for (const listener of themeListeners) listener();
}

function startTheme() {
  const button = document.getElementById("theme");
  button.hidden = false;
  button.setAttribute("aria-label", "Change between light and dark");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    themeChanged();
  });
  dark.addEventListener("change", themeChanged);
  let before; // paper is light
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    themeChanged();
  });
  addEventListener("afterprint", () => {
    if (before) document.documentElement.dataset.theme = before; else delete document.documentElement.dataset.theme;
    themeChanged();
  });
  themeChanged();
}

/** The value of a colour of the theme. */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Bubbles are some rows of many, and coloured by their turn; points and their clusters by number.
const turns = data.picture && data.picture.kind === "bubbles"
  ? new Map(data.picture.rows.map((row, turn) => [row, turn])) : null;

/** Name of the colour of a row: c0 … c11, or none. */
function colourName(row) {
  const turn = turns ? turns.get(row) : row;
  return row < 0 || turn === undefined ? "none" : `c${turn % COLOURS}`;
}

/** The colours of rows as they are now: looked up once a theme, because that is slow. */
const palette = (() => {
  let known = new Map();
  themeListeners.push(() => { known = new Map(); });
  return (row) => {
    const name = colourName(row);
    if (!known.has(name)) known.set(name, colour(name));
    return known.get(name);
  };
})();

function paintSwatches(root = document) {
  for (const swatch of root.querySelectorAll(".swatch[data-row]")) {
    swatch.style.background = `var(--${colourName(Number(swatch.dataset.row))})`;
  }
}
