import fc from "fast-check";
import assert from "node:assert/strict";
import type { ContainerFields } from "../../tests/fixtures/container_fields.ts";
import {
  allocationWith,
  bounded,
  type ClaimFields as Fields,
  claimTable as table,
  containerAt as at,
  cpuRanges,
  decideClaim,
  decisionText,
  enforcedAllocation,
  enforcedContainer,
  enforcedPod,
  guaranteedContainer,
  guaranteedPair,
  guaranteedPod,
  jvm,
  marketClaim,
  marketDecision as market,
  podOf as pod,
  podWith,
  THERE,
  wants,
} from "../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { type Pod, withResources } from "../api/pod.ts";
import { MANUAL_CHAIN, MARKET_CHAIN, RESTORE_CHAIN } from "./chain.ts";
import { PLATFORM_RULES } from "./checks/platform.ts";
import { qosClassOf } from "./inputs/qos.ts";
import type { PodInput } from "./inputs/resize_input.ts";

const namesOf = (chain: readonly { readonly name: string }[]): readonly string[] =>
  chain.map(({ name }) => name);

pure("the chains keep their order, each a part of the market's", () => {
  assert.deepEqual(namesOf(MARKET_CHAIN), [
    ...["OriginalUnknown", "IdentityMismatch", "Waiting", "BoundsStale", "OutsideBounds"],
    ...["NotRunning", "NeverResizable", "AlreadyThere"],
    ...["RestartPolicy", "OutOfSync", "Oscillating", "StepLimited", "LimitRange/defaults"],
    ...["LimitRange", "QuotaExceeded", "OutOfSync/raised", "QoSWouldChange", "ResizeInProgress"],
    ...["BackOff", "RateLimited"],
  ]);
  // Without what holds or clamps the user's own value.
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
const { podName, podUID, nodeName, namespace } = enforcedAllocation.spec;
const TIGHT = enforcedContainer({ requests: { memory: 64 }, limits: { memory: 64 } });

// The decision tables of tests/golden have more rows of each of these tables.
table("decide() changes a limit, and holds for identity, the agent and the pod's state", [
  [{}, "app 400"],
  [{ originalUnknown: true }, "OriginalUnknown"],
  [podWith({ metadata: { ...METADATA, uid: "u2" } }), "IdentityMismatch"],
  [allocationWith({ spec: { podName, podUID, nodeName, namespace } }), "Waiting"],
  [podWith({ metadata: { ...METADATA, terminating: true } }), "NotRunning"],
  [
    { ...pod(enforcedContainer(), jvm({ restartsOnCPU: true })), ...wants(400, 400) },
    "app 400; RestartPolicy",
  ],
  // Waits that follow in the chain do not hide it where nothing else is to change.
  [
    { ...pod(enforcedContainer(), jvm({ restartsOnCPU: true })), ...wants(200, 400), restMs: 300 },
    "RestartPolicy",
  ],
  [{ ...pod(TIGHT), ...wants(100) }, "QoSWouldChange"],
  [
    { ...pod(at(200, { limits: { cpu: 300 } })), backOffMs: 1500 },
    "ResizeInProgress",
  ],
  [{ backOffMs: 1500 }, "BackOff"],
  [{ restMs: 300 }, "RateLimited"],
]);

pure("decide() says when to look again", () => {
  const after = (fields: Fields) => decideClaim(fields).retryAfterMs;
  assert.deepEqual([after({ backOffMs: 1500 }), after({ restMs: 300 })], [1500, 300]);
  assert.equal(after({ outOfSync: ["nodes"] }), 2000);
  assert.equal(after({ oscillatingMs: 9000, ...wants(150) }), 9000);
});

const fixed = (fields: ContainerFields): Fields => ({
  pod: guaranteedPod(
    guaranteedContainer({ requests: { cpu: 400 }, limits: { cpu: 400 }, ...fields }),
  ),
});
const own = (requests: number | undefined, limits: number | undefined): ContainerFields => ({
  applied: {
    requests: requests === undefined ? {} : { cpu: requests },
    limits: limits === undefined ? {} : { cpu: limits },
  },
});

table("decide() moves request and limit of a Guaranteed pod together", [
  [{ pod: guaranteedPod() }, "app 400/400"],
  [fixed(own(undefined, 400)), "AlreadyThere ResizeInProgress"],
  // Read back from cpu.weight, which has steps of 26 m.
  [fixed(own(380, 400)), THERE],
  // Its own request is no business of a Burstable pod's limits.
  [pod(at(400, { applied: { requests: { cpu: 50 }, limits: { cpu: 400 } } })), THERE],
  [{ pod: guaranteedPod(), limitRange: cpuRanges({ ratio: 1 }) }, "app 400/400"],
  [
    { pod: guaranteedPod(), limitRange: cpuRanges({}, { max: 350, ratio: 1 }) },
    "app 350/350; LimitRange",
  ],
  [{ pod: guaranteedPod(), quotaRoom: { millicores: 55 } }, "app 250/250; QuotaExceeded"],
  [
    { ...bounded({ floor: 200, ceiling: 300 }), pod: guaranteedPod() },
    "app 300/300; OutsideBounds",
  ],
]);

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

const bare = { ...enforcedContainer({ name: "side" }), requests: {}, limits: {} };
const siblings = pod(enforcedContainer(), bare);
const CPU = { limitRange: { ...cpuRanges({}), defaults: ["limits.cpu", "requests.cpu"] } };

table("decide() gives original limits back where the market may not act, and writes no defaults", [
  [{ pod: guaranteedPod(), ...wants(150) }, "app 150/150"],
  [{ limitRange: cpuRanges({ max: 300 }), quotaRoom: { millicores: 0 } }, "app 400"],
  [{ ...siblings, ...CPU }, "RestoreBlocked"],
  [siblings, "app 400"],
  [{ ...pod(at(400), bare), ...CPU }, THERE],
], restore);

table("decide() of a person's claim asks what the server would refuse, and no bounds", [
  [{ ...bounded({}), ...wants(9000) }, "app 9000"],
  [
    { limitRange: cpuRanges({ max: 500 }), ...wants(9000) },
    "app 500; LimitRange",
  ],
  [{ quotaRoom: { millicores: 0 } }, "QuotaExceeded"],
  [{ ...pod(TIGHT), ...wants(100) }, "QoSWouldChange"],
  [podWith({ phase: "Failed" }), "NotRunning"],
  [{ ...siblings, ...CPU }, "LimitRange/defaults LimitRange"],
], byHand);

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
