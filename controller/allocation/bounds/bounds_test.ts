import assert from "node:assert/strict";
import {
  ALLOW_OVERRIDES,
  MAX_CPU,
  PRIORITY_MULTIPLIER,
  STARTUP_BOOST,
} from "../../../shared/api/market_keys.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import { type Pod, type PodContainer, withResources } from "../../../shared/api/pod.ts";
import { MOST_RULES } from "../../../shared/api/pod_allocation.ts";
import { CEILING_REASONS, setsCeiling } from "../../../shared/api/reasons/bound_reasons.ts";
import {
  sampleContainer,
  sampleGuaranteed,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import { bidInput, cpuRanges, INPUT_NOW_MS } from "../../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { sampleHPA, sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import type { BidInput } from "./bid_rules.ts";
import { type BoundsDraft, type BoundsInput, boundsOf } from "./bounds.ts";

function running(change: ContainerFields = {}): PodContainer {
  return sampleContainer({ containerID: `containerd://${change.name ?? "app"}`, ...change });
}

function sized(request: number, limit: number, change: ContainerFields = {}): PodContainer {
  return running({ requests: { cpu: request }, limits: { cpu: limit }, ...change });
}

interface Choice extends Partial<Omit<BidInput, "pod" | "namespace">> {
  readonly containers?: readonly PodContainer[];
  readonly pod?: Partial<Pod>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Whether an administrator lets pods ask for more. */
  readonly allowed?: boolean;
  readonly nodeCPU?: number;
  readonly burstFactor?: number;
  /** Share of each container in a quota, and the amount that the pod owes. */
  readonly share?: number;
  readonly owed?: number;
  readonly own?: number;
  readonly range?: BoundsInput["limitRange"];
  readonly nodeCeiling?: number;
}

const ALLOWING: Namespace = {
  metadata: {
    ...{ name: "shop", uid: "", resourceVersion: "", annotations: {} },
    labels: { [ALLOW_OVERRIDES]: "true" },
  },
};

/** One container of 100 m requested and 200 m allowed: bounds 100 m and 800 m. */
function draft(choice: Choice = {}): BoundsDraft {
  const { containers = [running()], pod = {}, annotations = {}, nodeCPU, burstFactor = 4 } = choice;
  const { share, owed = 0, own, range, nodeCeiling, allowed = false, ...input } = choice;
  const sample = samplePod("web", { containers });
  const ready = bidInput({ ...sample, metadata: { ...sample.metadata, annotations } });
  const node = nodeCPU === undefined
    ? {}
    : { node: { ...sampleNode("node-1"), allocatableCPU: nodeCPU } };
  const shares = new Map(
    containers.map(({ name }) => [name, { millicores: share ?? 0, quota: "cpu" }]),
  );
  return boundsOf({
    ...{ ...ready, ...node, ...input, nodeCeiling, limitRange: range },
    pod: { ...ready.pod, ...pod },
    namespace: allowed ? ALLOWING : undefined,
    config: { burstFactor, leastCeiling: 0, priorityMultipliers: [] },
    originalLimits: new Map(
      containers.flatMap(({ name, limits: { cpu } }) =>
        cpu === undefined ? [] : [[name, own ?? cpu]]
      ),
    ),
    quota: share === undefined ? undefined : { shares, owed },
  });
}

/** Rows of each container's `floor-ceiling`, hold, boost and moving request; then the reasons. */
function table(name: string, rows: readonly (readonly [Choice, expected: string])[]): void {
  pure(name, () => {
    for (const [choice, expected] of rows) {
      const { containers, reason } = draft(choice);
      const texts = containers.map(({ floor, ceiling, held, boost, requestMoves }) =>
        [`${floor}-${ceiling}`, held, boost && "boost", requestMoves && "moves"]
          .filter((one) => one !== undefined).join(" ")
      );
      assert.equal([...texts, reason].join("; "), expected);
    }
  });
}

const autoscalers = [sampleHPA()];
const rollingOut = { workload: sampleWorkload({ rollout: { updated: 1 } }) };
const draining = { node: { ...sampleNode("node-1"), draining: true as const } };
const SYSTEM = { priorityClassName: "system-node-critical" };
const MEMORY = { requests: { memory: 1 }, limits: { memory: 1 } };
const tight = (request: number, limit: number, name = "app"): PodContainer =>
  withResources(sized(request, limit, { name }), MEMORY);
const ofPod = (limits: Pod["containers"][number]["limits"]): Choice => ({
  pod: { podLevel: { requests: {}, limits } },
});
const most = (maxCPU: string): Choice => ({ annotations: { [MAX_CPU]: maxCPU } });
const unlimited = { ...running({ name: "free" }), limits: {} };
const B = { name: "b" };
const two = (...containers: readonly [PodContainer, PodContainer]): Choice => ({ containers });
const guaranteed = (cpu: number, name = "app"): PodContainer =>
  sampleGuaranteed({ name, containerID: "c", requests: { cpu }, limits: { cpu } });

table("boundsOf() puts the floor at the request, 100 m or the original limit", [
  [{ containers: [sized(150, 400)] }, "150-1600; BurstFactor"],
  [{ containers: [sized(20, 400)] }, "100-1600; BurstFactor"],
  [{ containers: [sized(20, 60)] }, "60-240; BurstFactor"],
  [{ containers: [sized(1, 5)] }, "10-20; BurstFactor"],
]);

/** By its reason, each bound that sets the ceiling of container `app`. */
const CEILINGS: readonly (readonly [Choice, expected: string])[] = [
  [{}, "100-800; BurstFactor"],
  [most("300m"), "100-300; MaxCPU"],
  [{ nodeCPU: 500 }, "100-450; NodeSize"],
  [ofPod({ cpu: 500 }), "100-500; PodLevelLimit"],
  [{ range: cpuRanges({ max: 300, min: 120 }) }, "120-300; LimitRange"],
  [{ share: 260 }, "100-260; QuotaExceeded"],
  [{ nodeCeiling: 300 }, "100-300; NodeCapacity"],
  [most("50m"), "100-100; FloorBinds"],
];

table("boundsOf() puts the ceiling at the lowest bound and names it", [
  ...CEILINGS,
  [{ burstFactor: 1 }, "100-200; BurstFactor"],
  [{ burstFactor: 1e300 }, `100-${Number.MAX_SAFE_INTEGER}; BurstFactor`],
  [{ nodeCPU: 0 }, "100-100; FloorBinds"],
  [{ range: cpuRanges({}, { max: 400, min: 150 }) }, "150-400; LimitRange"],
  [{ range: cpuRanges({ max: 90 }) }, "100-100; FloorBinds"],
  [{ containers: [guaranteed(200)], nodeCeiling: 450 }, "200-450 moves; NodeCapacity"],
  [{ ...most("600m"), ...two(running(), sized(50, 100, B)) }, "100-400; 100-200; MaxCPU"],
  [{ ...most("2"), allowed: true }, "100-2000; MaxCPU"],
  // Containers that don't run yet or have no limit take no part.
  [{ containers: [running(), sampleContainer({ name: "b" }), unlimited] }, "100-800; BurstFactor"],
  [{ ...most("1"), containers: [sampleContainer()] }, ""],
]);

pure("boundsOf() sets each ceiling with a ceiling reason, and begins with the container", () => {
  const reasons = CEILINGS.map(([choice]) => {
    const [{ reason, message } = { reason: "", message: "" }] = draft(choice).rules;
    assert.ok(setsCeiling(reason) && message.startsWith("app "), reason);
    return reason;
  });
  assert.deepEqual(reasons.sort(), CEILING_REASONS.toSorted());
  assert.ok(!setsCeiling("HPACapped"));
});

const byAnnotation = "annotation mbcas.io/priority-multiplier";
const times = (multiplier: string): Choice => ({
  annotations: { [PRIORITY_MULTIPLIER]: multiplier },
});

pure("boundsOf() weighs by request and priority, and names the multiplier's source", () => {
  const urgent = { pod: { priority: 4000 } };
  const rows: readonly (readonly [Choice, weight: number, multiplier?: number, by?: string])[] = [
    [{}, 100],
    [{ containers: [sized(0, 200)] }, 1],
    [urgent, 200, 2, "priority 4000"],
    [{ pod: { priority: -1, priorityClassName: "low" } }, 50, 0.5, "priority -1 (class low)"],
    [{ ...urgent, ...times("0.2") }, 20, 0.2, byAnnotation],
    [{ ...urgent, ...times("1") }, 100],
    [times("3"), 100],
    [{ ...times("3"), allowed: true }, 300, 3, byAnnotation],
  ];
  for (const [choice, ...expected] of rows) {
    const { containers: [app], rules } = draft(choice);
    const rule = rules.find(({ reason }) => reason === "WeightMultiplied")?.message;
    const found = [app?.weight, app?.multiplier, rule?.split(": ")[1]];
    assert.deepEqual(found.filter((one) => one !== undefined), expected);
  }
});

const HELD = "HPAFloor, HPADamped, BurstFactor";
const restarting = two(running(), running({ ...B, restartsOnCPU: true }));

table("boundsOf() takes the strongest hold, and reports every rule that speaks", [
  [{ autoscalers }, `100-800 half; ${HELD}`],
  [{ autoscalers, ...rollingOut }, `100-800 lower; RolloutInProgress, ${HELD}`],
  [
    { autoscalers, ...rollingOut, ...draining, pod: { ready: false, ...SYSTEM } },
    `100-800 both; NodeDraining, SystemCritical, PodNotReady, RolloutInProgress, ${HELD}`,
  ],
  [{ ...restarting, autoscalers }, `100-800 half; 100-800 both; ${HELD}, RestartPolicy`],
]);

const tightPair = two(tight(200, 205), tight(200, 400, "proxy"));
const withInit = { pod: { initContainers: [sampleContainer({ name: "init" })] } };

table("boundsOf() keeps the QoS class", [
  [tightPair, "200-820; 210-1600; BurstFactor"],
  [{ ...tightPair, ...withInit }, "200-820; 200-1600; BurstFactor"],
  [{ containers: [tight(200, 205)] }, "200-820 both; BurstFactor, QoSWouldChange"],
  // Resources of the pod as a whole decide alone.
  [ofPod({ memory: 1 }), "100-800; BurstFactor"],
  [{ ...ofPod({ cpu: 900, memory: 1 }), containers: [tight(200, 205)] }, "200-820; BurstFactor"],
  [two(guaranteed(200), guaranteed(50, "b")), "200-800 moves; 50-200 moves; BurstFactor"],
]);

const target = (utilization: number): Choice => ({
  autoscalers: [sampleHPA({ cpuTargets: [{ utilization }] })],
});

table("boundsOf() raises the floor to what an HPA's signal needs, up to the ceiling", [
  [target(2), `240-800 half; ${HELD}`],
  // Never below what holds without an HPA.
  [target(0.5), `100-800 half; ${HELD}`],
  [{ ...target(2), ...two(running(), sized(300, 400, B)) }, `240-800 half; 720-1600 half; ${HELD}`],
  [{ ...target(2), ...most("200m") }, "200-200 half; HPAFloor, HPADamped, MaxCPU, HPACapped"],
]);

const raised = [running({ limits: { cpu: 400 } })];
/** A quota's share for a limit of 400 m with an original one of 200 m, while the pod rolls out. */
const back = (to: number, change: Choice = {}): Choice => ({
  ...{ containers: raised, own: 200, share: Math.min(300, to), owed: 400 - to },
  ...rollingOut,
  ...change,
});
const GIVES = "RolloutInProgress, QuotaExceeded";

table("boundsOf() lets a quota have raises back through a hold from below, down to a floor", [
  [back(400), `100-300 lower; ${GIVES}`],
  [back(330), `330-330; ${GIVES}`],
  [back(200), `200-200; ${GIVES}`],
  [back(330, { autoscalers }), "330-330; RolloutInProgress, HPAFloor, HPADamped, QuotaExceeded"],
  // A container that is held as it is keeps its limit, as does a critical one.
  [back(330, draining), `100-300 both; NodeDraining, ${GIVES}`],
  [back(330, { pod: SYSTEM }), `100-300 lower; SystemCritical, ${GIVES}`],
  // Another ceiling that falls takes nothing back.
  [back(330, { share: 330, nodeCPU: 300 }), "330-330; RolloutInProgress, NodeSize"],
  [back(400, { share: 330, nodeCPU: 300 }), "100-270 lower; RolloutInProgress, NodeSize"],
]);

const BOOST = { [STARTUP_BOOST]: "2.5x,30s" };
const starting = { annotations: BOOST, allowed: true, pod: { ready: false } };
const most300 = { ...starting, annotations: { ...BOOST, [MAX_CPU]: "300m" } };

table("boundsOf() boosts ceilings while a pod starts, within what quota and node allow", [
  [starting, "100-2000 lower boost; PodNotReady, StartupBoost, BurstFactor"],
  [{ ...starting, pod: {} }, "100-800; BurstFactor"],
  [most300, "100-750 lower boost; PodNotReady, StartupBoost, MaxCPU"],
  [{ ...most300, share: 400 }, "100-400 lower boost; PodNotReady, StartupBoost, QuotaExceeded"],
  [{ ...most300, nodeCPU: 500 }, "100-450 lower boost; PodNotReady, StartupBoost, NodeSize"],
]);

pure("boundsOf() ends with the first hold that ends by itself", () => {
  const containers = [running({ restartedAtMs: INPUT_NOW_MS - 100_000 })];
  const scaled = sampleHPA({ lastScaleMs: INPUT_NOW_MS - 10_000, stabilizationMs: 60_000 });
  const endsIn = (choice: Choice): number => (draft(choice).untilMs ?? NaN) - INPUT_NOW_MS;
  assert.equal(endsIn({ containers }), 200_000);
  assert.equal(endsIn({ containers, autoscalers: [scaled] }), 50_000);
  assert.equal(endsIn({ autoscalers }), NaN);
  const warned = (metric: Choice["metric"]) =>
    draft({ metric }).warnings.map(({ message }) => message);
  assert.deepEqual(warned({ missing: "refused", fault: false }), []);
  assert.deepEqual(warned({ missing: "several series", fault: true }), ["several series"]);
  assert.deepEqual(warned({ ignored: "no such query" }), ["no such query"]);
  const demand = new Map([["app", 700]]);
  assert.equal(draft({ metric: { demand, source: "", untilMs: 1 } }).containers[0]?.demand, 700);
});

pure("boundsOf() divides a metric's cores by the requests that the user has written", () => {
  const ready = bidInput(
    samplePod("web", { containers: [guaranteed(500), guaranteed(200, "b")] }),
    { metric: { demand: 0.6, source: "", untilMs: INPUT_NOW_MS + 1 } },
  );
  const own = new Map([["app", 200], ["b", 100]]);
  const { containers } = boundsOf({
    ...ready,
    ...{ originalLimits: own, ownRequests: own },
    config: { burstFactor: 4, leastCeiling: 0, priorityMultipliers: [] },
  });
  assert.deepEqual(containers.map(({ demand }) => demand), [400, 200]);
});

pure("boundsOf() reports as many rules as an allocation takes, and every reason", () => {
  const containers = Array.from({ length: 70 }, (_, index) => running({ name: `c${index}` }));
  const { rules, reason } = draft({ containers, autoscalers });
  assert.equal(rules.length, MOST_RULES);
  assert.equal(reason, HELD);
});
