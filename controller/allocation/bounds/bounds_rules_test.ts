/** What the rules of the bids make of a pod's bounds, together. */
import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import { MOST_RULES } from "../../../shared/api/pod_allocation.ts";
import { ALLOW_OVERRIDES, MAX_CPU, STARTUP_BOOST } from "../../../shared/api/market_keys.ts";
import {
  sampleContainer,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts, FACTS_NOW_MS } from "../../../tests/fixtures/market/bid_facts.ts";
import { sampleHPA, sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import type { BidFacts } from "../bid_rules/bid_rule.ts";
import { BID_RULES } from "../bid_rules/bid_rules.ts";
import { type BoundsDraft, boundsOf } from "./bounds.ts";
import { priorityMultiplier } from "./priority_multiplier.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function running(change: ContainerFields = {}): PodContainer {
  return sampleContainer({ containerID: `containerd://${change.name ?? "app"}`, ...change });
}

interface Choice {
  readonly containers?: readonly PodContainer[];
  readonly pod?: Partial<Pod>;
  readonly facts?: Partial<BidFacts>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly allowed?: boolean;
  /** Of each container in a quota, and what the pod owes. */
  readonly share?: number;
  readonly owed?: number;
  /** The original limits, where they are not those of the containers. */
  readonly own?: number;
}

const ALLOWING: Namespace = {
  metadata: {
    name: "shop",
    uid: "",
    resourceVersion: "",
    labels: { [ALLOW_OVERRIDES]: "true" },
    annotations: {},
  },
};

/** One container of 100 m requested and 200 m allowed: bounds 100 m and 800 m. */
function draft(choice: Choice = {}): BoundsDraft {
  const { containers = [running()], pod = {}, facts = {}, annotations = {} } = choice;
  const { share, owed = 0 } = choice;
  const sample = samplePod("web", { containers });
  const ready = bidFacts({ ...sample, metadata: { ...sample.metadata, annotations } });
  return boundsOf({
    ...ready,
    pod: { ...ready.pod, ...pod },
    namespace: choice.allowed ? ALLOWING : undefined,
    ...facts,
    priorityMultiplier,
    originalLimits: new Map(
      containers.map(({ name, limits: { cpu: limitCPU = 0 } }) => [name, choice.own ?? limitCPU]),
    ),
    burstFactor: 4,
    ...(share === undefined ? {} : {
      quota: {
        shares: new Map(containers.map(({ name }) => [name, { millicores: share, quota: "cpu" }])),
        owed,
      },
    }),
  });
}

function held(choice: Choice): unknown {
  return draft(choice).containers.map((container) => container.held)[0];
}

const autoscalers = [sampleHPA()];
const rollingOut = { workload: sampleWorkload({ rollout: { updated: 1 } }) };
const draining = { node: { ...sampleNode("node-1"), draining: true as const } };

test("BID_RULES say nothing of a Ready pod that nothing else concerns", () => {
  assert.deepEqual(draft().rules.map(({ reason }) => reason), ["BurstFactor"]);
  assert.equal(held({}), undefined);
  assert.ok(!("untilMs" in draft()) && !("boost" in (draft().containers[0] ?? {})));
});

test("BID_RULES come in a settled order", () => {
  assert.deepEqual(BID_RULES.map(({ name }) => name), [
    "nodeState",
    "unreadableBound",
    "systemCritical",
    "readiness",
    "rollout",
    "horizontalAutoscaler",
    "metricDemand",
  ]);
});

test("boundsOf() takes the strongest hold: both over lower over half", () => {
  assert.equal(held({ facts: { autoscalers } }), "half");
  assert.equal(held({ facts: { autoscalers, ...rollingOut } }), "lower");
  assert.equal(held({ facts: { autoscalers, ...rollingOut, ...draining } }), "both");
  assert.equal(
    held({ facts: draining, pod: { priorityClassName: "system-node-critical" } }),
    "both",
  );
  const restarts = [running({ restartsOnCPU: true })];
  assert.equal(held({ containers: restarts, facts: { autoscalers } }), "both");
});

