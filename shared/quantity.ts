/**
 * CPU quantities as Kubernetes writes them, in millicores (m): 1000 m = one CPU.
 *
 * @module
 */

/** Decimal SI suffixes of a Kubernetes quantity and their factor; no suffix is the unit itself. */
const SUFFIXES: ReadonlyMap<string, number> = new Map([
  ["n", 1e-9],
  ["u", 1e-6],
  ["m", 1e-3],
  ["", 1],
  ["k", 1e3],
]);

const CPU_QUANTITY = /^(\d+(?:\.\d*)?|\.\d+)([numk]?)$/;

/**
 * Millicores of a CPU quantity such as `250m`, `1`, `0.5` or `1500000n`. Fractions of a millicore
 * round up, as in `resource.Quantity.MilliValue`. Throws a `SyntaxError` that names the text.
 */
export function parseCPU(text: string): number {
  const match = CPU_QUANTITY.exec(text);
  const factor = SUFFIXES.get(match?.[2] ?? "?");
  if (match === null || factor === undefined) {
    throw new SyntaxError(
      `Cannot parse CPU quantity: "${text}" is not a number with an optional suffix n, u, m or k`,
    );
  }
  // Nine decimals decide: 0.1 cores must be 100 m, not 101 m by binary rounding.
  return Math.ceil(Number((Number(match[1]) * factor * 1000).toFixed(9)));
}

/** The canonical quantity of whole millicores: `250m`, or `2` for 2000. */
export function formatCPU(millicores: number): string {
  if (!Number.isInteger(millicores) || millicores < 0) {
    throw new RangeError(
      `Cannot format CPU quantity: ${millicores} is not a whole number of millicores`,
    );
  }
  return millicores % 1000 === 0 ? String(millicores / 1000) : `${millicores}m`;
}
