import { withResources, type Pod, type PodContainer, type Resources } from "../../../shared/api/pod.ts";
import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import { qosClassOf } from "../../../shared/resize/inputs/qos.ts";
import { ALLOW_OVERRIDES, MAX_CPU, PRIORITY_MULTIPLIER } from "../../../shared/api/market_keys.ts";
import { sampleContainer, sampleNode, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts } from "../../../tests/fixtures/market/bid_facts.ts";
import { type BoundsDraft, boundsOf } from "./bounds.ts";
import { priorityMultiplier } from "./priority_multiplier.ts";
import assert from "node:assert/strict";
import fc from "fast-check";

/** A container that runs. */
function running(change: ContainerFields = {}): PodContainer {
  return sampleContainer({ containerID: `containerd://${change.name ?? "app"}`, ...change });
}

interface Choice {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly allowed?: boolean;
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly initContainers?: readonly PodContainer[];
  readonly nodeCPU?: number;
  readonly burstFactor?: number;
  readonly podLevel?: Resources;
}

function podOf(containers: readonly PodContainer[], choice: Choice = {}): Pod {
  const { annotations = {}, priority = 0, initContainers = [], podLevel } = choice;
  const pod = samplePod("web", { containers });
  const level = podLevel === undefined ? {} : { podLevel };
  const named = choice.priorityClassName === undefined
    ? {}
    : { priorityClassName: choice.priorityClassName };
  return {
    ...pod,
    ...level,
    ...named,
    priority,
    initContainers,
    metadata: { ...pod.metadata, annotations },
  };
}

function draft(containers: readonly PodContainer[], choice: Choice = {}): BoundsDraft {
  const namespace: Namespace = {
    metadata: {
      name: "shop",
      uid: "",
      resourceVersion: "",
      labels: choice.allowed ? { [ALLOW_OVERRIDES]: "true" } : {},
      annotations: {},
    },
  };
  const node = choice.nodeCPU === undefined
    ? undefined
    : { ...sampleNode("node-1"), allocatableCPU: choice.nodeCPU };
  return boundsOf({
    ...bidFacts(podOf(containers, choice), { namespace, node }),
    priorityMultiplier,
    originalLimits: new Map(
      containers.flatMap(({ name, limits: { cpu: limitCPU } }) =>
        limitCPU === undefined ? [] : [[name, limitCPU]]
      ),
    ),
    burstFactor: choice.burstFactor ?? 4,
  });
}

