/**
 * Plants each mutant into a copy of the sources, and lets the bench look for it there.
 *
 * @module
 */
import { type Mutant, mutate } from "../../tests/faults/mutants/mutant.ts";

/** What became of a mutant. */
export interface ExamRow {
  readonly mutant: Mutant;
  readonly found: boolean;
  /** The first broken promise, and the faults that showed it. */
  readonly by?: string;
  readonly cpuSeconds: number;
}

/** How each mutant is looked for. */
export interface ExamOptions {
  readonly plans: number;
  readonly runs: number;
  readonly seed: number;
  readonly root: URL;
  /** Called after each mutant. */
  readonly onRow: (row: ExamRow) => void;
}

/** What the bench's sources import. */
const FOLDERS = [
  ...["shared", "controller", "agent", "adapters", "simulation", "bench"],
  ...["tests/faults", "tests/contract", "tests/fixtures", "tests/simulation"],
];
const FILES = ["deno.json", "deno.lock", "cli/arena_progress.ts"];

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else if (/(?<!_test)\.ts$/.test(name)) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Looks for the mutants one after the other. */
export async function examine(
  mutants: readonly Mutant[],
  { plans, runs, seed, root, onRow }: ExamOptions,
): Promise<ExamRow[]> {
  if (mutants.length === 0) return [];
  const folder = await Deno.makeTempDir({ prefix: "coallocator-mutants-" });
  const rows: ExamRow[] = [];
  try {
    for (const name of FOLDERS) await copyFolder(`${root.pathname}${name}`, `${folder}/${name}`);
    await Deno.mkdir(`${folder}/cli`);
    for (const name of FILES) await Deno.copyFile(`${root.pathname}${name}`, `${folder}/${name}`);
    for (const mutant of mutants) {
      const path = `${folder}/${mutant.file}`;
      const source = await Deno.readTextFile(path);
      await Deno.writeTextFile(path, mutate(source, mutant));
      const row = await lookFor(mutant, { folder, plans, runs, seed });
      await Deno.writeTextFile(path, source);
      rows.push(row);
      onRow(row);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  return rows;
}

async function lookFor(
  mutant: Mutant,
  { folder, plans, runs, seed }: Omit<ExamOptions, "root" | "onRow"> & { readonly folder: string },
): Promise<ExamRow> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-q", "-A", "--no-check", `${folder}/bench/faults.ts`, "--until-found", "--json"],
      ...["--plans", `${plans}`, "--runs", `${runs}`, "--seed", `${seed}`],
    ],
    cwd: folder,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  const text = decoder.decode(stdout).trim().split("\n").at(-1) ?? "";
  if (!text.startsWith("{")) {
    // A mutant that cannot run at all would be found by anything.
    throw new Error(`Cannot look for "${mutant.name}": ${decoder.decode(stderr).slice(-500)}`);
  }
  const { violations, first = "", cpuSeconds } = JSON.parse(text) as {
    readonly violations: number;
    readonly first?: string;
    readonly cpuSeconds: number;
  };
  // A plan that cannot be played to its end shows nothing of the mutant.
  return violations > 0 && !first.startsWith("Crashed")
    ? { mutant, found: true, by: first, cpuSeconds }
    : { mutant, found: false, cpuSeconds };
}
