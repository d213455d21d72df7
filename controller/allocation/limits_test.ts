import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { NO_RESOURCES, type Pod } from "../../shared/api/pod.ts";
import type { PodAllocation, PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import type { ClaimInput } from "../../shared/resize/inputs/resize_input.ts";
import { originalValues, RESTORE_MANAGER } from "../../shared/resize/original_limits.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  sampleGuaranteed,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { quietSnapshot } from "../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { MarketConfig } from "../config.ts";
import { isConfirmed, needsConfirmation, staysRestored } from "./confirmed_clearing.ts";
import {
  AGENT_SILENT,
  applyLimits,
  decideLimits,
  type LimitsActions,
  type LimitsPlan,
} from "./limits.ts";
import { atOriginalRequests, findOriginals, originalsOf } from "./original_limits.ts";
import { createPodMemories, type PodMemory } from "./pod_memory.ts";

const OPTED_OUT = { reason: "OptedOut", message: "the pod says so" } as const;

interface Choice
  extends
    Partial<Omit<ClaimInput, "pod" | "allocation">>,
    Partial<Pick<MarketConfig, "dryRun">>,
    Pick<LimitsPlan, "restoring"> {
  /** How long the pod waits for its turn, ms. @default {0} */
  readonly turnInMs?: number;
  readonly limit?: number;
  readonly reason?: MarketReason;
  readonly refusal?: Error;
}

/** The steps in order, where the original limit is 200 m and the agent wants 300 m. */
async function stepsOf(choice: Choice): Promise<readonly string[]> {
  const { limit = 200, reason = "DemandRose", refusal, turnInMs = 0, dryRun = false } = choice;
  const limits = { cpu: limit };
  const app = { containerID: "c", limits, applied: { limits } };
  const sample = samplePod("web", { containers: [sampleContainer(app)] });
  const metadata = { ...sample.metadata, uid: "u1", resourceVersion: "1" };
  const pod: Pod = { ...sample, phase: "Running", metadata };
  const bare = sampleAllocation(pod);
  const { market, ...desired } = sampleDesired("300m");
  assert.ok(market);
  const bound = { name: "app", containerID: "c", floor: 100, ceiling: 800, weight: 100 };
  const allocation = {
    ...bare,
    spec: { ...bare.spec, ...desired, market: { ...market, reason } },
    status: {
      bounds: { revision: 3, reason: "", containers: [bound] },
      originalLimits: [{ name: "app", cpu: "200m" }],
    },
  };
  const steps: string[] = [];
  const snapshot = { ...quietSnapshot(pod), allocation };
  const plan = decideLimits({ ...snapshot, ...choice }, {
    config: { dryRun, resizeServed: true },
    restoring: choice.restoring,
  });
  const actions: LimitsActions = {
    snapshot,
    resizer: {
      resize(_namespace, _name, { metadata, spec }, { manager = "" } = {}) {
        const by = manager === RESTORE_MANAGER ? "restore" : "market";
        const cpu = spec.containers?.[0]?.resources.limits?.cpu;
        steps.push(`${by} ${metadata.uid}@${metadata.resourceVersion} ${cpu}`);
        return refusal === undefined ? Promise.resolve("2") : Promise.reject(refusal);
      },
    },
    book(change) {
      steps.push(`booked ${change}`);
      return (taken, version) => void steps.push(`settled ${taken} ${version ?? ""}`.trim());
    },
    queueWaitMs({ restoring, reason, net, total }) {
      steps.push(`turn ${restoring ? "restore " : ""}${reason} ${net} of ${total}`);
      return turnInMs;
    },
  };
  await applyLimits(plan, actions).catch((error) => {
    if (error !== refusal) throw error;
    steps.push("thrown");
  });
  return steps;
}

const TURN = "turn DemandRose 100 of 200";
const SENT = [TURN, "booked 100", "market u1@1 300m"];
const BACK = ["booked -100", "restore u1@1 200m", "settled -100 2"];

pure("applyLimits() takes a turn, books with quotas, patches, and settles", async () => {
  const denied = (status: number): Choice => ({ refusal: new ApiError(status, "No", "no") });
  const rows: readonly (readonly [Choice, steps: readonly string[]])[] = [
    [{}, [...SENT, "settled 100 2"]],
    [{ reason: "DemandFell", limit: 500 }, [
      ...["turn DemandFell -200 of 500", "booked -200", "market u1@1 300m", "settled -200 2"],
    ]],
    [denied(403), [...SENT, "settled 0"]],
    [denied(504), [...SENT, "settled 100"]],
    // Without an answer, the server may have accepted the patch.
    [denied(0), [...SENT, "settled 100"]],
    [{ refusal: new TypeError("lost") }, [...SENT, "settled 100", "thrown"]],
    [{ turnInMs: 40 }, [TURN]],
    [{ dryRun: true }, [TURN]],
    // Original limits come back out of scope and under a silent agent.
    [{ limit: 300, restoring: OPTED_OUT }, ["turn restore OptedOut -100 of 300", ...BACK]],
    [{ limit: 300, restoring: AGENT_SILENT }, ["turn restore AgentSilent -100 of 300", ...BACK]],
    [{ limit: 300 }, []],
    [{ originalUnknown: true }, []],
    [{ restoring: AGENT_SILENT }, []],
  ];
  for (const [choice, steps] of rows) assert.deepEqual(await stepsOf(choice), steps);
});

pure("applyLimits() books the second of two patches until its answer is known", async () => {
  const containers = [
    sampleContainer({ limits: { cpu: 300 } }),
    sampleContainer({ name: "proxy", limits: { cpu: 200 } }),
  ];
  const pod = samplePod("web", { containers });
  const status = { originalLimits: [{ name: "app", cpu: "200m" }] };
  const changes = [["app", 200], ["proxy", 500]].map(([name, cpu]) => ({
    ...{ name: String(name), sidecar: false, requests: {}, limits: { cpu: Number(cpu) } },
  }));
  const request = { restoring: false, reason: "DemandRose", net: 200, total: 500 } as const;
  for (const [code, settled] of [[0, [200, undefined]], [403, [-100, "2"]]] as const) {
    const settlements: unknown[] = [];
    const outcome = await applyLimits({ decision: { changes, reason: "Applied" }, request }, {
      snapshot: { ...quietSnapshot(pod), allocation: { ...sampleAllocation(pod), status } },
      resizer: {
        resize: (_namespace, _name, _patch, { manager } = {}) =>
          manager === RESTORE_MANAGER
            ? Promise.resolve("2")
            : Promise.reject(new ApiError(code, "No", "no")),
      },
      book: () => (accepted, version) => void settlements.push([accepted, version]),
      queueWaitMs: () => 0,
    });
    assert.deepEqual([settlements, outcome.patchedVersion], [[settled], "2"]);
  }
});

pure("originalsOf() takes limits and requests of the spec, with gaps where none is set", () => {
  const bare = { ...sampleContainer({ name: "proxy" }), ...NO_RESOURCES };
  const app = sampleContainer({ limits: { cpu: 2000 }, applied: { limits: { cpu: 500 } } });
  const found = originalsOf(samplePod("web", { containers: [app, bare] }));
  assert.deepEqual(found, {
    originalLimits: [{ name: "app", cpu: "2" }, { name: "proxy" }],
    originalRequests: [{ name: "app", cpu: "100m" }, { name: "proxy" }],
  });
  assert.deepEqual(originalValues(found.originalLimits), new Map([["app", 2000]]));
  assert.deepEqual(originalValues(undefined), new Map());
});

pure("atOriginalRequests() undoes what the market has made of a Guaranteed pod's requests", () => {
  const own = new Map([["app", 150]]);
  const raised = sampleGuaranteed({ requests: { cpu: 700 }, limits: { cpu: 700 } });
  const pod = samplePod("web", { containers: [raised, { ...raised, name: "jvm" }] });
  const found = atOriginalRequests(pod, own).containers;
  const amounts = found.map(({ requests, limits }) => [requests.cpu, limits.cpu]);
  assert.deepEqual(amounts, [[150, 700], [700, 700]]);
  const burstable = samplePod("web");
  assert.equal(atOriginalRequests(burstable, own), burstable);
});

const memoryOf = (): PodMemory =>
  createPodMemories(() => {}).getOrCreate("shop/web", samplePod("web"));
const record = (cpu: string, more = {}) => [{ name: "app", cpu, ...more }];

function podWith(manager: string, limit: number, qosClass: Pod["qosClass"]): Pod {
  const fields = { limits: { cpu: limit }, limitManagers: [manager] };
  const app = qosClass === "Guaranteed"
    ? sampleGuaranteed({ ...fields, requests: { cpu: limit } })
    : sampleContainer(fields);
  return samplePod("web", { containers: [app] });
}

interface OriginalChoice extends PodAllocationStatus {
  readonly manager?: string;
  readonly limit?: number;
  readonly qosClass?: Pod["qosClass"];
  readonly memory?: PodMemory;
  readonly template?: number | Error;
  readonly nowMs?: number;
  readonly current?: boolean;
}

/** `unknown` or `limit request` for the record, the limits of others, and `?` where the template was asked. */
async function found(choice: OriginalChoice): Promise<string> {
  const { manager = "mbcas", limit = 300, qosClass = "Burstable", template, ...rest } = choice;
  const { memory = memoryOf(), nowMs = 0, current = true, ...status } = rest;
  const pod = podWith(manager, limit, qosClass);
  let asked = "";
  const { known, unrecorded, foreign } = await findOriginals(
    pod,
    { ...sampleAllocation(pod), status },
    {
      templates: {
        limitsOf() {
          asked = "?";
          if (template instanceof Error) return Promise.reject(template);
          return Promise.resolve(template === undefined ? undefined : new Map([["app", template]]));
        },
      },
      ...{ memory, nowMs, current },
    },
  );
  const { originalLimits, originalRequests } = unrecorded ?? {};
  return [
    known ? "" : "unknown",
    ...[originalLimits?.[0]?.cpu, originalRequests?.[0]?.cpu],
    ...foreign.map(({ container, from, to, manager }) =>
      `${container}: ${from} to ${to} by ${manager}`
    ),
    asked,
  ].filter((one) => one !== undefined && one !== "").join(" ");
}

const KUBECTL = { manager: "kubectl", limit: 500 };

pure("findOriginals() asks pod, record and template, and names other managers", async () => {
  const own = { originalLimits: record("200m") };
  const fixed = { ...own, originalRequests: record("200m"), qosClass: "Guaranteed" } as const;
  const replaced = { originalLimits: record("250m", { replaces: "200m" }) };
  const rows: readonly (readonly [OriginalChoice, string])[] = [
    [own, ""],
    // Other managers count only on a pod that is new enough.
    [{ ...own, ...KUBECTL, current: false }, ""],
    [{ ...own, ...KUBECTL }, "500m 100m app: 200m to 500m by kubectl"],
    [{ ...fixed, ...KUBECTL }, "500m 500m app: 200m to 500m by kubectl"],
    [
      { originalLimits: [{ name: "app" }], ...KUBECTL },
      "500m 100m app: undefined to 500m by kubectl",
    ],
    // The spec counts where the market has set nothing.
    [{ manager: "kube-controller-manager" }, "300m 100m"],
    [{ manager: "mbcas-restore" }, "300m 100m"],
    [{ ...replaced, manager: "kube-controller-manager", limit: 200 }, ""],
    // A record that differs from the pod is corrected without an event.
    [{ ...own, manager: "mbcas/500m" }, "500m 100m"],
    [{ ...own, manager: "mbcas-restore", limit: 500 }, "500m 100m"],
    [{ template: 200 }, "200m 100m ?"],
  ];
  for (const [choice, expected] of rows) assert.equal(await found(choice), expected);
});

pure("findOriginals() asks the template for a lost record, and not again for 5 min", async () => {
  const memory = memoryOf();
  assert.equal(await found({ memory }), "unknown ?");
  assert.equal(await found({ memory, nowMs: 299_999 }), "unknown");
  assert.equal(await found({ memory, nowMs: 300_000, template: 200 }), "200m 100m ?");
  // A template that can't be asked is asked again at once.
  const down = new ApiError(503, "", "down");
  const other = memoryOf();
  for (let time = 0; time < 2; time++) {
    await assert.rejects(found({ memory: other, template: down }), /down/);
  }
});

function stays(manager: string, status: PodAllocationStatus, cpuLimit = "450m"): boolean {
  const pod = samplePod("web", { containers: [sampleContainer({ limitManagers: [manager] })] });
  const allocation = sampleAllocation(pod);
  const spec = { ...allocation.spec, containers: [{ name: "app", cpuLimit }] };
  return staysRestored(pod, { ...allocation, spec, status });
}

pure("staysRestored() goes by the status, or by the manager of a limit that no status has", () => {
  const reported = (cpuLimit: string) => ({ containers: [{ name: "app", cpuLimit }] });
  assert.equal(stays("mbcas", { reason: "Restored" }), true);
  assert.equal(stays("mbcas", { reason: "Applied", ...reported("300m") }), false);
  // The controller ended after its patch: the kubelet had reported 300 m before.
  assert.equal(stays("mbcas-restore", { reason: "Applied", ...reported("300m") }), true);
  // The market wants the original value, wanted it before, or the pod is new in the market.
  assert.equal(stays("mbcas-restore", { reason: "Applied", ...reported("300m") }, "200m"), false);
  assert.equal(stays("mbcas-restore", { reason: "Applied", ...reported("200m") }), false);
  assert.equal(stays("mbcas-restore", {}), false);
});

const POD = samplePod("web");

const clearedMemory = (publishedRevision?: number): PodMemory => ({
  ...memoryOf(),
  publishedRevision,
});

function wanting(limit: string, clearedAt?: string): PodAllocation {
  const { market, ...desired } = sampleDesired(limit);
  assert.ok(market);
  const bare = sampleAllocation(POD);
  const stamped = clearedAt === undefined ? market : { ...market, clearedAt };
  return { ...bare, spec: { ...bare.spec, ...desired, market: stamped } };
}

pure("isConfirmed() takes a clearing of the last 30 s, or by bounds that were published", () => {
  const confirmed = (clearedAt?: string, revision?: number, agentSilentAfterMs = 300_000) =>
    isConfirmed({
      allocation: wanting("300m", clearedAt),
      memory: clearedMemory(revision),
      wallMs: Date.UTC(2026, 0, 1, 0, 1),
    }, { agentSilentAfterMs });
  assert.equal(confirmed("2026-01-01T00:00:30Z"), true);
  assert.equal(confirmed("2026-01-01T00:00:29Z"), false);
  assert.equal(confirmed("2026-01-01T00:00:45Z", undefined, 10_000), false);
  // The agent's clock may be ahead by as much.
  assert.equal(confirmed("2026-01-01T00:01:30Z"), true);
  assert.equal(confirmed("2026-01-01T00:02:00Z"), false);
  for (const none of [undefined, "soon"]) assert.equal(confirmed(none), false);
  // The agent has observed revision 3.
  const byRevision = [4, 3, 2].map((revision) => confirmed(undefined, revision));
  assert.deepEqual(byRevision, [false, true, true]);
});

pure("needsConfirmation() is for limits that would move, and those that were restored", () => {
  const needs = (allocation: PodAllocation, pod = POD): boolean =>
    needsConfirmation({ pod, allocation, memory: clearedMemory() });
  assert.equal(needs(wanting("300m")), true);
  assert.equal(needs(wanting("200m")), false);
  // A container that takes no part has no desired limit.
  const containers = [...POD.containers, sampleContainer({ name: "proxy" })];
  assert.equal(needs(wanting("200m"), { ...POD, containers }), false);
  const status = { phase: "Applied", reason: "Restored" } as const;
  assert.equal(needs({ ...wanting("200m"), status }), true);
  // A copy may not have the new revision yet.
  const memory = clearedMemory(8);
  const found = [7, 8, 9].map((revision) => {
    const bounds = { revision, reason: "BurstFactor", containers: [] };
    const allocation = { ...wanting("300m"), status: { bounds } };
    return needsConfirmation({ pod: POD, allocation, memory });
  });
  assert.deepEqual(found, [true, false, false]);
});
