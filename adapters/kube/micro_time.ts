/**
 * Times in objects of the API.
 *
 * @module
 */

/**
 * A `MicroTime`. The server's parser wants exactly six decimals (k8s.io/apimachinery,
 * `RFC3339Micro`): 0 is `1970-01-01T00:00:00.000000Z`.
 */
export function formatMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

/** A `Time` or `MicroTime` in ms since the Unix epoch; undefined when it is neither. */
export function parseTime(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}
