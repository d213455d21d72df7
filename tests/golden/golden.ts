/**
 * Compares golden outputs with what is stored, or stores them.
 *
 * @module
 */
import type { ComputedPart } from "./main.ts";
import { differencesOf } from "./differences.ts";
import { arena } from "../../cli/arena.ts";
import { demo } from "../../cli/demo.ts";
import { renderedManifests } from "./rendered_manifests.ts";
import type { DecisionTable } from "./tables/decision_table.ts";
import { rightsizingTable } from "./tables/rightsizing/rightsizing_table.ts";
import { moveTable } from "./tables/placement/move_table.ts";
import { splitTable } from "./tables/placement/split_table.ts";
import { marketTable } from "./tables/market/market_table.ts";
import { mixedTable } from "./tables/mixed/mixed_table.ts";

/** What is done. */
export interface GoldenRequest {
  /** Parts by name, with the file of each. */
  readonly files: ReadonlyMap<string, string>;
  /** All files that some part has: others are left over. */
  readonly known: readonly string[];
  /** Stores what differs. */
  readonly accept: boolean;
  /** Shows the notes of each part. */
  readonly verbose: boolean;
  /** Fails where a part is left out. @default {false} */
  readonly complete?: boolean;
}

/** What it is done with. */
export interface GoldenWorld {
  readonly compute: (names: readonly string[]) => Promise<readonly ComputedPart[]>;
  readonly stored: StoredOutputs;
  readonly out: (line: string) => void;
}

/** Resolves with the exit code: 0 when all is equal or stored, 1 when something differs. */
export async function golden(
  { files, known, accept, verbose, complete = false }: GoldenRequest,
  { compute, stored, out }: GoldenWorld,
): Promise<0 | 1> {
  let failed = false;
  for (const part of await compute([...files.keys()])) {
    const { name, text, leftOut = "", notes, problems, ms } = part;
    const file = files.get(name) ?? name;
    const took = `${(ms / 1000).toFixed(1)} s`;
    for (const problem of problems) out(`${name}: ${problem}`);
    if (problems.length > 0) failed = true;
    if (text === undefined) {
      if (complete) failed = true;
      out(`${name}: ${complete ? "MISSING" : "left out"}, ${leftOut}`);
    } else {
      const lines = differencesOf(await stored.read(file), text);
      const isEqual = lines.length === 0;
      // An output with a problem is not worth keeping.
      const isStored = !isEqual && accept && problems.length === 0;
      if (isStored) await stored.write(file, text);
      if (!isEqual && !isStored) failed = true;
      out(`${name}: ${isEqual ? "unchanged" : isStored ? "stored" : "DIFFERS"} (${file}, ${took})`);
      for (const line of lines) out(`  ${line}`);
    }
    if (verbose) { for (const note of notes) out(`  ${note}`); }
  }
  for (const file of await leftOver(stored, known)) {
    out(`${file}: ${accept ? "removed" : "DIFFERS"}, no part has such a file`);
    if (accept) await stored.remove(file);
    else failed = true;
  }
  const problem = sizeProblem(await stored.sizes());
  if (problem !== undefined) {
    out(problem);
    failed = true;
  }
  if (failed && !accept) {
    out("A refactoring leaves these outputs as they are. A change of behaviour accepts them with");
    out("deno task golden --accept, and its commit says why.");
  }
  return failed ? 1 : 0;
}

/** What all files together may take, bytes. */
const MOST_BYTES = 300_000;

function sizeProblem(sizes: ReadonlyMap<string, number>): string | undefined {
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (total < MOST_BYTES) return undefined;
  const [[file, size] = ["", 0]] = [...sizes].sort(([, one], [, other]) => other - one);
  return `the files take ${total} bytes, and must stay below ${MOST_BYTES}; the largest is ` +
    `${file} with ${size}`;
}

async function leftOver(
  stored: StoredOutputs,
  known: readonly string[],
): Promise<readonly string[]> {
  return (await stored.names()).filter((file) => !known.includes(file));
}

/** What a part comes to. */
export interface Computed {
  /** What the file should hold; absent where it can't be computed on this machine. */
  readonly text?: string;
  /** Why it can't. */
  readonly leftOut?: string;
  /** For people, for instance how often each reason occurs. */
  readonly notes: readonly string[];
  /** What is wrong with the output itself, whatever is stored. */
  readonly problems: readonly string[];
}

/** An output and its file. */
export interface GoldenPart {
  /** As in `--only`. */
  readonly name: string;
  /** In `tests/golden/expected/`; gzipped where it ends in `.gz`. */
  readonly file: string;
  /** Computes the output, in a worker of its own. `cores` is how many threads it may use. */
  readonly compute: (options: { readonly cores: number }) => Promise<Computed>;
}

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

/** Stored texts by file name. */
export interface StoredOutputs {
  /** The text; undefined where there is no such file. */
  read(file: string): Promise<string | undefined>;
  write(file: string, text: string): Promise<void>;
  remove(file: string): Promise<void>;
  /** Names of all files. */
  names(): Promise<readonly string[]>;
  /** Bytes of all files as they are stored. */
  sizes(): Promise<ReadonlyMap<string, number>>;
}

/** Files of this folder; those that end in `.gz` are gzipped. */
export function storedOutputs(folder: URL): StoredOutputs {
  const pathOf = (file: string): URL => new URL(file, folder);
  return {
    async read(file) {
      try {
        const bytes = await Deno.readFile(pathOf(file));
        return new TextDecoder().decode(file.endsWith(".gz") ? await unzipped(bytes) : bytes);
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
    async write(file, text) {
      const bytes = new TextEncoder().encode(text);
      await Deno.mkdir(folder, { recursive: true });
      await Deno.writeFile(pathOf(file), file.endsWith(".gz") ? await zipped(bytes) : bytes);
    },
    remove: (file) => Deno.remove(pathOf(file)),
    async names() {
      const names: string[] = [];
      for await (const { name } of Deno.readDir(folder)) names.push(name);
      return names.sort();
    },
    async sizes() {
      const sizes = new Map<string, number>();
      for await (const { name } of Deno.readDir(folder)) {
        sizes.set(name, (await Deno.stat(pathOf(name))).size);
      }
      return sizes;
    },
  };
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Names no time and no file, so that the same text gives the same bytes. */
function zipped(bytes: Bytes): Promise<Bytes> {
  return through(bytes, new CompressionStream("gzip"));
}

function unzipped(bytes: Bytes): Promise<Bytes> {
  return through(bytes, new DecompressionStream("gzip"));
}

async function through(bytes: Bytes, stream: CompressionStream): Promise<Bytes> {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}
