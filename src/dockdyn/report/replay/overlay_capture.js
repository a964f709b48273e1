/* The scene as a picture, as a film, and as pictures of all frames in one archive; all of it made in this page. */
const DRAWS = 3; // by the player until what it was told last is surely seen
function recorder(told) {
  const sheet = document.createElement("canvas");
  /* The scene as it is shown, with what `told` says of it: title, time, bodies, forces. */
  function compose() {
    const scene = document.querySelector("#root canvas[data-engine]"), dense = scene.width / scene.clientWidth;
    if (sheet.width !== scene.width) sheet.width = scene.width;
    if (sheet.height !== scene.height) sheet.height = scene.height;
    const pen = sheet.getContext("2d"), style = getComputedStyle(document.documentElement), edge = 12 * dense;
    pen.fillStyle = style.getPropertyValue("--dd-back");
    pen.fillRect(0, 0, sheet.width, sheet.height);
    pen.drawImage(scene, 0, 0);
    pen.fillStyle = style.getPropertyValue("--dd-ink");
    const { title, time, bodies, notes } = told();
    pen.font = `600 ${15 * dense}px system-ui, sans-serif`;
    pen.fillText(title, edge, edge + 12 * dense, sheet.width - 2 * edge);
    pen.font = `${13 * dense}px system-ui, sans-serif`;
    [time, ...notes].forEach((words, i) => {
      pen.fillText(words, edge, sheet.height - edge - 18 * dense * i, sheet.width - 2 * edge);
    });
    bodies.reduce((left, { name, colour }) => {
      pen.fillStyle = colour;
      pen.fillRect(left, edge + 24 * dense, 10 * dense, 10 * dense);
      pen.fillStyle = style.getPropertyValue("--dd-ink");
      pen.fillText(name, left + 15 * dense, edge + 33 * dense);
      return left + 33 * dense + pen.measureText(name).width;
    }, edge);
    return sheet;
  }
  const png = () => new Promise((done) => { compose().toBlob(done, "image/png"); });
  /* Waits until what the player was told is in the picture: nothing is left to be told, and it has drawn since. */
  const drawn = (player) => new Promise((done) => {
    const state = player.viser.viewer.mutable.current, before = state.scene.onAfterRender;
    let left = DRAWS;
    state.scene.onAfterRender = (...seen) => {
      before(...seen);
      left = state.messageQueue.length ? DRAWS : left - 1;
      if (left > 0) { state.requestRender(); return; }
      state.scene.onAfterRender = before;
      done();
    };
    state.requestRender();
  });
  const plain = (words) => words.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "replay";
  function save(blob, ending) {
    const address = URL.createObjectURL(blob);
    make("a", { href: address, download: `${plain(told().title)}${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }
  async function picture() { save(await png(), `-${plain(told().time.split(" / ")[0])}.png`); }

  const films = typeof MediaRecorder === "undefined" ? undefined
    : ["video/webm;codecs=vp9", "video/webm"].find((kind) => MediaRecorder.isTypeSupported(kind));
  let film = null;
  /* Films what is shown until `stopped` says that it is over. */
  function record(stopped, ended) {
    film = new MediaRecorder((compose(), sheet).captureStream(30), { mimeType: films, videoBitsPerSecond: 8e6 });
    const pieces = [];
    film.ondataavailable = ({ data }) => pieces.push(data);
    film.onstop = () => { film = null; save(new Blob(pieces, { type: "video/webm" }), ".webm"); ended(); };
    film.start();
    const go = () => { if (film) { compose(); if (stopped()) film.stop(); else requestAnimationFrame(go); } };
    go();
  }
  /* Saves a picture of every frame; `show` shows one and says its name; `wanted` says whether to go on. */
  async function frames(player, count, show, wanted) {
    const files = [];
    for (let i = 0; i < count && wanted(); i += 1) {
      const name = show(i);
      await drawn(player);
      files.push([`${name}.png`, new Uint8Array(await (await png()).arrayBuffer())]);
    }
    save(new Blob(zipped(files), { type: "application/zip" }), "-frames.zip");
  }
  return { picture, record, frames, drawn, films: Boolean(films), stop: () => film && film.stop() };
}

/* Files (name, bytes) as the parts of an archive that stores them as they are (APPNOTE.TXT, version 2.0). */
function zipped(files) {
  const table = Uint32Array.from({ length: 256 }, (_, i) => {
    let rest = i;
    for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    return rest;
  });
  const checked = (bytes) => {
    let sum = ~0;
    for (const byte of bytes) sum = table[(sum ^ byte) & 255] ^ (sum >>> 8);
    return ~sum >>> 0;
  };
  const little = (...fields) => Uint8Array.from(fields.flatMap(([value, size]) =>
    Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** i) & 255)));
  const parts = [], directory = [];
  let at = 0;
  for (const [name, bytes] of files) {
    const words = new TextEncoder().encode(name), date = [0x5821, 2]; // a date is required: 1 January 2024
    const facts = [[20, 2], [0x800, 2], [0, 2], [0, 2], date, [checked(bytes), 4], [bytes.length, 4], [bytes.length, 4],
      [words.length, 2], [0, 2]];
    const local = little([0x04034b50, 4], ...facts);
    directory.push(little([0x02014b50, 4], [20, 2], ...facts, [0, 2], [0, 2], [0, 2], [0, 4], [at, 4]), words);
    parts.push(local, words, bytes);
    at += local.length + words.length + bytes.length;
  }
  const length = directory.reduce((sum, one) => sum + one.length, 0);
  return [...parts, ...directory, little([0x06054b50, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2],
    [length, 4], [at, 4], [0, 2])];
}
