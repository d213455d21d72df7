import assert from "node:assert/strict";
import fc from "fast-check";
import type { CPUTarget, HorizontalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import { HPA_COORDINATION } from "../../../shared/api/market_keys.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import { holdOf } from "../../../shared/api/reasons/bound_reasons.ts";
import type { WorkloadKind } from "../../../shared/api/workload.ts";
import {
  sampleContainer,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts, FACTS_NOW_MS } from "../../../tests/fixtures/market/bid_facts.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  sampleHPA,
  sampleWorkload,
  type WorkloadChoice,
} from "../../../tests/fixtures/sample_workloads.ts";
import { bidEffects, type BidFacts } from "./bid_rules.ts";

interface Change extends Partial<Omit<BidFacts, "pod">> {
  readonly pod?: Partial<Pod>;
}

/** What the rules say: reason, container, values, and in how many ms it ends; without messages. */
function said({ pod, ...facts }: Change): readonly string[] {
  const quiet = bidFacts(samplePod("web"), facts);
  return bidEffects({ ...quiet, pod: { ...quiet.pod, ...pod } }).map((one) => {
    const { reason, container, floor, boost, demand, untilMs } = one;
    const ends = untilMs === undefined ? undefined : `${untilMs - FACTS_NOW_MS} ms`;
    return [reason, container, holdOf(reason), floor, boost, demand, ends]
      .filter((value) => value !== undefined).join(" ");
  });
}

type Rows = readonly (readonly [facts: Change, effects: readonly string[]])[];

function table(name: string, rows: Rows): void {
  pure(name, () => {
    for (const [facts, effects] of rows) assert.deepEqual(said(facts), effects);
  });
}

const ago = (ms: number): number => FACTS_NOW_MS - ms;
const node = (change: Partial<Node>): Change => ({ node: { ...sampleNode("node-1"), ...change } });
const ofClass = (priorityClassName: string): Change => ({ pod: { priorityClassName } });

table(
  "bidEffects() of nodes, unreadable objects and the system's own pods",
  [
    [{}, []],
    [node({ pressures: ["MemoryPressure"] }), []],
    [node({ ready: false, draining: true, cordonedAtMs: ago(0) }), ["NodeNotReady both"]],
    [node({ draining: true, cordonedAtMs: ago(0) }), ["NodeDraining both"]],
    [node({ cordonedAtMs: ago(599_999) }), ["NodeCordoned lower 1 ms"]],
    [node({ cordonedAtMs: ago(600_000) }), []],
    [{ unreadable: ["a", "b"] }, ["UnreadableBound both", "UnreadableBound both"]],
    [ofClass("system-cluster-critical"), ["SystemCritical lower"]],
    [ofClass("system-node-critical"), ["SystemCritical lower"]],
    [ofClass("system-critical"), []],
  ],
);

function restarted(agoMs: number, name = "app"): PodContainer {
  return sampleContainer({ name, restartedAtMs: ago(agoMs) });
}

const of = (...containers: readonly PodContainer[]): Change => ({ pod: { containers } });
const sidecar = sampleContainer({ name: "proxy", sidecar: true, crashLooping: true });

table("bidEffects() lowers nothing of a pod in trouble", [
  [{ pod: { ready: false } }, ["PodNotReady lower"]],
  [of(restarted(299_999)), ["RecentRestart lower 1 ms"]],
  [of(restarted(300_000)), []],
  // The last of several restarts counts, and one that this clock has not reached yet is fresh.
  [of(restarted(200_000), restarted(90_000, "b")), ["RecentRestart lower 210000 ms"]],
  [of(restarted(-2000)), ["RecentRestart lower 302000 ms"]],
  [of(sampleContainer(), sidecar), ["CrashLoopBackOff lower"]],
  [
    { pod: { ready: false, containers: [{ ...restarted(60_000), crashLooping: true }] } },
    ["CrashLoopBackOff lower", "RecentRestart lower 240000 ms", "PodNotReady lower"],
  ],
]);

function rolling(kind: WorkloadKind, stillMs?: number): Change {
  const workload = sampleWorkload({ kind, rollout: { updated: 1, total: 4 } });
  return stillMs === undefined ? { workload } : { workload, rolloutStillSinceMs: ago(stillMs) };
}

