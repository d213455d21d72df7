/**
 * Recorded runs of a service under load: units of CPU per service, and the latencies seen.
 *
 * @module
 */

/** One run of wrk2: 30 s at 3000 requests a second. Latencies in ms. */
export interface RecordedRun {
  /** Requests completed, those answered with an error included. */
  readonly completed: number;
  readonly meanMs: number;
  readonly p99Ms: number;
  /** Standard deviation; undefined where wrk2 printed none. */
  readonly spreadMs: number | undefined;
  /** Units of one CPU by service, averaged over the run. */
  readonly units: ReadonlyMap<string, number>;
  /** Whether the units are whole and those of the run before: nothing was started or ended. */
  readonly steady: boolean;
}

const ROW = /^[^,]+,([^,]+),([^,]+),([^,]+),([^,]+),"\{(.*)\}",[^,]+,[^,]+$/;
const UNIT = /^'root--([^']+)': (\d+(?:\.\d+)?)$/;

/** Reads a `hr-client.csv`. Throws a SyntaxError that names the first line that does not fit. */
export function parseRecording(text: string): readonly RecordedRun[] {
  const runs: RecordedRun[] = [];
  text.trimEnd().split(/\r?\n/).slice(1).forEach((line, index) => {
    const refuse = () => new SyntaxError(`Cannot read a recording: line ${index + 2} is "${line}"`);
    const row = ROW.exec(line);
    if (row === null) throw refuse();
    const [completed = NaN, meanMs = NaN, p99Ms = NaN, spread = NaN] = row.slice(1, 5).map(Number);
    if (![completed, meanMs, p99Ms, spread].every(Number.isFinite)) throw refuse();
    const units = new Map(
      (row[5] ?? "").split(", ").map((entry): [string, number] => {
        const unit = UNIT.exec(entry);
        if (unit === null) throw refuse();
        return [unit[1] ?? "", Number(unit[2])];
      }),
    );
    const spreadMs = spread < 0 ? undefined : spread;
    const steady = isSteady(units, runs.at(-1)?.units);
    runs.push({ completed, meanMs, p99Ms, spreadMs, units, steady });
  });
  return runs;
}

function isSteady(
  units: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number> | undefined,
): boolean {
  return [...units].every(([service, count]) =>
    Number.isInteger(count) && before?.get(service) === count
  );
}
