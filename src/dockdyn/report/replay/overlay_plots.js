/* Plots beside the scene: every series with its value at the instant shown. */
function plotted(signals, events, end, pointed) {
  const card = make("div", { id: "dd-plots", class: "card" }), shown = signals.map((signal) => plot(card, signal));
  function plot(card, signal) {
    const values = signal.series.flatMap((one) => one.line[1]).filter((v) => v !== null);
    const size = Math.max(...values.map(Math.abs), 0), read = Math.max(size, signal.least);
    let low = Math.min(...values, 0), high = Math.max(...values, 0);
    if (size <= signal.least) { low = -read; high = read; }
    if (!(high > low)) high = low + 1;
    const y = (v) => 58 - 54 * (v - low) / (high - low), fixed = { "vector-effect": "non-scaling-stroke" };
    const drawing = make("svg", { viewBox: "0 0 300 60", preserveAspectRatio: "none", height: 60 });
    drawing.append(make("rect", { x: 0, y: 2, width: 300, height: 58, style: "fill:var(--dd-well)" }));
    for (const event of events.filter((one) => one.kind === "contact")) {
      drawing.append(make("rect", { x: 300 * event.start / end, y: 2, fill: "#c9772b", opacity: 0.28, height: 58,
        width: Math.max(300 * (event.end - event.start) / end, 0.5) }));
    }
    drawing.append(make("line", { x1: 0, x2: 300, y1: y(0), y2: y(0), style: "stroke:var(--dd-key-edge)", ...fixed }));
    for (const one of signal.series) {
      drawing.append(make("path", { d: pathOf(one.line, end, y), fill: "none", style: `stroke:${lit(one.colour)}`,
        "stroke-width": 1.4, ...fixed }));
    }
    const cursor = make("line", { class: "dd-cursor", x1: 0, x2: 0, y1: 2, y2: 60, ...fixed });
    drawing.append(cursor);
    drawing.addEventListener("pointerdown", (event) => {
      const box = drawing.getBoundingClientRect();
      pointed(end * (event.clientX - box.left) / box.width);
    });
    const range = size <= signal.least ? "0" : `${reading(low, read)} to ${reading(high, read)}`;
    const several = signal.series.length > 1, heading = make("div", { class: "name" }, make("span", {}, signal.label));
    const own = make("div", { class: "series" });
    const written = signal.series.map((one) => {
      const value = make(several ? "small" : "b", several ? { style: `color:${lit(one.colour)}` } : {});
      (several ? own : heading).append(value);
      return (step) => {
        const words = `${reading(one.at[step], read)} ${signal.unit}`;
        value.textContent = several ? `— ${one.name} ${words}` : words;
      };
    });
    card.append(heading, drawing, own, make("div", { class: "range" }, make("small", {}, `${range} ${signal.unit}`)));
    return (t, step) => {
      cursor.setAttribute("x1", 300 * t / end); cursor.setAttribute("x2", 300 * t / end);
      written.forEach((write) => write(step));
    };
  }
  return { card, show: (t, step) => shown.forEach((one) => one(t, step)) };
}
function pathOf([times, values], end, y) {
  let path = "", pen = "M";
  times.forEach((t, i) => {
    if (values[i] === null) { pen = "M"; return; }
    path += `${pen}${(300 * t / end).toFixed(2)} ${y(values[i]).toFixed(2)}`;
    pen = "L";
  });
  return path;
}
