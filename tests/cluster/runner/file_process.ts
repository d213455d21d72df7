/**
 * One test file in a process of its own.
 *
 * @module
 */
import type { SuiteFile } from "./suite_table.ts";
import { sumsOf, type TestSums } from "./test_summary.ts";

/** What came of it. */
export interface FileResult {
  readonly file: SuiteFile;
  readonly sums: TestSums;
  readonly ms: number;
  /** What it wrote, errors in between. */
  readonly output: string;
}

const ROOT = new URL("../../../", import.meta.url).pathname;

/** Runs the tests of a file; an abortion ends the process. */
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
