import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { wantedOf } from "../../shared/resize/inputs/resources.ts";
import { distributionOfSamples } from "../../tests/fixtures/rightsizing/usage_answers.ts";
import type { ContainerUsage } from "../../shared/rightsizing/distribution.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { recordedAppliers } from "../../tests/fixtures/rightsizing/recorded_ports.ts";
import {
  autoPolicy,
  MI,
  NOW_MS,
  rightsizingSnapshot,
  type SnapshotChoice,
  templateContainer,
} from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import type { ApplyDecision } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import { type Applied, applyDecision } from "./apply_decision.ts";
import type { UsageAnswer } from "./ports.ts";
import { recommendFromUsage, silentSource } from "./reconcile_workload.ts";

const BUSY = new ApiError(503, "ServiceUnavailable", "busy");
const CHANGED = new ApiError(409, "Conflict", "changed");
const GONE = new ApiError(404, "NotFound", "gone");
const FORBIDDEN = new ApiError(
  403,
  "Forbidden",
  'pods "web-1" is forbidden: User "u" cannot patch resource "pods/resize" in API group "" in the ' +
    'namespace "shop"',
);

/** CPU 150 m, with a limit of 300 m where the choice says so. */
function decisionFor(method: ApplyDecision["method"], limit?: number): ApplyDecision {
  const pair = limit === undefined ? { request: 150 } : { request: 150, limit };
  const wanted = wantedOf([{ container: "app", resource: "cpu", pair }]);
  return { outcome: "apply", method, wanted, clamps: [] };
}

const IN_PLACE = decisionFor("InPlace");
const RECREATE = decisionFor("Recreate");

interface ApplyChoice extends SnapshotChoice {
  readonly refusals?: Readonly<Record<string, ApiError>>;
  readonly marketLimit?: number;
}

async function applied(
  decision: ApplyDecision,
  { refusals = {}, marketLimit, ...choice }: ApplyChoice = {},
) {
  const snapshot = rightsizingSnapshot(choice);
  const appliers = recordedAppliers();
  for (const [what, refusal] of Object.entries(refusals)) appliers.refusals.set(what, refusal);
  const containers = [templateContainer({ limits: { cpu: marketLimit ?? NaN } })];
  const pods = new Map(
    snapshot.pods.map((pod) => [
      pod.metadata.uid,
      marketLimit === undefined ? pod : { ...pod, containers },
    ]),
  );
  const { inForce, failure, failedPods: behind } = await applyDecision(snapshot, decision, {
    pods,
    appliers,
  });
  const { asked, audit } = appliers;
  return { asked, audited: audit.changes, cpu: inForce?.get("app")?.requests.cpu, failure, behind };
}

const [FIRST = "", SECOND = ""] = ["web-1", "web-2"].map((name) =>
  `resize ${name} app requests.cpu=150m`
);
const TEMPLATE = "recreate web app cpu 150m";
const LACKS = "leave patch pods/resize in namespace shop";
const MARKET = { marketManages: true, strategy: { updateRequestsOnly: false } };

