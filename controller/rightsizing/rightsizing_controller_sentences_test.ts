import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { remedyFor } from "../../shared/api/reasons/reasons.ts";
import { effectiveSettings, type SettingSources } from "../../shared/config/load.ts";
import { createPermits } from "../../shared/control/permits.ts";
import { silentLog } from "../../shared/log.ts";
import { assertSentences, assertTexts } from "../../tests/fixtures/assert_sentences.ts";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { recordedAppliers } from "../../tests/fixtures/rightsizing/recorded_ports.ts";
import {
  autoPolicy,
  MI,
  NOW_MS,
  rightsizingSnapshot,
} from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { distributionOfSamples } from "../../tests/fixtures/rightsizing/usage_answers.ts";
import { outweighedRecord } from "../../shared/rightsizing/policy_match.ts";
import { reconciledAs, storedPolicy } from "../../tests/fixtures/rightsizing/workload_records.ts";
import { sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import { CONTROLLER_SETTINGS } from "../settings.ts";
import { awaitDiscovery } from "./loop.ts";
import { PublishedVPAs } from "./policies/published_vpas.ts";
import { unwrittenRecord } from "./policies/report_cycle.ts";
import type { UsageAnswer, UsageProblem, UsageQuery, UsageSource } from "./ports.ts";
import { reconcileWorkload, silentSource } from "./reconcile_workload.ts";
import { connectCustomUsage, createCustomUsageSource } from "./sources/custom_usage.ts";
import { createUsageSources } from "./sources/usage_sources.ts";

const snapshot = rightsizingSnapshot();
const { workload } = snapshot;
const POLICY = { ...storedPolicy(), spec: autoPolicy({ publishVPA: true }) };
const RECONCILED = reconciledAs("web");
const { signal: SIGNAL } = new AbortController();

/** Usage of container `app`: samples of 150 m and 80 Mi. */
function usage(count: number) {
  const samples = (value: number) =>
    distributionOfSamples(new Array(count).fill({ atMs: NOW_MS, value }), {
      nowMs: NOW_MS,
      windowMs: 86_400_000,
    });
  const app = { container: "app", cpu: samples(150), memory: samples(80 * MI) };
  return { usage: new Map([["app", app]]) };
}

function missing(): string {
  const pods = snapshot.pods.map((pod) => ({ ...pod, readySinceMs: NOW_MS - 600_000 }));
  return silentSource({ nowMs: NOW_MS, pods }, usage(0))?.message ?? "";
}

async function appliedEvent(): Promise<string> {
  const outcome = await reconcileWorkload(
    { workload, policy: POLICY, before: undefined, denial: undefined },
    {
      source: { usage: () => Promise.resolve(usage(20)) },
      appliers: recordedAppliers(),
      clock: { wall: () => NOW_MS },
      cluster: {
        podsOf: () => ({ pods: snapshot.pods, otherPods: [] }),
        correctionsOf: () => new Map(),
        snapshotOf: (_subject, known) => ({ ...snapshot, ...known }),
      },
    },
    { signal: SIGNAL },
  );
  return outcome?.events.map(({ message }) => message).join() ?? "";
}

/** Message of an event without the remedy for its reason, which the reason's own row has. */
function withoutRemedy(message: string): string {
  const [reason = ""] = message.split(":");
  return message.replace(`; ${remedyFor(reason)}`, "");
}

async function unpublished(error?: ApiError): Promise<string> {
  const messages: string[] = [];
  const vpas = new PublishedVPAs({
    cache: { get: () => error === undefined ? sampleVPA("Off") : undefined, all: () => [] },
    publisher: {
      create: () => Promise.reject(error),
      recommend: () => Promise.resolve(),
      remove: () => Promise.resolve(),
    },
    events: { emit: ({ message }) => void messages.push(withoutRemedy(message)) },
    log: silentLog,
  });
  await vpas.publish(POLICY, {
    reconciled: [RECONCILED],
    permits: createPermits(() => 1),
    signal: SIGNAL,
  });
  return messages.join();
}

async function undiscovered(): Promise<string> {
  const messages: string[] = [];
  const clock = createVirtualClock({ wallStart: 0 });
  const end = new AbortController();
  const silent = [storedPolicy("off", { mode: "Disabled" }), storedPolicy("broken", null)];
  const waiting = awaitDiscovery({
    policies: { all: () => [POLICY, ...silent], whenSynced: () => Promise.resolve(true) },
    caches: { statefulSets: { whenSynced: () => clock.sleep(40_000).then(() => true) } },
    statuses: { writeStatus: () => Promise.resolve("2") },
    events: { emit: ({ message }) => void messages.push(withoutRemedy(message)) },
    settings: () => CONTROLLER_SETTINGS.parse({}),
    clock,
    log: silentLog,
  }, end.signal);
  await clock.runUntil(60_000);
  await waiting;
  return messages.join();
}

pure("sentences of the rightsizing controller", () =>
  assertTexts(
    {
      "MetricsMissing": missing,
      "OptimizationApplied": appliedEvent,
      "RecordNotWritten": () => {
        const { outcome: { record } } = RECONCILED;
        return unwrittenRecord({ matched: [record] }, { unwritten: () => "forbidden" })?.message ??
          "";
      },
      "VPANotPublished, other owner": () => unpublished(),
      "VPANotPublished, kind": () => unpublished(new ApiError(404, "NotFound", "")),
      "DiscoveryFailed": undiscovered,
    },
    `\
MetricsMissing
  the source has seen none of its containers within the window, though pod web-1 has been Ready for 10 min
OptimizationApplied
  app cpu 180m, app memory 96Mi, in place. app: CPU 180m: P90 of 20 samples in 24h is 150m, times 1.2 is 180m, within bounds 10m to 4. Memory 96Mi: P90 of 20 samples in 24h is 80Mi, times 1.2 is 96Mi, within bounds 1Mi to 4096Mi; kubectl coalloc recommend shows all
RecordNotWritten
  reports can't be written in namespace shop: forbidden
VPANotPublished, other owner
  VPANotPublished: Deployment/shop/web: VPA shop/optipod-deployment-web belongs to another owner
VPANotPublished, kind
  VPANotPublished: Deployment/shop/web: the server knows no VerticalPodAutoscalers: their definition is not installed
DiscoveryFailed
  DiscoveryFailed: the API server has not listed statefulSets for 30 s
`,
  ));

const faults = (sources: SettingSources) => (): string => {
  const read = effectiveSettings(CONTROLLER_SETTINGS, sources);
  return "faults" in read ? read.faults.join() : "";
};

pure("sentences about OptiPod's settings", () =>
  assertTexts(
    {
      "leaderElection": faults({ flags: new Map([["--enable-leader-election", "false"]]) }),
      "interval": faults({ flags: new Map([["--reconciliation-interval", "10m"]]) }),
    },
    `\
leaderElection
  flag --enable-leader-election is "false", expected true: leader election can't be switched off
interval
  flag --reconciliation-interval is "10m", expected 5m: each policy sets its own reconciliationInterval
`,
  ));

const NEVER: UsageSource = { usage: () => new Promise<UsageAnswer>(() => {}) };

const QUESTION: UsageQuery = {
  namespace: "shop",
  workload: { kind: "Deployment", name: "web", uid: "u" },
  pods: [],
  otherPods: [],
  containers: ["app"],
  window: { fromMs: 0, toMs: 1 },
};

/** Message of what a source answers that is created so. */
async function answered(create: () => UsageSource | UsageProblem) {
  const clock = createVirtualClock({ wallStart: 0 });
  const sources = createUsageSources({ create, clock, log: silentLog });
  const policy = { provider: "custom", customSource: "billing", intervalMs: 1 } as const;
  const asked = sources.sourceFor(policy).usage(QUESTION, SIGNAL);
  await clock.runUntil(300_000);
  const answer = await asked;
  return "problem" in answer ? answer.message : "";
}

/** Message about custom source `billing`, where these are configured. */
function unconfigured(...names: readonly string[]) {
  const source = { url: "http://a", login: {} };
  const settings = { customSources: new Map(names.map((name) => [name, source])) };
  return answered(() =>
    connectCustomUsage(
      { settings: () => settings, sampler: NEVER, loginOf: failingStart },
      "billing",
    )
  );
}

function failingStart(): never {
  throw new Error("no address");
}

pure("sentences of policies of less weight, and of sources of usage", () =>
  assertSentences([
    [
      "Outweighed",
      () => outweighedRecord(workload, POLICY).message ?? "",
      "policy shop/all of weight 100 counts for the workload",
    ],
    ["unreachable", () => answered(() => NEVER), "no answer came within 300 s"],
    ["unavailable", () => answered(failingStart), "the source could not be started: no address"],
    [
      "unavailable, other sources",
      () => unconfigured("a", "b"),
      'no custom source "billing" is configured; there are: a, b',
    ],
    [
      "unavailable, no sources",
      () => unconfigured(),
      'no custom source "billing" is configured; there are none',
    ],
  ]));

async function answeredBy(answer: unknown) {
  await using server = serveCanned(() => answer);
  const answered = await createCustomUsageSource({ url: server.url }).usage(QUESTION, SIGNAL);
  return "problem" in answered ? answered.message : "";
}

Deno.test("sentences of a user's own source of usage", () => {
  const redirect = new Response(null, { status: 307, headers: { location: "http://b" } });
  const noList = { version: 1, containers: { app: { cpuMillicores: 1 } } };
  return assertTexts(
    { "redirect": () => answeredBy(redirect), "unreadable": () => answeredBy(noList) },
    `\
redirect
  HTTP 307: it sends on to another place
unreadable
  the answer is not in the shape of a usage source: "containers.app.cpuMillicores: Invalid input: expected array, received number"
`,
  );
});
