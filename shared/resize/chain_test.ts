import fc from "fast-check";
import assert from "node:assert/strict";
import {
  bounded,
  type ClaimFields as Fields,
  claimTable as table,
  containerAt as at,
  cpuRanges,
  decideClaim,
  decisionText,
  enforcedPod,
  guaranteedContainer,
  guaranteedPair,
  guaranteedPod,
  marketClaim,
  marketDecision as market,
  podOf as pod,
  podWith,
  THERE,
  wants,
} from "../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { type Pod, type ResizeCondition, withResources } from "../api/pod.ts";
import { MANUAL_CHAIN, MARKET_CHAIN, RESTORE_CHAIN } from "./chain.ts";
import { PLATFORM_RULES } from "./checks/platform.ts";
import { qosClassOf } from "./inputs/qos.ts";
import type { PodInput } from "./inputs/resize_input.ts";
import { limitBounds } from "../market/clearing_round.ts";

const namesOf = (chain: readonly { readonly name: string }[]): readonly string[] =>
  chain.map(({ name }) => name);

// tests/golden/expected/market.jsonl has the cases of each check.

pure("the chains keep their order, each a part of the market's", () => {
  assert.deepEqual(namesOf(MARKET_CHAIN), [
    ...["OriginalUnknown", "IdentityMismatch", "Waiting", "BoundsStale", "OutsideBounds"],
    ...["NotRunning", "NeverResizable", "AlreadyThere"],
    ...["RestartPolicy", "OutOfSync", "Oscillating", "StepLimited", "LimitRange/defaults"],
    ...["LimitRange", "QuotaExceeded", "OutOfSync/raised", "QoSWouldChange", "ResizeInProgress"],
    ...["BackOff", "RateLimited"],
  ]);
  // Without what holds or clamps the original value.
  assert.deepEqual(namesOf(RESTORE_CHAIN), [
    ...["OriginalUnknown", "IdentityMismatch", "NotRunning", "AlreadyThere", "RestartPolicy"],
    ...["RestoreBlocked", "ResizeInProgress", "BackOff"],
  ]);
  // Without what a person answers for.
  assert.deepEqual(namesOf(MANUAL_CHAIN), [
    ...["NotRunning", "NeverResizable", "AlreadyThere", "RestartPolicy", "LimitRange/defaults"],
    ...["LimitRange", "QuotaExceeded", "QoSWouldChange", "ResizeInProgress"],
  ]);
});

const byHand = (fields: Fields): string => decisionText(decideClaim(fields, MANUAL_CHAIN));
const restore = (fields: Fields): string => decisionText(decideClaim(fields, RESTORE_CHAIN));

const METADATA = enforcedPod().metadata;

pure("decide() says when to look again", () => {
  const after = (fields: Fields) => decideClaim(fields).retryAfterMs;
  assert.deepEqual([after({ backOffMs: 1500 }), after({ restMs: 300 })], [1500, 300]);
  assert.equal(after({ outOfSync: ["nodes"] }), 2000);
  assert.equal(after({ oscillatingMs: 9000, ...wants(150) }), 9000);
});

pure("decide() keeps a pod Guaranteed whatever limits are wanted", () => {
  const limit = fc.integer({ min: 10, max: 4000 });
  const container = fc.record({ own: limit, wanted: fc.option(limit) });
  fc.assert(fc.property(fc.array(container, { minLength: 1, maxLength: 5 }), (all) => {
    const amount = (cpu: number) => ({ requests: { cpu }, limits: { cpu } });
    const before = guaranteedPod(
      ...all.map(({ own }, index) =>
        guaranteedContainer({ name: `c${index}`, ...amount(own), applied: amount(own) })
      ),
    );
    const claims = all.flatMap(({ wanted }, index) =>
      wanted === null ? [] : [marketClaim(wanted, `c${index}`)]
    );
    const { changes } = decideClaim({ pod: before, claims });
    const after = before.containers.map((one) =>
      withResources(one, changes.find(({ name }) => name === one.name) ?? {})
    );
    assert.equal(qosClassOf(after), "Guaranteed");
    const moved = all.filter(({ own, wanted }) => wanted !== null && wanted !== own);
    assert.equal(changes.length, moved.length);
  }));
});

const small = { limitRange: cpuRanges({ min: 250 }), ...guaranteedPair(200, 400) };

