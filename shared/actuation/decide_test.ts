import assert from "node:assert/strict";
import fc from "fast-check";
import type { Pod, PodContainer } from "../api/pod.ts";
import type { Bounds, PodAllocation } from "../api/pod_allocation.ts";
import { MARKET_CHAIN, RESTORE_CHAIN } from "./chains.ts";
import type { EnforcementInput } from "./check.ts";
import { decide } from "./decide.ts";
import { arbitrate, type Intent } from "./intent.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function container(fields: Partial<PodContainer> = {}): PodContainer {
  return {
    name: "app",
    sidecar: false,
    containerID: "containerd://aa",
    ready: true,
    requestCPU: 100,
    limitCPU: 200,
    appliedLimitCPU: 200,
    restartsOnCPU: false,
    ...fields,
  };
}

function pod(fields: Partial<Pod> = {}): Pod {
  return {
    metadata: {
      name: "web",
      namespace: "shop",
      uid: "u1",
      resourceVersion: "7",
      labels: {},
      annotations: {},
      terminating: false,
    },
    nodeName: "node-1",
    phase: "Running",
    qosClass: "Burstable",
    priority: 0,
    ready: true,
    containers: [container()],
    initContainers: [],
    resizeConditions: [],
    ...fields,
  };
}

function boundsFor(names: readonly string[]): Bounds {
  const wide = { containerID: "containerd://aa", floor: 10, ceiling: 4000, weight: 100 };
  return { revision: 3, reason: "", containers: names.map((name) => ({ name, ...wide })) };
}

const allocation: PodAllocation = {
  apiVersion: "allocation.mbcas.io/v1alpha1",
  kind: "PodAllocation",
  metadata: { name: "u1", namespace: "shop", uid: "a1", resourceVersion: "9" },
  spec: {
    podName: "web",
    podUID: "u1",
    nodeName: "node-1",
    namespace: "shop",
    desiredCPULimit: "400m",
    containers: [{ name: "app", cpuLimit: "400m" }],
    market: {
      mode: "uncongested",
      price: 0,
      demand: 400,
      need: 400,
      credit: 1,
      reason: "Throttled",
      observedBounds: 3,
    },
  },
  status: { bounds: boundsFor(["app", "jvm", "c0", "c1", "c2", "c3", "c4"]) },
};

function wish(limitCPU: number, name = "app"): Intent {
  return { source: "market", container: name, limitCPU, reason: "Throttled" };
}

function input(fields: Partial<EnforcementInput> = {}): EnforcementInput {
  return {
    allocation,
    pod: pod(),
    agentSilent: false,
    intents: arbitrate([wish(400)]),
    backOffMs: 0,
    takeTurn: () => 0,
    ...fields,
  };
}

function heldBy(fields: Partial<EnforcementInput>, chain = MARKET_CHAIN): string {
  const { changes, by, reason } = decide(chain, input(fields));
  assert.deepEqual(changes, []);
  return `${by} ${reason}`;
}

test("decide() changes a limit when no check objects", () => {
  assert.deepEqual(decide(MARKET_CHAIN, input()), {
    changes: [{ name: "app", sidecar: false, limitCPU: 400 }],
  });
});

test("MARKET_CHAIN keeps its order", () => {
  assert.deepEqual(MARKET_CHAIN.map(({ name }) => name), [
    "IdentityDiffers",
    "OutOfScope",
    "AgentIsSilent",
    "BoundsAreStale",
    "OutsideBounds",
    "NotRunning",
    "NotResizable",
    "QoSWouldChange",
    "AlreadyThere",
    "OutsideLimitRange",
    "OverQuota",
    "ResizeInProgress",
    "BackingOff",
    "RateLimited",
  ]);
});

test("RESTORE_CHAIN is the market's without what holds or clamps the user's own value", () => {
  const names = MARKET_CHAIN.map(({ name }) => name);
  const kept = RESTORE_CHAIN.map(({ name }) => name);
  assert.deepEqual(kept, names.filter((name) => kept.includes(name)));
  for (const absent of ["OutOfScope", "AgentIsSilent", "OutsideBounds", "OutsideLimitRange"]) {
    assert.ok(!kept.includes(absent));
  }
});

