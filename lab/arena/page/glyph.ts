/**
 * Shapes by which algorithms are distinguished without colour. Drawn from the same corners in plots and
 * in legends.
 *
 * @module
 */
import type * as Plot from "@observablehq/plot";

/** A corner, in units of a circle's radius; y grows downwards. */
type Corner = readonly [x: number, y: number];

const UP = -Math.PI / 2;

/** The shapes by name. */
const SHAPES = {
  circle: ring(20, { radius: 1 }),
  star: ring(10, { radius: 1.3, inner: 0.55 }),
  square: ring(4, { radius: 1.2, turn: Math.PI / 4 }),
  triangle: ring(3, { radius: 1.35 }),
  diamond: ring(4, { radius: 1.3 }),
  plus: cross(0),
  "triangle down": ring(3, { radius: 1.35, turn: Math.PI }),
  times: cross(Math.PI / 4),
  bar: box(0.45, 1.3),
  "flat bar": box(1.3, 0.45),
  sparkle: ring(8, { radius: 1.4, inner: 0.45 }),
} as const;

/** Name of a shape. */
export type Glyph = keyof typeof SHAPES;

/** What a shape is drawn with. */
interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  closePath(): void;
}

/** The shape for {@linkcode Plot.dot}; `r` is the radius of a circle of about the same size. */
export function glyphSymbol(glyph: Glyph): Plot.SymbolImplementation {
  return {
    draw(context: Pen, size: number) {
      const radius = Math.sqrt(size / Math.PI);
      SHAPES[glyph].forEach(([x, y], index) =>
        index === 0
          ? context.moveTo(x * radius, y * radius)
          : context.lineTo(x * radius, y * radius)
      );
      context.closePath();
    },
  };
}

/** The corners for an SVG polygon around 0,0. */
export function glyphPoints(glyph: Glyph, radius: number): string {
  return SHAPES[glyph].map((corner) =>
    corner.map((value) => Number((value * radius).toFixed(1))).join(",")
  ).join(" ");
}

function ring(
  count: number,
  { radius, inner = radius, turn = 0 }: {
    readonly radius: number;
    readonly inner?: number;
    readonly turn?: number;
  },
): Corner[] {
  return Array.from({ length: count }, (_, index) => {
    const angle = UP + turn + 2 * Math.PI * index / count;
    const reach = index % 2 === 0 ? radius : inner;
    return [reach * Math.cos(angle), reach * Math.sin(angle)];
  });
}

function cross(turn: number): Corner[] {
  const [long, half] = [1.25, 0.4];
  return [0, 1, 2, 3].flatMap((arm): Corner[] => {
    const angle = turn + arm * Math.PI / 2;
    return ([[half, -half], [long, -half], [long, half]] as const).map(([x, y]) => [
      x * Math.cos(angle) - y * Math.sin(angle),
      x * Math.sin(angle) + y * Math.cos(angle),
    ]);
  });
}

function box(x: number, y: number): Corner[] {
  return [[-x, -y], [x, -y], [x, y], [-x, y]];
}
