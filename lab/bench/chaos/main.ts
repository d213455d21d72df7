/**
 * `deno task test:chaos`: kills of every part, at random moments, on the real node of the harness.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import { auditLog } from "../../../tests/cluster/harness/component.ts";
import { signal as sendSignal } from "../../../tests/cluster/harness/daemon.ts";
import { createKubectl } from "../../../tests/cluster/kubectl.ts";
import { installAllComponents } from "../../../tests/cluster/scene/all_components.ts";
import { clusterInstance } from "../../../tests/cluster/scene/harness_access.ts";
import { openRealNode } from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import { markAudit, readAuditSince } from "../audit_log.ts";
import { type LongRun, parseCommandLine } from "./command_line.ts";
import { checkRest, checkRestored, type EndParts, whenRecovered } from "./end_checks.ts";
import { type Act, drawPlan, type Kill, type Step, type Target, TARGETS } from "./plan.ts";
import { createKeeper, type Keeper, programIn } from "./programs.ts";
import { type DoneKill, endFaults, otherWriters, ownEnds } from "./promises.ts";
import { openScene } from "./scene.ts";
import { createWatch, type DatedBreak, type Watch } from "./watch.ts";
import { printAnswer } from "../parse_flags.ts";
import { alignedColumns } from "../aligned_columns.ts";

const log = (text: string): void => console.error(`${new Date().toISOString()} ${text}`);

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseCommandLine(args, {
    name: "test:chaos",
    about:
      "Kills agent, controllers, API server, etcd and kubelet at random, and looks for broken " +
      "promises. Exit code 1: there were some.",
    minutes: 10,
  });
  if ("exitCode" in parsed) return printAnswer(parsed);
  const report = await play(parsed);
  console.log(parsed.json ? JSON.stringify(report) : chaosTable(report));
  return report.violations.length === 0 ? 0 : 1;
}

async function play({ minutes, seed }: LongRun): Promise<ChaosReport> {
  using node = await openRealNode();
  const kubectl = createKubectl();
  await using _components = await installAllComponents(kubectl);
  await using scene = await openScene(node);
  const audit = await markAudit(auditLog(clusterInstance()));
  const watch = createWatch(node, scene);
  const end = new AbortController();
  const interrupt = (): void => end.abort(new Error("Cannot go on: the run was interrupted"));
  for (const name of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(name, interrupt);
  const watching = watch.run(end.signal);
  try {
    const parts = { node, scene, watch };
    await until("pods at their first limits", () => areRunning(watch), { timeoutMs: 180_000 });
    const figures = await playAll(parts, { seed, lengthMs: 60_000 * minutes, signal: end.signal });
    const resizes = await readAuditSince(audit);
    otherWriters(resizes, watch.terms).forEach(watch.violate);
    const { counts, terms, violations } = watch;
    const seen = { ...counts, terms: terms.length, resizes: resizes.length };
    return { seed, minutes, ...figures, ...seen, violations };
  } finally {
    end.abort();
    await watching;
  }
}

function areRunning(watch: Watch): true | undefined {
  const pods = watch.scenePods();
  return pods.length >= 10 && pods.every(({ ready }) => ready) && watch.leader() ? true : undefined;
}

type Figures = Omit<
  ChaosReport,
  "seed" | "minutes" | "versions" | "lowered" | "relists" | "terms" | "resizes" | "violations"
>;

/** Kills and acts, then the checks of the quiet end. */
async function playAll(
  parts: EndParts,
  { seed, lengthMs, signal }: {
    readonly seed: number;
    readonly lengthMs: number;
    readonly signal: AbortSignal;
  },
): Promise<Figures> {
  const { watch } = parts;
  const keeper = await createKeeper();
  const keeping = new AbortController();
  const kept = keeper.run(keeping.signal);
  const plan = drawPlan(seed, lengthMs);
  log(`seed ${seed}: ${plan.length} steps in ${lengthMs / 1000} s`);
  let played;
  let endedMs;
  try {
    played = await playSteps(plan, { ...parts, keeper, signal });
  } finally {
    endedMs = performance.now();
    keeping.abort();
    await kept;
  }
  await whenRecovered(parts);
  const recoveredSeconds = (performance.now() - endedMs) / 1000;
  log(`recovered in ${recoveredSeconds.toFixed(1)} s`);
  const restSeconds = await checkRest(parts) / 1000;
  log(`at rest in ${restSeconds.toFixed(1)} s`);
  const restoredSeconds = await checkRestored(parts) / 1000;
  const { done, absent, acts } = played;
  endFaults(watch.ends, done).forEach(watch.violate);
  return {
    kills: TARGETS.map((target) => ({
      target,
      killed: done.filter((one) => one.target === target).length,
      absent: absent.filter((one) => one.target === target).length,
    })),
    acts,
    ownEnds: ownEnds(watch.ends, done).length,
    recoveredSeconds,
    restSeconds,
    restoredSeconds,
  };
}

interface Played {
  readonly done: readonly DoneKill[];
  readonly absent: readonly Kill[];
  readonly acts: number;
}

