import assert from "node:assert/strict";
import type { PodContainer } from "../../../shared/api/pod.ts";
import { CEILING_REASONS, setsCeiling } from "../../../shared/api/reasons/bound_reasons.ts";
import type { AmountRange, AmountRanges } from "../../../shared/resize/inputs/resize_input.ts";
import {
  sampleContainer,
  sampleGuaranteed,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts } from "../../../tests/fixtures/market/bid_facts.ts";
import { boundsOf } from "./bounds.ts";
import { namespaceBounds, type QuotaBounds } from "./namespace_bounds.ts";
import { priorityMultiplier } from "./priority_multiplier.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function ranges(container: Partial<AmountRange>, pod: Partial<AmountRange> = {}): AmountRanges {
  const anything = { min: 0, max: Infinity, ratio: Infinity };
  return { container: { ...anything, ...container }, pod: { ...anything, ...pod } };
}

const app = sampleContainer({ containerID: "containerd://a" });
const proxy = sampleContainer({
  name: "proxy",
  containerID: "containerd://b",
  limits: { cpu: 400 },
});
const participants = (containers: readonly PodContainer[]) =>
  containers.map((container) => ({ container, own: container.limits.cpu ?? 0 }));

function shares(millicores: Readonly<Record<string, number>>): QuotaBounds {
  return {
    shares: new Map(
      Object.entries(millicores).map((
        [name, share],
      ) => [name, { millicores: share, quota: "cpu" }]),
    ),
    owed: 0,
  };
}

interface Choice {
  readonly limitRange?: AmountRanges;
  readonly quota?: QuotaBounds;
  readonly nodeCeiling?: number;
  readonly others?: readonly PodContainer[];
}

/** The lowest ceiling of each container. */
function ceilings(choice: Choice): readonly number[] {
  const { limitRange, quota, nodeCeiling, others = [] } = choice;
  const pod = samplePod("web", { containers: [app, proxy, ...others] });
  return namespaceBounds(participants([app, proxy]), { pod, limitRange, quota, nodeCeiling })
    .map((bound) => Math.min(...bound.ceilings.map(({ ceiling }) => ceiling)));
}

test("namespaceBounds() bounds nothing where the namespace says nothing", () => {
  assert.deepEqual(ceilings({}), [Infinity, Infinity]);
});

test("namespaceBounds() takes a container's max and ratio", () => {
  assert.deepEqual(ceilings({ limitRange: ranges({ max: 350 }) }), [350, 350]);
  assert.deepEqual(ceilings({ limitRange: ranges({ max: 350, ratio: 3 }) }), [300, 300]);
});

test("namespaceBounds() divides a pod's max: original limits first, the rest by request", () => {
  assert.deepEqual(ceilings({ limitRange: ranges({}, { max: 1000 }) }), [400, 600]);
  assert.deepEqual(ceilings({ limitRange: ranges({}, { ratio: 4 }) }), [300, 500]);
  // Original limits that are too much for it are divided by request.
  assert.deepEqual(ceilings({ limitRange: ranges({}, { max: 500 }) }), [250, 250]);
  const others = [sampleContainer({ name: "batch", requests: { cpu: 50 }, limits: { cpu: 300 } })];
  assert.deepEqual(ceilings({ limitRange: ranges({}, { max: 1000 }), others }), [250, 450]);
});

test("namespaceBounds() counts init containers as the pod's maximum does", () => {
  const max = (sidecarsBefore: number): readonly number[] => {
    const sidecar = { ...proxy, sidecar: true };
    const init = sampleContainer({ name: "prepare", limits: { cpu: 700 }, sidecarsBefore });
    const pod = { ...samplePod("web", { containers: [app, sidecar] }), initContainers: [init] };
    return namespaceBounds(participants([app, sidecar]), {
      pod,
      limitRange: ranges({}, { max: 1000 }),
    })
      .map((bound) => Math.min(...bound.ceilings.map(({ ceiling }) => ceiling)));
  };
  assert.deepEqual(max(0), [400, 600]);
  // Beside the init container the sidecar may have 300 m, however little the others take.
  assert.deepEqual(max(1), [400, 300]);
});

test("namespaceBounds() has no pod's maximum for containers where the pod says a total itself", () => {
  const pod = {
    ...samplePod("web", { containers: [app] }),
    podLevel: { requests: {}, limits: { cpu: 300 } },
  };
  const limitRange = ranges({}, { max: 300 });
  const [bound] = namespaceBounds(participants([app]), { pod, limitRange });
  assert.ok(bound?.ceilings.every(({ ceiling }) => ceiling === Infinity));
});

test("namespaceBounds() bounds each container by its share of a quota", () => {
  assert.deepEqual(ceilings({ quota: shares({ app: 250, proxy: 450 }) }), [250, 450]);
  assert.deepEqual(ceilings({ quota: shares({ app: 250 }) }), [250, Infinity]);
});