table("decide() makes a partial raise within the quota, and holds without any room", [
  [{ quotaRoom: { millicores: 55 } }, "app 250; QuotaExceeded"],
  [{ quotaRoom: { millicores: 9 } }, "QuotaExceeded"],
  [{ quotaRoom: { millicores: -50 } }, "QuotaExceeded"],
  [{ quotaRoom: { millicores: -50 }, ...wants(150) }, "app 150"],
  // Waits that follow in the chain do not hide that the quota is used up.
  [{ quotaRoom: { millicores: 9 }, restMs: 300 }, "QuotaExceeded"],
  // A raise that a LimitRange asks for is made whole, or not at all.
  [{ ...small, ...wants(150), quotaRoom: { millicores: 50 } }, "app 250/250; LimitRange"],
  [{ ...small, ...wants(150), quotaRoom: { millicores: 49 } }, "QuotaExceeded"],
]);

/** Containers of these present limits that want others, each at its request of 1 m. */
function swaps(pairs: readonly (readonly [present: number, wanted: number])[]): Fields {
  const containers = pairs.map(([cpu], index) =>
    at(cpu, { name: `c${index}`, requests: { cpu: 1 } })
  );
  const claims = pairs.map(([, wanted], index) => marketClaim(wanted, `c${index}`));
  return { ...pod(...containers), claims };
}

const millicores = fc.integer({ min: 1, max: 100 }).map((steps) => steps * 10);

pure("decide() never raises a pod by more than its quota leaves, and always lets it fall", () => {
  const pairs = fc.array(fc.tuple(millicores, millicores), { minLength: 1, maxLength: 5 });
  fc.assert(fc.property(pairs, fc.integer({ min: -500, max: 2000 }), (pairs, millicores) => {
    const { changes } = decideClaim({ ...swaps(pairs), quotaRoom: { millicores } });
    const change = changes.reduce(
      (sum, { name, limits }) => sum + limits.cpu - (pairs[Number(name.slice(1))]?.[0] ?? 0),
      0,
    );
    assert.ok(change <= Math.max(0, millicores));
    const falls = pairs.filter(([limit, wanted]) => wanted < limit).length;
    assert.ok(changes.length === 0 || changes.length >= falls);
  }));
});

const annotated = (annotations: Pod["metadata"]["annotations"]): PodInput => ({
  pod: enforcedPod({ metadata: { ...METADATA, annotations } }),
});
const onNode = (node: PodInput["node"]): PodInput => ({ pod: enforcedPod(), node });

/** Pods and nodes, and the rule by which such a pod can never be resized. */
const RESIZABLE: readonly (readonly [PodInput, rule?: string])[] = [
  [{ pod: enforcedPod() }],
  [{ pod: enforcedPod({ windows: true }) }, "WindowsPod"],
  [onNode({ os: "windows" }), "WindowsPod"],
  [annotated({ "kubernetes.io/config.mirror": "c0ffee" }), "StaticPod"],
  [annotated({ "kubernetes.io/config.source": "file" }), "StaticPod"],
  [annotated({ "kubernetes.io/config.source": "api" })],
  [{ pod: enforcedPod({ claimsNodeResources: true }) }, "DeviceClaims"],
  ...["v1.32.9", "1.9.1"].map((version) =>
    [onNode({ kubeletVersion: version }), "KubeletTooOld"] as const
  ),
  ...["v1.33.0-rc.1", "v1.36.3", "v2.0.0", "", "dev"].map((version) =>
    [onNode({ kubeletVersion: version })] as const
  ),
  // Servers that can't resize these say so themselves.
  [{ pod: enforcedPod({ podLevel: { requests: {}, limits: { cpu: 500 } } }) }],
];

pure("decide() holds for pods that can never be resized from each source, except a restore", () => {
  for (const [input, rule] of RESIZABLE) {
    const expected = rule === undefined ? "app 400" : `NeverResizable ${rule}`;
    assert.deepEqual([market(input), byHand(input), restore(input)], [
      expected,
      expected,
      "app 400",
    ]);
  }
  const rules = new Set(RESIZABLE.flatMap(([, rule]) => rule ?? []));
  assert.deepEqual([...rules], PLATFORM_RULES.map(([reason]) => reason));
});

const EPHEMERAL = ["limits.ephemeral-storage"];
const defaulting = { limitRange: { ...cpuRanges({}), defaults: EPHEMERAL } };

table("decide() keeps to a LimitRange's ratio, and adds no default that the container lacks", [
  // The ratio comes to 252.5 m.
  [
    { ...pod(at(200, { requests: { cpu: 101 } })), limitRange: cpuRanges({ ratio: 2.5 }) },
    "app 252; LimitRange",
  ],
  [{ ...pod(at(200, { otherResources: EPHEMERAL })), ...defaulting }, "app 400"],
  [
    { ...pod(at(200, { otherResources: ["requests.ephemeral-storage"] })), ...defaulting },
    "LimitRange/defaults LimitRange",
  ],
]);