pure("applyDecision() asks in order, and puts in force what pods have or none can", async () => {
  const limits = decisionFor("InPlace", 300);
  const [raised = "", other = ""] = ["web-1", "web-2"].map((name) =>
    `market ${name} app limits.cpu=150m`
  );
  const rows: readonly (readonly [ApplyDecision, ApplyChoice, {
    readonly asked: readonly string[];
    /** In force from now on, m. @default {150} */
    readonly cpu?: number | undefined;
    readonly failure?: string;
    readonly behind?: readonly string[];
  }])[] = [
    [RECREATE, {}, { asked: [TEMPLATE] }],
    [RECREATE, { refusals: { "recreate web": CHANGED } }, {
      ...{ asked: [TEMPLATE], cpu: undefined, failure: "fresh" },
    }],
    [IN_PLACE, {}, { asked: [FIRST, SECOND] }],
    [IN_PLACE, { pods: [] }, { asked: [] }],
    [IN_PLACE, { refusals: { "resize web-2": BUSY } }, {
      ...{ asked: [FIRST, SECOND], failure: "back-off", behind: ["web-2"] },
    }],
    [IN_PLACE, { refusals: { "resize web-1": BUSY, "resize web-2": BUSY } }, {
      ...{ asked: [FIRST, SECOND], cpu: undefined, failure: "back-off" },
      behind: ["web-1", "web-2"],
    }],
    // A missing pod does not fail it; a missing permission ends it.
    [IN_PLACE, { refusals: { "resize web-1": GONE } }, { asked: [FIRST, SECOND] }],
    [IN_PLACE, { refusals: { "resize web-1": FORBIDDEN } }, {
      ...{ asked: [FIRST], cpu: undefined, failure: LACKS, behind: ["web-1"] },
    }],
    // Limits become the original ones of the market's pods that have the request.
    [limits, MARKET, { asked: [FIRST, SECOND, "own web-1 app=300", "own web-2 app=300"] }],
    [limits, { ...MARKET, refusals: { "resize web-2": BUSY } }, {
      ...{ asked: [FIRST, SECOND, "own web-1 app=300"], failure: "back-off", behind: ["web-2"] },
    }],
    [limits, { ...MARKET, refusals: { "resize web-2": FORBIDDEN } }, {
      ...{ asked: [FIRST, SECOND], failure: LACKS, behind: ["web-2"] },
    }],
    // A limit below the new request is raised first.
    [IN_PLACE, { marketLimit: 120 }, { asked: [raised, FIRST, other, SECOND] }],
    [IN_PLACE, { marketLimit: 120, refusals: { "market web-1": CHANGED } }, {
      ...{ asked: [raised, other, SECOND], failure: "fresh", behind: ["web-1"] },
    }],
  ];
  for (const [decision, choice, expected] of rows) {
    const { asked, cpu, failure, behind } = await applied(decision, choice);
    const { next = "", permission = "" } = failure ?? {};
    assert.deepEqual(
      { asked, cpu, failure: `${next} ${permission}`.trim(), behind },
      { cpu: 150, failure: "", behind: [], ...expected },
    );
  }
});

pure("applyDecision() audits each change by its answer", async () => {
  const { audited: [template] } = await applied(RECREATE);
  assert.partialDeepStrictEqual(template, {
    ...{ source: "rightsizing", action: "template", outcome: "accepted", auditID: "id0" },
    ...{ reason: "OptimizationApplied", kind: "Deployment", namespace: "shop", name: "web" },
    ...{ container: "app", before: {}, after: { requests: { cpu: "150m" } } },
  });
  const refused = await applied(RECREATE, { refusals: { "recreate web": CHANGED } });
  assert.deepEqual(refused.audited.map(({ outcome }) => outcome), ["conflict"]);
  const resized = (await applied(IN_PLACE)).audited.map(({ source, name }) => [source, name]);
  assert.deepEqual(resized, [["rightsizing", "web-1"], ["rightsizing", "web-2"]]);
});

pure("applyDecision() counts server-side applies of templates by the answer", async () => {
  const counted: string[] = [];
  const recreate = (failure?: Error, useServerSideApply = true): Promise<Applied> => {
    const { workloads, ...appliers } = recordedAppliers();
    const writer = failure && { recreate: () => Promise.reject(failure) };
    return applyDecision(rightsizingSnapshot({ strategy: { useServerSideApply } }), RECREATE, {
      pods: new Map(),
      appliers: {
        ...appliers,
        workloads: { ...workloads, ...writer },
        templatePatched: ({ kind, outcome }) => void counted.push(`${kind} ${outcome}`),
      },
    });
  };
  await recreate(undefined, false);
  assert.deepEqual(counted, []);
  await recreate();
  for (const status of [403, 409, 404, 503]) await recreate(new ApiError(status, "", "no"));
  await assert.rejects(recreate(new TypeError("Cannot read it")), TypeError);
  const outcomes = ["accepted", "refused", "conflict", "gone", "busy", "failed"];
  assert.deepEqual(counted, outcomes.map((outcome) => `Deployment ${outcome}`));
});

