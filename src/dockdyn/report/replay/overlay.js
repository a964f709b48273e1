/* Time line, plots, legend and cameras over the player. It drives the player by frames and shows real time. */
(() => {
  "use strict";
  const run = /*DATA*/null;
  document.title = run.title;
  const WAIT = 30; // s until a player that does not come is given up
  const DWELL = 0.45; // s of the reader's time that a mark is shown at least
  const time = run.time, last = time.length - 1, end = time[last] || 1;

  // ── what the page is made of ──
  const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "path", "line", "rect", "text", "g", "title"].includes(tag);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  };
  const style = `
    #dd, #dd * { box-sizing: border-box; margin: 0; font: 12px/1.35 system-ui, sans-serif; }
    #dd { position: fixed; inset: 0; z-index: 2147483001; pointer-events: none; color: #e6eaef; }
    #dd .card { position: absolute; background: rgba(20,23,28,.84); border: 1px solid #3a424c; border-radius: 6px;
      padding: 7px 9px; pointer-events: auto; }
    #dd-top { left: 10px; top: 10px; max-width: min(44vw, 460px); }
    #dd h1 { font-size: 14px; font-weight: 600; }
    #dd p { color: #b8c1cc; margin-top: 3px; }
    #dd button { min-height: 24px; }
    #dd button, #dd select { background: #2b323b; color: #e6eaef; border: 1px solid #4a5561; border-radius: 4px;
      padding: 3px 8px; cursor: pointer; }
    #dd button:hover, #dd button[aria-pressed=true] { background: #3f4a57; }
    #dd button:focus-visible, #dd select:focus-visible, #dd-line:focus-visible { outline: 2px solid #7fc4ea; }
    #dd-views { display: flex; flex-wrap: wrap; gap: 4px; margin-top: 6px; }
    #dd-legend { margin-top: 6px; display: grid; grid-template-columns: 20px auto; gap: 1px 6px; align-items: center; }
    #dd-legend i { height: 4px; border-radius: 2px; }
    #dd-plots { right: 10px; top: 10px; width: 300px; max-height: calc(100% - 110px); overflow: auto; }
    #dd-plots svg { display: block; width: 100%; overflow: visible; }
    #dd-plots .name { display: flex; justify-content: space-between; gap: 8px; margin-top: 5px; }
    #dd-plots .name b { font-variant-numeric: tabular-nums; white-space: nowrap; }
    #dd-plots small { font-size: 11px; margin-right: 8px; white-space: nowrap; }
    #dd-bar { left: 10px; right: 10px; bottom: 10px; display: flex; gap: 7px; align-items: center; }
    #dd-clock { min-width: 118px; text-align: right; font-variant-numeric: tabular-nums; }
    #dd-line { flex: 1; height: 34px; cursor: pointer; touch-action: none; min-width: 60px; }
    #dd-now { min-height: 1.35em; color: #ffd9a8; }
    [data-viser4d-playback] { display: none !important; }
    #root { visibility: hidden; } #root canvas { visibility: visible; }
    @media (max-width: 760px) { #dd-plots { width: 190px; } #dd-top { max-width: 48vw; } #dd-bar { flex-wrap: wrap; }
      #dd-line { order: 9; flex-basis: 100%; } #dd-views { max-height: 56px; overflow: auto; } }
    @media (max-height: 420px) { #dd-legend, #dd-top p { display: none; } }
  `;
  const svgLine = make("svg", { id: "dd-line", role: "slider", tabindex: "0", "aria-label": "time",
    "aria-valuemin": 0, "aria-valuemax": end, preserveAspectRatio: "none", viewBox: "0 0 1000 34" });
  const head = make("line", { x1: 0, x2: 0, y1: 0, y2: 34, stroke: "#fff", "stroke-width": 2,
    "vector-effect": "non-scaling-stroke", id: "dd-head" });
  const across = (t) => 1000 * t / end;
  svgLine.append(make("rect", { x: 0, y: 12, width: 1000, height: 10, fill: "#39424d" }));
  const ticks = { impact: "#ff9d5c", capture: "#4fd0a5", note: "#b8c1cc" };
  for (const event of run.events) {
    const from = across(event.start), wide = across(event.end) - from;
    const mark = event.kind === "contact"
      ? make("rect", { class: "dd-event", x: from, y: 12, width: Math.max(wide, 2), height: 10, fill: "#c9772b" })
      : make("line", { class: "dd-event", x1: from, x2: from, y1: 5, y2: 29, stroke: ticks[event.kind] || "#b8c1cc",
        "stroke-width": 2, "vector-effect": "non-scaling-stroke" });
    mark.append(make("title", {}, `${clock(event.start)} s: ${event.label}`));
    svgLine.append(mark);
  }
  svgLine.append(head);

  function clock(t) {
    const digits = Math.max(0, Math.min(7, 3 - Math.floor(Math.log10(end))));
    return t.toFixed(digits).replace("-", "−");
  }
  function number(value) {
    if (value === null || !isFinite(value)) return "–";
    const size = Math.abs(value);
    return (size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(2) : value.toPrecision(4))
      .replace(/-/g, "−");
  }

  // ── plots ──
  const plots = make("div", { id: "dd-plots", class: "card" });
  const cursors = [];
  const bright = { "#0072b2": "#58b4ee", "#d55e00": "#ff9a52", "#00916a": "#3ed3a4", "#a8528c": "#e29cc9",
    "#b07d00": "#e8bd4a", "#4a9fd0": "#9fd4f2", "#1d3a6b": "#a9c1f0", "#7a3310": "#c98a63", "#3f5c12": "#a5c567" };
  const lit = (colour) => bright[colour] || colour;
  for (const signal of run.signals) {
    const values = signal.series.flatMap((one) => one.line[1]).filter((v) => v !== null);
    let low = Math.min(...values, 0), high = Math.max(...values, 0);
    if (high - low < 1e-300) high = low + 1;
    const y = (v) => 58 - 54 * (v - low) / (high - low);
    const drawing = make("svg", { viewBox: "0 0 300 60", preserveAspectRatio: "none", height: 60 });
    drawing.append(make("rect", { x: 0, y: 2, width: 300, height: 58, fill: "#12151a" }));
    for (const event of run.events.filter((one) => one.kind === "contact")) {
      drawing.append(make("rect", { x: 300 * event.start / end, y: 2, fill: "#c9772b", opacity: 0.28, height: 58,
        width: Math.max(300 * (event.end - event.start) / end, 0.5) }));
    }
    drawing.append(make("line", { x1: 0, x2: 300, y1: y(0), y2: y(0), stroke: "#4a5561", "stroke-width": 1,
      "vector-effect": "non-scaling-stroke" }));
    for (const one of signal.series) {
      let path = "", pen = "M";
      one.line[0].forEach((t, i) => {
        const v = one.line[1][i];
        if (v === null) { pen = "M"; return; }
        path += `${pen}${(300 * t / end).toFixed(2)} ${y(v).toFixed(2)}`;
        pen = "L";
      });
      drawing.append(make("path", { d: path, fill: "none", stroke: lit(one.colour), "stroke-width": 1.4,
        "vector-effect": "non-scaling-stroke" }));
    }
    const cursor = make("line", { class: "dd-cursor", x1: 0, x2: 0, y1: 2, y2: 60, stroke: "#fff", "stroke-width": 1,
      "vector-effect": "non-scaling-stroke" });
    drawing.append(cursor);
    drawing.addEventListener("pointerdown", (event) => {
      const box = drawing.getBoundingClientRect();
      pause(); seek(end * (event.clientX - box.left) / box.width);
    });
    const value = make("b");
    plots.append(make("div", { class: "name" }, make("span", {}, `${signal.label}, ${signal.unit}`), value), drawing);
    if (signal.series.length > 1) {
      const names = make("div");
      for (const one of signal.series) names.append(make("small", { style: `color:${lit(one.colour)}` }, `— ${one.name}`));
      plots.append(names);
    }
    plots.append(make("div", { class: "name", style: "margin-top:0;color:#98a3af" },
      make("small", {}, `${number(low)} to ${number(high)} ${signal.unit}`)));
    cursors.push({ cursor, value, signal });
  }

  // ── bar, views, legend ──
  const icon = (d) => make("svg", { viewBox: "0 0 16 16", width: 13, height: 13, style: "display:block" },
    make("path", { d, fill: "currentColor" }));
  const button = (words, label, action) => make("button", { "aria-label": label, title: label, onclick: action }, words);
  const PLAY = "M3 2v12l11-6z", PAUSE = "M3 2h4v12H3zM9 2h4v12H9z";
  const playing = button(icon(PLAY), "play", () => (going ? pause() : play()));
  const clockFace = make("span", { id: "dd-clock" });
  const now = make("div", { id: "dd-now" });
  const speeds = [...new Set([1 / 50, 1 / 20, 1 / 10, 1 / 5, 1 / 2, 1, 2, 5, 10].map((s) => s * run.speed)), 1]
    .filter((s, i, all) => all.findIndex((o) => Math.abs(o - s) < 1e-9 * s) === i).sort((a, b) => a - b);
  const speedList = make("select", { "aria-label": "speed", title: "speed, real time is × 1",
    onchange: () => { speed = +speedList.value; anchor(); } });
  for (const one of speeds) speedList.append(make("option", { value: one }, `× ${+one.toPrecision(2)}`));
  const views = make("div", { id: "dd-views" });
  run.views.forEach((one, i) => views.append(button(one.name, `camera: ${one.name}`, () => look(i))));
  const legend = make("div", { id: "dd-legend" });
  for (const arrow of run.arrows) {
    legend.append(make("i", { style: `background:${arrow.colour}` }),
      make("span", {}, words(arrow, 0)));
  }
  /* An arrow that is cut says so, and how large what it stands for is. */
  function words(arrow, size) {
    const cut = arrow.cut === null ? "" : `; none longer than for ${number(arrow.cut)} ${arrow.unit}`;
    return `${arrow.name}: ${worth(arrow)}${cut}${cut && size > arrow.cut ? `, now ${number(size)} ${arrow.unit}` : ""}`;
  }
  /* What a metre, centimetre or millimetre of arrow stands for, whichever the longest arrow has at least one of. */
  function worth(arrow) {
    const longest = Math.max(...run.arrows.map((one) => one.longest));
    const [length, name] = [[1, "m"], [0.01, "cm"]].find(([l]) => longest >= l) || [0.001, "mm"];
    return `1 ${name} of arrow is ${+(length / arrow.scale).toPrecision(3)} ${arrow.unit}`;
  }
  const top = make("div", { id: "dd-top", class: "card" }, make("h1", {}, run.title),
    ...run.notes.map((words) => make("p", {}, words)), now, legend, views);
  const bar = make("div", { id: "dd-bar", class: "card" },
    button(icon("M2 2h2v12H2zM14 2v12L5 8z"), "to the event before", () => jump(-1)), playing, button(icon("M12 2h2v12h-2zM2 2v12l9-6z"), "to the next event", () => jump(1)),
    svgLine, clockFace, speedList,
    button("plots", "plots on or off", () => { plots.hidden = !plots.hidden; }));
  const page = make("div", { id: "dd" }, make("style", {}, style), top, bar);
  if (run.signals.length) page.append(plots);

  // ── playing ──
  let going = false, speed = run.speed, step = 0, shown = 0, from = 0, since = 0, looked = 0, applied = -2;
  speedList.value = speeds.find((s) => Math.abs(s - speed) < 1e-9 * s);
  const marked = new Set(run.dwell);
  // the reader's time at which each frame comes when the run plays at this speed: marks are held
  let comes = [];
  function anchor() {
    comes = [0];
    for (let i = 1; i <= last; i += 1) {
      const gap = (time[i] - time[i - 1]) / speed;
      comes.push(comes[i - 1] + (marked.has(i - 1) ? Math.max(gap, DWELL) : gap));
    }
    from = step; since = performance.now();
  }
  const frameAt = (t) => {
    let low = 0, high = last;
    while (low < high) { const mid = (low + high + 1) >> 1; if (time[mid] <= t + 1e-12 * end) low = mid; else high = mid - 1; }
    return low;
  };
  function seek(t) {
    t = Math.max(0, Math.min(end, t));
    let found = frameAt(t);
    if (found < last && time[found + 1] - t < t - time[found]) found += 1;
    step = found; anchor(); draw();
  }
  function play() { if (step >= last) step = 0; going = true; anchor(); mark(); }
  function pause() { going = false; mark(); }
  function mark() { playing.firstChild.firstChild.setAttribute("d", going ? PAUSE : PLAY); playing.setAttribute("aria-label", going ? "pause" : "play"); }
  function jump(side) {
    const stops = [...new Set([0, ...run.events.map((one) => one.start), ...run.dwell.map((i) => time[i]), end])]
      .sort((a, b) => a - b);
    const tiny = 1e-9 * end, t = time[step];
    const found = side > 0 ? stops.find((s) => s > t + tiny) : stops.reverse().find((s) => s < t - tiny);
    pause();
    if (found !== undefined) seek(found);
  }
  function tick() {
    if (going) {
      const wall = comes[from] + (performance.now() - since) / 1000;
      while (step < last && comes[step + 1] <= wall) step += 1;
      if (step >= last) pause();
      if (step !== shown) draw();
    }
    requestAnimationFrame(tick);
  }
  function draw() {
    shown = step;
    const t = time[step], x = across(t);
    head.setAttribute("x1", x); head.setAttribute("x2", x);
    svgLine.setAttribute("aria-valuenow", t);
    clockFace.textContent = `${clock(t)} / ${clock(end)} s`;
    for (const { cursor, value, signal } of cursors) {
      cursor.setAttribute("x1", 300 * t / end); cursor.setAttribute("x2", 300 * t / end);
      value.textContent = signal.series.length === 1 ? `${number(valueAt(signal.series[0].line, t))} ${signal.unit}` : "";
    }
    const tiny = 1e-9 * end;
    const near = run.events.filter((one) => one.start - tiny <= t && t <= Math.max(one.end, one.start + 0.004 * end) + tiny);
    now.textContent = near.map((one) => one.label).slice(0, 3).join(" · ");
    [...legend.children].forEach((node, i) => {
      const arrow = run.arrows[i >> 1];
      node.style.opacity = arrow.seen[step] ? 1 : 0.55;
      if (i % 2) node.textContent = words(arrow, arrow.at[step]);
    });
    place(); show();
  }
  function valueAt([times, values], t) {
    let low = 0, high = times.length - 1;
    while (low < high) { const mid = (low + high + 1) >> 1; if (times[mid] <= t) low = mid; else high = mid - 1; }
    const a = values[low], b = values[Math.min(low + 1, times.length - 1)], gap = times[low + 1] - times[low];
    return a === null || b === null || !(gap > 0) ? a : a + (b - a) * Math.max(0, Math.min(1, (t - times[low]) / gap));
  }

  // ── the player's scene ──
  let player = null;
  function show() {
    if (!player) return;
    const controller = player.controller;
    if (controller.player.playing) controller.player.pause();
    if (step > applied && step - applied <= 4 && controller.appliedStep === applied) {
      for (let i = applied + 1; i <= step; i += 1) {
        controller.player.position = i; controller.player.emitted = i; controller.applyStep(i, true);
      }
    } else controller.player.seek(step);
    applied = step;
  }
  const push = (...messages) => player && player.viser.pushMessages(messages);
  /* A camera that goes along: the whole scene is moved so that what it follows stays where it was at the start. */
  function place() {
    const view = run.views[looked];
    if (!view || !player) return;
    let position = [0, 0, 0], wxyz = [1, 0, 0, 0];
    if (view.follow >= 0) {
      const { p, q } = run.followed[view.follow];
      if (view.turns) { wxyz = product(q[0], conjugate(q[step])); }
      const moved = turn(wxyz, p[step]);
      position = p[0].map((v, i) => v - moved[i]);
    }
    push({ type: "SetPositionMessage", name: "/run", position, owner: "" },
      { type: "SetOrientationMessage", name: "/run", wxyz, owner: "" });
  }
  const conjugate = ([w, x, y, z]) => [w, -x, -y, -z];
  const product = ([a, b, c, d], [e, f, g, h]) => [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
    a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e];
  function turn(q, v) { return product(product(q, [0, ...v]), conjugate(q)).slice(1); }
  /* The view moved sideways, so that what it shows stands in the middle of what the plots leave free. */
  function asideOf(view) {
    const covered = plots.isConnected && !plots.hidden ? plots.offsetWidth / innerWidth : 0;
    const out = view.position.map((v, i) => v - view.target[i]);
    const far = Math.hypot(...out), flat = Math.hypot(out[0], out[1]) || 1;
    const half = Math.tan((75 / 2) * Math.PI / 180) * far * innerWidth / innerHeight;
    const right = [-out[1] / flat * half * covered, out[0] / flat * half * covered, 0];
    return [view.target.map((v, i) => v + right[i]), view.position.map((v, i) => v + right[i])];
  }
  function look(index) {
    looked = index;
    const view = run.views[index];
    [...views.children].forEach((node, i) => node.setAttribute("aria-pressed", String(i === index)));
    place();
    const [at, from] = asideOf(view);
    // look-at first: the camera keeps its direction to what it looks at
    // scenes of millimetres and of kilometres are seen alike
    const far = Math.hypot(...view.position.map((v, i) => v - view.target[i])) || 1;
    push({ type: "SetCameraNearMessage", near: far / 100, initial: false },
      { type: "SetCameraFarMessage", far: far * 1000, initial: false },
      { type: "SetCameraMinOrbitDistanceMessage", min_orbit_distance: far / 50 },
      { type: "SetCameraMaxOrbitDistanceMessage", max_orbit_distance: far * 100 },
      { type: "SetCameraLookAtMessage", look_at: at, initial: false },
      { type: "SetCameraPositionMessage", position: from, initial: false },
      { type: "SetCameraLookAtMessage", look_at: at, initial: false });
  }

  // ── what the reader does ──
  const drag = (event) => {
    const box = svgLine.getBoundingClientRect();
    pause(); seek(end * (event.clientX - box.left) / box.width);
  };
  svgLine.addEventListener("pointerdown", (event) => { svgLine.setPointerCapture(event.pointerId); drag(event); });
  svgLine.addEventListener("pointermove", (event) => { if (event.buttons & 1) drag(event); });
  const keys = { " ": () => (going ? pause() : play()), ArrowRight: () => by(1), ArrowLeft: () => by(-1),
    Home: () => seek(0), End: () => seek(end) };
  const by = (n) => { pause(); step = Math.max(0, Math.min(last, step + n)); draw(); };
  addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) || event.ctrlKey || event.metaKey) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    if (keys[event.key]) { event.preventDefault(); event.stopPropagation(); keys[event.key](); }
  }, true);

  // the report around it tells an instant that the reader has pointed at
  addEventListener("message", ({ data, source }) => {
    if (source === parent && Number.isFinite(data?.seek)) { pause(); seek(data.seek); }
  });

  const started = performance.now();
  function begin() {
    const found = window.__VISER4D__;
    if (!found || !found.viser.viewer || found.controller.numSteps !== time.length || found.controller.appliedStep < 0) {
      if (performance.now() - started < 1000 * WAIT) setTimeout(begin, 60);
      return;
    }
    player = found;
    look(0); draw();
    window.__DOCKDYN__ = { seek, play, pause, look, steps: last + 1, time, get step() { return step; }, ready: true };
    if (parent !== window) parent.postMessage({ replay: "ready" }, "*");
  }
  function mount() {
    document.getElementById("dd")?.remove();
    document.body.append(page);
    draw(); mark(); begin(); requestAnimationFrame(tick);
  }
  if (document.body) mount(); else addEventListener("DOMContentLoaded", mount);
})();
