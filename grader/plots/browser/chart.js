// Line charts in SVG: panels with axes, fixed shapes, and lines whose points can be set anew.
// A line's points are two arrays; null breaks it.
const GP_NS = "http://www.w3.org/2000/svg";
const GP_WIDTH = 640;

function gpMake(tag, attributes, parent) {
  const svg = ["svg", "g", "path", "line", "circle", "text", "rect", "clipPath", "polygon"];
  const node = svg.includes(tag)
    ? document.createElementNS(GP_NS, tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "text") node.textContent = value;
    else node.setAttribute(name, value);
  }
  if (parent) parent.appendChild(node);
  return node;
}

const gpNumber = (value) => String(Number(value.toPrecision(3))).replace("-", "−");

function gpTicks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}

function gpPath(points, sx, sy) {
  let d = "";
  let pen = "M";
  points.x.forEach((x, i) => {
    const y = points.y[i];
    if (x === null || y === null) pen = "M";
    else {
      d += `${pen}${sx(x).toFixed(1)} ${sy(y).toFixed(1)}`;
      pen = "L";
    }
  });
  return d;
}

function gpStroke(shape) {
  return `stroke:var(--gp-${shape.role});stroke-width:${shape.width || 2};fill:none` +
    (shape.dash ? `;stroke-dasharray:${shape.dash}` : "");
}

function gpLegend(shapes, parent) {
  const row = gpMake("div", { class: "gp-legend" }, parent);
  for (const shape of shapes.filter((one) => one.name)) {
    const item = gpMake("span", {}, row);
    const key = gpMake("svg", { width: 26, height: 10, "aria-hidden": "true" }, item);
    gpMake("path", { d: "M1 5H25", style: gpStroke(shape) }, key);
    item.append(" " + shape.name);
  }
}

function gpAxes(svg, box, spec, x, sx, sy) {
  const label = { class: "gp-tick", "text-anchor": "middle" };
  for (const tick of gpTicks(x.low, x.high, 7)) {
    gpMake("line", { class: "gp-grid", x1: sx(tick), x2: sx(tick), y1: box.top, y2: box.bottom }, svg);
    gpMake("text", { ...label, x: sx(tick), y: box.bottom + 17, text: gpNumber(tick) }, svg);
  }
  for (const tick of gpTicks(spec.low, spec.high, 5)) {
    gpMake("line", { class: "gp-grid", x1: box.left, x2: box.right, y1: sy(tick), y2: sy(tick) }, svg);
    gpMake("text", { class: "gp-tick", "text-anchor": "end", x: box.left - 7, y: sy(tick) + 4,
                     text: gpNumber(tick) }, svg);
  }
  gpMake("path", { class: "gp-axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }, svg);
  const middle = (box.top + box.bottom) / 2;
  gpMake("text", { class: "gp-label", "text-anchor": "middle", x: (box.left + box.right) / 2,
                   y: box.bottom + 35, text: x.label }, svg);
  gpMake("text", { class: "gp-label", "text-anchor": "middle", text: spec.label,
                   transform: `translate(13 ${middle}) rotate(-90)` }, svg);
}

function gpShape(shape, layer, sx, sy) {
  const colour = `var(--gp-${shape.role})`;
  if (shape.kind === "line") {
    gpMake("path", { d: gpPath(shape, sx, sy), style: gpStroke(shape) }, layer);
  } else if (shape.kind === "dot") {
    gpMake("circle", { cx: sx(shape.x), cy: sy(shape.y), r: 4,
                       style: `stroke:${colour};fill:${shape.filled ? colour : "var(--gp-paper)"};stroke-width:1.5` }, layer);
  } else if (shape.kind === "arrow") {
    const [x, tip, down] = [sx(shape.x), sy(shape.y), shape.y < 0 ? -1 : 1];
    gpMake("line", { x1: x, x2: x, y1: sy(0), y2: tip + 6 * down, style: gpStroke(shape) }, layer);
    gpMake("polygon", { points: `${x},${tip} ${x - 4},${tip + 9 * down} ${x + 4},${tip + 9 * down}`,
                        style: `fill:${colour}` }, layer);
    gpMake("text", { x: x + 7, y: tip + (down > 0 ? 11 : -4), class: "gp-tick", text: shape.text,
                     style: `fill:${colour}` }, layer);
  }
}

// One panel; returns { set(k, points), sx, sy, layer }, where k counts the moving lines.
function gpPanel(spec, x, parent, name) {
  const height = spec.height || 200;
  const width = spec.width || GP_WIDTH;
  const box = { left: 56, right: width - 12, top: 8, bottom: height - 42 };
  const place = gpMake("div", { class: "gp-panel", style: `width:${width}px` }, parent);
  if (spec.title) gpMake("div", { class: "gp-subtitle", text: spec.title }, place);
  gpLegend([...spec.fixed, ...spec.moving], place);
  const svg = gpMake("svg", { role: "img", "aria-label": name, width, height,
                              viewBox: `0 0 ${width} ${height}` }, place);
  const sx = (v) => box.left + ((v - x.low) / (x.high - x.low)) * (box.right - box.left);
  const sy = (v) => box.bottom - ((v - spec.low) / (spec.high - spec.low)) * (box.bottom - box.top);
  gpAxes(svg, box, spec, x, sx, sy);
  const id = "gpclip" + Math.random().toString(36).slice(2);
  const clip = gpMake("clipPath", { id }, svg);
  gpMake("rect", { x: box.left - 5, y: box.top - 5, width: box.right - box.left + 10,
                   height: box.bottom - box.top + 10 }, clip);
  const layer = gpMake("g", { "clip-path": `url(#${id})` }, svg);
  for (const shape of spec.fixed) gpShape(shape, layer, sx, sy);
  const lines = spec.moving.map((shape) =>
    gpMake("path", { style: gpStroke(shape), class: "gp-moving-line" }, layer));
  const set = (k, points) => lines[k].setAttribute("d", gpPath(points, sx, sy));
  return { set, sx, sy, layer };
}

// The place of this output; its still picture gives way to what is returned.
function gpStage(id) {
  const own = document.currentScript && document.currentScript.closest(".gp-picture");
  const root = own || document.querySelector(`[data-gp="${id}"]:not(.gp-live)`);
  if (!root || root.classList.contains("gp-live")) return null;
  root.classList.add("gp-live");
  return gpMake("div", { class: "gp-stage" }, root);
}

// JupyterLab's shortcuts would take the arrow keys, the space bar and Enter; it looks for this
// on the focused element itself.
const GP_OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };
