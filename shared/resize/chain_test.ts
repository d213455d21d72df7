import assert from "node:assert/strict";
import fc from "fast-check";
import {
  cpuRanges,
  enforcedAllocation,
  enforcedContainer,
  enforcedPod,
  enforcementInput,
  marketClaim,
} from "../../tests/fixtures/market/enforcement_input.ts";
import type { Pod } from "../api/pod.ts";
import { decide, decideManually, MANUAL_CHAIN, MARKET_CHAIN, RESTORE_CHAIN } from "./chain.ts";
import type { EnforcementInput } from "./inputs/resize_input.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const namesOf = (chain: readonly { readonly name: string }[]): readonly string[] =>
  chain.map(({ name }) => name);

test("MARKET_CHAIN keeps its order", () => {
  assert.deepEqual(namesOf(MARKET_CHAIN), [
    "IdentityDiffers",
    "OutOfScope",
    "AgentIsSilent",
    "BoundsAreStale",
    "OutsideBounds",
    "NotRunning",
    "WindowsPod",
    "StaticPod",
    "DeviceClaims",
    "KubeletTooOld",
    "AlreadyThere",
    "RestartsContainer",
    "CopiesOutOfSync",
    "Oscillates",
    "StepTooLarge",
    "WouldWriteDefaults",
    "OutsideLimitRange",
    "OverQuota",
    "QoSWouldChange",
    "ResizeInProgress",
    "BackingOff",
    "ResizedJustNow",
  ]);
});

test("RESTORE_CHAIN is the market's without what holds or clamps the user's own value", () => {
  assert.deepEqual(namesOf(RESTORE_CHAIN), [
    "IdentityDiffers",
    "NotRunning",
    "AlreadyThere",
    "RestartsContainer",
    "WouldWriteDefaults",
    "ResizeInProgress",
    "BackingOff",
  ]);
});

test("MANUAL_CHAIN is the market's without what a person stands for", () => {
  assert.deepEqual(namesOf(MANUAL_CHAIN), [
    "NotRunning",
    "WindowsPod",
    "StaticPod",
    "DeviceClaims",
    "KubeletTooOld",
    "AlreadyThere",
    "RestartsContainer",
    "WouldWriteDefaults",
    "OutsideLimitRange",
    "OverQuota",
    "QoSWouldChange",
    "ResizeInProgress",
  ]);
});

test("RESTORE_CHAIN and MANUAL_CHAIN ask in the market's order", () => {
  const all = namesOf(MARKET_CHAIN);
  for (const chain of [RESTORE_CHAIN, MANUAL_CHAIN]) {
    const names = namesOf(chain);
    assert.deepEqual(names, all.filter((name) => names.includes(name)));
  }
});

function heldBy(fields: Partial<EnforcementInput>, chain = MARKET_CHAIN): string {
  const { changes, by, reason } = decide(chain, enforcementInput(fields));
  assert.deepEqual(changes, []);
  return `${by} ${reason}`;
}

test("decide() changes a limit when no check objects", () => {
  assert.deepEqual(decide(MARKET_CHAIN, enforcementInput()), {
    changes: [{ name: "app", sidecar: false, requests: {}, limits: { cpu: 400 } }],
  });
});

test("decide() holds for a pod that is gone or another one", () => {
  assert.equal(heldBy({ pod: undefined }), "IdentityDiffers PodGone");
  const reborn = enforcedPod({ metadata: { ...enforcedPod().metadata, uid: "u2" } });
  assert.equal(heldBy({ pod: reborn }), "IdentityDiffers IdentityMismatch");
  assert.equal(
    heldBy({ pod: enforcedPod({ nodeName: "node-2" }) }),
    "IdentityDiffers IdentityMismatch",
  );
});

