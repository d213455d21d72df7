/**
 * Which test files run, and which of them share an isolate. Deno gives each test module an isolate
 * of its own, and loading the sources again for each file takes longer than most tests. So a group
 * of files is one generated module that imports them. Pure.
 *
 * @module
 */

/** Files in one group: more would load faster, but balance worse over the CPUs. */
const GROUP_SIZE = 50;

/** Folders with tests that need a cluster, a browser, Prometheus or Helm. */
const ELSEWHERE = /^tests\/(?:browser|prometheus|release)\/|^tests\/cluster\/[^/]+$/;

const LONG = /^tests\/long\//;

/** Which of the project's files to run. */
export interface Selection {
  /** Files or folders, as {@linkcode projectPath} returns them; empty: all. */
  readonly paths: readonly string[];
  /** Includes `tests/long/`, which a path that names it does too. */
  readonly long: boolean;
}

/** A path relative to the project's root, or an absolute one, as `projectFiles()` writes paths. */
export function projectPath(path: string, root: URL): string {
  const { href } = new URL(path.replaceAll("\\", "/"), root);
  const inside = `${href}/`.startsWith(root.href) ? href.slice(root.href.length) : path;
  return inside.replace(/\/+$/, "");
}

/**
 * The test files of a selection, sorted.
 *
 * @throws {RangeError} when a path of the selection names no test file
 */
export function selectedTests(files: readonly string[], selection: Selection): string[] {
  const tests = files.filter((file) => file.endsWith("_test.ts") && !ELSEWHERE.test(file));
  for (const path of selection.paths) {
    if (!tests.some((file) => isBelow(file, path))) {
      throw new RangeError(
        `Cannot run ${
          path || "."
        }: no test that runs without a cluster, browser or Prometheus is there`,
      );
    }
  }
  return tests.filter((file) =>
    selection.paths.length > 0
      ? selection.paths.some((path) => isBelow(file, path))
      : selection.long || !LONG.test(file)
  ).sort();
}

function isBelow(file: string, path: string): boolean {
  return path === "" || file === path || file.startsWith(`${path}/`);
}

/**
 * Divides sorted files into groups of neighbours, which import the same sources. The last folder,
 * `tests/`, comes first: its simulations take longest, and what begins last should be short.
 */
export function testGroups(files: readonly string[], size = GROUP_SIZE): string[][] {
  const reversed = files.toReversed();
  const count = Math.ceil(files.length / size);
  return Array.from({ length: count }, (_, i) =>
    reversed.slice(
      Math.floor(i * files.length / count),
      Math.floor((i + 1) * files.length / count),
    ));
}

/**
 * Source of the module that runs the tests of a group. A file that cannot be loaded is one failed
 * test, and the others of its group run.
 */
export function groupModule(files: readonly string[], root: URL): string {
  return files.map((file) => {
    const [name, href] = [file, new URL(file, root).href].map((text) => JSON.stringify(text));
    return `await import(${href}).catch((error) => Deno.test(${name}, () => { throw error; }));\n`;
  }).join("");
}
