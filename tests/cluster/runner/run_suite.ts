/**
 * The order of test files: what may run at the same time, and what after it.
 *
 * @module
 */
import type { Lane, SuiteFile } from "./suite_table.ts";

/** How files are run. */
export interface RunSuiteOptions {
  /** Files at a time. */
  readonly jobs: number;
  /** Runs one file to its end. */
  readonly runFile: (file: SuiteFile) => Promise<void>;
  /** Installs the product's components, for all files that need them. */
  readonly installComponents: () => Promise<AsyncDisposable>;
  /** Starts no further file once it is aborted. */
  readonly signal: AbortSignal;
}

/**
 * Runs files beside each other as their lanes allow: first those beside each other, and of those on
 * the node one at a time; then those with components, the timed ones last; then the others.
 */
export async function runSuite(
  files: readonly SuiteFile[],
  { jobs, runFile, installComponents, signal }: RunSuiteOptions,
): Promise<void> {
  const of = (lane: Lane): SuiteFile[] =>
    files.filter((file) => file.lane === lane).toSorted((a, b) => b.seconds - a.seconds);

  /** Runs the files of one queue, so many at a time. */
  async function drain(queue: SuiteFile[], workers: number): Promise<void> {
    await Promise.all(Array.from({ length: workers }, async () => {
      for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
        if (signal.aborted) return;
        await runFile(file);
      }
    }));
  }

  const [node, beside, components, timed] = [
    of("node"),
    of("beside"),
    of("components"),
    of("timed"),
  ];
  // When the node has no more files, its job is another's.
  const first = async (): Promise<void> => {
    await drain(node, 1);
    await drain(beside, 1);
  };
  await Promise.all([first(), drain(beside, jobs - 1)]);
  if (components.length + timed.length > 0 && !signal.aborted) {
    await using _installed = await installComponents();
    await drain(components, jobs);
    await drain(timed, 1);
  }
  await drain(of("alone"), 1);
}
