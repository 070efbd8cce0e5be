// Clusters on the data: up to a hundred thousand points. Few are drawn as discs, many as pixels, which takes
// milliseconds instead of a good part of a second.

const CELLS = 256; // a grid over the picture, to find the point under the pointer
const STEPS = 65535;
const FEW = 4000; // points that are drawn as discs

function drawPoints(figure, given) {
  const x = numbers(given.x, Uint16Array), y = numbers(given.y, Uint16Array);
  const label = numbers(given.label, Int16Array), strength = numbers(given.strength, Uint8Array);
  const rows = given.rows ? numbers(given.rows, Uint32Array) : null;
  const n = given.n;
  const wx = (i) => given.low[0] + (x[i] / STEPS) * given.extent[0];
  const wy = (i) => given.low[1] + (y[i] / STEPS) * given.extent[1];
  const byLabel = Uint32Array.from({ length: n }, (_, i) => i).sort((a, b) => label[a] - label[b] || a - b);
  const grid = makeGrid(x, y, n);

  // Each cluster is named where its strongest point is, which lies in it whatever its shape.
  const centre = new Map();
  for (let i = 0; i < n; i++) {
    const best = centre.get(label[i]);
    if (label[i] >= 0 && (best === undefined || strength[i] > strength[best])) centre.set(label[i], i);
  }
  const counts = data.columns[0].values;
  const stops = [...centre].sort((a, b) => a[0] - b[0]).map(([row, i]) => ({
    x: wx(i), y: wy(i), row, key: `row ${row}`, lines: [rowName(row), `${said(counts[row])} points`],
  }));

  function draw(context, view) {
    drawAxes(context, view);
    const focus = choice.row >= 0 ? choice.row : view.hover && view.hover.key.startsWith("row") ? view.hover.row : null;
    const faded = (row) => focus !== null && row !== focus;
    const size = n > FEW ? drawPixels(context, view, faded) : drawDiscs(context, view, faded);
    const room = makeRoom();
    for (const { x: px, y: py, row } of stops.slice(0, 400)) {
      const [sx, sy] = view.toScreen(px, py);
      const text = String(row);
      if (sx > 0 && sy > 0 && sx < view.width && sy < view.height && room(sx, sy, 10 + 8 * text.length, 20)) {
        drawText(context, text, sx, sy, { size: 14, bold: true });
      }
    }
    if (view.hover) {
      const [sx, sy] = view.toScreen(view.hover.x, view.hover.y);
      context.beginPath();
      context.arc(sx, sy, size / 2 + 4, 0, 7);
      context.lineWidth = 2;
      context.strokeStyle = colour("ink");
      context.stroke();
    }
  }

  function drawDiscs(context, view, faded) {
    const size = Math.min(9, 5 * Math.sqrt(Math.min(view.zoom, 4)));
    for (const i of byLabel) {
      const [sx, sy] = view.toScreen(wx(i), wy(i));
      context.globalAlpha = faded(label[i]) ? 0.15 : label[i] < 0 ? 0.6 : 0.85;
      context.fillStyle = palette(label[i]);
      context.beginPath();
      context.arc(sx, sy, size / 2, 0, 7);
      context.fill();
    }
    context.globalAlpha = 1;
    return size;
  }

  const layer = make("canvas");
  function drawPixels(context, view, faded) {
    const ratio = context.canvas.width / view.width;
    const [width, height] = [layer.width, layer.height] = [context.canvas.width, context.canvas.height];
    const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    const size = Math.round(Math.max(1, Math.min(6, (n > 30000 ? 1.5 : 2.5) * Math.sqrt(Math.min(view.zoom, 6)))) * ratio);
    const [left, top] = view.toScreen(given.low[0], given.low[1] + given.extent[1]);
    const [right, bottom] = view.toScreen(given.low[0] + given.extent[0], given.low[1]);
    const stepX = ((right - left) / STEPS) * ratio, stepY = ((bottom - top) / STEPS) * ratio;
    const shiftX = left * ratio - size / 2, shiftY = bottom * ratio - size / 2;
    let now = null, ink = 0;
    for (let k = 0; k < n; k++) {
      const i = byLabel[k];
      const px = Math.round(shiftX + x[i] * stepX), py = Math.round(shiftY - y[i] * stepY);
      if (px < 0 || py < 0 || px + size > width || py + size > height) continue;
      if (label[i] !== now) { now = label[i]; ink = asPixel(palette(now), faded(now) ? 50 : now < 0 ? 170 : 255); }
      for (let line = 0, at = py * width + px; line < size; line++, at += width) pixels.fill(ink, at, at + size);
    }
    layer.getContext("2d").putImageData(image, 0, 0);
    context.drawImage(layer, 0, 0, view.width, view.height);
    return size / ratio;
  }

  function at(sx, sy, view) {
    const [px, py] = view.toWorld(sx, sy);
    const reachX = 12 / view.ppx, reachY = 12 / view.ppy;
    const i = grid(
      ((px - given.low[0]) / given.extent[0]) * STEPS, ((py - given.low[1]) / given.extent[1]) * STEPS,
      (reachX / given.extent[0]) * STEPS, (reachY / given.extent[1]) * STEPS,
    );
    if (i < 0) return null;
    const row = label[i], name = rows ? rows[i] : i;
    return {
      x: wx(i), y: wy(i), row, key: `point ${i}`,
      lines: [
        given.names ? given.names[i] : `Point ${name}`,
        row < 0 ? "Outlier" : `${rowName(row)}, strength ${(strength[i] / 255).toFixed(2)}`,
        `${said(wx(i))}, ${said(wy(i))}`,
      ],
    };
  }

  const [x0, y0] = given.low;
  const bounds = { x0, x1: x0 + given.extent[0], y0, y1: y0 + given.extent[1] };
  makeView(figure, { bounds, draw, at, stops });
  figure.append(makeLegend(stops.map(({ row }) => row), label.some((one) => one < 0)));
}

