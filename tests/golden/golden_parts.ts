/**
 * All golden outputs, those that take longest first.
 *
 * @module
 */
import { arena } from "../../cli/arena.ts";
import { demo } from "../../cli/demo.ts";
import type { Computed, GoldenPart } from "./golden_part.ts";
import { renderedManifests } from "./rendered_manifests.ts";
import type { DecisionTable } from "./tables/decision_table.ts";
import { rightsizingTable } from "./tables/rightsizing/rightsizing_table.ts";
import { moveTable } from "./tables/placement/move_table.ts";
import { splitTable } from "./tables/placement/split_table.ts";
import { marketTable } from "./tables/market/market_table.ts";
import { mixedTable } from "./tables/mixed/mixed_table.ts";

const SEEDS = [1, 2, 3] as const;

/** Each name is a value of `--only`. */
export const GOLDEN_PARTS: readonly GoldenPart[] = [
  {
    name: "arena",
    file: "arena.json.gz",
    compute: ({ cores }) =>
      outputOf((world) => arena(["--quick", "--json"], { ...world, workers: cores })),
  },
  ...SEEDS.map((seed): GoldenPart => ({
    name: `demo-${seed}`,
    file: `demo_${seed}.json.gz`,
    compute: () => outputOf((world) => demo(["--seed", `${seed}`, "--json", "--no-report"], world)),
  })),
  { name: "manifests", file: "manifests.jsonl.gz", compute: renderedManifests },
  { name: "market", file: "market.jsonl", compute: async () => computedTable(await marketTable()) },
  {
    name: "rightsizing",
    file: "rightsizing.jsonl.gz",
    compute: async () => computedTable(await rightsizingTable()),
  },
  {
    name: "mixed",
    file: "mixed.jsonl.gz",
    compute: async () => computedTable(await mixedTable()),
  },
  {
    name: "split",
    file: "split.jsonl.gz",
    compute: () => Promise.resolve(computedTable(splitTable())),
  },
  {
    name: "moves",
    file: "moves.jsonl.gz",
    compute: () => Promise.resolve(computedTable(moveTable())),
  },
];

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

function computedTable({ text, counts, problems }: DecisionTable): Computed {
  const notes = Object.entries(counts).map(([reason, count]) => `${reason} ${count}`);
  return { text, notes: [notes.join(", ")], problems };
}
