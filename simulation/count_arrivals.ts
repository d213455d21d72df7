/**
 * Times of requests → requests per second.
 *
 * @module
 */

/** A year of seconds: longer is a mistake in the time column. */
const MAX_SECONDS = 366 * 86_400;

/** Times of requests are recorded nearly in order: more lines than this share fall in a rate alone. */
const MOST_FALLS = 0.1;

/** Throws what `refuse` makes of a reason when the times are the values of a rate rather. */
export function refuseRates(times: readonly number[], refuse: (state: string) => Error): void {
  const falls = times.filter((time, index) => time < (times[index - 1] ?? 0)).length;
  if (falls <= MOST_FALLS * times.length) return;
  throw refuse(
    `its times fall at ${falls} of ${times.length} lines, which looks like a rate per second: ` +
      "give --format rps, or sort it if each line is the time of a request",
  );
}

/**
 * Requests per second from the second of the first on, and their times from there. Throws what
 * `refuse` makes of a reason when there is none, or more than a year between two.
 */
export function countArrivals(
  times: readonly number[],
  refuse: (state: string) => Error,
): { values: Float64Array; arrivalsMs: Float64Array } {
  if (times.length === 0) throw refuse("it is empty, expected one request per line");
  const first = Math.floor(times.reduce((a, b) => Math.min(a, b)));
  const seconds = Math.floor(times.reduce((a, b) => Math.max(a, b))) - first + 1;
  if (seconds > MAX_SECONDS) {
    throw refuse(`its requests span ${seconds} s, expected at most a year: check the first column`);
  }
  const values = new Float64Array(seconds);
  for (const time of times) {
    const second = Math.floor(time) - first;
    values[second] = (values[second] ?? 0) + 1;
  }
  // A typed array sorts by value.
  const arrivalsMs = Float64Array.from(times, (time) => (time - first) * 1000).sort();
  return { values, arrivalsMs };
}