test("decide() holds for a pod that is gone or another one", () => {
  assert.equal(heldBy({ pod: undefined }), "IdentityDiffers PodGone");
  const reborn = pod({ metadata: { ...pod().metadata, uid: "u2" } });
  assert.equal(heldBy({ pod: reborn }), "IdentityDiffers IdentityMismatch");
  assert.equal(heldBy({ pod: pod({ nodeName: "node-2" }) }), "IdentityDiffers IdentityMismatch");
});

test("decide() holds out of scope, with a silent agent, and with stale bounds", () => {
  const outOfScope = { reason: "OptedOut", message: "the pod says so" } as const;
  assert.equal(heldBy({ outOfScope }), "OutOfScope OptedOut");
  assert.equal(heldBy({ agentSilent: true }), "AgentIsSilent AgentSilent");
  const newer = { ...allocation, status: { bounds: { revision: 4, reason: "", containers: [] } } };
  assert.equal(heldBy({ allocation: newer }), "BoundsAreStale BoundsStale");
  const { podName, podUID, nodeName, namespace } = allocation.spec;
  const fresh = { ...allocation, spec: { podName, podUID, nodeName, namespace } };
  assert.equal(heldBy({ allocation: fresh }), "BoundsAreStale Waiting");
});

test("decide() clamps what the agent wants into the published bounds", () => {
  const beyond = (limitCPU: number): number | undefined =>
    decide(MARKET_CHAIN, input({ intents: arbitrate([wish(limitCPU)]) })).changes[0]?.limitCPU;
  assert.equal(beyond(9000), 4000);
  assert.equal(beyond(1), 10);
  assert.equal(
    heldBy({ intents: arbitrate([wish(400, "stranger")]) }),
    "OutsideBounds OutsideBounds",
  );
});

test("decide() holds for pods that don't run or restart on a change", () => {
  assert.equal(heldBy({ pod: pod({ phase: "Succeeded" }) }), "NotRunning NotRunning");
  const terminating = pod({ metadata: { ...pod().metadata, terminating: true } });
  assert.equal(heldBy({ pod: terminating }), "NotRunning NotRunning");
  const restarting = pod({ containers: [container({ restartsOnCPU: true })] });
  assert.equal(heldBy({ pod: restarting }), "NotResizable ResizeUnsupported");
});

test("decide() goes on with the containers that need no restart", () => {
  const two = pod({ containers: [container(), container({ name: "jvm", restartsOnCPU: true })] });
  const decision = decide(
    MARKET_CHAIN,
    input({ pod: two, intents: arbitrate([wish(400), wish(400, "jvm")]) }),
  );
  assert.deepEqual(decision.changes.map(({ name }) => name), ["app"]);
  assert.equal(decision.reason, "ResizeUnsupported");
});

test("decide() holds when the pod would turn Guaranteed", () => {
  const memory = { requestMemory: 64, limitMemory: 64 };
  const tight = pod({ containers: [container(memory)] });
  const intents = arbitrate([wish(100)]);
  assert.equal(heldBy({ pod: tight, intents }), "QoSWouldChange QoSWouldChange");
});

test("decide() reports what the kubelet reports, rounded or not", () => {
  const asked = (appliedLimitCPU: number): Pod =>
    pod({ containers: [container({ limitCPU: 395, appliedLimitCPU })] });
  const intents = arbitrate([wish(395)]);
  assert.equal(heldBy({ pod: asked(400), intents }), "AlreadyThere Applied");
  assert.equal(heldBy({ pod: asked(200), intents }), "AlreadyThere ResizeInProgress");
  assert.equal(heldBy({ pod: asked(390), intents }), "AlreadyThere ResizeInProgress");
});

test("decide() passes on the kubelet's own reason for a pending resize", () => {
  for (
    const [word, reason] of [["Deferred", "ResizeDeferred"], ["Infeasible", "ResizeInfeasible"]]
  ) {
    const pending = pod({
      containers: [container({ limitCPU: 400 })],
      resizeConditions: [{ type: "PodResizePending", reason: word ?? "", message: "no room" }],
    });
    assert.equal(heldBy({ pod: pending }), `AlreadyThere ${reason}`);
  }
});

