/**
 * The golden outputs, and how they are compared with what is stored.
 *
 * @module
 */
import { arena } from "../../cli/arena.ts";
import { demo } from "../../cli/demo.ts";
import { differencesOf, read, type StoredOutputs } from "./stored_outputs.ts";
import { renderedManifests } from "./rendered_manifests.ts";
import type { DecisionTable } from "./tables/decision_table.ts";
import {
  marketTable,
  mixedTable,
  moveTable,
  rightsizingTable,
  splitTable,
} from "./tables/tables.ts";

/** The output of a part. */
export interface Computed {
  /** The text that the file should hold; absent where it can't be computed on this machine. */
  readonly text?: string;
  /** Why it can't. */
  readonly leftOut?: string;
  /** For people, for instance how often each reason occurs. */
  readonly notes: readonly string[];
  /** Faults of the output itself, whatever is stored. */
  readonly problems: readonly string[];
}

/** An output and its file. */
export interface GoldenPart {
  /** As in `--only`. */
  readonly name: string;
  /** In `tests/golden/expected/`; gzipped where it ends in `.gz`. */
  readonly file: string;
  /** Computes the output; a table from what is stored, of which it decides the inputs anew. */
  readonly compute: (stored: string) => Promise<Computed>;
}

const SEEDS = [1, 2, 3] as const;
const MIXED_INPUTS = new URL("./inputs/mixed.jsonl.gz", import.meta.url);

/** Each name is a value of `--only`. */
export const GOLDEN_PARTS: readonly GoldenPart[] = [
  {
    name: "arena",
    file: "arena.json.gz",
    compute: () =>
      outputOf((world) =>
        arena(["--quick", "--json"], { ...world, workers: navigator.hardwareConcurrency })
      ),
  },
  ...SEEDS.map((seed): GoldenPart => ({
    name: `demo-${seed}`,
    file: `demo_${seed}.json.gz`,
    compute: () => outputOf((world) => demo(["--seed", `${seed}`, "--json", "--no-report"], world)),
  })),
  { name: "manifests", file: "manifests.jsonl.gz", compute: renderedManifests },
  table("market", marketTable, "market.jsonl"),
  table("rightsizing", rightsizingTable),
  table("mixed", async () => mixedTable(await read(MIXED_INPUTS))),
  table("split", splitTable),
  table("moves", moveTable),
];

function table(
  name: string,
  decide: (stored: string) => DecisionTable | Promise<DecisionTable>,
  file = `${name}.jsonl.gz`,
): GoldenPart {
  return {
    name,
    file,
    async compute(stored) {
      const { text, counts, problems } = await decide(stored);
      const notes = Object.entries(counts).map(([reason, count]) => `${reason} ${count}`);
      return { text, notes: [notes.join(", ")], problems };
    },
  };
}

/** The part of a program's world that demo and arena have alike. */
type ProgramWorld = Parameters<typeof demo>[1] & Omit<Parameters<typeof arena>[1], "workers">;

/** Runs a program in memory: no terminal, no file, a clock that stands still. */
async function outputOf(run: (world: ProgramWorld) => Promise<number>): Promise<Computed> {
  let text = "";
  let errors = "";
  const code = await run({
    out: (part) => void (text += part),
    err: (part) => void (errors += part),
    outIsTerminal: false,
    errIsTerminal: false,
    columns: 120,
    noColor: "1",
    now: () => 0,
    writeFile: () => Promise.resolve(),
    probeFile: () => Promise.resolve(),
  });
  const problems = code === 0 ? [] : [`the program ended with code ${code}: ${errors.trim()}`];
  return { text, notes: [], problems };
}

/** The parts to compute, and the flags. */
export interface GoldenRequest {
  readonly parts: readonly GoldenPart[];
  /** All files that some part has: others are left over. */
  readonly known: readonly string[];
  /** Inputs of new rows, JSON; they come last in each part. */
  readonly append: readonly string[];
  /** Stores what differs. */
  readonly accept: boolean;
  /** Shows the notes of each part. */
  readonly verbose: boolean;
  /** Fails where a part is left out. */
  readonly complete: boolean;
}

/** Bytes that all files together may take. */
const MOST_BYTES = 300_000;

/** Resolves with the exit code: 0 when all is equal or stored, 1 when something differs. */
export async function golden(
  { parts, known, append, accept, verbose, complete }: GoldenRequest,
  { stored, out }: { readonly stored: StoredOutputs; readonly out: (line: string) => void },
): Promise<0 | 1> {
  let failed = false;
  for (const { name, file, compute } of parts) {
    const since = performance.now();
    const before = await stored.read(file);
    const { text, leftOut = "", notes, problems } = await compute(
      [before ?? "", ...append.map((input) => `{"in":${input}}\n`)].join(""),
    );
    for (const problem of problems) out(`${name}: ${problem}`);
    failed ||= problems.length > 0;
    if (text === undefined) {
      failed ||= complete;
      out(`${name}: ${complete ? "MISSING" : "left out"}, ${leftOut}`);
    } else {
      const lines = differencesOf(before, text);
      const isEqual = lines.length === 0;
      // An output with a problem is not worth keeping.
      const isStored = !isEqual && accept && problems.length === 0;
      if (isStored) await stored.write(file, text);
      failed ||= !isEqual && !isStored;
      const took = `${((performance.now() - since) / 1000).toFixed(1)} s`;
      out(`${name}: ${isEqual ? "unchanged" : isStored ? "stored" : "DIFFERS"} (${file}, ${took})`);
      for (const line of lines) out(`  ${line}`);
    }
    if (verbose) { for (const note of notes) out(`  ${note}`); }
  }
  const sizes = await stored.sizes();
  for (const file of [...sizes.keys()].filter((one) => !known.includes(one))) {
    out(`${file}: ${accept ? "removed" : "DIFFERS"}, no part has such a file`);
    if (accept) await stored.remove(file);
    failed ||= !accept;
  }
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (total >= MOST_BYTES) {
    failed = true;
    const [[file, size] = ["", 0]] = [...sizes].sort(([, one], [, other]) => other - one);
    out(
      `the files take ${total} bytes, and must stay below ${MOST_BYTES}; the largest is ${file} ` +
        `with ${size}`,
    );
  }
  if (failed && !accept) {
    out("A refactoring leaves these outputs as they are. A change of behaviour accepts them with");
    out("deno task golden --accept, and its commit says why.");
  }
  return failed ? 1 : 0;
}
