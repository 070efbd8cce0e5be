// The tree as bars: as wide as a group is large, from where it parts from its sibling to where it ends.

const SVG = "http://www.w3.org/2000/svg";

function drawTree(figure, tree) {
  const n = tree.up.length;
  const children = Array.from({ length: n }, () => []);
  for (let k = 1; k < n; k++) children[tree.up[k]].push(k);
  for (const list of children) list.sort((a, b) => tree.x0[a] - tree.x0[b]);

  const frame = make("div", { class: "frame" });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icicle");
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-roledescription", "drawing");
  svg.setAttribute("aria-label", figure.dataset.label);
  svg.setAttribute("aria-describedby", "tree-keys");
  const spoken = make("p", { class: "unseen", "aria-live": "polite" });
  frame.append(svg);
  figure.append(makeTools(), frame, spoken);
  const tip = makeTip(frame);
  const bars = tree.up.map(() => document.createElementNS(SVG, "rect"));
  const texts = tree.up.map(() => document.createElementNS(SVG, "text"));
  bars.forEach((bar, k) => { bar.dataset.bar = k; });
  svg.append(...bars, ...texts);
  let from = 0, to = 1, now = -1, width = 0, height = 0;

  /** A bar in words. */
  function lines(k) {
    const one = tree.row[k] >= 0;
    const what = k === 0 ? "Everything" : one ? rowName(tree.row[k])
      : tree.inside[k] ? `${said(tree.inside[k])} ${data.noun.many} together` : `No ${data.noun.one}`;
    const [leaf, leaves] = tree.leaf, share = said(tree.x1[k] - tree.x0[k], "share");
    return [
      what, `${said(tree.count[k])} ${tree.count[k] === 1 ? leaf : leaves}, ${leaves === tree.unit ? share : `${share} of the ${tree.unit}`}`,
      `from level ${said(tree.birth[k])} to ${said(tree.top[k])}`,
      ...(one ? [membersOf(tree.row[k], 4)] : tree.first[k] >= 0 ? [`the first is ${rowName(tree.first[k])}`] : []),
    ];
  }
  const toX = (x) => ((x - from) / (to - from)) * width;
  function draw() {
    for (let k = 0; k < n; k++) {
      const left = Math.max(-5, toX(tree.x0[k])), right = Math.min(width + 5, toX(tree.x1[k]));
      const wide = Math.max(0, right - left), high = (tree.y1[k] - tree.y0[k]) * height;
      const bar = bars[k], text = texts[k];
      bar.setAttribute("x", left.toFixed(2));
      bar.setAttribute("y", (tree.y0[k] * height).toFixed(2));
      bar.setAttribute("width", wide.toFixed(2));
      bar.setAttribute("height", Math.max(2, high).toFixed(2));
      bar.setAttribute("class", [k === now && "now", choice.row >= 0 && tree.row[k] !== choice.row && "faded"].filter(Boolean).join(" "));
      bar.style.fill = `var(--${colourName(tree.row[k])})`;
      const name = k === 0 ? "Everything" : tree.row[k] < 0 ? (wide > 110 ? `${said(tree.inside[k])} ${data.noun.many}` : said(tree.inside[k])) : wide > 80 ? rowName(tree.row[k]) : String(tree.row[k]);
      const room = high > 15 && wide > 12 + 7 * name.length && !(k > 0 && tree.row[k] >= 0 && tree.row[tree.up[k]] === tree.row[k]);
      text.textContent = room ? name : "";
      text.setAttribute("x", (left + 5).toFixed(1));
      text.setAttribute("y", (tree.y0[k] * height + 13).toFixed(1));
    }
    svg.dataset.zoom = (1 / (to - from)).toFixed(3);
  }
  function see(a, b) {
    const size = Math.max(1e-4, Math.min(1, b - a));
    from = Math.max(0, Math.min(1 - size, a));
    to = from + size;
    draw();
  }
  function zoomBy(factor, at = 0.5) {
    const centre = from + at * (to - from), size = (to - from) / factor;
    see(centre - at * size, centre + (1 - at) * size);
  }
  function whole() { see(0, 1); }
  function goTo(k) {
    now = k;
    if (tree.x1[k] <= from || tree.x0[k] >= to) see(tree.x0[k], tree.x1[k]);
    draw();
    tip.show(toX((Math.max(from, tree.x0[k]) + Math.min(to, tree.x1[k])) / 2), tree.y0[k] * height, lines(k));
    spoken.textContent = lines(k).join(". ");
    svg.dataset.hover = lines(k)[0];
  }
  function makeTools() {
    const tools = make("div", { class: "tools", role: "group", "aria-label": "Zoom the tree" });
    for (const [text, label, act] of [["+", "Zoom in", () => zoomBy(1.6)], ["−", "Zoom out", () => zoomBy(1 / 1.6)],
      ["Fit", "Show the whole tree", whole]]) {
      const button = make("button", { type: "button", "aria-label": label }, text);
      button.addEventListener("click", act);
      tools.append(button);
    }
    tools.append(make("span", { class: "keys", id: "tree-keys" },
      "Click a bar, or wheel, to zoom. Arrows go up, down and along the tree, Enter zooms, 0 shows the whole."));
    return tools;
  }

  const barAt = (event) => (event.target.dataset && event.target.dataset.bar !== undefined ? Number(event.target.dataset.bar) : -1);
  function look(event) {
    const k = barAt(event);
    const box = svg.getBoundingClientRect();
    if (k < 0) { tip.hide(); return; }
    tip.show(event.clientX - box.left, event.clientY - box.top, lines(k));
    svg.dataset.hover = lines(k)[0];
    if (k !== now) { now = k; draw(); }
  }
  svg.addEventListener("pointermove", look);
  svg.addEventListener("pointerdown", look);
  svg.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "touch") return; // a finger leaves when it is lifted: what it showed stays
    tip.hide();
    now = -1;
    draw();
  });
  svg.addEventListener("click", (event) => {
    const k = barAt(event);
    if (k < 0) return;
    if (from === tree.x0[k] && to === tree.x1[k]) whole(); else see(tree.x0[k], tree.x1[k]);
  });
  svg.addEventListener("wheel", (event) => {
    if (event.deltaY > 0 && to - from === 1) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)), (event.clientX - box.left) / box.width);
  }, { passive: false });
  const beside = (k, step) => {
    const siblings = k > 0 ? children[tree.up[k]] : [0];
    return siblings[(siblings.indexOf(k) + step + siblings.length) % siblings.length];
  };
  const keys = {
    ArrowDown: () => goTo(now < 0 ? 0 : children[now].length ? children[now][0] : now),
    ArrowUp: () => goTo(now > 0 ? tree.up[now] : 0),
    ArrowRight: () => goTo(now < 0 ? 0 : beside(now, 1)),
    ArrowLeft: () => goTo(now < 0 ? 0 : beside(now, -1)),
    Enter: () => { if (now >= 0) { see(tree.x0[now], tree.x1[now]); goTo(now); } },
    "+": () => zoomBy(1.6), "=": () => zoomBy(1.6), "-": () => zoomBy(1 / 1.6), "0": whole,
    Escape: () => { now = -1; tip.hide(); whole(); },
  };
  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  svg.addEventListener("blur", () => { tip.hide(); now = -1; draw(); });

  function resize() {
    width = frame.clientWidth;
    height = Math.max(200, Math.min(380, width * 0.5));
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    draw();
  }
  new ResizeObserver(() => { if (frame.clientWidth !== width) resize(); }).observe(frame);
  choice.listeners.push(draw);
  resize();
}
