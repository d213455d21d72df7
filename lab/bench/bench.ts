/**
 * Parts that all benchmarks share: flags, goals, how figures are printed, and memory.
 *
 * @module
 */
import type { Command } from "commander";
import { alignedRows } from "../../cli/terminal/aligned_rows.ts";
import { numberWithin } from "../task/task_flags.ts";

const LOOK_MS = 20;

/** The flag of every benchmark. */
export interface BenchFlags {
  readonly json: boolean;
}

/** The program's flags. Help, and a complaint about flags, end the program. */
export function benchFlags<Flags extends object>(
  program: Command,
  args: readonly string[] = Deno.args,
): Flags & BenchFlags {
  // `deno task` passes a first "--" on.
  return program.option("--json", "print JSON instead of a table", false)
    .allowExcessArguments(false)
    .parse(args[0] === "--" ? args.slice(1) : args, { from: "user" }).opts();
}

/** A parser of whole numbers, `least` or more. */
export function wholeNumberFrom(least: number): (text: string) => number {
  return numberWithin({ min: least, max: 1e9, whole: true });
}

/** A whole number, at least 1. */
export const wholeNumber: (text: string) => number = wholeNumberFrom(1);

/** Lines with the first column to the left and the others to the right. */
export function columns(rows: readonly (readonly string[])[]): string {
  return alignedRows(rows, { gap: "  ", left: [0] }).join("\n");
}

/** A figure, and what it may be at most; `held` is absent where the goal is not for this run. */
export interface Goal {
  readonly name: string;
  readonly value: number;
  readonly most: number;
  readonly held?: boolean;
}

/** Compares a figure with its goal; one that `counts` not is shown alone. */
export function goal(
  name: string,
  value: number,
  { most, counts = true }: { readonly most: number; readonly counts?: boolean },
): Goal {
  return counts ? { name, value, most, held: value <= most } : { name, value, most };
}

/**
 * Prints figures and goals as JSON, or the text and a table of the goals. The program ends with 1 when
 * a goal is missed.
 */
export function printResult(
  { json, figures, goals, text }: BenchFlags & {
    readonly figures: object;
    readonly goals: readonly Goal[];
    readonly text: readonly string[];
  },
): void {
  const rows = goals.map(({ name, value, most, held }) => [
    ...[name, `${Number(value.toPrecision(3))}`, `${most}`],
    held === undefined ? "-" : held ? "held" : "MISSED",
  ]);
  console.log(
    json
      ? JSON.stringify({ ...figures, goals })
      : [...text, columns([["goal", "measured", "at most", ""], ...rows])].join("\n"),
  );
  if (goals.some(({ held }) => held === false)) Deno.exitCode = 1;
}

/** The memory of a process, MiB. */
export interface MemoryUse {
  /** V8's objects and buffers. */
  readonly used: number;
  /** Resident, of the whole process. */
  readonly resident: number;
}

function memoryNow(): MemoryUse {
  const { heapUsed, external, rss } = Deno.memoryUsage();
  return { used: (heapUsed + external) / 2 ** 20, resident: rss / 2 ** 20 };
}

/** The memory in use after garbage collection. Needs V8's flag `--expose-gc`. */
export async function memoryAfterGC(): Promise<MemoryUse> {
  const { gc } = globalThis as unknown as { gc(): void };
  for (let round = 0; round < 3; round++) {
    gc();
    // Finalizers run in turns of the event loop.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return memoryNow();
}

/** Looks again and again; the function ends it with each figure at its highest, garbage included. */
export function watchMemory(): () => MemoryUse {
  let most = memoryNow();
  const look = (): void => {
    const { used, resident } = memoryNow();
    most = { used: Math.max(most.used, used), resident: Math.max(most.resident, resident) };
  };
  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    look();
    return most;
  };
}

/** A field of `/proc/PID/status`, KiB. Throws `NotFound` without the process. */
export function memoryKiB(pid: number, field: "VmRSS" | "RssAnon" | "VmHWM"): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]);
}
