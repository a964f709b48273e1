// Colours of a scene, light and dark, and materials that follow the page's theme.
import { Color, DoubleSide, LineBasicMaterial, MeshBasicMaterial, MeshStandardMaterial, type Material } from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import type { Role } from "./data.ts";

const THEMES = {
  light: {
    bodies: ["#2f74b5", "#b08a4e", "#4f8f6b", "#8a6bb0", "#9a6a55", "#5d7d95"], metal: "#a9b2bb", hold: "#00875f", contact: "#d55e00",
    friction: "#a04c8a", ghost: "#8f969e", computed: "#4aa3df", without: "#2f9e6f", trail: "#0072b2", grid: "#c9c9c2", ink: "#15181c", back: "#eeeeea", ground: "#6d7680",
  },
  dark: {
    bodies: ["#4f9bdb", "#c9aa74", "#6fbf93", "#b195dc", "#c8937c", "#88a9c2"], metal: "#8f99a4", hold: "#3fd0a0", contact: "#ff9a52",
    friction: "#dc97cc", ghost: "#6a737d", computed: "#7cc4f2", without: "#5fd6a2", trail: "#5fb6ef", grid: "#2d333b", ink: "#eceef0", back: "#101316", ground: "#87919c",
  },
};
export type Token = Exclude<keyof typeof THEMES.light, "bodies"> | number | `#${string}`; // a number: of a body

export class Palette {
  dark = false;
  private readonly painted: (() => void)[] = [];

  css(token: Token): string {
    const theme = THEMES[this.dark ? "dark" : "light"];
    if (typeof token === "number") return theme.bodies[token % theme.bodies.length]!;
    return token.startsWith("#") ? token : theme[token as keyof typeof THEMES.light] as string;
  }

  /** Paint now, and again when the theme changes. */
  paint(how: () => void): void {
    this.painted.push(how);
    how();
  }

  repaint(dark: boolean): void {
    this.dark = dark;
    for (const how of this.painted) how();
  }

  private coloured<M extends Material & { color: Color }>(material: M, token: Token): M {
    this.paint(() => material.color.set(this.css(token)));
    return material;
  }

  solid(token: Token, opacity = 1): MeshStandardMaterial {
    const clear = opacity < 1 ? { transparent: true, opacity, depthWrite: false } : {};
    return this.coloured(new MeshStandardMaterial({ roughness: 0.6, metalness: 0.05, side: DoubleSide, ...clear }), token);
  }

  flat(token: Token): MeshBasicMaterial {
    return this.coloured(new MeshBasicMaterial(), token);
  }

  line(token: Token, opacity = 1): LineBasicMaterial {
    return this.coloured(new LineBasicMaterial({ transparent: true, opacity }), token);
  }

  thick(token: Token, width: number, opacity = 1): LineMaterial {
    return this.coloured(new LineMaterial({ linewidth: width, transparent: true, opacity }), token);
  }
}

export const OPACITY: Record<Role, number> = { bus: 0.11, link: 1, gear: 1, surface: 1, look: 1, ghost: 0.28, ground: 0.5 };