function sides(containers: readonly PodContainer[], choice: Choice = {}): readonly number[][] {
  return draft(containers, choice).containers.map(({ floor, ceiling }) => [floor, ceiling]);
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("boundsOf() puts the floor at the request, at 100 m or the original limit, at 10 m at least", () => {
  const floor = (requestCPU: number, limitCPU: number) =>
    draft([running({ requests: { cpu: requestCPU }, limits: { cpu: limitCPU } })]).containers[0]
      ?.floor;
  assert.equal(floor(150, 400), 150);
  assert.equal(floor(20, 400), 100);
  assert.equal(floor(20, 60), 60);
  assert.equal(floor(1, 5), 10);
});

test("boundsOf() puts the ceiling at the lowest bound and names it", () => {
  const app = [running()];
  const { rules: [rule, ...others] } = draft(app);
  assert.deepEqual([rule?.reason, others], ["BurstFactor", []]);
  assert.match(rule?.message ?? "", /app.*800m.*× 4/);
  assert.deepEqual(sides(app), [[100, 800]]);
  assert.deepEqual(sides(app, { burstFactor: 1 }), [[100, 200]]);
  assert.deepEqual(sides(app, { nodeCPU: 500 }), [[100, 450]]);
  assert.equal(draft(app, { nodeCPU: 500 }).reason, "NodeSize");
  assert.deepEqual(sides(app, { annotations: { [MAX_CPU]: "300m" } }), [[100, 300]]);
  const low = draft(app, { annotations: { [MAX_CPU]: "50m" } });
  assert.equal(low.containers[0]?.ceiling, 100);
  assert.equal(low.reason, "FloorBinds");
  assert.match(low.rules[0]?.message ?? "", /app.*100m.*mbcas\.io\/max-cpu.*50m/);
});

test("boundsOf() splits max-cpu over the containers by request", () => {
  const pair = [
    running({ requests: { cpu: 100 }, limits: { cpu: 200 } }),
    running({ name: "proxy", requests: { cpu: 50 }, limits: { cpu: 100 } }),
  ];
  assert.deepEqual(sides(pair, { annotations: { [MAX_CPU]: "600m" } }), [[100, 400], [100, 200]]);
});

test("boundsOf() lets max-cpu raise ceilings only where an administrator allows it", () => {
  const annotations = { [MAX_CPU]: "2" };
  assert.deepEqual(sides([running()], { annotations }), [[100, 800]]);
  assert.equal(draft([running()], { annotations }).warnings.length, 1);
  assert.deepEqual(sides([running()], { annotations, allowed: true }), [[100, 2000]]);
  assert.deepEqual(sides([running()], { annotations, allowed: true, nodeCPU: 1000 }), [[100, 900]]);
});

test("boundsOf() weighs by request and priority, and the annotation stands over the class", () => {
  const weight = (choice: Choice, requestCPU = 100) =>
    draft([running({ requests: { cpu: requestCPU } })], choice).containers[0]?.weight;
  assert.equal(weight({}), 100);
  assert.equal(weight({}, 0), 1);
  assert.equal(weight({ priority: 4000 }), 200);
  assert.equal(weight({ priority: -1 }), 50);
  assert.equal(weight({ priority: 4000, annotations: { [PRIORITY_MULTIPLIER]: "0.2" } }), 20);
  assert.equal(weight({ annotations: { [PRIORITY_MULTIPLIER]: "3" } }), 100);
  assert.equal(weight({ annotations: { [PRIORITY_MULTIPLIER]: "3" }, allowed: true }), 300);
});

test("boundsOf() names the source of the multiplier, and nothing of a multiplier of 1", () => {
  const reported = (choice: Choice) =>
    draft([running({ requests: { cpu: 100 } })], choice).rules
      .filter(({ reason }) => reason === "WeightMultiplied").map(({ message }) => message);
  assert.deepEqual(reported({}), []);
  assert.deepEqual(reported({ priority: 1000 }), []);
  assert.deepEqual(reported({ priority: 4000 }), ["weight × 2.00: priority 4000"]);
  assert.deepEqual(reported({ priority: -1, priorityClassName: "low" }), [
    "weight × 0.50: priority -1 (class low)",
  ]);
  const annotated = { priority: 4000, annotations: { [PRIORITY_MULTIPLIER]: "0.2" } };
  assert.deepEqual(reported(annotated), ["weight × 0.20: annotation mbcas.io/priority-multiplier"]);
  assert.deepEqual(reported({ priority: 4000, annotations: { [PRIORITY_MULTIPLIER]: "1" } }), []);
});

test("boundsOf() leaves out containers that don't run yet or have no limit", () => {
  const unlimited = { ...running({ name: "free" }), limits: {} };
  const names = draft([running(), sampleContainer({ name: "late" }), unlimited]).containers
    .map(({ name }) => name);
  assert.deepEqual(names, ["app"]);
  assert.deepEqual(draft([sampleContainer()], { annotations: { [MAX_CPU]: "1" } }).containers, []);
});

test("boundsOf() holds a container that a CPU change would restart", () => {
  const { containers, reason } = draft([running({ restartsOnCPU: true }), running({ name: "b" })]);
  assert.deepEqual(containers.map(({ held }) => held), ["both", undefined]);
  assert.match(reason, /RestartPolicy/);
});

const MEMORY = { requests: { memory: 1 }, limits: { memory: 1 } };

test("boundsOf() keeps one container above its request where the pod could turn Guaranteed", () => {
  const pair = [
    running({
      ...MEMORY,
      requests: { cpu: 200, ...MEMORY.requests },
      limits: { cpu: 205, ...MEMORY.limits },
    }),
    running({
      name: "proxy",
      ...MEMORY,
      requests: { cpu: 200, ...MEMORY.requests },
      limits: { cpu: 400, ...MEMORY.limits },
    }),
  ];
  assert.deepEqual(sides(pair), [[200, 820], [210, 1600]]);
  const init = sampleContainer({ name: "init" });
  assert.deepEqual(sides(pair, { initContainers: [init] }), [[200, 820], [200, 1600]]);
});

test("boundsOf() holds all containers where none can keep the QoS class", () => {
  const { containers, reason } = draft([
    running({
      ...MEMORY,
      requests: { cpu: 200, ...MEMORY.requests },
      limits: { cpu: 205, ...MEMORY.limits },
    }),
  ]);
  assert.deepEqual(containers.map(({ held }) => held), ["both"]);
  assert.match(reason, /QoSWouldChange/);
});

test("boundsOf() keeps each container within the pod's original limit, which alone decides on QoS", () => {
  const app = [running()];
  assert.deepEqual(sides(app, { podLevel: { requests: {}, limits: { cpu: 500 } } }), [[100, 500]]);
  assert.equal(
    draft(app, { podLevel: { requests: {}, limits: { cpu: 500 } } }).reason,
    "PodLevelLimit",
  );
  assert.deepEqual(sides(app, { podLevel: { requests: {}, limits: { memory: 1 } } }), [[100, 800]]);
  const tight = [
    running({
      ...MEMORY,
      requests: { cpu: 200, ...MEMORY.requests },
      limits: { cpu: 205, ...MEMORY.limits },
    }),
  ];
  const podLevel = {
    ...MEMORY,
    requests: { cpu: 300, ...MEMORY.requests },
    limits: { cpu: 900, ...MEMORY.limits },
  };
  assert.deepEqual(draft(tight, { podLevel }).containers.map(({ held }) => held), [undefined]);
});

test("boundsOf() never holds a Guaranteed pod for its class, and says that its request moves", () => {
  const app = running({
    ...MEMORY,
    requests: { cpu: 200, ...MEMORY.requests },
    limits: { cpu: 200, ...MEMORY.limits },
  });
  const two = draft([app, {
    ...app,
    name: "jvm",
    requests: { ...app.requests, cpu: 50 },
    limits: { ...app.limits, cpu: 50 },
  }]);
  assert.deepEqual(
    two.containers.map((
      { floor, ceiling, held, requestMoves },
    ) => [floor, ceiling, held, requestMoves]),
    [[200, 800, undefined, true], [50, 200, undefined, true]],
  );
  assert.doesNotMatch(two.reason, /QoSWouldChange/);
  assert.deepEqual(draft([running()]).containers.map(({ requestMoves }) => requestMoves), [
    undefined,
  ]);
});

test("boundsOf() names the node where its requests leave a Guaranteed pod no more", () => {
  const app = running({
    ...MEMORY,
    requests: { cpu: 200, ...MEMORY.requests },
    limits: { cpu: 200, ...MEMORY.limits },
  });
  const { containers, reason, rules } = boundsOf({
    ...bidFacts(podOf([app])),
    priorityMultiplier,
    originalLimits: new Map([["app", 200]]),
    burstFactor: 4,
    nodeCeiling: 450,
  });
  assert.deepEqual([containers[0]?.ceiling, reason], [450, "NodeCapacity"]);
  assert.match(rules[0]?.message ?? "", /app.*450m.*requests.*node/);
});

const anyContainer = fc.record({
  request: fc.integer({ min: 0, max: 3000 }),
  spare: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 5000 })),
  memory: fc.boolean(),
});
const anyPod = fc.array(anyContainer, { minLength: 1, maxLength: 5 }).map((all) =>
  all.map(({ request, spare, memory }, index) =>
    running({
      name: `c${index}`,
      requests: { cpu: request, ...(memory ? MEMORY.requests : {}) },
      limits: { cpu: Math.max(1, request + spare), ...(memory ? MEMORY.limits : {}) },
    })
  )
);
const anyChoice = fc.record({
  nodeCPU: fc.integer({ min: 0, max: 10_000 }),
  burstFactor: fc.oneof(fc.double({ min: 1, max: 10, noNaN: true }), fc.constant(1e300)),
  allowed: fc.boolean(),
  annotations: fc.nat(20_000).map((max) => ({ [MAX_CPU]: `${max}m` })),
});

