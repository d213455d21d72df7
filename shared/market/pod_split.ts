/**
 * Splits a value that is known for a whole pod over its containers.
 *
 * @module
 */

/**
 * A fraction is split in units smaller than the value by this power of two. A double
 * has 53 bits: 12 are left for the number of containers.
 */
const UNITS = 2 ** 40;

/**
 * The parts of `value` (at least 0, any unit) in proportion to the containers' requests, or equal parts
 * without requests. They sum to `value` exactly, in any order. A whole value is split into whole parts,
 * each less than 1 from its exact proportion, by largest remainders: 100 over 1, 1, 1 is 34, 33, 33.
 */
export function splitByRequest(value: number, requests: readonly number[]): number[] {
  const total = requests.reduce((sum, request) => sum + request, 0);
  const unit = Number.isSafeInteger(value)
    ? 1
    : Math.max(2 ** Math.floor(Math.log2(value)) / UNITS, Number.MIN_VALUE);
  const exact = requests.map((request) =>
    total > 0 ? value * (request / total) : value / requests.length
  );
  const parts = exact.map((part) => Math.floor(part / unit) * unit);
  // All parts and the value are multiples of its last binary digit, hence these sums are exact.
  let left = value - parts.reduce((sum, part) => sum + part, 0);
  const order = exact
    .map((part, index) => ({ index, remainder: part - (parts[index] as number) }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  // Mostly one round: rounding in the proportions can leave a unit more or less.
  while (left !== 0) {
    for (const { index } of order) {
      const part = parts[index] as number;
      const give = Math.max(-part, Math.min(left, unit));
      parts[index] = part + give;
      left -= give;
    }
  }
  return parts;
}