test("decide() holds out of scope, with a silent agent, and with stale bounds", () => {
  const outOfScope = { reason: "OptedOut", message: "the pod says so" } as const;
  assert.equal(heldBy({ outOfScope }), "OutOfScope OptedOut");
  assert.equal(heldBy({ agentSilent: true }), "AgentIsSilent AgentSilent");
  const newer = {
    ...enforcedAllocation,
    status: { bounds: { revision: 4, reason: "", containers: [] } },
  };
  assert.equal(heldBy({ allocation: newer }), "BoundsAreStale BoundsStale");
  const { podName, podUID, nodeName, namespace } = enforcedAllocation.spec;
  const fresh = { ...enforcedAllocation, spec: { podName, podUID, nodeName, namespace } };
  assert.equal(heldBy({ allocation: fresh }), "BoundsAreStale Waiting");
});

test("decide() clamps what the agent wants into the published bounds", () => {
  const beyond = (limitCPU: number): number | undefined =>
    decide(MARKET_CHAIN, enforcementInput({ claims: [marketClaim(limitCPU)] }))
      .changes[0]?.limits.cpu;
  assert.equal(beyond(9000), 4000);
  assert.equal(beyond(1), 10);
  assert.equal(
    heldBy({ claims: [marketClaim(400, "unknown")] }),
    "OutsideBounds OutsideBounds",
  );
});

test("decide() holds for pods that don't run or restart on a change", () => {
  assert.equal(heldBy({ pod: enforcedPod({ phase: "Succeeded" }) }), "NotRunning NotRunning");
  const terminating = enforcedPod({ metadata: { ...enforcedPod().metadata, terminating: true } });
  assert.equal(heldBy({ pod: terminating }), "NotRunning NotRunning");
  const restarting = enforcedPod({ containers: [enforcedContainer({ restartsOnCPU: true })] });
  assert.equal(heldBy({ pod: restarting }), "RestartsContainer RestartPolicy");
});

test("decide() goes on with the containers that need no restart", () => {
  const two = enforcedPod({
    containers: [enforcedContainer(), enforcedContainer({ name: "jvm", restartsOnCPU: true })],
  });
  const decision = decide(
    MARKET_CHAIN,
    enforcementInput({ pod: two, claims: [marketClaim(400), marketClaim(400, "jvm")] }),
  );
  assert.deepEqual(decision.changes.map(({ name }) => name), ["app"]);
  assert.equal(decision.reason, "RestartPolicy");
});

test("decide() holds when the pod would turn Guaranteed", () => {
  const memory = { requests: { memory: 64 }, limits: { memory: 64 } };
  const tight = enforcedPod({ containers: [enforcedContainer(memory)] });
  const claims = [marketClaim(100)];
  assert.equal(heldBy({ pod: tight, claims }), "QoSWouldChange QoSWouldChange");
});

test("decide() holds when a clamp would turn the pod Guaranteed", () => {
  const memory = { requests: { memory: 64 }, limits: { memory: 64 } };
  const tight = enforcedPod({ containers: [enforcedContainer(memory)] });
  const limitRange = cpuRanges({ max: 100 });
  assert.equal(heldBy({ pod: tight, limitRange }), "QoSWouldChange QoSWouldChange");
  const manual = decideManually({ pod: tight, limitRange }, new Map([["app", 400]]));
  assert.deepEqual([manual.changes, manual.reason], [[], "QoSWouldChange"]);
});

test("decide() reports what the kubelet reports, rounded or not", () => {
  const asked = (appliedLimitCPU: number): Pod =>
    enforcedPod({
      containers: [
        enforcedContainer({ limits: { cpu: 395 }, applied: { limits: { cpu: appliedLimitCPU } } }),
      ],
    });
  const claims = [marketClaim(395)];
  assert.equal(heldBy({ pod: asked(400), claims }), "AlreadyThere Applied");
  assert.equal(heldBy({ pod: asked(200), claims }), "AlreadyThere ResizeInProgress");
  assert.equal(heldBy({ pod: asked(390), claims }), "AlreadyThere ResizeInProgress");
});