test("namespaceBounds() takes back what is owed from containers above their shares alone", () => {
  const participant = (limitCPU: number, name: string) => ({
    container: sampleContainer({ name, limits: { cpu: limitCPU } }),
    own: 100,
  });
  const raised = [participant(500, "app"), participant(200, "proxy"), participant(150, "lowered")];
  const pod = samplePod("web", { containers: raised.map(({ container }) => container) });
  const quota = shares({ app: 300, proxy: 100, lowered: 400 });
  const of = (owed: number) =>
    namespaceBounds(raised, { pod, quota: { ...quota, owed } }).map(({ backTo }) => backTo);
  assert.deepEqual(of(0), [undefined, undefined, undefined]);
  assert.deepEqual(of(90), [440, 170, undefined]);
  // Shares are never undercut.
  assert.deepEqual(of(1000), [300, 100, undefined]);
});

test("namespaceBounds() divides what the node allows: present limits first", () => {
  assert.deepEqual(ceilings({ nodeCeiling: 700 }), [250, 450]);
  assert.deepEqual(ceilings({ nodeCeiling: 600 }), [200, 400]);
});

test("namespaceBounds() passes over ratios where the request goes with the limit", () => {
  const container = sampleGuaranteed({ containerID: "containerd://a" });
  const pod = samplePod("web", { containers: [container] });
  const limitRange = ranges({ max: 900, ratio: 1 }, { ratio: 1 });
  const [bound] = namespaceBounds(participants([container]), { pod, limitRange });
  assert.equal(Math.min(...(bound?.ceilings ?? []).map(({ ceiling }) => ceiling)), 900);
});

test("boundsOf() names the namespace's bound where it is the lowest, and lifts the floor", () => {
  const pod = samplePod("web", { containers: [app] });
  const draft = (choice: Choice) =>
    boundsOf({
      ...bidFacts(pod, { node: { ...sampleNode("node-1"), allocatableCPU: 8000 } }),
      priorityMultiplier,
      originalLimits: new Map([["app", 200]]),
      burstFactor: 4,
      limitRange: { ...(choice.limitRange && { cpu: choice.limitRange }) },
      quota: choice.quota,
    });
  const cases = [
    [{}, [100, 800, "BurstFactor"]],
    [{ limitRange: ranges({ max: 300, min: 120 }) }, [120, 300, "LimitRange"]],
    [{ limitRange: ranges({}, { max: 400, min: 150 }) }, [150, 400, "LimitRange"]],
    [{ quota: shares({ app: 260 }) }, [100, 260, "QuotaExceeded"]],
    [{ limitRange: ranges({ max: 90 }) }, [100, 100, "FloorBinds"]],
  ] as const;
  for (const [choice, expected] of cases) {
    const { reason, containers } = draft(choice);
    const [bound] = containers;
    assert.deepEqual([bound?.floor, bound?.ceiling, reason], expected);
  }
});

test("boundsOf() sets each ceiling with a ceiling reason, and begins with the container", () => {
  const node = { ...sampleNode("node-1"), allocatableCPU: 8000 };
  const annotations = { "mbcas.io/max-cpu": "300m" };
  const usual = {
    ...bidFacts(samplePod("web", { containers: [app] }), { node }),
    ...{ priorityMultiplier, originalLimits: new Map([["app", 200]]), burstFactor: 4 },
  };
  const { pod } = usual;
  const cases: readonly (readonly [reason: string, change: Partial<typeof usual> & Choice])[] = [
    ["BurstFactor", {}],
    ["MaxCPU", { pod: { ...pod, metadata: { ...pod.metadata, annotations } } }],
    ["NodeSize", { node: { ...node, allocatableCPU: 300 } }],
    ["PodLevelLimit", { pod: { ...pod, podLevel: { requests: {}, limits: { cpu: 300 } } } }],
    ["LimitRange", { limitRange: ranges({ max: 300 }) }],
    ["QuotaExceeded", { quota: shares({ app: 300 }) }],
    ["NodeCapacity", { nodeCeiling: 300 }],
    ["FloorBinds", { nodeCeiling: 50 }],
  ];
  for (const [expected, { others: _others, limitRange, ...change }] of cases) {
    const { rules } = boundsOf({
      ...usual,
      ...change,
      limitRange: { ...(limitRange && { cpu: limitRange }) },
    });
    assert.deepEqual(rules.map(({ reason }) => reason), [expected]);
    assert.ok(setsCeiling(expected) && rules[0]?.message.startsWith("app "), expected);
  }
  assert.deepEqual(cases.map(([expected]) => expected).sort(), CEILING_REASONS.toSorted());
  assert.ok(!setsCeiling("HPACapped"));
});
