/**
 * Shows which golden outputs differ from those that are stored, and stores them: `deno task golden`.
 *
 * @module
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { Command, InvalidArgumentError } from "commander";
import { arena } from "../../lab/arena/main.ts";
import { demo } from "../../lab/demo/main.ts";
import { hasKubectl, render, type Rendered, renderWith } from "../manifests/rendered.ts";
import {
  type DecisionTable,
  marketTable,
  mixedTable,
  moveTable,
  rightsizingTable,
  splitTable,
} from "./tables/tables.ts";

/** The output of a part. */
interface Computed {
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
interface GoldenPart {
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
const GOLDEN_PARTS: readonly GoldenPart[] = [
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

/** Sets of components that are rendered on top of the base: each component is in one of them. */
const COMPONENTS: readonly (readonly string[])[] = [
  ["rightsizing", "placement", "webhook", "prometheus", "alerts", "users"],
  ["dry-run", "metric-queries", "webhook", "webhook-cert-manager"],
  ["grafana"],
];

const OVERLAYS = ["overlays/kind", "overlays/release"] as const;
const EXAMPLES = ["examples", "examples/optipod", "examples/spotalis"] as const;

/**
 * A row for each object of the base and of the examples, and for each object that an overlay or a
 * component adds or changes. Members are sorted, because kubectl's versions differ in their order.
 * CustomResourceDefinitions are left out: `check:crds` compares them.
 */
async function renderedManifests(): Promise<Computed> {
  if (!hasKubectl) {
    return { notes: [], problems: [], leftOut: "kubectl is not installed" };
  }
  const base = rowsOf("base", await render("base"));
  const own = new Set(base.map(({ object }) => object));
  const changed: Row[] = [];
  for (const overlay of OVERLAYS) changed.push(...rowsOf(overlay, await render(overlay)));
  for (const names of COMPONENTS) {
    changed.push(...rowsOf(`base + ${names.join(" + ")}`, await renderWith(names)));
  }
  const rows = [...base, ...changed.filter(({ object }) => !own.has(object))];
  for (const folder of EXAMPLES) rows.push(...rowsOf(folder, await render(folder)));
  const lines = rows.map(({ from, id, object }) =>
    `{"in":${JSON.stringify(`${from}: ${id}`)},"object":${object}}\n`
  );
  return { text: lines.join(""), notes: [`${rows.length} objects`], problems: [] };
}

interface Row {
  /** The folder that was rendered. */
  readonly from: string;
  /** Kind, namespace and name. */
  readonly id: string;
  /** JSON. */
  readonly object: string;
}

function rowsOf(from: string, objects: readonly Rendered[]): readonly Row[] {
  return objects.filter(({ kind }) => kind !== "CustomResourceDefinition").map((object) => {
    const { kind, metadata } = object;
    const { namespace } = metadata as { readonly namespace?: string };
    const name = namespace === undefined ? metadata.name : `${namespace}/${metadata.name}`;
    return { from, id: `${kind} ${name}`, object: JSON.stringify(sorted(object)) };
  }).sort((one, other) => one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => one < other ? -1 : 1);
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
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

/** Texts by file name, of which those that end in `.gz` are gzipped. */
interface StoredOutputs {
  /** The text; undefined where there is no such file. */
  read(file: string): Promise<string | undefined>;
  write(file: string, text: string): Promise<void>;
  remove(file: string): Promise<void>;
  /** Bytes of all files as they are stored. */
  sizes(): Promise<ReadonlyMap<string, number>>;
}

async function read(file: URL): Promise<string> {
  const bytes = await Deno.readFile(file);
  return new TextDecoder().decode(file.pathname.endsWith(".gz") ? gunzipSync(bytes) : bytes);
}

/** Files of this folder. */
function storedOutputs(folder: URL): StoredOutputs {
  const pathOf = (file: string): URL => new URL(file, folder);
  return {
    async read(file) {
      try {
        return await read(pathOf(file));
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
    async write(file, text) {
      const bytes = new TextEncoder().encode(text);
      await Deno.writeFile(pathOf(file), file.endsWith(".gz") ? gzipSync(bytes) : bytes);
    },
    remove: (file) => Deno.remove(pathOf(file)),
    async sizes() {
      const sizes = new Map<string, number>();
      for await (const { name } of Deno.readDir(folder)) {
        sizes.set(name, (await Deno.stat(pathOf(name))).size);
      }
      return sizes;
    },
  };
}

/** Lines for people; empty where the texts are equal. A stored text is undefined where there is none. */
function differencesOf(stored: string | undefined, fresh: string): readonly string[] {
  if (stored === fresh) return [];
  if (stored === undefined) return ["nothing is stored yet"];
  const [before, after] = [stored.split("\n"), fresh.split("\n")];
  const rows = Array.from({ length: Math.max(before.length, after.length) }, (_, row) => row);
  const differing = rows.filter((row) => before[row] !== after[row]);
  const [first = 0] = differing;
  const [was = "", is = ""] = [before[first], after[first]];
  let same = 0;
  while (same < was.length && was[same] === is[same]) same++;
  const shown = (text: string): string => text.slice(Math.max(0, same - 200), same + 400);
  return [
    `${differing.length} of ${rows.length} rows differ, the first is row ${first + 1}`,
    `  was  ${shown(was)}`,
    `  is   ${shown(is)}`,
    ...reasonChanges(differing.map((row) => [before[row], after[row]])),
  ];
}

/** How many rows changed per pair of reasons, the most frequent pair first. */
function reasonChanges(rows: readonly (readonly (string | undefined)[])[]): readonly string[] {
  const changes = rows.map((pair) => pair.map(reasonOf))
    .filter(([was, is]) => was !== undefined && is !== undefined).map((pair) => pair.join(" → "));
  return [...Map.groupBy(changes, (change) => change)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([change, { length }]) => `  ${length} × ${change}`);
}

/** The reason of a table's row; undefined for another text. */
function reasonOf(row = ""): string | undefined {
  return /^\{"in":.*,"reason":"?(\w+)/.exec(row)?.[1];
}

/** The parts to compute, and the flags. */
interface GoldenRequest {
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
async function golden(
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

const NAMES = GOLDEN_PARTS.map(({ name }) => name);

function partsOf(text: string): readonly GoldenPart[] {
  const wanted = text.split(",").map((one) => one.trim());
  const unknown = wanted.find((one) => !NAMES.includes(one));
  if (unknown === undefined) return GOLDEN_PARTS.filter(({ name }) => wanted.includes(name));
  throw new InvalidArgumentError(`There is no part "${unknown}"; parts: ${NAMES.join(", ")}`);
}

function jsonOf(text: string, before: readonly string[]): readonly string[] {
  try {
    return [...before, JSON.stringify(JSON.parse(text))];
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : "");
  }
}

const program = new Command("golden")
  .description(
    "Computes the golden outputs and compares them with tests/golden/expected. Ends with code 1\n" +
      "when one differs, and shows the first difference.",
  )
  .option(
    "--append <input>",
    "adds a row to the one table of --only: its input, JSON; may be repeated",
    jsonOf,
    [],
  )
  .option("--accept", "store what differs", false)
  .option("--only <names>", "these parts, separated by commas", partsOf)
  .option("--verbose", "show how often each reason occurs in the decision tables", false)
  .addHelpText("after", `\nParts: ${NAMES.join(", ")}`)
  .parse(Deno.args[0] === "--" ? Deno.args.slice(1) : Deno.args, { from: "user" });
const { accept, append, only, verbose } = program.opts<
  Pick<GoldenRequest, "accept" | "append" | "verbose"> & { only?: readonly GoldenPart[] }
>();
if (append.length > 0 && only?.length !== 1) program.error("--append needs --only with one table");
Deno.exitCode = await golden({
  parts: only ?? GOLDEN_PARTS,
  known: GOLDEN_PARTS.map(({ file }) => file),
  append,
  accept,
  verbose,
  complete: Deno.env.get("CI") === "true",
}, {
  stored: storedOutputs(new URL("./expected/", import.meta.url)),
  out: (line) => console.log(line),
});