test("decide() does not lock a pod at a value that the kubelet will not do", () => {
  const stuck = pod({
    containers: [container({ limitCPU: 900 })],
    resizeConditions: [{ type: "PodResizePending", reason: "Infeasible", message: "no" }],
  });
  assert.deepEqual(decide(MARKET_CHAIN, input({ pod: stuck })).changes, [
    { name: "app", sidecar: false, limitCPU: 400 },
  ]);
});

test("decide() clamps into the LimitRange and goes on", () => {
  const decision = decide(MARKET_CHAIN, input({ limitRange: { max: 300 } }));
  assert.deepEqual(decision.changes, [{ name: "app", sidecar: false, limitCPU: 300 }]);
  assert.equal(decision.by, "OutsideLimitRange");
});

test("decide() makes a partial raise within the quota, and holds without any room", () => {
  const decision = decide(MARKET_CHAIN, input({ quotaHeadroom: 55 }));
  assert.deepEqual(decision.changes, [{ name: "app", sidecar: false, limitCPU: 250 }]);
  assert.equal(decision.reason, "QuotaExceeded");
  assert.equal(heldBy({ quotaHeadroom: 9 }), "OverQuota QuotaExceeded");
  assert.equal(heldBy({ quotaHeadroom: -50 }), "OverQuota QuotaExceeded");
});

test("decide() never raises a pod by more than its quota leaves, and always lets it fall", () => {
  const millicores = fc.integer({ min: 1, max: 100 }).map((steps) => steps * 10);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(millicores, millicores), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: -500, max: 2000 }),
      (pairs, quotaHeadroom) => {
        const containers = pairs.map(([limitCPU], index) =>
          container({ name: `c${index}`, requestCPU: 1, limitCPU, appliedLimitCPU: limitCPU })
        );
        const intents = arbitrate(pairs.map(([, wanted], index) => wish(wanted, `c${index}`)));
        const { changes } = decide(
          MARKET_CHAIN,
          input({ pod: pod({ containers }), intents, quotaHeadroom }),
        );
        const change = changes.reduce(
          (sum, { name, limitCPU }) =>
            sum + limitCPU - (containers.find((c) => c.name === name)?.limitCPU ?? 0),
          0,
        );
        assert.ok(change <= Math.max(0, quotaHeadroom));
        const falls = pairs.filter(([limit, wanted]) => wanted < limit).length;
        if (changes.length > 0) {
          assert.ok(changes.length >= falls);
        }
      },
    ),
  );
});

test("decide() waits for the kubelet, for back-off, and for its turn, in this order", () => {
  const moving = pod({ containers: [container({ limitCPU: 300, appliedLimitCPU: 200 })] });
  const waits = { backOffMs: 1500, takeTurn: () => 40 };
  assert.equal(heldBy({ pod: moving, ...waits }), "ResizeInProgress ResizeInProgress");
  assert.equal(heldBy(waits), "BackingOff BackOff");
  assert.equal(decide(MARKET_CHAIN, input(waits)).retryAfterMs, 1500);
  assert.equal(decide(MARKET_CHAIN, input({ ...waits, backOffMs: 0 })).retryAfterMs, 40);
});

test("decide() takes a turn only when everything else allows the change", () => {
  let taken = 0;
  const takeTurn = (): number => {
    taken++;
    return 0;
  };
  decide(MARKET_CHAIN, input({ takeTurn, agentSilent: true }));
  decide(MARKET_CHAIN, input({ takeTurn, intents: arbitrate([wish(200)]) }));
  decide(MARKET_CHAIN, input({ takeTurn, limitRange: { max: 200 } }));
  assert.equal(taken, 0);
  decide(MARKET_CHAIN, input({ takeTurn }));
  assert.equal(taken, 1);
});

test("arbitrate() lets a restore win over a person, and a person over the market", () => {
  const manual: Intent = { source: "manual", container: "app", limitCPU: 300, reason: "asked" };
  const restore: Intent = { source: "restore", container: "app", limitCPU: 200, reason: "off" };
  assert.equal(arbitrate([wish(400), manual, restore]).get("app"), restore);
  assert.equal(arbitrate([wish(400), manual]).get("app"), manual);
  assert.equal(arbitrate([]).size, 0);
});
