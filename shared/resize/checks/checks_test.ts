import fc from "fast-check";
import assert from "node:assert/strict";
import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import {
  type ClaimFields as Fields,
  claimTable as table,
  containerAt as at,
  cpuRanges,
  decideClaim,
  enforcedContainer,
  enforcedPod,
  marketClaim,
  podOf as pod,
  podWith,
} from "../../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  bareContainer,
  clampsOf,
  MI,
  outcomeOf,
  recommendation,
  rightsizingSnapshot,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { sampleHPA } from "../../../tests/fixtures/sample_workloads.ts";
import type { LimitRangeBounds, LimitRangeItem } from "../../api/namespace.ts";
import type { Pod, Resources } from "../../api/pod.ts";
import { marketSubject } from "../inputs/subject.ts";
import { setsCPU } from "./autoscalers.ts";
import { largestLimit, resourceRangesOf } from "./limit_range.ts";
import { nodeShortages } from "./node_capacity.ts";
import { quotaCounts, type ScopedPod } from "./resource_quota.ts";
import { disruptions, disruptionVerdict } from "./restart_policy.ts";

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

const BOTH = "InPlace: app cpu 150m, app memory 96Mi";

pure("horizontalAutoscalerConflicts() leaves alone what an HPA divides by its request", () => {
  const hpa = (change: Parameters<typeof sampleHPA>[0] = {}) => ({
    autoscalers: [sampleHPA(change)],
  });
  const memory = hpa({ cpuTargets: [], memoryTargets: [{}] });
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  const ofLog = hpa({ cpuTargets: [{ container: "log", utilization: 0.8 }] });
  const rows: readonly (readonly [Parameters<typeof outcomeOf>[0], string | RegExp])[] = [
    [hpa(), "InPlace: app memory 96Mi"],
    [{ ...hpa(), strategy: { allowWithHPA: true } }, BOTH],
    [
      { ...hpa(), strategy: { updateRequestsOnly: false } },
      "InPlace: app memory 96Mi (limit 112Mi)",
    ],
    [memory, "InPlace: app cpu 150m"],
    [{ ...memory, strategy: { allowWithHPA: true } }, BOTH],
    [hpa({ cpuTargets: [], memoryTargets: [{ container: "log" }] }), BOTH],
    [
      { ...hpa(), recommendations: [recommendation({ memory: 64 * MI })] },
      /^HorizontalAutoscalerConflicts HPAConflict: /,
    ],
    // One that divides by no request.
    [hpa({ cpuTargets: [{ value: 300 }] }), BOTH],
    [hpa({ cpuTargets: [] }), BOTH],
    [{ ...ofLog, containers }, "InPlace: app cpu 150m, app memory 96Mi, log memory 96Mi"],
  ];
  for (const [input, expected] of rows) {
    const outcome = outcomeOf(input);
    if (typeof expected === "string") assert.equal(outcome, expected);
    else assert.match(outcome, expected);
  }
  assert.match(clampsOf(hpa()).join(), / HPAConflict: .*web-hpa .*CPU .*app /);
  assert.match(clampsOf(memory).join(), / HPAConflict: .*memory .*app /);
});

pure("requestAboveLimit() cuts requests at the least limit that stays", () => {
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  const large = { containers, recommendations: [recommendation({ cpu: 500, memory: 512 * MI })] };
  assert.equal(outcomeOf(large), "InPlace: app cpu 200m, app memory 128Mi");
  const cut =
    /RequestAboveLimit: .*app cpu request 500m to 200m, app memory request 512Mi to 128Mi/;
  assert.match(clampsOf(large).join(), cut);
  assert.deepEqual(clampsOf(), []);
  // Its limit moves, or it has none.
  const recommendations = [recommendation({ cpu: 500, cpuLimit: 600 })];
  const moving = { recommendations, strategy: { updateRequestsOnly: false } };
  const moved = "InPlace: app cpu 500m (limit 600m), app memory 96Mi (limit 112Mi)";
  assert.equal(outcomeOf(moving), moved);
  const unlimited = { ...templateContainer(), limits: { memory: 128 * MI } };
  const free = outcomeOf({ containers: [unlimited], recommendations });
  assert.equal(free, "InPlace: app cpu 500m, app memory 96Mi");
  // Another pod has a lower limit, which the market has set.
  const template = templateContainer({ limits: { cpu: 1000 } });
  const low = workloadPod("web-1", [templateContainer({ limits: { cpu: 130 } })]);
  const input = { containers: [template], pods: [low], marketManages: true };
  assert.equal(outcomeOf(input), "InPlace: app cpu 130m, app memory 96Mi");
});

