// Camera, light and canvas: draws when something has changed, and with fewer pixels where drawing is slow.
import { DirectionalLight, GridHelper, HemisphereLight, PerspectiveCamera, Scene, Vector3, WebGLRenderer, Color } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Palette } from "./colours.ts";

const SLOW = 90; // ms between frames
const COARSE = 0.4; // of a pixel
const REST = 700; // ms

export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(32, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  private dirty = true;
  private ratio = Math.min(devicePixelRatio, 2);
  private pace = 0;
  private frames = 0;
  private sharp = 0;
  private readonly renderer: WebGLRenderer;

  /** Raises where there is no WebGL. */
  constructor(private readonly host: HTMLElement, private readonly palette: Palette, private readonly seen: () => void) {
    this.renderer = new WebGLRenderer({ antialias: true });
    this.camera.up.set(0, 0, 1);
    this.scene.add(new HemisphereLight(0xffffff, 0x8d949c, 2.1));
    const sun = new DirectionalLight(0xffffff, 2.2);
    sun.position.set(3, -5, 7);
    this.scene.add(sun);
    palette.paint(() => { this.scene.background = new Color(palette.css("back")); this.invalidate(); });
    const canvas = this.canvas;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Scene in three dimensions; drag to turn it");
    host.prepend(canvas);
    this.controls = new OrbitControls(this.camera, canvas);
    canvas.style.touchAction = "pan-y"; // one finger up and down scrolls the page
    this.controls.enableZoom = false; // until it is pressed: the wheel scrolls the page
    canvas.addEventListener("pointerdown", () => { this.controls.enableZoom = true; });
    document.addEventListener("pointerdown", (event) => { if (!host.contains(event.target as Node)) this.controls.enableZoom = false; });
    this.controls.addEventListener("change", () => this.invalidate());
    new ResizeObserver(() => this.fit()).observe(host);
    this.fit();
    const loop = () => { this.draw(); requestAnimationFrame(loop); };
    requestAnimationFrame(loop);
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  invalidate(): void {
    this.dirty = true;
  }

  /** Stand in a direction from a ball, as near as shows all of it. */
  look(centre: Vector3, radius: number, direction: Vector3): void {
    const half = Math.tan((this.camera.fov * Math.PI) / 360) * Math.min(1, this.camera.aspect);
    this.stand(centre, radius / Math.sin(Math.atan(half)), direction);
  }

  private stand(centre: Vector3, far: number, direction: Vector3): void {
    this.camera.near = far / 200;
    this.camera.far = far * 200;
    this.camera.updateProjectionMatrix();
    this.camera.position.copy(centre).addScaledVector(direction.clone().normalize(), far);
    this.controls.target.copy(centre);
    this.controls.update();
    this.invalidate();
  }

  /** Stand in a direction from points, as near as shows all of them. */
  fitAll(points: Vector3[], direction: Vector3): void {
    const out = direction.clone().normalize(), across = new Vector3().crossVectors(this.camera.up, out).normalize(), up = new Vector3().crossVectors(out, across);
    const along = (axis: Vector3): [number, number] => points.reduce(([low, high], one) => [Math.min(low, one.dot(axis)), Math.max(high, one.dot(axis))], [Infinity, -Infinity]);
    const middle = [across, up, out].reduce((sum, axis) => { const [low, high] = along(axis); return sum.addScaledVector(axis, (low + high) / 2); }, new Vector3());
    const tall = Math.tan((this.camera.fov * Math.PI) / 360) * 0.88, wide = tall * this.camera.aspect;
    const far = Math.max(1e-6, ...points.map((one) => { const from = one.clone().sub(middle); return from.dot(out) + Math.max(Math.abs(from.dot(across)) / wide, Math.abs(from.dot(up)) / tall); }));
    this.stand(middle, far, out);
  }

  /** Return how long (m) a pixel is where the camera looks at. */
  pixel(): number {
    return (2 * Math.tan((this.camera.fov * Math.PI) / 360) * this.camera.position.distanceTo(this.controls.target)) / Math.max(this.host.clientHeight, 1);
  }

  grid(size: number, step: number, at: Vector3): GridHelper {
    const grid = new GridHelper(size, Math.round(size / step));
    grid.rotation.x = Math.PI / 2;
    grid.position.copy(at);
    grid.material.transparent = true;
    grid.material.opacity = 0.75;
    this.palette.paint(() => {
      const { r, g, b } = new Color(this.palette.css("grid")), colours = grid.geometry.getAttribute("color");
      for (let i = 0; i < colours.count; i++) colours.setXYZ(i, r, g, b);
      colours.needsUpdate = true;
    });
    this.scene.add(grid);
    return grid;
  }

  /** Draw now, with all pixels. */
  still(): HTMLCanvasElement {
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.render(this.scene, this.camera);
    return this.canvas;
  }

  private fit(): void {
    const { clientWidth: wide, clientHeight: high } = this.host;
    if (!wide || !high) return;
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(wide, high, false);
    this.camera.aspect = wide / high;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  private draw(): void {
    if (!this.dirty || !this.host.isConnected) return;
    this.dirty = false;
    if (this.renderer.getPixelRatio() !== this.ratio) this.renderer.setPixelRatio(this.ratio);
    this.renderer.render(this.scene, this.camera);
    this.frames++;
    this.seen();
    requestAnimationFrame((one) => requestAnimationFrame((two) => this.adapt(two - one)));
  }

  /** Take fewer pixels where frames are slow, and all of them when nothing moves. */
  private adapt(gap: number): void {
    this.pace = 0.6 * this.pace + 0.4 * gap;
    if (this.pace > SLOW && this.ratio > COARSE && this.frames > 3) {
      this.ratio *= 0.6;
      this.pace = 0;
    }
    clearTimeout(this.sharp);
    if (this.ratio < Math.min(devicePixelRatio, 2)) this.sharp = window.setTimeout(() => { if (!this.dirty) this.still(); }, REST);
  }
}
