/* Buttons under every figure of a report that save it, drawn by whatever it is, as on paper. */
(() => {
  "use strict";
  const SHARP = 2; // pixels of a picture for one on the screen
  const paper = JSON.parse(document.getElementById("colours").textContent);

  /* The text of an SVG that stands for itself: colours as on paper, and a ground. */
  function standing(svg) {
    const copy = svg.cloneNode(true), [, , width, height] = svg.getAttribute("viewBox").split(" ");
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of [["width", "100%"], ["height", "100%"], ["fill", paper.paper]]) ground.setAttribute(name, value);
    copy.prepend(ground);
    return new XMLSerializer().serializeToString(copy).replace(/var\(--([\w-]+)\)/g, (_, name) => paper[name] || "sans-serif");
  }
  async function pixels(source, width, height) {
    const image = source instanceof Image ? source : Object.assign(new Image(), { src: source });
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    canvas.getContext("2d").drawImage(image, 0, 0, width, height);
    return new Promise((done) => { canvas.toBlob(done, "image/png"); });
  }
  async function picture(figure, kind) {
    if (figure.picture) return figure.picture(kind, paper);
    const svg = figure.querySelector(".scroll svg"), image = figure.querySelector(".scroll img");
    if (!svg) return pixels(image, image.naturalWidth, image.naturalHeight);
    const text = standing(svg);
    if (kind === "svg") return new Blob([text], { type: "image/svg+xml" });
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map((one) => SHARP * one);
    return pixels(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, width, height);
  }
  async function save(figure, kind) {
    const address = URL.createObjectURL(await picture(figure, kind));
    Object.assign(document.createElement("a"), { href: address, download: `${figure.dataset.name}.${kind}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
  for (const figure of document.querySelectorAll("figure")) {
    const vector = !figure.querySelector(".scroll img"); // a figure that is large as SVG is a picture in the page
    for (const kind of vector ? ["png", "svg"] : ["png"]) {
      const words = `Save ${kind.toUpperCase()}`;
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: words, onclick: () => save(figure, kind) });
      figure.querySelector(".tools").append(made);
    }
  }
})();
