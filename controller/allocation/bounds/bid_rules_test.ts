import assert from "node:assert/strict";
import type { CPUTarget, HorizontalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import { HPA_COORDINATION } from "../../../shared/api/market_keys.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import { holdOf } from "../../../shared/api/reasons/bound_reasons.ts";
import type { WorkloadKind } from "../../../shared/api/workload.ts";
import { createObjectCache } from "../../../shared/control/object_cache.ts";
import {
  sampleContainer,
  sampleGuaranteed,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { bidInput, cpuRanges, INPUT_NOW_MS } from "../../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  sampleHPA,
  sampleWorkload,
  type WorkloadChoice,
} from "../../../tests/fixtures/sample_workloads.ts";
import { bidEffects, type BidInput } from "./bid_rules.ts";
import {
  namespaceBounds,
  type NamespaceInput,
  nodeCeiling,
  nodeRoom,
  type QuotaBounds,
} from "./namespace_bounds.ts";

interface Change extends Partial<Omit<BidInput, "pod">> {
  readonly pod?: Partial<Pod>;
}

/** The rules' effects: reason, container, values, and in how many ms it ends; without messages. */
function said({ pod, ...input }: Change): readonly string[] {
  const quiet = bidInput(samplePod("web"), input);
  return bidEffects({ ...quiet, pod: { ...quiet.pod, ...pod } }).map((one) => {
    const { reason, container, floor, boost, demand, untilMs } = one;
    const ends = untilMs === undefined ? undefined : `${untilMs - INPUT_NOW_MS} ms`;
    return [reason, container, holdOf(reason), floor, boost, demand, ends]
      .filter((value) => value !== undefined).join(" ");
  });
}

type Rows = readonly (readonly [input: Change, effects: readonly string[]])[];

function table(name: string, rows: Rows): void {
  pure(name, () => {
    for (const [input, effects] of rows) assert.deepEqual(said(input), effects);
  });
}

const ago = (ms: number): number => INPUT_NOW_MS - ms;
const node = (change: Partial<Node>): Change => ({ node: { ...sampleNode("node-1"), ...change } });
const ofClass = (priorityClassName: string): Change => ({ pod: { priorityClassName } });

table("bidEffects() of nodes, unreadable objects and the system's own pods", [
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
]);

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

const stopped: WorkloadChoice = { rollout: { updated: 1, halted: true } };

table("bidEffects() lowers nothing during a rollout, but for one that makes no step any more", [
  [{ workload: sampleWorkload() }, []],
  [{ workload: sampleWorkload(stopped) }, []],
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
});

const heeds = (text?: string): Readonly<Record<string, string>> =>
  text === undefined ? {} : { [HPA_COORDINATION]: text };

function scaled(agoMs: number, stabilizationMs: number): HorizontalPodAutoscaler {
  return sampleHPA({ lastScaleMs: ago(agoMs), stabilizationMs });
}

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

/** Containers that were started so long ago, ms; undefined: they don't run. */
function started(...times: readonly (number | undefined)[]): Partial<Pod> {
  const containers = times.map((ms, index) =>
    sampleContainer({ name: `c${index}`, ...(ms === undefined ? {} : { startedAtMs: ago(ms) }) })
  );
  return { ready: true, readySinceMs: ago(1000), containers };
}

function crashed(acknowledgedMs: number, more: Partial<PodContainer> = {}): Partial<Pod> {
  const containers = [sampleContainer({ ...more, restartedAtMs: ago(400_000) })];
  return { startTimeMs: ago(acknowledgedMs), containers };
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
      [{ ...started(1000), startTimeMs: ago(3_600_000), ...unready }, 599_000],
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

const app = sampleContainer();
const proxy = sampleContainer({ name: "proxy", limits: { cpu: 400 } });
const proxySidecar = { ...proxy, sidecar: true };
const batch = sampleContainer({ name: "batch", requests: { cpu: 50 }, limits: { cpu: 300 } });

function shares(millicores: Readonly<Record<string, number>>, owed = 0): QuotaBounds {
  const of = (share: number) => ({ millicores: share, quota: "cpu" });
  return {
    owed,
    shares: new Map(Object.entries(millicores).map(([name, share]) => [name, of(share)])),
  };
}

interface Choice extends Omit<NamespaceInput, "pod"> {
  readonly containers?: readonly PodContainer[];
  readonly pod?: Partial<Pod>;
}

/** The bounds of all containers but `batch`. */
function boundsOf({ containers = [app, proxy], pod, ...input }: Choice) {
  const participants = containers.filter(({ name }) => name !== "batch")
    .map((container) => ({ container, originalLimit: container.limits.cpu ?? 0 }));
  return namespaceBounds(participants, {
    ...{ pod: { ...samplePod("web", { containers }), ...pod }, ...input },
  });
}

pure("namespaceBounds() has the lowest ceiling that LimitRanges, quotas and the node leave", () => {
  const init = (sidecarsBefore: number): Choice => ({
    containers: [app, proxySidecar],
    pod: {
      initContainers: [sampleContainer({ name: "prepare", limits: { cpu: 700 }, sidecarsBefore })],
    },
    limitRange: cpuRanges({}, { max: 1000 }),
  });
  const podLevel = { pod: { podLevel: { requests: {}, limits: { cpu: 300 } } } };
  const fixed = { containers: [sampleGuaranteed()] };
  const cases: readonly (readonly [Choice, ceilings: readonly number[]])[] = [
    [{}, [Infinity, Infinity]],
    [{ containers: [batch], limitRange: cpuRanges({}, { min: 5, max: 300 }) }, []],
    [{ limitRange: cpuRanges({ max: 350 }) }, [350, 350]],
    [{ limitRange: cpuRanges({ max: 350, ratio: 3 }) }, [300, 300]],
    // A pod's maximum: original limits first, the rest by request, or all by request.
    [{ limitRange: cpuRanges({}, { max: 1000 }) }, [400, 600]],
    [{ limitRange: cpuRanges({}, { ratio: 4 }) }, [300, 500]],
    [{ limitRange: cpuRanges({}, { max: 500 }) }, [250, 250]],
    [{ containers: [app, proxy, batch], limitRange: cpuRanges({}, { max: 1000 }) }, [250, 450]],
    // Beside the init container the sidecar may have 300 m, however little the others take.
    [init(0), [400, 600]],
    [init(1), [400, 300]],
    [{ ...podLevel, limitRange: cpuRanges({}, { max: 300 }) }, [Infinity, Infinity]],
    [{ quota: shares({ app: 250, proxy: 450 }) }, [250, 450]],
    [{ quota: shares({ app: 250 }) }, [250, Infinity]],
    [{ nodeCeiling: 700 }, [250, 450]],
    [{ nodeCeiling: 600 }, [200, 400]],
    [{ nodeCeiling: 1000, containers: [app, proxy, batch] }, [250, 450]],
    // Where the request goes with the limit ratios say nothing.
    [{ ...fixed, limitRange: cpuRanges({ max: 900, ratio: 1 }, { ratio: 1 }) }, [900]],
  ];
  for (const [choice, expected] of cases) {
    const lowest = boundsOf(choice).map(({ ceilings }) =>
      Math.min(...ceilings.map(({ ceiling }) => ceiling))
    );
    assert.deepEqual(lowest, expected);
  }
});

pure("namespaceBounds() takes back what is owed from containers above their shares alone", () => {
  const raised = [["app", 500], ["proxy", 200], ["lowered", 150]] as const;
  const containers = raised.map(([name, cpu]) => sampleContainer({ name, limits: { cpu } }));
  const of = (owed: number) =>
    boundsOf({ containers, quota: shares({ app: 300, proxy: 100, lowered: 400 }, owed) })
      .map(({ loweredLimit }) => loweredLimit);
  assert.deepEqual(of(0), [undefined, undefined, undefined]);
  assert.deepEqual(of(90), [440, 170, undefined]);
  // Shares are never undercut.
  assert.deepEqual(of(1000), [300, 100, undefined]);
});

const NODE = sampleNode("node-1");
const asking = (cpu: number, more = {}) => sampleContainer({ requests: { cpu }, ...more });

pure("nodeRoom() is allocatable less the requests of pods that have not finished", () => {
  const pod = (change: Partial<Pod>, ...containers: readonly PodContainer[]): Pod => ({
    ...{ ...samplePod("web", { containers }), ...change },
  });
  const withInit = (sidecarsBefore: number, ...requests: readonly number[]): Pod =>
    pod(
      { initContainers: requests.map((cpu) => ({ ...asking(cpu), sidecarsBefore })) },
      asking(200),
      asking(50, { name: "proxy", sidecar: true }),
    );
  const cases: readonly (readonly [room: number, ...pods: Pod[]])[] = [
    [4000],
    [2500, pod({ phase: "Running" }, asking(1000), asking(500))],
    [3700, pod({ phase: "Pending" }, asking(300))],
    [4000, pod({ phase: "Succeeded" }, asking(700)), pod({ phase: "Failed" }, asking(700))],
    [-1000, pod({}, asking(5000))],
    // A request that has not fallen yet, and the largest init container beside the sidecars before it.
    [3100, pod({}, asking(100, { applied: { requests: { cpu: 900 } } }))],
    [3750, withInit(1)],
    [3750, withInit(1, 100, 150)],
    [3650, withInit(1, 100, 300)],
    [3700, withInit(0, 100, 300)],
  ];
  for (const [room, ...pods] of cases) assert.equal(nodeRoom(NODE, pods), room);
});

pure("nodeCeiling() is what a Guaranteed pod has and all that is free on its node", () => {
  const cache = createObjectCache<Pod>(({ nodeName }) => [`node/${nodeName}`]);
  const own = samplePod("own", { containers: [sampleGuaranteed(), sampleGuaranteed()] });
  for (const one of [own, samplePod("other", { containers: [asking(2985)] })]) cache.put(one);
  cache.put(samplePod("far", { nodeName: "node-2" }));
  assert.equal(nodeCeiling({ pod: own, node: NODE }, cache), 400 + 610);
  assert.equal(nodeCeiling({ pod: own, node: undefined }, cache), undefined);
  assert.equal(nodeCeiling({ pod: samplePod("web"), node: NODE }, cache), undefined);
  cache.put(samplePod("more", { containers: [asking(1000)] }));
  assert.equal(nodeCeiling({ pod: own, node: NODE }, cache), 400);
});
