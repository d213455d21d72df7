/**
 * `deno task bench:faults`: the product in a simulated cluster under faults.
 *
 * @module
 */
import { taskWorld } from "../../task/task.ts";
import { showProgress } from "../../../cli/terminal/progress_line.ts";
import type { Fault, FaultPlan } from "../../../tests/faults/fault.ts";
import { playPlan } from "../../../tests/faults/play_plan.ts";
import { derivePlans, drawPlan, shrinkPlan } from "../../../tests/faults/draw_plan.ts";
import { cpuSeconds, examine, examLine, type ExamRow } from "./mutant_exam.ts";
import { failureLine, failureText, playPlans, playSafely } from "./play_plans.ts";
import { type BenchFlags, benchFlags, columns, wholeNumber, wholeNumberFrom } from "../bench.ts";
import { Command, InvalidArgumentError } from "commander";
import { type Mutant, MUTANTS } from "../../../tests/faults/mutants.ts";

/** The derived plans of both values of `idleCPU`, at most `most` of them. */
async function derivedPlans(most: number): Promise<FaultPlan[]> {
  if (most === 0) return [];
  const all: FaultPlan[] = [];
  for (const idleCPU of ["free", "tight"] as const) {
    const plan = { seed: 1, idleCPU, faults: [] };
    all.push(...derivePlans({ plan, ...await playPlan(plan, { record: true }) }));
  }
  const count = Math.min(most, all.length);
  return Array.from({ length: count }, (_, i) => all[Math.floor(i * all.length / count)])
    .flatMap((plan) => plan ?? []);
}

function drawnPlans(count: number, seed: number): FaultPlan[] {
  return Array.from({ length: count }, (_, i) => drawPlan(seed + i));
}

/** The faults that show a kind of mutant most often. */
const REVEALING: Readonly<Record<Mutant["kind"], readonly Fault["fault"][]>> = {
  stale: ["travel", "freeze", "answer", "listFailure"],
  crash: ["crash", "answer", "deleteRecord"],
  missed: ["freeze", "answer"],
  rule: ["crash"],
};

/**
 * The plans that look for mutants of each kind: those without faults, then derived and drawn ones in
 * turn; of the derived ones those of each combination of faults in turn, the revealing ones more often.
 */
async function examPlans(
  { derived, drawn, seed }: {
    readonly derived: number;
    readonly drawn: number;
    readonly seed: number;
  },
): Promise<(kind: Mutant["kind"]) => readonly FaultPlan[]> {
  const families = [...Map.groupBy(spread(await derivedPlans(Infinity)), familyOf).values()];
  const free = { seed: 1, idleCPU: "free", faults: [] } as const;
  const runs = drawnPlans(drawn, seed);
  return (kind) => {
    const isRevealing = ([plan]: readonly FaultPlan[]): boolean =>
      plan?.faults.some(({ fault }) => REVEALING[kind].includes(fault)) ?? false;
    const revealing = families.filter(isRevealing);
    const plans = inTurn([...revealing, ...families, ...revealing]).slice(0, derived);
    return [free, { ...free, idleCPU: "tight" }, ...inTurn([plans, runs])];
  };
}

/** Plans with the same faults of the same kind of process, of requests of the same kind. */
function familyOf({ faults }: FaultPlan): string {
  return faults.map((one) => {
    const process = "process" in one ? one.process.split("-")[0] : "";
    const request = "verb" in one ? `${one.verb} ${one.object}` : "";
    const answer = "status" in one ? `${one.status} ${one.retryAfterMs}` : "";
    return `${one.fault} ${process} ${request} ${answer}`;
  }).join();
}

/** The plans in an order in which each beginning is spread over all. */
function spread(plans: readonly FaultPlan[]): readonly FaultPlan[] {
  // Multiples of the golden ratio fill the unit interval evenly.
  const place = (index: number): number => (index * 0.618_033_988_75) % 1;
  return plans.map((_, i) => i).sort((a, b) => place(a) - place(b)).flatMap((i) => plans[i] ?? []);
}

/** One of each list in turn; a list that is named twice gives the next one. */
function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const at = new Map<readonly T[], number>();
  const taken: T[] = [];
  const longest = Math.max(...lists.map(({ length }) => length));
  for (let round = 0; round < longest; round++) {
    for (const list of lists) {
      const index = at.get(list) ?? 0;
      at.set(list, index + 1);
      taken.push(...list.slice(index, index + 1));
    }
  }
  return taken;
}

/** Share of the mutants that must be found. */
const FOUND_SHARE = 0.9;
/** Failures that are shrunk and printed. */
const MOST_SHOWN = 5;
/** Plans and runs at most in the search for a mutant. */
const EXAM = { derived: 200, drawn: 150 } as const;

/** Shows how far the work is, where people look. */
function progressOf(all: number): (done: number) => void {
  const { err: write, now, errIsTerminal: isTerminal } = taskWorld();
  const { report, end } = showProgress({ write, now, isTerminal });
  return (done) => {
    report(done / all);
    if (done === all) end();
  };
}

