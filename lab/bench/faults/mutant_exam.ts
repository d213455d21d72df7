/**
 * Plants each mutant into a copy of the sources, and plays plans there until one finds it.
 *
 * @module
 */
import { cp } from "node:fs/promises";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { FaultPlan } from "../../../tests/faults/fault.ts";
import type { Violation } from "../../../tests/faults/invariants.ts";
import { type Mutant, mutate } from "../../../tests/faults/mutants.ts";
import { startThread } from "../../task/thread.ts";
import { failureLine } from "./play_plans.ts";

/** The result of the search for a mutant. */
export interface ExamRow {
  readonly mutant: Mutant;
  readonly found: boolean;
  /** The first broken promise, and the faults that showed it. */
  readonly by?: string;
  /** Plans that were played until then. */
  readonly played: number;
  readonly cpuSeconds: number;
}

/** That result in one line. */
export function examLine({ mutant: { name, kind }, found, by = "", played }: ExamRow): string {
  return `${found ? "found " : "MISSED"}  ${kind}  ${name}  plan ${played}  ${by.slice(0, 150)}`;
}

/** Paths that the bench's sources import. */
const COPIED = [
  ...["shared", "controller", "agent", "adapters", "lab"],
  ...["tests/faults", "tests/contract", "tests/fixtures", "tests/simulation"],
  ...["deno.json", "deno.lock"],
];

/** Looks for the mutants one after the other, with plans in the order in which they are given. */
export async function examine(
  mutants: readonly Mutant[],
  { plansFor, root, onRow }: {
    readonly plansFor: (kind: Mutant["kind"]) => readonly FaultPlan[];
    readonly root: URL;
    readonly onRow: (row: ExamRow) => void;
  },
): Promise<ExamRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "coallocator-mutants-" });
  const rows: ExamRow[] = [];
  try {
    for (const name of COPIED) {
      await cp(`${root.pathname}${name}`, `${folder}/${name}`, {
        recursive: true,
        filter: (path) => !path.endsWith("_test.ts"),
      });
    }
    for (const mutant of mutants) {
      const path = `${folder}/${mutant.file}`;
      const source = await Deno.readTextFile(path);
      await Deno.writeTextFile(path, mutate(source, mutant));
      const row = await lookFor(mutant, { folder, plans: plansFor(mutant.kind) });
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
  { folder, plans }: { readonly folder: string; readonly plans: readonly FaultPlan[] },
): Promise<ExamRow> {
  const before = cpuSeconds();
  const module = pathToFileURL(`${folder}/lab/bench/faults/plan_worker.ts`);
  const thread = startThread<FaultPlan>(module);
  try {
    for (const [index, plan] of plans.entries()) {
      const [violation] = await thread.ask<readonly Violation[]>(plan);
      if (violation === undefined) continue;
      // A plan that cannot be played to its end shows nothing of the mutant.
      if (violation.invariant === "Crashed") break;
      const by = failureLine({ plan, violations: [violation] });
      return { mutant, found: true, by, played: index + 1, cpuSeconds: cpuSeconds() - before };
    }
  } catch (cause) {
    // A mutant that cannot run at all would be found by anything.
    throw new Error(`Cannot look for "${mutant.name}": ${String(cause)}`, { cause });
  } finally {
    thread.end();
  }
  return { mutant, found: false, played: plans.length, cpuSeconds: cpuSeconds() - before };
}

/** CPU time of this process so far. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
