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
  UNBOUNDED,
  wants,
} from "../../tests/fixtures/market/decide_claim.ts";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { LimitRangeItem } from "../api/namespace.ts";
import { type Pod, type ResizeCondition, withResources } from "../api/pod.ts";
import { setsCPU } from "./checks/autoscalers.ts";
import { resourceRangesOf } from "./checks/limit_range.ts";
import { quotaCounts, type ScopedPod } from "./checks/resource_quota.ts";
import { MANUAL_CHAIN, MARKET_CHAIN, RESTORE_CHAIN } from "./chain.ts";
import { PLATFORM_RULES } from "./checks/platform.ts";
import { qosClassOf } from "./inputs/qos.ts";
import type { PodInput } from "./inputs/resize_input.ts";
import { limitBounds } from "../market/clearing_round.ts";

const namesOf = (chain: readonly { readonly name: string }[]): string =>
  chain.map(({ name }) => name).join(" ");

// tests/golden/expected/market.jsonl has the cases of each check.

pure("the chains keep their order, each a part of the market's", () => {
  assert.equal(
    namesOf(MARKET_CHAIN),
    "OriginalUnknown IdentityMismatch Waiting BoundsStale OutsideBounds NotRunning NeverResizable " +
      "AlreadyThere RestartPolicy OutOfSync Oscillating StepLimited LimitRange/defaults LimitRange " +
      "QuotaExceeded OutOfSync/raised QoSWouldChange ResizeInProgress BackOff RateLimited",
  );
  // Without what holds or clamps an original limit.
  const restored = "OriginalUnknown IdentityMismatch NotRunning AlreadyThere RestartPolicy";
  assert.equal(namesOf(RESTORE_CHAIN), `${restored} RestoreBlocked ResizeInProgress BackOff`);
  // Without what a person answers for.
  const manual = "NotRunning NeverResizable AlreadyThere RestartPolicy LimitRange/defaults";
  const rest = "LimitRange QuotaExceeded QoSWouldChange ResizeInProgress";
  assert.equal(namesOf(MANUAL_CHAIN), `${manual} ${rest}`);
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

const millicores = fc.integer({ min: 1, max: 100 }).map((steps) => steps * 10);
const limit = fc.integer({ min: 10, max: 4000 });

forAll("decide() keeps a pod Guaranteed whatever limits are wanted", [
  fc.array(fc.record({ own: limit, wanted: fc.option(limit) }), { minLength: 1, maxLength: 5 }),
], (all) => {
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
}, 1);

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

forAll("decide() never raises a pod by more than its quota leaves, and always lets it fall", [
  fc.array(fc.tuple(millicores, millicores), { minLength: 1, maxLength: 5 }),
  fc.integer({ min: -500, max: 2000 }),
], (pairs, millicores) => {
  const containers = pairs.map(([cpu], index) =>
    at(cpu, { name: `c${index}`, requests: { cpu: 1 } })
  );
  const claims = pairs.map(([, wanted], index) => marketClaim(wanted, `c${index}`));
  const { changes } = decideClaim({ ...pod(...containers), claims, quotaRoom: { millicores } });
  const change = changes.reduce(
    (sum, { name, limits }) => sum + limits.cpu - (pairs[Number(name.slice(1))]?.[0] ?? 0),
    0,
  );
  assert.ok(change <= Math.max(0, millicores));
  const falls = pairs.filter(([limit, wanted]) => wanted < limit).length;
  assert.ok(changes.length === 0 || changes.length >= falls);
}, 1);

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

const side = fc.integer({ min: 1, max: 500 }).map((steps) => 10 * steps);

forAll("decide() never clamps what an agent of ours may clear, held or not", [
  side,
  side,
  side,
  fc.constantFrom("half", "lower", "both", undefined),
  fc.double({ min: 0, max: 1, noNaN: true }),
], (floor, spare, present, held, part) => {
  const ceiling = floor + spare;
  const range = limitBounds({
    ...{ floor, ceiling, present, held, weight: 1, credit: 1, originalLimit: 200, demand: 100 },
  });
  const limit = range.floor + part * (range.ceiling - range.floor);
  const bounds = { floor, ceiling, ...(held === undefined ? {} : { held }) };
  assert.ok(!market({ ...bounded(bounds, present), ...wants(limit) }).includes("Bounds"));
}, 1);

const steps = fc.double({ min: 1.1, max: 3, noNaN: true });

forAll("decide() leads by steps to any limit", [limit, limit, steps], (from, to, maxStep) => {
  let present = from;
  for (let round = 0; present !== to; round++) {
    assert.ok(round < 400, `${from} to ${to} by ${maxStep}`);
    const { changes } = decideClaim({ ...pod(at(present)), ...wants(to), maxStep });
    present = changes[0]?.limits.cpu ?? NaN;
  }
}, 1);

const requests = fc.oneof({ weight: 9, arbitrary: millicores }, fc.constant(0));
const amountRange = fc.record({
  min: fc.constantFrom(0, 50, 100),
  max: fc.oneof(fc.constant(Infinity), millicores),
  ratio: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 6 })),
});

