// A picture on a canvas that can be zoomed and moved: by wheel, pinch, drag, buttons and keys.

const CLOSEST = 200; // times the whole picture

/**
 * Parts of `picture`: bounds {x0, x1, y0, y1} of the world, y upwards; draw(context, view); at(x, y, view), what
 * is under a place of the screen, as {lines, row} or null; stops, a list of {x, y, lines, row} for the keyboard.
 */
function makeView(figure, picture) {
  const frame = make("div", { class: "frame" });
  const canvas = make("canvas", {
    tabindex: "0", role: "application", "aria-roledescription": "drawing", "aria-label": figure.dataset.label, "aria-describedby": `${figure.id}-keys`,
  });
  const spoken = make("p", { class: "unseen", "aria-live": "polite" });
  frame.append(canvas);
  figure.append(makeTools(), frame, spoken);
  const tip = makeTip(frame);
  const context = canvas.getContext("2d");
  const { x0, x1, y0, y1 } = picture.bounds;
  const middle = { x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
  const spanX = x1 - x0 || 1, spanY = y1 - y0 || 1;
  // One scale for both directions, unless that would leave a line of the picture.
  const even = Math.max(spanX / spanY, spanY / spanX) <= 6;
  const view = { zoom: 1, x: middle.x, y: middle.y, width: 0, height: 0, ppx: 1, ppy: 1, hover: null };
  let asked = false, stop = -1;

  view.toScreen = (x, y) => [view.width / 2 + (x - view.x) * view.ppx, view.height / 2 - (y - view.y) * view.ppy];
  view.toWorld = (sx, sy) => [view.x + (sx - view.width / 2) / view.ppx, view.y - (sy - view.height / 2) / view.ppy];

  function measure() {
    const inner = 0.88;
    const fitX = (view.width * inner) / spanX, fitY = (view.height * inner) / spanY;
    view.ppx = (even ? Math.min(fitX, fitY) : fitX) * view.zoom;
    view.ppy = (even ? Math.min(fitX, fitY) : fitY) * view.zoom;
  }
  function resize() {
    const ratio = window.devicePixelRatio || 1;
    view.width = frame.clientWidth;
    view.height = Math.round(Math.max(Math.min(view.width, 340), Math.min(560, view.width * 0.56)));
    canvas.style.height = `${view.height}px`;
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint();
  }
  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(paint);
  }
  function paint() {
    asked = false;
    measure();
    context.clearRect(0, 0, view.width, view.height);
    picture.draw(context, view);
    canvas.dataset.zoom = view.zoom.toFixed(3);
    canvas.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
  }
  function zoomBy(factor, sx = view.width / 2, sy = view.height / 2) {
    const zoom = Math.max(1, Math.min(CLOSEST, view.zoom * factor));
    const [wx, wy] = view.toWorld(sx, sy);
    view.zoom = zoom;
    measure();
    const [nx, ny] = view.toWorld(sx, sy);
    moveTo(view.x + wx - nx, view.y + wy - ny);
  }
  function moveTo(x, y) {
    // At the whole picture it stays in the middle; closer, some of it stays in sight.
    const free = view.zoom > 1;
    view.x = free ? Math.max(x0, Math.min(x1, x)) : middle.x;
    view.y = free ? Math.max(y0, Math.min(y1, y)) : middle.y;
    redraw();
  }
  function whole() { view.zoom = 1; tip.hide(); moveTo(middle.x, middle.y); }
  function makeTools() {
    const tools = make("div", { class: "tools", role: "group", "aria-label": "Zoom" });
    const entries = [["+", "Zoom in", () => zoomBy(1.6)], ["−", "Zoom out", () => zoomBy(1 / 1.6)],
      ["Fit", "Show the whole picture", whole]];
    for (const [text, label, act] of entries) {
      const button = make("button", { type: "button", "aria-label": label }, text);
      button.addEventListener("click", act);
      tools.append(button);
    }
    tools.append(make("span", { class: "keys", id: `${figure.id}-keys` },
      "Wheel, pinch or + − to zoom, drag or arrows to move, N and P for the next and the one before, Enter to pick."));
    return tools;
  }

  // -- pointers: one moves, two pinch --
  const down = new Map();
  let travelled = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left - 1, event.clientY - box.top - 1];
  };
  function look(sx, sy) {
    const found = picture.at(sx, sy, view);
    if ((found && found.key) !== (view.hover && view.hover.key)) { view.hover = found; redraw(); }
    if (found) tip.show(sx, sy, found.lines); else tip.hide();
    canvas.dataset.hover = found ? found.lines[0] : "";
    return found;
  }
  canvas.addEventListener("pointerdown", (event) => {
    down.set(event.pointerId, place(event));
    travelled = 0;
    if (view.zoom > 1) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [sx, sy] = place(event);
    const before = down.get(event.pointerId);
    if (!before) { look(sx, sy); return; }
    travelled += Math.hypot(sx - before[0], sy - before[1]);
    if (down.size === 2) {
      const [other] = [...down].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const grown = Math.hypot(sx - other[0], sy - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1]));
      zoomBy(grown, (sx + other[0]) / 2, (sy + other[1]) / 2);
    } else if (view.zoom > 1) {
      tip.hide();
      moveTo(view.x - (sx - before[0]) / view.ppx, view.y + (sy - before[1]) / view.ppy);
    }
    down.set(event.pointerId, [sx, sy]);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (down.delete(event.pointerId) && travelled < 6) {
      const found = look(...place(event));
      if (found) choice.set(found.row);
    }
  });
  canvas.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
  canvas.addEventListener("pointerleave", (event) => {
    down.delete(event.pointerId);
    if (event.pointerType === "touch") return; // a finger leaves when it is lifted: what it showed stays
    tip.hide();
    if (view.hover) { view.hover = null; redraw(); }
  });
  canvas.addEventListener("wheel", (event) => {
    if (event.deltaY > 0 && view.zoom === 1) return; // nothing to zoom out of: the page scrolls
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)), ...place(event));
  }, { passive: false });

  // -- keys --
  function goTo(next) {
    if (!picture.stops.length) return;
    stop = (next + picture.stops.length) % picture.stops.length;
    const at = picture.stops[stop];
    view.hover = at;
    if (view.zoom > 1) moveTo(at.x, at.y);
    measure();
    tip.show(...view.toScreen(at.x, at.y), at.lines);
    spoken.textContent = at.lines.join(". ");
    canvas.dataset.hover = at.lines[0];
    redraw();
  }
  const far = (pixels) => [pixels / view.ppx, pixels / view.ppy];
  const keys = {
    "+": () => zoomBy(1.6), "=": () => zoomBy(1.6), "-": () => zoomBy(1 / 1.6), "0": whole,
    ArrowLeft: () => moveTo(view.x - far(60)[0], view.y), ArrowRight: () => moveTo(view.x + far(60)[0], view.y),
    ArrowUp: () => moveTo(view.x, view.y + far(60)[1]), ArrowDown: () => moveTo(view.x, view.y - far(60)[1]),
    n: () => goTo(stop + 1), p: () => goTo(stop < 0 ? -1 : stop - 1),
    Enter: () => { if (view.hover) choice.set(view.hover.row); },
    Escape: () => { tip.hide(); view.hover = null; redraw(); },
  };
  canvas.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[key]) return;
    if (key.startsWith("Arrow") && view.zoom === 1) return; // nowhere to move: the page scrolls
    event.preventDefault();
    keys[key]();
  });
  canvas.addEventListener("blur", () => { tip.hide(); view.hover = null; redraw(); });

  new ResizeObserver(() => { if (frame.clientWidth !== view.width) resize(); }).observe(frame);
  themeListeners.push(paint);
  choice.listeners.push(redraw);
  resize();
  return view;
}

/** Text with a halo, readable on anything. */
function drawText(context, text, x, y, { size = 12, bold = false, align = "center", fill = "ink" } = {}) {
  context.font = `${bold ? 600 : 400} ${size}px system-ui, sans-serif`;
  context.textAlign = align;
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = colour("halo");
  context.strokeText(text, x, y);
  context.fillStyle = colour(fill);
  context.fillText(text, x, y);
}

/** Keeps boxes of text that do not cover one another: ask for room, and draw if there is some. */
function makeRoom() {
  const taken = [];
  return (x, y, width, height) => {
    const box = [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
    if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) return false;
    taken.push(box);
    return true;
  };
}
