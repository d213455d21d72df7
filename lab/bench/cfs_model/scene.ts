/**
 * One cell of the grid in the simulation's model of a node.
 *
 * @module
 */
import { seededRandom } from "../../../shared/random.ts";
import type { ArrivalProcess } from "../../simulation/node/request_server.ts";
import { createSimulatedNode, type SimulatedNode } from "../../simulation/node/simulated_node.ts";
import { growth, type LevelCounters } from "../../../tests/host/level_counters.ts";
import type { Level } from "./cgroup.ts";
import type { Cell } from "./grid.ts";
import type { LevelRates } from "./report.ts";

/** The machine that the model stands for. */
export interface ModelledMachine {
  readonly cores: number;
  /** Between two ticks of a CPU, ms. */
  readonly tickMs: number;
}

const PERIOD_MS = 100;
const CONTAINER = "container";
/**
 * Beginnings of the load within the period: the kernel draws one a cgroup. The seventh of a
 * millisecond keeps it off the ticks.
 */
const BEGINNINGS = Array.from({ length: 40 }, (_, i) => i * PERIOD_MS / 40 + 1 / 7);

/** Long enough that the window's ends do not matter, ms. */
const MODELLED_MS = 10_000;

/** Mean rates per second over all beginnings. */
export function runInModel(cell: Cell, machine: ModelledMachine): LevelRates {
  const runs = BEGINNINGS.map((startMs, seed) => runOnce(cell, { ...machine, startMs, seed }));
  const mean = (level: Level, counter: keyof LevelCounters): number =>
    runs.reduce((sum, run) => sum + run[level][counter], 0) / runs.length;
  const level = (name: Level): LevelCounters => ({
    periods: mean(name, "periods"),
    throttledPeriods: mean(name, "throttledPeriods"),
    throttledMs: mean(name, "throttledMs"),
    usageMs: mean(name, "usageMs"),
  });
  return perSecond({ pod: level("pod"), container: level("container"), wallMs: MODELLED_MS });
}

/** Growth in a stretch of time, as growth in a second. */
export function perSecond(
  { pod, container, wallMs }: LevelRates & { readonly wallMs: number },
): LevelRates {
  const scaled = ({ periods, throttledPeriods, throttledMs, usageMs }: LevelCounters) => ({
    periods: periods * 1000 / wallMs,
    throttledPeriods: throttledPeriods * 1000 / wallMs,
    throttledMs: throttledMs * 1000 / wallMs,
    usageMs: usageMs * 1000 / wallMs,
  });
  return { pod: scaled(pod), container: scaled(container) };
}

function runOnce(
  { quota, threads, levels, busyMs, cycleMs, warmUpMs }: Cell,
  { cores, tickMs, startMs, seed }: ModelledMachine & { startMs: number; seed: number },
): Record<Level, LevelCounters> {
  const node = createSimulatedNode({ cores, tickMs, random: seededRandom(seed) });
  // Another name, other ticks.
  const uid = `pod-${seed}`;
  const workload = requests(threads, { startMs, busyMs, cycleMs });
  node.addPod({
    uid,
    phaseMs: 0,
    containers: [{ id: CONTAINER, request: 1000, limit: quota, threads, workload }],
  });
  if (levels === 1) node.setPodQuota(uid, undefined);
  // A slice after a refill, as the bench looks at the kernel's counters a moment after one.
  const from = PERIOD_MS * Math.ceil((startMs + warmUpMs) / PERIOD_MS) + 10;
  node.advance(from);
  const before = look(node, uid);
  node.advance(from + MODELLED_MS);
  const after = look(node, uid);
  return {
    pod: growth(before.pod, after.pod),
    container: growth(before.container, after.container),
  };
}

function look(node: SimulatedNode, uid: string): Record<Level, LevelCounters> {
  const counters = (group: ReturnType<SimulatedNode["container"]>): LevelCounters => ({
    periods: group.periods,
    throttledPeriods: group.throttledPeriods,
    throttledMs: group.throttledUs / 1000,
    usageMs: group.usageUs / 1000,
  });
  return { pod: counters(node.pod(uid)), container: counters(node.container(CONTAINER)) };
}

/** Each thread's request comes at the same time as the others'; without end where `busyMs` is null. */
function requests(
  threads: number,
  { startMs, busyMs, cycleMs }: { startMs: number } & Pick<Cell, "busyMs" | "cycleMs">,
): ArrivalProcess {
  let count = 0;
  return {
    nextAt: startMs,
    nextCost: busyMs ?? Infinity,
    next() {
      count++;
      const cycle = Math.floor(count / threads);
      this.nextAt = busyMs === null && cycle > 0 ? Infinity : startMs + cycle * cycleMs;
    },
  };
}
