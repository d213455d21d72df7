/**
 * `deno task test:chaos`: kills of every part, at random moments, on the real node of the harness.
 *
 * @module
 */
import { Command } from "commander";
import type { Pod } from "../../../shared/api/pod.ts";
import { auditLog } from "../../../tests/cluster/harness/component.ts";
import { signal as sendSignal } from "../../../tests/cluster/harness/daemon.ts";
import { createKubectl } from "../../../tests/cluster/kubectl.ts";
import { installAllComponents } from "../../../tests/cluster/scene/all_components.ts";
import { clusterInstance } from "../../../tests/cluster/scene/harness_access.ts";
import { openRealNode } from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import { markAudit, readAuditSince } from "../audit_log.ts";
import { benchFlags, columns, goal, printResult, wholeNumber } from "../bench.ts";
import { checkRest, checkRestored, type EndParts, whenRecovered } from "./end_checks.ts";
import { type Act, drawPlan, type Kill, TARGETS } from "./plan.ts";
import { createKeeper, type Keeper, programIn } from "./programs.ts";
import { type DoneKill, endFaults, endsWithoutKill, otherWriters } from "./promises.ts";
import { openScene } from "./scene.ts";
import { Watch } from "./watch.ts";

const { json, minutes, seed } = benchFlags<{ minutes: number; seed: number }>(
  new Command("test:chaos")
    .description(
      "Kills agent, controllers, API server, etcd and kubelet at random, and looks for broken " +
        "promises. Needs root on the node of the harness. Exit code 1: there were some.",
    )
    .option("--minutes <n>", "length of the run", wholeNumber, 10)
    .option("--seed <n>", "of all that is drawn", wholeNumber, 1),
);

const log = (text: string): void => console.error(`${new Date().toISOString()} ${text}`);

interface Played {
  readonly done: readonly DoneKill[];
  readonly absent: readonly Kill[];
  /** Bursts, opt-outs and opt-ins, and replaced pods. */
  readonly acts: number;
  /** When the plan was over, before what it killed last was started again. */
  readonly endedMs: number;
}

/** Kills and acts until the plan is over, then the node's components run again. */
async function playSteps(parts: EndParts, signal: AbortSignal): Promise<Played> {
  const { scene, watch } = parts;
  const keeper = await createKeeper();
  const keeping = new AbortController();
  const kept = keeper.run(keeping.signal);
  const done: DoneKill[] = [];
  const absent: Kill[] = [];
  let acts = 0;
  let userActs: Promise<void> = Promise.resolve();
  const began = performance.now();
  let endedMs = began;
  try {
    for (const step of drawPlan(seed, 60_000 * minutes)) {
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
  } finally {
    endedMs = performance.now();
    keeping.abort();
    await kept;
  }
  return { done, absent, acts, endedMs };
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

using node = await openRealNode();
await using _components = await installAllComponents(createKubectl());
await using scene = await openScene(node);
const audit = await markAudit(auditLog(clusterInstance()));
const watch = new Watch(node, scene);
const parts = { node, scene, watch };
const end = new AbortController();
const interrupt = (): void => end.abort(new Error("Cannot go on: the run was interrupted"));
for (const name of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(name, interrupt);
const watching = watch.run(end.signal);
try {
  await until("pods at their first limits", () => {
    const pods = watch.scenePods();
    const areReady = pods.length >= 10 && pods.every(({ ready }) => ready);
    return areReady && watch.leader() ? true : undefined;
  }, { timeoutMs: 180_000 });
  const { done, absent, acts, endedMs } = await playSteps(parts, end.signal);
  await whenRecovered(parts);
  const recoveredMs = performance.now() - endedMs;
  const restMs = await checkRest(parts);
  const restoredMs = await checkRestored(parts);
  endFaults(watch.ends, done).forEach((one) => watch.violate(one));
  const resizes = await readAuditSince(audit);
  otherWriters(resizes, watch.terms).forEach((one) => watch.violate(one));
  const { violations, terms, versions, lowered } = watch;
  const kills = TARGETS.map((target) => [
    target,
    `${done.filter((one) => one.target === target).length}`,
    `${absent.filter((one) => one.target === target).length}`,
  ]);
  const figures = {
    "bursts, opt-outs and new pods": acts,
    "versions of pods checked": versions,
    "limits lowered": lowered,
    "resizes checked": resizes.length,
    "terms of leaders": terms.length,
    "programs that ended by themselves while the API server was away":
      endsWithoutKill(watch.ends, done).length,
    "ms until the product was back": Math.round(recoveredMs),
    "ms until limits were at rest after that": Math.round(restMs),
    "ms until limits were restored after the opt-out": Math.round(restoredMs),
  };
  printResult({
    json,
    figures: { seed, minutes, kills, ...figures, violations },
    goals: [goal("broken promises", violations.length, { most: 0 })],
    text: [
      `${minutes} minutes, seed ${seed}`,
      columns([["kill -9", "killed", "was down"], ...kills]),
      columns(Object.entries(figures).map(([name, value]) => [name, `${value}`])),
      ...violations.map(({ at, promise, message }) => `${at} BROKEN ${promise}: ${message}`),
    ],
  });
} finally {
  end.abort();
  await watching;
}
