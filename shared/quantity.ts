/**
 * Quantities as Kubernetes writes them: CPU in millicores (m), 1000 m = one CPU, and memory in bytes.
 * The grammar is that of `resource.Quantity` (k8s.io/apimachinery/pkg/api/resource/quantity.go).
 *
 * @module
 */
import { quotedText } from "./quoted_text.ts";

/**
 * Step of CPU limits, millicores: the smallest quota that the kubelet sets, and the step to which systemd
 * rounds one.
 */
export const GRID = 10;

/** A factor on the number before it: `base` to the power of `exponent`. */
interface Scale {
  readonly base: 2 | 10;
  readonly exponent: number;
}

const SUFFIXES: ReadonlyMap<string, Scale> = new Map([
  ...["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].map((suffix, index): [string, Scale] => [
    suffix,
    { base: 10, exponent: 3 * index - 9 },
  ]),
  ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((suffix, index): [string, Scale] => [
    suffix,
    { base: 2, exponent: 10 * (index + 1) },
  ]),
]);

/** Sign, digits, decimals, then a suffix or a decimal exponent; the parser requires a digit. */
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/;

/** More digits than any real quantity has; longer text is not parsed, since that takes time. */
const LONGEST_QUANTITY = 1000;

/** Beyond it every quantity of so many digits is 0, or more than can be counted. */
const LARGEST_EXPONENT = 2 * LONGEST_QUANTITY;

/** A resource, and the unit of 10^-exponent in which it is counted. */
interface Counted {
  readonly resource: string;
  readonly unit: string;
  readonly exponent: number;
}

const MILLICORES: Counted = { resource: "CPU", unit: "m", exponent: 3 };
const NANOCORES: Counted = { resource: "CPU", unit: "n", exponent: 9 };
const BYTES: Counted = { resource: "memory", unit: " bytes", exponent: 0 };

/**
 * Millicores of a CPU quantity such as `250m`, `1`, `0.5`, `1500000n`, `2e3` or `1Ki`.
 * Computed in whole numbers; fractions of a millicore round up, as in `resource.Quantity.MilliValue`:
 * `0.0001` is 1 m. Throws a `SyntaxError` that names the text when Kubernetes would refuse it, when
 * it is negative, and when it is beyond 2^53 m, which Kubernetes would let overflow.
 */
export function parseCPU(text: string): number {
  return parseQuantity(text, MILLICORES);
}

/** As `parseCPU`, but undefined where that throws. */
export function countableCPU(text: string): number | undefined {
  try {
    return parseCPU(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/**
 * As `parseCPU`, for a bound: 2^53 m where it is larger, as the server accepts such quantities and no
 * usage reaches them.
 */
export function parseCPUBound(text: string): number {
  return parseQuantity(text, { ...MILLICORES, isBound: true });
}

/** As `parseCPU`, in whole nanocores, in which usage is measured: `0.5` is 500,000,000. */
export function parseNanoCPU(text: string): number {
  return parseQuantity(text, NANOCORES);
}

/**
 * Bytes of a memory quantity such as `64Mi`, `1.5G` or `128974848`; fractions of a byte round up.
 * Throws a `SyntaxError` as `parseCPU` does, the limit being 2^53 bytes.
 */
export function parseBytes(text: string): number {
  return parseQuantity(text, BYTES);
}

/** As `parseBytes`, for a bound: 2^53 bytes where it is larger. */
export function parseBytesBound(text: string): number {
  return parseQuantity(text, { ...BYTES, isBound: true });
}

/** A quantity as a whole number of units; of a bound at most 2^53 of them. */
function parseQuantity(
  text: string,
  { resource, unit, exponent, isBound = false }: Counted & { readonly isBound?: boolean },
): number {
  const refuse = (why: string): never => {
    throw new SyntaxError(`Cannot parse ${resource} quantity: ${quotedText(text)} is ${why}`);
  };
  const readable = text.length <= LONGEST_QUANTITY ? text : "";
  const [, sign, whole = "", decimals = "", suffix = "", power] = QUANTITY.exec(readable) ?? [];
  const scale = power === undefined
    ? SUFFIXES.get(suffix)
    : { base: 10, exponent: Number(power) } as const;
  if (whole + decimals === "" || scale === undefined) {
    return refuse(
      "not a number with an optional suffix (n, u, m, k, M, G, T, P, E, Ki to Ei) or exponent (e3)",
    );
  }
  if (sign === "-") return refuse("negative, expected at least 0");
  const binary = scale.base === 2 ? 2n ** BigInt(scale.exponent) : 1n;
  const decimal = exponent - decimals.length + (scale.base === 10 ? scale.exponent : 0);
  const shift = Math.max(-LARGEST_EXPONENT, Math.min(LARGEST_EXPONENT, decimal));
  const factor = 10n ** BigInt(Math.abs(shift));
  const digits = BigInt(whole + decimals) * binary;
  // Rounded up.
  const units = Number(shift < 0 ? (digits + factor - 1n) / factor : digits * factor);
  if (units <= Number.MAX_SAFE_INTEGER) return units;
  return isBound ? Number.MAX_SAFE_INTEGER : refuse(`more than ${Number.MAX_SAFE_INTEGER}${unit}`);
}

/** The sum in millicores, 2^53 at most: users may write larger limits. */
export function sumCPU(millicores: Iterable<number>): number {
  let sum = 0;
  for (const amount of millicores) sum += amount;
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

/** The canonical quantity of whole millicores: `250m`, or `2` for 2000. */
export function formatCPU(millicores: number): string {
  if (!Number.isSafeInteger(millicores) || millicores < 0) {
    throw new RangeError(
      `Cannot format CPU quantity: ${millicores} is not a whole number of millicores`,
    );
  }
  return millicores % 1000 === 0 ? String(millicores / 1000) : `${millicores}m`;
}

const MEBI = 2 ** 20;

/**
 * The quantity of whole bytes: `64Mi` for whole mebibytes, else plain bytes, `88617123`. Never with an
 * `m`, which Kubernetes takes for thousandths of a byte and which `resource.Quantity` itself writes
 * once bytes have been multiplied by a fraction.
 */
export function formatBytes(bytes: number): string {
  if (!Number.isSafeInteger(bytes) || bytes < 0) {
    throw new RangeError(
      `Cannot format memory quantity: ${bytes} is not a whole number of bytes`,
    );
  }
  return bytes > 0 && bytes % MEBI === 0 ? `${bytes / MEBI}Mi` : String(bytes);
}