const behind = at(900, { applied: { limits: { cpu: 200 } } });
const failed = (type: ResizeCondition["type"], reason: string): Fields =>
  podWith({ containers: [behind], resizeConditions: [{ type, reason, message: "no" }] });

table("decide() sends other limits after the kubelet has refused the last ones", [
  [failed("PodResizePending", "Infeasible"), "app 400"],
  [failed("PodResizeInProgress", "Error"), "app 400"],
]);

const CLAMPED = "OutsideBounds";

table("decide() clamps what the agent wants into the published bounds", [
  [{ ...bounded({}), ...wants(250) }, "app 250"],
  [{ ...bounded({}), ...wants(90) }, `app 100; ${CLAMPED}`],
  [{ ...bounded({}), ...wants(500) }, `app 400; ${CLAMPED}`],
  [{ claims: [marketClaim(400, "unknown")] }, CLAMPED],
  [{ ...bounded({ held: "lower" }), ...wants(150) }, THERE],
  [{ ...bounded({ held: "lower" }), ...wants(500) }, `app 400; ${CLAMPED}`],
  // The hold takes precedence over a ceiling that has come down, not over a floor that has come up.
  [{ ...bounded({ held: "lower", ceiling: 150 }), ...wants(190) }, THERE],
  [{ ...bounded({ held: "lower", floor: 240 }), ...wants(210) }, `app 240; ${CLAMPED}`],
  [{ ...bounded({ held: "both", floor: 240 }), ...wants(50) }, THERE],
  [{ ...bounded({ held: "half" }), ...wants(150) }, "app 150"],
]);

pure("decide() never clamps what an agent of ours may clear, held or not", () => {
  const side = fc.integer({ min: 1, max: 500 }).map((steps) => 10 * steps);
  const held = fc.constantFrom("half", "lower", "both", undefined);
  fc.assert(
    fc.property(side, side, side, held, fc.double({ min: 0, max: 1, noNaN: true }), (...all) => {
      const [floor, spare, present, hold, part] = all;
      const ceiling = floor + spare;
      const range = limitBounds({
        ...{ floor, ceiling, present, held: hold, weight: 1, credit: 1 },
        ...{ originalLimit: 200, demand: 100 },
      });
      const limit = range.floor + part * (range.ceiling - range.floor);
      const bounds = { floor, ceiling, ...(hold === undefined ? {} : { held: hold }) };
      assert.ok(!market({ ...bounded(bounds, present), ...wants(limit) }).includes("Bounds"));
    }),
  );
});

pure("decide() leads by steps to any limit in the end", () => {
  const limit = fc.integer({ min: 100, max: 2000 });
  fc.assert(
    fc.property(limit, limit, fc.double({ min: 1.1, max: 3, noNaN: true }), (a, b, maxStep) => {
      let present = a;
      for (let steps = 0; present !== b; steps++) {
        assert.ok(steps < 200, `${a} to ${b} by ${maxStep}`);
        const { changes } = decideClaim({ ...pod(at(present)), ...wants(b), maxStep });
        present = changes[0]?.limits.cpu ?? NaN;
      }
    }),
  );
});

pure("decide() never asks for what the LimitRange forbids", () => {
  const requests = fc.oneof({ weight: 9, arbitrary: millicores }, fc.constant(0));
  const range = fc.record({
    min: fc.constantFrom(0, 50, 100),
    max: fc.oneof(fc.constant(Infinity), millicores),
    ratio: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 6 })),
  });
  const sizes = fc.array(fc.tuple(requests, millicores, millicores), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(fc.property(sizes, range, range, (sizes, ofContainer, ofPod) => {
    const containers = sizes.map(([cpu, present], index) =>
      at(Math.max(cpu, present), { name: `c${index}`, requests: { cpu } })
    );
    const claims = sizes.map(([request, , wanted], index) =>
      marketClaim(Math.max(request, wanted), `c${index}`)
    );
    const limitRange = { cpu: { container: ofContainer, pod: ofPod } };
    const { changes } = decideClaim({ ...pod(...containers), claims, limitRange });
    if (changes.length === 0) return;
    const after = containers.map(({ name, requests, limits }) => ({
      request: requests.cpu ?? 0,
      limit: changes.find((change) => change.name === name)?.limits.cpu ?? limits.cpu ?? 0,
    }));
    const total = after.reduce(
      (sum, one) => ({ request: sum.request + one.request, limit: sum.limit + one.limit }),
    );
    const pairs = [...after.map((one) => [one, ofContainer] as const), [total, ofPod] as const];
    for (const [{ request, limit }, { min, max, ratio }] of pairs) {
      assert.ok(request >= min && limit >= min && limit <= max);
      assert.ok(ratio === Infinity || limit <= ratio * request);
      assert.ok(limit >= request && limit >= 1);
    }
  }));
});
