/**
 * Shows which golden outputs differ from those that are stored, and stores them: `deno task golden`.
 *
 * @module
 */
import { Command, InvalidArgumentError, Option } from "commander";
import { type HelpText, parseTaskFlags, type UsageError } from "../../cli/task_flags.ts";
import { type Computed, golden, GOLDEN_PARTS, storedOutputs } from "./golden.ts";
import type { FromGoldenWorker, ToGoldenWorker } from "./golden_worker.ts";

/** What is asked for. */
export interface GoldenOptions {
  readonly accept: boolean;
  /** Names of parts. */
  readonly only: readonly string[];
  /** Whether notes are shown of parts that are unchanged. */
  readonly verbose: boolean;
}

/** What the arguments mean. */
export type GoldenArguments =
  | { readonly kind: "run"; readonly options: GoldenOptions }
  | HelpText
  | UsageError;

/** Reads the arguments after the program's name; `names` are those of all parts. */
export function parseGoldenOptions(
  args: readonly string[],
  { names }: { readonly names: readonly string[] },
): GoldenArguments {
  const read = parseTaskFlags<Partial<GoldenOptions>>(goldenCommand(names), args);
  if (read.kind !== "flags") return read;
  const { accept = false, only = names, verbose = false } = read.flags;
  return {
    kind: "run",
    options: { accept, only: names.filter((one) => only.includes(one)), verbose },
  };
}

function goldenCommand(names: readonly string[]): Command {
  const partNames = (value: string): string[] => {
    const wanted = value.split(",").map((one) => one.trim());
    const unknown = wanted.find((one) => !names.includes(one));
    if (unknown === undefined) return wanted;
    throw new InvalidArgumentError(`There is no part "${unknown}"; parts: ${names.join(", ")}`);
  };
  return new Command("golden")
    .usage("[options]")
    .description(
      "Computes the golden outputs and compares them with tests/golden/expected. Ends with code 1\n" +
        "when one differs, and shows the first difference.",
    )
    .option("--accept", "store what differs")
    .addOption(
      new Option("--only <names>", "these parts, separated by commas").argParser(partNames),
    )
    .option("--verbose", "show how often each reason occurs in the decision tables")
    .helpOption("-h, --help", "show this text")
    .addHelpText("after", `\nParts: ${names.join(", ")}`);
}

/** An output, and how long it took. */
export interface ComputedPart extends Computed {
  readonly name: string;
  readonly ms: number;
}

/** Computes these parts, in their order, on two threads at least. */
export async function computeParts(
  names: readonly string[],
  { cores }: { readonly cores: number },
): Promise<readonly ComputedPart[]> {
  const left = [...names];
  const done = new Map<string, ComputedPart>();
  const lanes = Math.min(names.length, Math.max(2, cores));
  const workers = Array.from(
    { length: lanes },
    () => new Worker(new URL("./golden_worker.ts", import.meta.url), { type: "module" }),
  );
  try {
    await Promise.all(workers.map(async (worker) => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) {
        done.set(name, await computeIn(worker, { name, cores }));
      }
    }));
  } finally {
    for (const worker of workers) worker.terminate();
  }
  return names.flatMap((name) => done.get(name) ?? []);
}

function computeIn(worker: Worker, request: ToGoldenWorker): Promise<ComputedPart> {
  const { promise, resolve, reject } = Promise.withResolvers<ComputedPart>();
  worker.onmessage = ({ data }: MessageEvent<FromGoldenWorker>) => {
    resolve({ name: request.name, ms: data.ms, ...data.computed });
  };
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(`Cannot compute ${request.name}: ${event.message}`));
  };
  worker.postMessage(request);
  return promise;
}

const FOLDER = new URL("./expected/", import.meta.url);

const parsed = parseGoldenOptions(Deno.args, { names: GOLDEN_PARTS.map(({ name }) => name) });
if (parsed.kind === "help") {
  console.log(parsed.text.trimEnd());
} else if (parsed.kind === "usage-error") {
  console.error(parsed.message);
  Deno.exitCode = parsed.exitCode;
} else {
  const { accept, only, verbose } = parsed.options;
  const parts = GOLDEN_PARTS.filter(({ name }) => only.includes(name));
  Deno.exitCode = await golden({
    files: new Map(parts.map(({ name, file }) => [name, file])),
    known: GOLDEN_PARTS.map(({ file }) => file),
    accept,
    verbose,
    complete: Deno.env.get("CI") === "true",
  }, {
    compute: (names) => computeParts(names, { cores: navigator.hardwareConcurrency }),
    stored: storedOutputs(FOLDER),
    out: (line) => console.log(line),
  });
}