const standing: WorkloadChoice = { rollout: { updated: 1, stands: true } };

table("bidEffects() lowers nothing during a rollout, but for one that makes no step any more", [
  [{ workload: sampleWorkload() }, []],
  [{ workload: sampleWorkload(standing) }, []],
  [rolling("Deployment"), ["RolloutInProgress lower"]],
  [rolling("Deployment", 600_000), ["RolloutInProgress lower"]],
  [rolling("StatefulSet"), ["RolloutInProgress lower"]],
  [rolling("StatefulSet", 599_000), ["RolloutInProgress lower 1000 ms"]],
  [rolling("StatefulSet", 600_000), []],
  [rolling("DaemonSet", 600_000), []],
]);

const PAIR = [
  sampleContainer({ requests: { cpu: 200 } }),
  sampleContainer({ name: "proxy", requests: { cpu: 100 } }),
];
const bare = { ...sampleContainer({ name: "bare" }), requests: {} };
const free = { ...sampleContainer({ name: "free" }), limits: {} };

function floors(containers: readonly PodContainer[], ...cpuTargets: CPUTarget[]): string {
  const effects = said({ ...of(...containers), autoscalers: [sampleHPA({ cpuTargets })] });
  return effects.filter((one) => one.startsWith("HPAFloor"))
    .map((one) => one.replace("HPAFloor ", "")).join(", ");
}

pure("bidEffects() puts floors at 1.2 times the usage that an HPA aims at", () => {
  const cases: readonly (readonly [string, readonly PodContainer[], ...CPUTarget[]])[] = [
    ["app 120, proxy 60", PAIR, { utilization: 0.5 }],
    // 1.2 × 0.85 × 99 m = 100.98 m, which no rounding down may undercut; 84 m is no floating 84.0…1.
    ["app 101", [sampleContainer({ requests: { cpu: 99 } })], { utilization: 0.85 }],
    ["app 84", [sampleContainer()], { utilization: 0.7 }],
    ["proxy 60", PAIR, { container: "proxy", utilization: 0.5 }],
    ["proxy 300", PAIR, { container: "proxy", value: 250 }],
    ["", PAIR, { container: "other", utilization: 0.5 }],
    // An average value of the pod is split by request.
    ["app 240, proxy 120", PAIR, { value: 300 }],
    ["app 120, proxy 60", [...PAIR, bare], { utilization: 0.5 }],
    ["app 120", [sampleContainer(), free], { value: 200 }],
    ["app 60, app 240", [sampleContainer()], { utilization: 0.5 }, { value: 200 }],
    ["", PAIR],
  ];
  for (const [expected, containers, ...targets] of cases) {
    assert.equal(floors(containers, ...targets), expected);
  }
  const request = fc.integer({ min: 1, max: 64_000 });
  fc.assert(fc.property(request, fc.integer({ min: 1, max: 300 }), (cpu, percent) => {
    const target = { utilization: percent / 100 };
    const found = floors([sampleContainer({ requests: { cpu } })], target);
    const over = Number(found.split(" ")[1]) - 1.2 * cpu * percent / 100;
    assert.ok(over >= -1e-6 && over < 1 + 1e-6, `${over}`);
  }));
});

const heeds = (text?: string): Readonly<Record<string, string>> =>
  text === undefined ? {} : { [HPA_COORDINATION]: text };

function scaled(agoMs: number, stabilizationMs: number): HorizontalPodAutoscaler {
  return sampleHPA({ lastScaleMs: ago(agoMs), stabilizationMs });
}

/** Annotations of the pod, its workload and the HPA. */
function annotated(pod?: string, workload?: string, hpa?: string): Change {
  const { metadata } = samplePod("web");
  const autoscaler = sampleHPA();
  return {
    pod: { metadata: { ...metadata, annotations: heeds(pod) } },
    workload: sampleWorkload({ annotations: heeds(workload) }),
    autoscalers: [{ ...autoscaler, metadata: { ...autoscaler.metadata, annotations: heeds(hpa) } }],
  };
}

const HEEDED = ["HPAFloor app 96", "HPADamped half"];