/** A colour #rrggbb as the bytes of a pixel: red, green, blue and how solid it is. */
function asPixel(hex, solid) {
  const [r, g, b] = [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  return new Uint32Array(new Uint8Array([r, g, b, solid]).buffer)[0];
}

/** Nearest of the points within reach, by a grid of cells; all in steps of the coordinates. */
function makeGrid(x, y, n) {
  const cell = (value) => Math.max(0, Math.min(CELLS - 1, Math.floor((value / (STEPS + 1)) * CELLS)));
  const begin = new Uint32Array(CELLS * CELLS + 1), order = new Uint32Array(n);
  for (let i = 0; i < n; i++) begin[cell(y[i]) * CELLS + cell(x[i]) + 1]++;
  for (let c = 0; c < CELLS * CELLS; c++) begin[c + 1] += begin[c];
  const next = begin.slice();
  for (let i = 0; i < n; i++) order[next[cell(y[i]) * CELLS + cell(x[i])]++] = i;
  return (px, py, reachX, reachY) => {
    let best = -1, least = 1;
    for (let cy = cell(py - reachY); cy <= cell(py + reachY); cy++) {
      for (let k = begin[cy * CELLS + cell(px - reachX)]; k < begin[cy * CELLS + cell(px + reachX) + 1]; k++) {
        const i = order[k];
        const far = ((x[i] - px) / reachX) ** 2 + ((y[i] - py) / reachY) ** 2;
        if (far < least) { least = far; best = i; }
      }
    }
    return best;
  };
}

/** Light lines at round numbers, which are written along the edges. */
function drawAxes(context, view) {
  const axes = [
    ["x", view.width, view.ppx, view.toWorld(0, 0)[0]], ["y", view.height, view.ppy, view.toWorld(0, view.height)[1]],
  ];
  for (const [axis, length, perUnit, from] of axes) {
    const rough = 90 / perUnit, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
    const first = Math.ceil(from / step), many = Math.floor(length / perUnit / step);
    for (let k = first; k <= first + many; k++) {
      if (k + 1 === k) break; // so far from 0 that numbers have no room for steps
      context.strokeStyle = colour("line");
      context.lineWidth = 1;
      const place = axis === "x" ? view.toScreen(k * step, 0)[0] : view.toScreen(0, k * step)[1];
      context.beginPath();
      if (axis === "x") { context.moveTo(place, 0); context.lineTo(place, view.height); }
      else { context.moveTo(0, place); context.lineTo(view.width, place); }
      context.stroke();
      const text = said(Number((k * step).toPrecision(8)));
      if (axis === "x" && place > 30) drawText(context, text, place, view.height - 10, { size: 11, fill: "quiet" });
      else if (axis === "y" && place < view.height - 24) drawText(context, text, 5, place, { size: 11, align: "left", fill: "quiet" });
    }
  }
}

/** Buttons that pick a row, the first few of them. */
function makeLegend(rows, outliers) {
  const most = 24;
  const legend = make("ul", { class: "legend", "aria-label": `Pick a ${data.noun.one}` });
  for (const row of rows.slice(0, most)) {
    const button = make("button", { type: "button", "aria-pressed": "false", "data-pick": row },
      make("span", { class: "swatch", "data-row": row }), rowName(row));
    button.addEventListener("click", () => choice.set(row));
    legend.append(make("li", {}, button));
  }
  if (rows.length > most) legend.append(make("li", {}, `and ${said(rows.length - most)} more in the table`));
  if (outliers) legend.append(make("li", {}, make("span", { class: "swatch", "data-row": -1 }), "Outliers"));
  choice.listeners.push((row) => {
    for (const button of legend.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.pick) === row));
    }
  });
  return legend;
}