test("boundsOf() reports every rule that speaks, not only the strongest", () => {
  const { reason, rules } = draft({
    facts: { autoscalers, ...rollingOut, ...draining },
    pod: { ready: false, priorityClassName: "system-cluster-critical" },
  });
  assert.equal(
    reason,
    "NodeDraining, SystemCritical, PodNotReady, RolloutInProgress, HPAFloor, HPADamped, BurstFactor",
  );
  assert.equal(rules.length, 7);
  for (const { message } of rules) assert.notEqual(message, "");
});

test("boundsOf() holds one container alone where a rule is about one", () => {
  const pair = [running(), running({ name: "b", restartsOnCPU: true })];
  const { containers } = draft({ containers: pair, facts: { autoscalers } });
  assert.deepEqual(containers.map((one) => one.held), ["half", "both"]);
});

test("boundsOf() raises the floor to what an HPA's signal needs", () => {
  const sides = (utilization: number, containers = [running()]) => {
    const facts = { autoscalers: [sampleHPA({ cpuTargets: [{ utilization }] })] };
    return draft({ containers, facts }).containers.map(({ floor, ceiling }) => [floor, ceiling]);
  };
  assert.deepEqual(sides(2), [[240, 800]]);
  // Never below what holds without an HPA.
  assert.deepEqual(sides(0.5), [[100, 800]]);
  assert.deepEqual(
    sides(2, [running(), running({ name: "b", requests: { cpu: 300 }, limits: { cpu: 400 } })]),
    [
      [240, 800],
      [720, 1600],
    ],
  );
});

test("boundsOf() cuts that floor at the ceiling, and reports it (HPACapped)", () => {
  const facts = { autoscalers: [sampleHPA({ cpuTargets: [{ utilization: 2 }] })] };
  const annotations = { [MAX_CPU]: "200m" };
  const { containers, rules } = draft({ facts, annotations });
  assert.deepEqual(containers.map(({ floor, ceiling }) => [floor, ceiling]), [[200, 200]]);
  const capped = rules.find(({ reason }) => reason === "HPACapped");
  assert.match(capped?.message ?? "", /app.*240m.*200m/);
  assert.ok(!draft({ facts }).reason.includes("HPACapped"));
});

test("boundsOf() lets a quota have raises back through a hold from below, down to a floor", () => {
  const raised = [running({ limits: { cpu: 400 } })];
  const sides = (to: number, pod: Partial<Pod> = {}, facts: Partial<BidFacts> = {}) => {
    const due = { share: Math.min(300, to), owed: 400 - to };
    const choice = { containers: raised, ...due, pod, facts: { ...rollingOut, ...facts } };
    const [app] = draft({ ...choice, own: 200 }).containers;
    return [app?.floor, app?.ceiling, app?.held];
  };
  assert.deepEqual(sides(400), [100, 300, "lower"]);
  assert.deepEqual(sides(330), [330, 330, undefined]);
  assert.deepEqual(sides(200), [200, 200, undefined]);
  // What is held as it is, and what is critical, keeps what it has.
  assert.deepEqual(sides(330, {}, { autoscalers }), [330, 330, undefined]);
  assert.deepEqual(sides(330, {}, draining), [100, 300, "both"]);
  const critical = { priorityClassName: "system-node-critical" };
  assert.deepEqual(sides(330, critical), [100, 300, "lower"]);
});

test("boundsOf() keeps to a hold from below where another ceiling than the quota's falls", () => {
  const facts = { ...rollingOut, node: { ...sampleNode("node-1"), allocatableCPU: 300 } };
  const containers = [running({ limits: { cpu: 400 } })];
  const [app] = draft({ containers, facts, own: 200, share: 330, owed: 70 }).containers;
  assert.deepEqual([app?.floor, app?.ceiling, app?.held], [330, 330, undefined]);
  const [other] = draft({ containers, facts, own: 200, share: 330 }).containers;
  assert.deepEqual([other?.floor, other?.ceiling, other?.held], [100, 270, "lower"]);
});