/** Plays one plan that a failing run has printed. */
async function replay(text: string): Promise<number> {
  const plan = JSON.parse(text) as FaultPlan;
  const { violations } = await playPlan(plan);
  for (const { invariant, atMs, message } of violations) {
    console.log(`${Math.round(atMs)} ms  ${invariant}: ${message}`);
  }
  console.log(violations.length === 0 ? "no promise was broken" : `${violations.length} broken`);
  return violations.length === 0 ? 0 : 1;
}

/** The same failure with as few faults as possible. */
async function shrunk({ plan, violations }: Parameters<typeof failureText>[0]): Promise<string> {
  const invariant = violations[0]?.invariant;
  const fails = async (smaller: FaultPlan): Promise<boolean> =>
    (await playSafely(smaller)).some((one) => one.invariant === invariant);
  const small = await shrinkPlan(plan, fails);
  return failureText({ plan: small, violations });
}

async function run(request: FaultsRequest): Promise<number> {
  const { seed, jobs, json, mutants } = request;
  const derived = await derivedPlans(request.plans);
  const all = [...derived, ...drawnPlans(request.runs, seed)];
  const failed = await playPlans(all, {
    jobs,
    onDone: json ? () => {} : progressOf(all.length),
    onFailed: json ? () => {} : (one) => console.log(failureLine(one)),
  });
  if (!json) { for (const one of failed.slice(0, MOST_SHOWN)) console.log(await shrunk(one)); }
  const { rows, falsePositives } = await exam(request);
  const found = rows.filter((row) => row.found).length;
  const figures = {
    plans: derived.length,
    runs: request.runs,
    violations: failed.length,
    mutants: mutants.length,
    mutantsFound: found,
    falsePositives,
    cpuSeconds: Math.round(cpuSeconds()),
    seed,
  };
  console.log(
    json ? JSON.stringify({ ...figures, rows }) : columns(
      Object.entries(figures).map(([name, value]) => [name, `${value}`]),
    ),
  );
  const isPassed = failed.length === 0 && falsePositives === 0 &&
    found >= FOUND_SHARE * mutants.length;
  return isPassed ? 0 : 1;
}

/** Looks for the mutants, and plays the plans that do without any. */
async function exam(
  { mutants, seed, jobs, json }: FaultsRequest,
): Promise<{ readonly rows: readonly ExamRow[]; readonly falsePositives: number }> {
  if (mutants.length === 0) return { rows: [], falsePositives: 0 };
  const plansFor = await examPlans({ ...EXAM, seed });
  const root = new URL("../../../", import.meta.url);
  const onRow = (row: ExamRow): void => json ? undefined : console.log(examLine(row));
  const rows = await examine(mutants, { plansFor, root, onRow });
  // The longest way of each kind; what all kinds share once.
  const kinds = [...new Set(mutants.map(({ kind }) => kind))];
  const plans = new Map(kinds.flatMap(plansFor).map((plan) => [JSON.stringify(plan), plan]));
  const failed = await playPlans([...plans.values()], { jobs, onDone: () => {} });
  if (!json) { for (const one of failed.slice(0, MOST_SHOWN)) console.log(failureText(one)); }
  return { rows, falsePositives: failed.length };
}

interface FaultsRequest extends BenchFlags {
  /** Derived plans; spread over all when fewer. */
  readonly plans: number;
  readonly runs: number;
  readonly mutants: readonly Mutant[];
  readonly seed: number;
  readonly jobs: number;
  /** A plan as JSON: plays it alone, and prints what it broke. */
  readonly replay?: string;
}

/** All of them, the first ones, or those with a name that has this text. */
function someMutants(text: string): readonly Mutant[] {
  if (text === "all") return MUTANTS;
  if (/^\d+$/.test(text)) return MUTANTS.slice(0, Number(text));
  const named = MUTANTS.filter(({ name }) => name.includes(text));
  if (named.length > 0) return named;
  throw new InvalidArgumentError("Expected all, a whole number, or a part of a mutant's name.");
}

const request = benchFlags<Omit<FaultsRequest, "json">>(
  new Command("bench:faults")
    .description(
      "Plays the product in a simulated cluster under faults, and looks for broken promises. " +
        "Exit code 1: a promise was broken, or fewer than 90 % of the mutants were found.",
    )
    .option(
      "--plans <n>",
      "derived plans: a crash, an omission or a travel in time each",
      wholeNumberFrom(0),
      200,
    )
    .option("--runs <n>", "runs with drawn faults", wholeNumberFrom(0), 100)
    .option("--mutants <n|all|name>", "planted bugs to find", someMutants, [])
    .option("--seed <n>", "of the first drawn run", wholeNumber, 1)
    .option("--jobs <n>", "plans at a time", wholeNumber, 1)
    .option("--replay <plan>", "play this plan, as a failing run prints it"),
);
Deno.exit(request.replay === undefined ? await run(request) : await replay(request.replay));