test("decide() passes on the kubelet's own reason for a pending resize", () => {
  for (
    const [condition, reason] of [["Deferred", "ResizeDeferred"], [
      "Infeasible",
      "ResizeInfeasible",
    ]]
  ) {
    const pending = enforcedPod({
      containers: [enforcedContainer({ limits: { cpu: 400 } })],
      resizeConditions: [{ type: "PodResizePending", reason: condition ?? "", message: "no room" }],
    });
    assert.equal(heldBy({ pod: pending }), `AlreadyThere ${reason}`);
  }
});

test("decide() does not lock a pod at a value that the kubelet will not do", () => {
  const stuck = enforcedPod({
    containers: [enforcedContainer({ limits: { cpu: 900 } })],
    resizeConditions: [{ type: "PodResizePending", reason: "Infeasible", message: "no" }],
  });
  assert.deepEqual(decide(MARKET_CHAIN, enforcementInput({ pod: stuck })).changes, [
    { name: "app", sidecar: false, requests: {}, limits: { cpu: 400 } },
  ]);
});

test("decide() makes a partial raise within the quota, and holds without any room", () => {
  const decision = decide(MARKET_CHAIN, enforcementInput({ quotaHeadroom: 55 }));
  assert.deepEqual(decision.changes, [{
    name: "app",
    sidecar: false,
    requests: {},
    limits: { cpu: 250 },
  }]);
  assert.equal(decision.reason, "QuotaExceeded");
  const named = decide(MARKET_CHAIN, enforcementInput({ quotaHeadroom: 55, quotaName: "cpu" }));
  assert.equal(named.message, decision.message?.replace("the quota", "ResourceQuota cpu"));
  assert.match(named.message ?? "", /^ResourceQuota cpu leaves 55m/);
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
          enforcedContainer({
            name: `c${index}`,
            requests: { cpu: 1 },
            limits: { cpu: limitCPU },
            applied: { limits: { cpu: limitCPU } },
          })
        );
        const claims = pairs.map(([, wanted], index) => marketClaim(wanted, `c${index}`));
        const { changes } = decide(
          MARKET_CHAIN,
          enforcementInput({ pod: enforcedPod({ containers }), claims, quotaHeadroom }),
        );
        const change = changes.reduce(
          (sum, { name, limits }) =>
            sum + limits.cpu - (containers.find((c) => c.name === name)?.limits.cpu ?? 0),
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

test("decide() waits for the kubelet, then for back-off", () => {
  const moving = enforcedPod({
    containers: [enforcedContainer({ limits: { cpu: 300 }, applied: { limits: { cpu: 200 } } })],
  });
  const waits = { backOffMs: 1500 };
  assert.equal(heldBy({ pod: moving, ...waits }), "ResizeInProgress ResizeInProgress");
  assert.equal(heldBy(waits), "BackingOff BackOff");
  assert.equal(decide(MARKET_CHAIN, enforcementInput(waits)).retryAfterMs, 1500);
});

test("decideManually() asks what the server would refuse, and neither scope nor bounds", () => {
  const wanted = new Map([["app", 9000]]);
  assert.deepEqual(decideManually({ pod: enforcedPod() }, wanted), {
    changes: [{ name: "app", sidecar: false, requests: {}, limits: { cpu: 9000 } }],
  });
  const ranged = decideManually(
    { pod: enforcedPod(), limitRange: cpuRanges({ max: 500 }) },
    wanted,
  );
  assert.deepEqual([ranged.changes[0]?.limits.cpu, ranged.reason], [500, "LimitRange"]);
  assert.equal(
    decideManually({ pod: enforcedPod(), quotaHeadroom: 0 }, wanted).reason,
    "QuotaExceeded",
  );
  const memory = { requests: { memory: 64 }, limits: { memory: 64 } };
  const tight = enforcedPod({ containers: [enforcedContainer(memory)] });
  assert.equal(decideManually({ pod: tight }, new Map([["app", 100]])).reason, "QoSWouldChange");
  assert.equal(
    decideManually({ pod: enforcedPod({ phase: "Failed" }) }, wanted).reason,
    "NotRunning",
  );
});
