/**
 * The summary line of a test run, as Deno writes and the checks of continuous integration read it.
 *
 * @module
 */

/** Tests by outcome. */
export interface TestSums {
  readonly passed: number;
  readonly failed: number;
  readonly ignored: number;
}

/** No tests. */
export const NO_TESTS: TestSums = { passed: 0, failed: 0, ignored: 0 };

/** Adds two. */
export function addSums(a: TestSums, b: TestSums): TestSums {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    ignored: a.ignored + b.ignored,
  };
}

/**
 * The sums of one process. An exit code other than 0 without a failed test, for instance a file that
 * does not load, counts as one failure; so does a process without a summary.
 */
export function sumsOf(output: string, exitCode: number): TestSums {
  const line = output.split("\n").findLast((one) => /^(ok|FAILED) \| \d+ passed/.test(one));
  const count = (outcome: keyof TestSums): number =>
    Number(new RegExp(` (\\d+) ${outcome}\\b`).exec(line ?? "")?.[1] ?? 0);
  const sums = { passed: count("passed"), failed: count("failed"), ignored: count("ignored") };
  const isUnreported = sums.failed === 0 && (exitCode !== 0 || line === undefined);
  return isUnreported ? { ...sums, failed: 1 } : sums;
}

/** For instance `ok | 12 passed | 0 failed | 1 ignored (2m3s)`. */
export function summaryLine({ passed, failed, ignored }: TestSums, ms: number): string {
  const verdict = failed === 0 ? "ok" : "FAILED";
  return `${verdict} | ${passed} passed | ${failed} failed | ${ignored} ignored (${duration(ms)})`;
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