table("bidEffects() damps under an HPA unless the first annotation that can be read says no", [
  [{ autoscalers: [sampleHPA()] }, HEEDED],
  [{ autoscalers: [scaled(59_999, 60_000)] }, [...HEEDED, "HPAScaled lower 1 ms"]],
  [{ autoscalers: [scaled(60_000, 60_000)] }, HEEDED],
  [{ autoscalers: [scaled(0, 0)] }, HEEDED],
  [{ autoscalers: [sampleHPA({ cpuTargets: [] })] }, []],
  [annotated("false"), []],
  [annotated(undefined, "false"), []],
  [annotated(undefined, undefined, "false"), []],
  [annotated("true", "false"), HEEDED],
  [annotated("maybe", "false"), []],
  [annotated("maybe"), HEEDED],
  [annotated(undefined, "true", "false"), HEEDED],
]);

const source = "query jobs";
const pair = (metric: Change["metric"]): Change => ({ ...of(...PAIR), metric });

table("bidEffects() gives each container its part of a metric's demand", [
  [
    pair({ demand: new Map([["app", 700], ["proxy", 0]]), source, untilMs: FACTS_NOW_MS + 5 }),
    ["MetricDemand app 700 5 ms", "MetricDemand proxy 0 5 ms"],
  ],
  [
    pair({ demand: 0.6, source, untilMs: FACTS_NOW_MS + 5 }),
    ["MetricDemand app 400 5 ms", "MetricDemand proxy 200 5 ms"],
  ],
  [pair({ missing: "query jobs: refused", fault: true }), ["MetricMissing"]],
  [pair({ ignored: "no such query" }), []],
]);

/** Containers that were started so long ago, ms; undefined: they don't run. */
function started(...times: readonly (number | undefined)[]): Partial<Pod> {
  const containers = times.map((ms, index) =>
    sampleContainer({ name: `c${index}`, ...(ms === undefined ? {} : { startedAtMs: ago(ms) }) })
  );
  return { ready: true, readySinceMs: ago(1000), containers };
}

function crashed(takenOnMs: number, more: Partial<PodContainer> = {}): Partial<Pod> {
  const startedAtMs = ago(takenOnMs);
  return { startedAtMs, containers: [sampleContainer({ ...more, restartedAtMs: ago(400_000) })] };
}

pure("bidEffects() boosts a pod that starts, once, for ten minutes at most", () => {
  const unready = { ready: false };
  const rows:
    readonly (readonly [pod: Partial<Pod>, endsInMs?: number | undefined, holdMs?: number])[] = [
      [{ readySinceMs: ago(10_000) }, 20_000],
      [{ readySinceMs: ago(29_999) }, 1],
      [{ readySinceMs: ago(30_000) }],
      [{ readySinceMs: ago(0) }, undefined, 0],
      [{ ...started(0), ...unready }, 600_000],
      [{ ...started(599_999), ...unready }, 1],
      [{ ...started(600_000), ...unready }],
      [{ ...started(undefined), ...unready }, 600_000],
      // It begins no second time for a pod that loses its readiness, or has it back.
      [{ ...started(3_600_000), ...unready }],
      [started(3_600_000)],
      [{ ...started(300_000), ...unready }, 300_000],
      [started(300_000), 29_000],
      // Crashing again and again is no start, running or waiting.
      [{ ...crashed(599_999), ...unready }, 1],
      [{ ...crashed(599_999, { startedAtMs: ago(1000) }), ...unready }, 1],
      [{ ...crashed(600_000), ...unready }],
      // Images may take long; the container that has run for longest counts.
      [{ ...started(1000), startedAtMs: ago(3_600_000), ...unready }, 599_000],
      [{ ...started(3_600_000, 1000, undefined), ...unready }],
      [{ ...started(5000, 1000, undefined), ...unready }, 595_000],
      [{ readySinceMs: -Infinity }],
    ];
  for (const [pod, endsInMs, holdMs = 30_000] of rows) {
    const boosted = said({ pod, startupBoost: { factor: 2, holdMs } })
      .filter((one) => one.startsWith("StartupBoost"));
    assert.deepEqual(boosted, endsInMs === undefined ? [] : [`StartupBoost 2 ${endsInMs} ms`]);
  }
  assert.deepEqual(said({ pod: started(0) }), []);
});