forAll("decide() never asks for what the LimitRange forbids", [
  fc.array(fc.tuple(requests, millicores, millicores), { minLength: 1, maxLength: 4 }),
  amountRange,
  amountRange,
], (sizes, ofContainer, ofPod) => {
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
}, 1);

type Policies = Readonly<Record<string, boolean>>;

pure("setsCPU() asks each container's own policy first, then the one for all others", () => {
  const rows: readonly (readonly [sets: boolean, policies?: Policies, mode?: string])[] = [
    [true],
    [true, {}],
    [false, {}, "Off"],
    [false, { app: true }, "Off"],
    [false, { "*": false }],
    [true, { "*": false, proxy: true }],
    [false, { app: false, proxy: false, "*": true }],
    // A container that no policy names is controlled; those that the pod has not got say nothing.
    [true, { app: false }],
    [false, { "*": false, db: true }],
  ];
  for (const [sets, policies, updateMode = "Recreate"] of rows) {
    const cpuPolicies = Object.entries(policies ?? {})
      .map(([container, controlled]) => ({ container, controlled }));
    const vpa = policies === undefined ? { updateMode } : { updateMode, cpuPolicies };
    assert.equal(setsCPU(vpa, ["app", "proxy"]), sets);
  }
});

function range(...items: LimitRangeItem[]) {
  return { metadata: { name: "r", namespace: "shop", uid: "", resourceVersion: "" }, items };
}

pure("resourceRangesOf() has the tightest range of CPU and of memory, and all defaults", () => {
  const defaults = { "requests.memory": "1Gi", "limits.memory": "2Gi" };
  const ranges = resourceRangesOf([
    range({ type: "Container", min: 10, memory: { max: 400, ratio: 2 } }),
    range({ type: "Container", max: 900 }, { type: "Container", memory: { min: 5, max: 300 } }),
    range({ type: "Pod", memory: { max: 800 } }, { type: "Container", defaults }),
    range({ type: "Container", defaults: { ...defaults, "limits.cpu": "500m" } }),
  ]);
  assert.deepEqual(ranges, {
    cpu: { container: { ...UNBOUNDED, min: 10, max: 900 }, pod: UNBOUNDED },
    memory: { container: { min: 5, max: 300, ratio: 2 }, pod: { ...UNBOUNDED, max: 800 } },
    defaults: ["limits.cpu", "limits.memory", "requests.memory"],
  });
  for (const none of [[], [range()], [{ ...range(), unreadable: "Cannot read it" }]]) {
    assert.equal(resourceRangesOf(none), undefined);
  }
  const kept = (item: Omit<LimitRangeItem, "type">) =>
    Object.keys(resourceRangesOf([range({ type: "Pod", ...item })]) ?? {});
  assert.deepEqual([kept({ max: 5 }), kept({ memory: { max: 5 } })], [["cpu"], ["memory"]]);
  assert.deepEqual(kept({ defaults }), ["defaults"]);
});

const plain: ScopedPod = { qosClass: "Burstable" };
const PODS = {
  plain,
  job: { ...plain, hasDeadline: true },
  idle: { qosClass: "BestEffort" },
  high: { ...plain, priorityClassName: "high" },
  low: { ...plain, priorityClassName: "low" },
} as const satisfies Readonly<Record<string, ScopedPod>>;

const EVERY = Object.keys(PODS).join(" ");

pure("quotaCounts() takes scopes as the server does, and unknown ones for any", () => {
  const rows:
    readonly (readonly [counted: string, scope: string, operator?: string, value?: string])[] = [
      ["job", "Terminating"],
      ["plain idle high low", "NotTerminating"],
      ["idle", "BestEffort"],
      ["plain job high low", "NotBestEffort"],
      ["high low", "PriorityClass", "Exists"],
      ["plain job idle", "PriorityClass", "DoesNotExist"],
      ["high", "PriorityClass", "In", "high"],
      ["plain job idle low", "PriorityClass", "NotIn", "high"],
      ...["CrossNamespacePodAffinity", "Tomorrow"].map((scope) => [EVERY, scope] as const),
      [EVERY, "PriorityClass", "Gt", "5"],
      ...["In", "NotIn"].map((operator) => [EVERY, "PriorityClass", operator] as const),
    ];
  const counted = (...scopes: Parameters<typeof quotaCounts>[0]["scopes"]) =>
    Object.entries(PODS).filter(([, pod]) => quotaCounts({ scopes }, pod))
      .map(([name]) => name).join(" ");
  for (const [expected, name, operator = "Exists", value] of rows) {
    const values = value === undefined ? [] : [value, "top"];
    assert.equal(counted({ name, operator, values }), expected);
  }
  assert.equal(counted(), EVERY);
  // All scopes together.
  const high = { name: "PriorityClass", operator: "In", values: ["high"] };
  assert.equal(counted({ name: "NotTerminating", operator: "Exists", values: [] }, high), "high");
});