pure("requestAboveLimit() holds where the pod as a whole may have no more", () => {
  const { workload } = rightsizingSnapshot();
  const within = (cpu: number): string => {
    const podLevel = { requests: { cpu }, limits: { cpu: 400 } };
    const template = { ...workload.template, podLevel };
    return outcomeOf({ workload: { ...workload, template }, pods: [] });
  };
  assert.match(within(120), /^RequestAboveLimit PodLevelLimit: new pods .*120m of cpu, .*150m$/);
  assert.match(within(150), /^InPlace: /);
});

pure("nodeShortages() are what a pod requests above the known allocatable of its node", () => {
  const one = bareContainer("app", { requests: { cpu: 300, memory: 64 * MI }, limits: {} });
  const pod = { containers: [one, { ...one, name: "log" }], initContainers: [] };
  const short = (node: Parameters<typeof nodeShortages>[1]) => nodeShortages(pod, node);
  const memory = { resource: "memory", most: 100 * MI, total: 128 * MI };
  assert.deepEqual(short({ allocatableCPU: 500, allocatableMemory: 128 * MI }), [
    { resource: "cpu", most: 500, total: 600 },
  ]);
  assert.deepEqual(short({ allocatableCPU: 600, allocatableMemory: 100 * MI }), [memory]);
  assert.deepEqual([short({ allocatableCPU: 0 }), short(undefined)], [[], []]);
});

function range(...items: LimitRangeItem[]) {
  return { metadata: { name: "r", namespace: "shop", uid: "", resourceVersion: "" }, items };
}

const ANYTHING = { min: 0, max: Infinity, ratio: Infinity };

