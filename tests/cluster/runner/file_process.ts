/**
 * One test file in a process of its own, and the tables and sums of results.
 *
 * @module
 */
import type { SuiteFile } from "./suite_table.ts";

export interface FileResult {
  readonly file: SuiteFile;
  readonly sums: TestSums;
  readonly ms: number;
  /** Its output, errors in between. */
  readonly output: string;
}

const ROOT = new URL("../../../", import.meta.url).pathname;

export async function runFileProcess(
  file: SuiteFile,
  { env, signal }: {
    readonly env: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  },
): Promise<FileResult> {
  const began = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["test", "-A", "--no-check", "--preload=tests/fixtures/fixed_seed.ts"],
      `tests/cluster/${file.name}_test.ts`,
    ],
    cwd: ROOT,
    env: { ...env, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let isRunning = true;
  const end = (): void => {
    if (isRunning) child.kill("SIGTERM");
  };
  signal.addEventListener("abort", end);
  try {
    const parts: string[] = [];
    const [{ code }] = await Promise.all([
      child.status.finally(() => isRunning = false),
      ...[child.stdout, child.stderr].map(async (stream) => {
        for await (const part of stream.pipeThrough(new TextDecoderStream())) parts.push(part);
      }),
    ]);
    const output = parts.join("");
    return { file, sums: sumsOf(output, code), ms: performance.now() - began, output };
  } finally {
    signal.removeEventListener("abort", end);
  }
}

export interface TestSums {
  readonly passed: number;
  readonly failed: number;
  readonly ignored: number;
}

export const NO_TESTS: TestSums = { passed: 0, failed: 0, ignored: 0 };

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

export function fileTable(files: readonly SuiteFile[]): string {
  return table(files.map(({ name, layer, lane, seconds }) => [
    name,
    layer === "core" ? "core" : `rotation ${layer}`,
    lane,
    `${seconds} s`,
  ]));
}

/** Files by the time that they took, the longest first. */
export function resultTable(results: readonly FileResult[]): string {
  const sorted = results.toSorted((a, b) => b.ms - a.ms);
  return table(sorted.map(({ file: { name, lane }, sums: { passed, failed, ignored }, ms }) => [
    name,
    lane,
    `${(ms / 1000).toFixed(1)} s`,
    `${passed} passed`,
    `${failed} failed`,
    `${ignored} ignored`,
  ]));
}

/** Output of a file, indented: a line at the left would be taken for the summary of all. */
export function indented(output: string): string {
  return output.trim().split("\n").map((line) => line === "" ? "" : `    ${line}`).join("\n");
}

function table(rows: readonly (readonly string[])[]): string {
  const width = (column: number): number =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(width(column))).join("  ")}`.trimEnd()
  ).join("\n");
}