test("boundsOf() keeps 10 m <= floor <= ceiling and request <= floor, in whole millicores", () => {
  fc.assert(
    fc.property(anyPod, anyChoice, (containers, choice) => {
      for (const each of [choice, { burstFactor: choice.burstFactor }]) {
        const bounds = draft(containers, each).containers;
        assert.equal(bounds.length, containers.length);
        for (const [index, { floor, ceiling, weight }] of bounds.entries()) {
          assert.ok(Number.isSafeInteger(floor) && Number.isSafeInteger(ceiling));
          assert.ok(floor >= 10 && floor >= (containers[index]?.requests.cpu ?? 0));
          assert.ok(ceiling >= floor);
          assert.ok(weight > 0 && weight < Infinity);
        }
      }
    }),
  );
});

test("boundsOf() never lets a Burstable pod turn Guaranteed, with all limits at their floors", () => {
  const tight = anyPod.map((containers) => containers.map((each) => withResources(each, MEMORY)));
  fc.assert(
    fc.property(fc.oneof(anyPod, tight), (containers) => {
      fc.pre(qosClassOf(containers) === "Burstable");
      const bounds = draft(containers).containers;
      const atFloor = containers.map((container, index) => {
        const own = bounds[index];
        return own === undefined || own.held === "both"
          ? container
          : { ...container, limits: { ...container.limits, cpu: own.floor } };
      });
      assert.equal(qosClassOf(atFloor), "Burstable");
    }),
  );
});