async function playSteps(
  plan: readonly Step[],
  { keeper, signal, ...parts }: EndParts & {
    readonly keeper: Keeper;
    readonly signal: AbortSignal;
  },
): Promise<Played> {
  const { scene, watch } = parts;
  const began = performance.now();
  const done: DoneKill[] = [];
  const absent: Kill[] = [];
  let acts = 0;
  let userActs: Promise<void> = Promise.resolve();
  for (const step of plan) {
    await pause(Math.max(0, began + step.atMs - performance.now()));
    signal.throwIfAborted();
    if (step.kind === "kill") {
      const { target } = step;
      const pod = programOf(step, watch);
      const killedMs = Date.now();
      const hit = await kill(step, { keeper, pod });
      if (hit) done.push({ target, killedMs, ...pod && { pod: pod.metadata.name } });
      else absent.push(step);
      log(`${hit ? "killed" : "not there:"} ${target}`);
    } else if (step.kind === "burst" || step.kind === "scarcity") {
      if (scene.burst(watch.scenePods(), step)) acts++;
    } else {
      acts++;
      // Users wait for the API server, one act after another; kills go on.
      userActs = userActs.then(() => act(step, parts));
    }
  }
  await userActs;
  await scene.setManaged(true);
  return { done, absent, acts };
}

/** The pod of the program to kill; undefined for a component of the node. */
function programOf({ target }: Kill, watch: Watch): Pod | undefined {
  if (target === "agent") return watch.programs("mbcas-agent")[0];
  const leader = watch.leader();
  if (target === "leader") return leader;
  if (target !== "standby") return undefined;
  return watch.programs("mbcas-controller").find((pod) => pod !== leader);
}

async function kill(
  { target, downMs }: Kill,
  { keeper, pod }: { readonly keeper: Keeper; readonly pod: Pod | undefined },
): Promise<boolean> {
  if (target === "kube-apiserver" || target === "etcd" || target === "kubelet") {
    return await keeper.kill(target, downMs);
  }
  const pid = pod && programIn(pod);
  if (pid === undefined) return false;
  sendSignal(pid, "SIGKILL");
  return true;
}

async function act({ kind }: Act, { scene, watch }: EndParts): Promise<void> {
  try {
    if (kind === "replace") await scene.replaceBare();
    else await scene.setManaged(kind === "optIn");
    log(kind);
  } catch (error) {
    watch.violate({ promise: "UserAct", message: String(error) });
  }
}

/** Kills of one target. */
interface KillCount {
  readonly target: Target;
  /** It ran, and was killed. */
  readonly killed: number;
  /** It was down already, or on its way up. */
  readonly absent: number;
}

/** What the run prints. */
interface ChaosReport {
  readonly seed: number;
  readonly minutes: number;
  readonly kills: readonly KillCount[];
  /** Bursts, opt-outs and opt-ins, and replaced pods. */
  readonly acts: number;
  /** Versions of pods that were checked. */
  readonly versions: number;
  /** Limits that the market lowered, as it does while CPU is scarce. */
  readonly lowered: number;
  /** Lists that replaced a broken watch. */
  readonly relists: number;
  /** Resizes in the API server's audit log, each checked against the Lease. */
  readonly resizes: number;
  /** Times at which another controller took the Lease. */
  readonly terms: number;
  /** Ends of the product's containers that no kill of theirs caused, but an API server that was away. */
  readonly ownEnds: number;
  /** Until all serve and the product is Ready again, after the last kill. */
  readonly recoveredSeconds: number;
  /** Until limits rest, after that. */
  readonly restSeconds: number;
  /** Until every limit is the user's, after the opt-out. */
  readonly restoredSeconds: number;
  readonly violations: readonly DatedBreak[];
}

/** The report for people. */
function chaosTable(report: ChaosReport): string {
  const { seed, minutes, kills, violations } = report;
  const seconds = (value: number): string => `${value.toFixed(1)} s`;
  return [
    `${minutes} minutes, seed ${seed}`,
    ...alignedColumns([
      ["kill -9", "killed", "was down"],
      ...kills.map(({ target, killed, absent }) => [target, `${killed}`, `${absent}`]),
    ]),
    `${report.acts} bursts, opt-outs and new pods; ${report.lowered} limits lowered; ` +
    `${report.terms} terms of leaders`,
    `${report.versions} versions of pods and ${report.resizes} resizes checked, ` +
    `${report.relists} lists`,
    `${report.ownEnds} programs ended by themselves while the API server was away`,
    `back after the last kill in ${seconds(report.recoveredSeconds)}, limits at rest ` +
    `${seconds(report.restSeconds)} later; restored ${seconds(report.restoredSeconds)} after the ` +
    "opt-out",
    ...violations.map(({ at, promise, message }) => `${at} BROKEN ${promise}: ${message}`),
    violations.length === 0 ? "no promise was broken" : `${violations.length} promises broken`,
  ].join("\n");
}

if (import.meta.main) Deno.exitCode = await main(Deno.args);