pure("resourceRangesOf() has the tightest range of CPU and of memory, and all defaults", () => {
  const defaults = { "requests.memory": "1Gi", "limits.memory": "2Gi" };
  const ranges = resourceRangesOf([
    range({ type: "Container", min: 10, memory: { max: 400, ratio: 2 } }),
    range({ type: "Container", max: 900 }, { type: "Container", memory: { min: 5, max: 300 } }),
    range({ type: "Pod", memory: { max: 800 } }, { type: "Container", defaults }),
    range({ type: "Container", defaults: { ...defaults, "limits.cpu": "500m" } }),
  ]);
  assert.deepEqual(ranges, {
    cpu: { container: { ...ANYTHING, min: 10, max: 900 }, pod: ANYTHING },
    memory: { container: { min: 5, max: 300, ratio: 2 }, pod: { ...ANYTHING, max: 800 } },
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

pure("resourceRangesOf() reads each resource as if nothing were said of the other", () => {
  const bounds: fc.Arbitrary<LimitRangeBounds> = fc.record(
    { min: fc.nat(1000), max: fc.nat(1000), ratio: fc.integer({ min: 1, max: 9 }) },
    { requiredKeys: [] },
  );
  const type = fc.constantFrom<LimitRangeItem["type"]>("Container", "Pod");
  fc.assert(fc.property(fc.array(fc.tuple(type, bounds, bounds), { maxLength: 5 }), (all) => {
    const of = (item: (one: typeof all[number]) => LimitRangeItem) =>
      resourceRangesOf([range(...all.map(item))]);
    const cpuOnly = of(([type, cpu]) => ({ type, ...cpu }))?.cpu;
    assert.deepEqual(of(([type, cpu, memory]) => ({ type, ...cpu, memory }))?.cpu, cpuOnly);
    const swapped = of(([type, cpu, memory]) => ({ type, ...memory, memory: cpu }));
    assert.deepEqual(swapped?.memory, cpuOnly ?? (all.length > 0 ? swapped?.memory : undefined));
  }));
});

pure("largestLimit() is the smaller of max and what the ratio allows beside the request", () => {
  const of = (max: number, ratio: number, request: number) =>
    largestLimit({ min: 0, max, ratio }, request);
  assert.equal(of(Infinity, Infinity, 0), Infinity);
  assert.deepEqual([of(500, 2.5, 101), of(200, 2.5, 101), of(200, 2.5, 0)], [252, 200, 0]);
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

const app = enforcedContainer({ requests: { memory: 64 }, limits: { memory: 128 } });

pure("disruptions() are the changes that restart a container, or that the server refuses", () => {
  const limits = (limits: Resources["limits"], requests: Resources["requests"] = {}) => ({
    ...{ requests, limits },
  });
  const rows: readonly (readonly [ContainerFields, Resources, found: string, locked?: true])[] = [
    [{}, limits({ cpu: 400, memory: 256 }), ""],
    [{ restartsOnCPU: true }, limits({ cpu: 400 }), "cpu RestartPolicy"],
    [{ restartsOnCPU: true }, limits({}, { cpu: 150 }), "cpu RestartPolicy"],
    // A value that is there restarts nothing.
    [{ restartsOnCPU: true }, limits({ cpu: 200, memory: 256 }), ""],
    [{ restartsOnMemory: true }, limits({ cpu: 400 }, { memory: 32 }), "memory RestartPolicy"],
    [{}, limits({ memory: 96 }), "memory MemoryLimitLocked", true],
    [{}, limits({ memory: 256 }, { memory: 32 }), "", true],
  ];
  for (const [fields, wanted, expected, locked] of rows) {
    const pod = enforcedPod({ containers: [{ ...app, ...fields } as typeof app] });
    const found = disruptions(new Map([["app", wanted]]), {
      ...{ subjects: [marketSubject(pod)], lowersMemoryLimits: locked === undefined },
    });
    assert.equal(found.map(({ resource, reason }) => `${resource} ${reason}`).join(), expected);
  }
  const containers = [{ ...app, restartsOnCPU: true }, enforcedContainer({ name: "log" })];
  const log = limits({ cpu: 300 });
  const wanted = new Map([["app", limits({ cpu: 400, memory: 256 })], ["log", log]]);
  const verdict = disruptionVerdict(wanted, {
    subjects: [marketSubject(enforcedPod({ containers }))],
  });
  assert.ok(verdict?.verdict === "clamp");
  assert.equal(verdict.reason, "RestartPolicy");
  assert.deepEqual(verdict.wanted, new Map([["app", limits({ memory: 256 })], ["log", log]]));
});

const millicores = fc.integer({ min: 1, max: 100 }).map((steps) => steps * 10);

const HELD = "LimitRange";
const bare = { ...enforcedContainer({ name: "side" }), limits: {} };
const siblings = pod(enforcedContainer(), { ...bare, requests: { cpu: 100 } });
const init = (more: ContainerFields = {}): Partial<Pod> => ({
  initContainers: [enforcedContainer({ name: "prepare", limits: { cpu: 900 }, ...more })],
});
table("decide() clamps into LimitRanges, or holds where that is not enough", [
  [{ limitRange: cpuRanges({ max: 300 }) }, `app 300; ${HELD}`],
  [{ limitRange: cpuRanges({}, { ratio: 3 }) }, `app 300; ${HELD}`],
  [{ limitRange: cpuRanges({ min: 150 }) }, HELD],
  // Its rules for requests alone, or for the pod, are met by a sibling without a limit.
  [{ ...siblings, limitRange: cpuRanges({ ratio: 4 }) }, HELD],
  [{ ...siblings, limitRange: cpuRanges({}, { ratio: 4 }) }, "app 400"],
  // An init container counts as the pod where it is more.
  [{ ...podWith(init()), limitRange: cpuRanges({}, { max: 500 }) }, HELD],
  [{ ...podWith(init()), limitRange: cpuRanges({}, { max: 900 }) }, "app 400"],
]);

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

const DEFAULTS = "LimitRange/defaults LimitRange";
const defaults = (...names: readonly string[]): Fields => ({
  limitRange: { ...cpuRanges({}), defaults: names },
});
const CPU = defaults("limits.cpu", "requests.cpu");
const full = enforcedContainer({
  ...{ requests: { memory: 1 }, limits: { memory: 1 } },
  otherResources: ["limits.ephemeral-storage"],
});
const KNOWN = ["limits.cpu", "requests.cpu", "limits.memory", "requests.memory"];
table("decide() holds where the server would write a LimitRange's defaults into the pod", [
  [{ ...siblings, ...CPU }, DEFAULTS],
  [{ ...pod(enforcedContainer(), { ...bare, requests: {} }), ...defaults() }, "app 400"],
  [{ ...pod(full), ...defaults(...KNOWN, "limits.ephemeral-storage") }, "app 400"],
  [{ ...pod(full), ...defaults("requests.ephemeral-storage") }, DEFAULTS],
  [{ ...pod({ ...full, otherResources: [] }), ...defaults("limits.ephemeral-storage") }, DEFAULTS],
  // The container with the raised limit gets the defaults, too.
  [CPU, "app 400"],
  [defaults("limits.memory"), DEFAULTS],
  [defaults("requests.memory"), DEFAULTS],
]);