test("boundsOf() ends with the first hold that ends by itself", () => {
  const containers = [running({ restartedAtMs: FACTS_NOW_MS - 100_000 })];
  const scaled = sampleHPA({ lastScaleMs: FACTS_NOW_MS - 10_000, stabilizationMs: 60_000 });
  assert.equal(draft({ containers }).untilMs, FACTS_NOW_MS + 200_000);
  assert.equal(
    draft({ containers, facts: { autoscalers: [scaled] } }).untilMs,
    FACTS_NOW_MS + 50_000,
  );
  assert.ok(!("untilMs" in draft({ facts: { autoscalers } })));
});

const BOOST = { [STARTUP_BOOST]: "2.5x,30s" };

test("boundsOf() boosts ceilings while a pod starts, and says so to the agent", () => {
  const starting = { ready: false };
  const [app] = draft({ annotations: BOOST, allowed: true, pod: starting }).containers;
  assert.deepEqual([app?.ceiling, app?.boost, app?.held], [2000, true, "lower"]);
  const [later] = draft({ annotations: BOOST, allowed: true }).containers;
  assert.deepEqual([later?.ceiling, later?.boost, later?.held], [800, undefined, undefined]);
});

test("boundsOf() boosts what max-cpu allows, within what quota and node allow", () => {
  const starting = { ready: false };
  const choice = { annotations: { ...BOOST, [MAX_CPU]: "300m" }, allowed: true, pod: starting };
  assert.equal(draft(choice).containers[0]?.ceiling, 750);
  assert.equal(draft({ ...choice, share: 400 }).containers[0]?.ceiling, 400);
  const node = { ...sampleNode("node-1"), allocatableCPU: 500 };
  assert.equal(draft({ ...choice, facts: { node } }).containers[0]?.ceiling, 450);
});

test("boundsOf() boosts nothing where an administrator does not allow it, or the text is bad", () => {
  const starting = { ready: false };
  const denied = draft({ annotations: BOOST, pod: starting });
  assert.equal(denied.containers[0]?.ceiling, 800);
  assert.match(denied.warnings.join(), /startup-boost: "2.5x,30s" asks for more/);
  const annotations = { [STARTUP_BOOST]: "twice" };
  const bad = draft({ annotations, allowed: true, pod: starting });
  assert.equal(bad.containers[0]?.ceiling, 800);
  assert.match(bad.warnings.join(), /startup-boost: "twice" /);
});

test("boundsOf() reports no more rules than an allocation takes, and every reason all the same", () => {
  const containers = Array.from({ length: 70 }, (_, index) => running({ name: `c${index}` }));
  const { rules, reason } = draft({ containers, facts: { autoscalers } });
  assert.equal(rules.length, MOST_RULES);
  assert.equal(reason, "HPAFloor, HPADamped, BurstFactor");
});

const anyFacts = fc.record({
  requestCPU: fc.integer({ min: 0, max: 2000 }),
  spare: fc.nat(4000),
  utilization: fc.double({ min: 0.01, max: 20, noNaN: true }),
  value: fc.option(fc.nat(20_000), { nil: undefined }),
  share: fc.option(fc.nat(10_000), { nil: undefined }),
  nodeCPU: fc.nat(10_000),
  boost: fc.boolean(),
  ready: fc.boolean(),
});

test("boundsOf() never has a floor above its ceiling, whatever the rules say", () => {
  fc.assert(
    fc.property(anyFacts, ({ requestCPU, spare, utilization, value, nodeCPU, ...rest }) => {
      const containers = [
        running({
          requests: { cpu: requestCPU },
          limits: { cpu: Math.max(1, requestCPU + spare) },
        }),
        running({ name: "b" }),
      ];
      const cpuTargets = [{ utilization }, ...(value === undefined ? [] : [{ value }])];
      const node = { ...sampleNode("node-1"), allocatableCPU: nodeCPU };
      const bounds = draft({
        containers,
        pod: { ready: rest.ready },
        facts: { autoscalers: [sampleHPA({ cpuTargets })], node },
        allowed: true,
        annotations: rest.boost ? BOOST : {},
        ...(rest.share === undefined ? {} : { share: rest.share, owed: 100 }),
      });
      for (const { floor, ceiling } of bounds.containers) {
        assert.ok(Number.isSafeInteger(floor) && Number.isSafeInteger(ceiling));
        assert.ok(10 <= floor && floor <= ceiling, `${floor} ${ceiling}`);
      }
    }),
  );
});