pure("applyDecision() throws errors that the server did not answer", async () => {
  const resizer = { resize: () => Promise.reject(new TypeError("Cannot send it")) };
  const appliers = { ...recordedAppliers(), resizer };
  const snapshot = rightsizingSnapshot();
  await assert.rejects(applyDecision(snapshot, IN_PLACE, { pods: new Map(), appliers }), TypeError);
});

function usageOf(container: string, cpu: number[], memory: number[]): ContainerUsage {
  const window = { nowMs: NOW_MS, windowMs: 86_400_000 };
  const distribution = (values: number[]): ContainerUsage["cpu"] =>
    distributionOfSamples(
      values.map((value, index) => ({ atMs: NOW_MS - index * 1000, value })),
      window,
    );
  return { container, cpu: distribution(cpu), memory: distribution(memory) };
}

const many = (value: number, count = 20): number[] => new Array(count).fill(value);

/** Evaluates the answer for a workload with container `app` and sidecar `proxy`. */
function evaluated(answer: UsageAnswer, readySinceMs?: number) {
  const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
  const { pods, workload } = rightsizingSnapshot({ containers });
  const ready = readySinceMs === undefined ? {} : { readySinceMs };
  const snapshot = { nowMs: NOW_MS, pods: pods.map((pod) => ({ ...pod, ...ready })) };
  const parts = { policy: autoPolicy(), workload, corrections: new Map() };
  const found = recommendFromUsage(answer, parts);
  return { missing: silentSource(snapshot, answer), found };
}

const answerOf = (...usages: ContainerUsage[]): UsageAnswer => ({
  usage: new Map(usages.map((usage) => [usage.container, usage])),
});

pure("recommendFromUsage() recommends for each container but sidecars, with samples", () => {
  const { found, missing } = evaluated(answerOf(
    usageOf("app", many(150), [...many(80 * MI), 90 * MI]),
    usageOf("proxy", many(10), many(MI)),
  ));
  assert.ok("recommendations" in found);
  const { recommendations, memoryPeaks, samples } = found;
  assert.deepEqual(recommendations.map(({ container, cpu }) => [container, cpu]), [["app", 180]]);
  assert.equal(memoryPeaks.get("app"), 90 * MI);
  assert.deepEqual([...samples], [["app", 20]]);
  assert.equal(missing, undefined);
  // The resource that has fewer counts.
  const fewer = evaluated(answerOf(usageOf("app", many(150), many(80 * MI, 4)))).found;
  assert.ok("samples" in fewer);
  assert.deepEqual([fewer.samples.get("app"), fewer.recommendations], [4, []]);
});

pure("recommendFromUsage() has a reason where a source does not answer", () => {
  const rows = [
    ...[["unreachable", "ProviderUnavailable"], ["unavailable", "ProviderUnavailable"]] as const,
    ...[["refused", "MetricsMissing"], ["unreadable", "MetricsMissing"]] as const,
  ];
  for (const [problem, reason] of rows) {
    const { found } = evaluated({ problem, message: "why" });
    assert.deepEqual(found, { reason, message: "why" });
  }
});

pure("silentSource() misses metrics of pods that were Ready, and watched, for ten minutes", () => {
  const usage = new Map([["app", usageOf("app", [], [])]]);
  const rows = [[undefined], [599_999], [3_600_000, 0], [3_600_000, 599_999]];
  const found = [...rows, [600_000], [3_600_000, 600_000]].map(([readyMs, watchedMs]) =>
    evaluated(
      watchedMs === undefined ? { usage } : { usage, watchedSinceMs: NOW_MS - watchedMs },
      readyMs === undefined ? undefined : NOW_MS - readyMs,
    ).missing?.reason
  );
  assert.deepEqual(found, [...rows.map(() => undefined), "MetricsMissing", "MetricsMissing"]);
});
