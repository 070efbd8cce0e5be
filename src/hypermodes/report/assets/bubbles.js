// Groups as bubbles of their members: a dot each, the strongest in the middle, names when there is room.

const GOLDEN = Math.PI * (3 - Math.sqrt(5));

function drawBubbles(figure, given) {
  const { names, rows: members, totals, title } = data.listings[0];
  const all = given.rows.map((row, k) => ({
    row, k, x: given.x[k], y: given.y[k], r: given.r[k], key: `row ${row}`,
    lines: [rowName(row), ...data.columns.slice(0, 3).map((c) => `${c.title}: ${said(c.values[row], c.kind)}`), membersOf(row, 4)],
    dots: members[row].map((name, i) => ({
      name, row,
      x: given.x[k] + 0.88 * Math.sqrt(i + 0.35) * Math.cos(i * GOLDEN),
      y: given.y[k] + 0.88 * Math.sqrt(i + 0.35) * Math.sin(i * GOLDEN),
    })),
  }));
  const where = new Map(); // name → the bubbles it is in
  for (const { dots, row } of all) for (const { name } of dots) where.set(name, [...(where.get(name) || []), row]);
  const linked = (row) => new Set(given.links.flatMap(([a, b]) =>
    all[a].row === row ? [all[b].row] : all[b].row === row ? [all[a].row] : []));

  function draw(context, view) {
    const scale = view.ppx;
    const focus = view.hover ? view.hover.row : choice.row;
    const near = focus >= 0 ? linked(focus).add(focus) : null;
    const name = view.hover ? view.hover.name : undefined;
    for (const [a, b, shared] of given.links) {
      const on = near && (all[a].row === focus || all[b].row === focus);
      context.globalAlpha = near ? (on ? 0.9 : 0.08) : 0.4;
      context.strokeStyle = colour("quiet");
      context.lineWidth = Math.min(6, 0.7 + Math.log2(1 + shared) * 0.8);
      context.beginPath();
      context.moveTo(...view.toScreen(all[a].x, all[a].y));
      context.lineTo(...view.toScreen(all[b].x, all[b].y));
      context.stroke();
    }
    for (const bubble of all) {
      const [sx, sy] = view.toScreen(bubble.x, bubble.y);
      const r = bubble.r * scale;
      if (sx + r < 0 || sy + r < 0 || sx - r > view.width || sy - r > view.height) continue;
      const tone = palette(bubble.row);
      context.globalAlpha = near && !near.has(bubble.row) ? 0.25 : 1;
      context.beginPath();
      context.arc(sx, sy, r, 0, 7);
      context.fillStyle = colour("paper");
      context.fill();
      const strong = context.globalAlpha;
      context.globalAlpha = strong * 0.16;
      context.fillStyle = tone;
      context.fill();
      context.globalAlpha = strong;
      context.lineWidth = bubble.row === focus ? 3 : 1.5;
      context.strokeStyle = tone;
      context.stroke();
      context.fillStyle = tone;
      for (const dot of bubble.dots) {
        const [dx, dy] = view.toScreen(dot.x, dot.y);
        context.beginPath();
        context.arc(dx, dy, Math.max(1.2, Math.min(9, 0.26 * scale)), 0, 7);
        context.fill();
        if (dot.name === name) {
          context.globalAlpha = 1;
          context.lineWidth = 3;
          context.strokeStyle = colour("ink");
          context.stroke();
          context.globalAlpha = strong;
        }
      }
    }
    context.globalAlpha = 1;
    drawNames(context, view, scale);
  }

  function drawNames(context, view, scale) {
    const room = makeRoom();
    for (const { row, x, y, r } of all) {
      const [sx, sy] = view.toScreen(x, y);
      const top = sy - r * scale;
      if (top > 8 && top < view.height && room(sx, top, 40, 16)) {
        drawText(context, r * scale > 40 ? rowName(row) : String(row), sx, top, { size: 13, bold: true });
      }
    }
    if (scale < 34) { // no room for all names: each bubble has that of its strongest member
      for (const { row, x, y, r, dots } of all) {
        const letters = Math.floor((2.4 * r * scale) / 6.6);
        if (!dots.length || letters < 8) continue;
        const full = names[dots[0].name];
        const text = full.length > letters ? `${full.slice(0, letters - 1)}…` : full;
        const [sx, sy] = view.toScreen(x, y);
        if (room(sx, sy, 6.6 * text.length, 15)) drawText(context, text, sx, sy);
      }
      return;
    }
    for (const { dots } of all) {
      for (const { name, x, y } of dots) {
        const [sx, sy] = view.toScreen(x, y);
        if (sx < 0 || sy < 0 || sx > view.width || sy > view.height) continue;
        const letters = Math.max(6, Math.floor(scale / 4));
        const text = names[name].length > letters ? `${names[name].slice(0, letters - 1)}…` : names[name];
        if (room(sx, sy + 16, 6.6 * text.length, 15)) drawText(context, text, sx, sy + 16);
      }
    }
  }

  function at(sx, sy, view) {
    const [x, y] = view.toWorld(sx, sy);
    const bubble = all.find((one) => Math.hypot(one.x - x, one.y - y) <= one.r);
    if (!bubble) return null;
    const reach = Math.max(0.45, 5 / view.ppx);
    const dot = bubble.dots.find((one) => Math.hypot(one.x - x, one.y - y) <= Math.min(reach, 0.5));
    if (!dot || view.ppx < 9) return bubble;
    const others = where.get(dot.name).filter((row) => row !== bubble.row);
    const more = totals[bubble.row] > bubble.dots.length ? [`${said(totals[bubble.row] - bubble.dots.length)} more are not drawn`] : [];
    return {
      ...dot, key: `dot ${dot.name} ${bubble.row}`,
      lines: [names[dot.name], `${title} of ${rowName(bubble.row)}`,
        ...(others.length ? [`also drawn in ${others.slice(0, 8).join(", ")}`] : []), ...more],
    };
  }

  const bounds = {
    x0: Math.min(...all.map((b) => b.x - b.r)), x1: Math.max(...all.map((b) => b.x + b.r)),
    y0: Math.min(...all.map((b) => b.y - b.r)), y1: Math.max(...all.map((b) => b.y + b.r)),
  };
  makeView(figure, { bounds, draw, at, stops: all });
}
