/* What the page over the player is made of: elements, and numbers as they are read. */
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
const icon = (d) => make("svg", { viewBox: "0 0 16 16", width: 13, height: 13, style: "display:block" },
  make("path", { d, fill: "currentColor" }));
const button = (words, label, action) => make("button", { "aria-label": label, title: label, onclick: action }, words);
const press = (key, on) => key.setAttribute("aria-pressed", String(on));

const minus = (text) => text.replace(/-/g, "−");
function clock(t) {
  const digits = Math.max(0, Math.min(7, 3 - Math.floor(Math.log10(end))));
  return minus(t.toFixed(digits));
}
/* A number with four digits; with fewer, and as 0, where they would be below a millionth of the size of what it is one of. */
function reading(value, size) {
  if (value === null || !isFinite(value)) return "–";
  const power = Math.floor(Math.log10(size));
  if (!isFinite(power)) return "0";
  const plain = power >= -3 && power <= 5;
  const own = value === 0 ? power : Math.floor(Math.log10(Math.abs(value)));
  const text = plain ? value.toFixed(Math.max(0, Math.min(3 - own, 6 - power))) : (value / 10 ** power).toFixed(2);
  return +text === 0 ? "0" : minus(text) + (plain ? "" : ` × 10${raised(power)}`);
}
const raised = (power) => [...minus(String(power))].map((one) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["−0123456789".indexOf(one)]).join("");
/* Colours of lines are those of paper; on a dark ground they are brighter. */
const BRIGHT = { "#0072b2": "#58b4ee", "#d55e00": "#ff9a52", "#00916a": "#3ed3a4", "#a8528c": "#e29cc9",
  "#b07d00": "#e8bd4a", "#4a9fd0": "#9fd4f2", "#1d3a6b": "#a9c1f0", "#7a3310": "#c98a63", "#3f5c12": "#a5c567" };
const lit = (colour) => `light-dark(${colour}, ${BRIGHT[colour] || colour})`;
