import { ApiError } from "../shared/api/api_error.ts";
import { effectiveSettings } from "../shared/config/load.ts";
import { type Log, silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { assertSentences, assertTexts } from "../tests/fixtures/assert_sentences.ts";
import { createLiveSettings } from "./live_settings.ts";
import { CONTROLLER_SETTINGS } from "./settings.ts";
import { startCheck } from "./start_check.ts";
import type { ApiFindings } from "../adapters/kube/client/api_checks.ts";
import { pure, pureYAML } from "../tests/fixtures/pure.ts";
import { samplePod } from "../tests/contract/support/sample_objects.ts";
import { demandReading, demandSource } from "./metrics_demand/metric_answer.ts";
import { metricQuestion } from "./metrics_demand/metric_question.ts";
import { DEMAND_QUERY } from "../shared/api/market_keys.ts";
import { createMetricReports } from "./metrics_demand/metric_watch.ts";
import { refusalOf } from "../shared/config/kinds.ts";
import { queryTableKind, readQueryTemplate } from "./metrics_demand/query_template.ts";
import { placedPod } from "../tests/fixtures/placement/placed_pods.ts";
import { readStatus } from "../shared/placement/status.ts";
import { manualCaches } from "../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../tests/fixtures/placement/placement_defaults.ts";
import { createWebhookView } from "./placement/caches.ts";
import { createPlacementWarner } from "./placement/mutators.ts";
import { createPlacementReporter } from "./placement/reporter.ts";

async function checked(findings: Partial<ApiFindings> | ApiError): Promise<string> {
  const end = new AbortController();
  let waited = "";
  const fine = {
    ...{ serverVersion: "v1.36.3", servesPodResize: true, lowersMemoryLimits: true },
    ...{ servesAllocations: true, unknownFields: [] },
  };
  await startCheck({
    ask: () =>
      findings instanceof ApiError
        ? Promise.reject(findings)
        : Promise.resolve({ ...fine, ...findings }),
    clock: createVirtualClock({ wallStart: 0 }),
    random: seededRandom(1),
    log: silentLog,
    waitsFor(reason) {
      waited = reason ?? waited;
      end.abort();
    },
  }, end.signal);
  return waited;
}

/** Level and message of each line that is logged of a settings file. */
function logged(text: string, flags: ReadonlyMap<string, string> = new Map()): string {
  const settings = effectiveSettings(CONTROLLER_SETTINGS, { flags });
  if ("faults" in settings) return "";
  const lines: string[] = [];
  const put = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { ...silentLog, info: put("info"), warn: put("warn"), error: put("error") };
  createLiveSettings({ settings, sources: { flags } }, log).takeFile({ path: "f", text });
  return lines.join("; ");
}

/** Faults of settings that don't fit together. */
function unfit(text: string): string {
  const settings = effectiveSettings(CONTROLLER_SETTINGS, { file: { path: "f", text } });
  return "faults" in settings ? settings.faults.join("; ") : "";
}

pureYAML("sentences of the controller's start and settings", () =>
  assertTexts(
    {
      "settings": () => logged("controller: {dryRun: true, maxResizesPerSecond: 7}"),
      "refused settings": () => logged("a: 1"),
      "overridden settings": () => logged("market: off", new Map([["--market", "on"]])),
      "market off in refused settings": () => logged("market: off\na: 1"),
      "one port": () =>
        unfit('controller: {listen: ":9443"}\nwebhook: {enabled: on, listen: "0.0.0.0:9443"}'),
      "silence": () => unfit("{controller: {agentSilentAfter: 119s}, agent: {heartbeat: 60s}}"),
      "no answer": () => checked(new ApiError(0, "Unreachable", "no route")),
      "no CustomResourceDefinition": () => checked({ servesAllocations: false }),
      "old CustomResourceDefinition": () => checked({ unknownFields: ["spec.a"] }),
    },
    `\
settings
  info Setting changed; warn Setting changed, restart to follow it
refused settings
  error Settings refused
overridden settings
  warn Setting of the file is overridden
market off in refused settings
  error Settings refused; info Setting changed
one port
  controller.listen is :9443 and webhook.listen is 0.0.0.0:9443: give each a port of its own
silence
  controller.agentSilentAfter is 119s and agent.heartbeat is 60s: make it 120s at least, two heartbeats
no answer
  the API server does not answer the start check: no route
no CustomResourceDefinition
  the CustomResourceDefinition podallocations.allocation.mbcas.io is missing: apply manifests/crds
old CustomResourceDefinition
  the CustomResourceDefinition podallocations.allocation.mbcas.io is older than this controller and lacks spec.a: apply manifests/crds of its version
`,
  ));

function template(text: string): string {
  const read = readQueryTemplate(text);
  return "fault" in read ? read.fault : "";
}

pure("sentences of metrics.queries", () =>
  assertSentences([
    ["empty", () => template(" "), "is empty"],
    ["length", () => template("x".repeat(4097)), "has 4097 characters, at most 4096 are allowed"],
    [
      "variable",
      () => template('up{pod="$pods"}'),
      "has the unknown variable $pods; known are $namespace, $workload, $pod",
    ],
    ["variable of another language", () => template('up{a="${pod}"}'), "has ${pod}, expected $pod"],
    [
      "unknown variable of another language",
      () => template('up{a="${cluster}"}'),
      "has ${cluster}, which is not a variable; known are $namespace, $workload, $pod",
    ],
    ["quotes", () => template("$pod"), "has $pod outside of quotes"],
    ["open string", () => template('up{a="x'), 'has no end of the string that " begins'],
    [
      "names",
      () => refusalOf(queryTableKind, '{"Web": "up", "jobs": ""}') ?? "",
      '"Web" is not the name of a query, expected a name of at most 63 of a-z, 0-9 and -; jobs is empty',
    ],
  ]));

function annotation(name: string, text: string, server: string | null = "http://s"): string {
  const pod = samplePod("web`");
  const annotated = { ...pod.metadata, annotations: { [DEMAND_QUERY]: name } };
  const read = readQueryTemplate(text);
  const queries = new Map("parts" in read ? [["jobs", read]] : []);
  const question = metricQuestion({ ...pod, metadata: annotated }, { server, queries });
  return question !== undefined && "fault" in question ? question.fault : "";
}

function answer(...values: readonly number[]): string {
  const samples = values.map((value) => ({ value, atMs: 0 }));
  const reading = demandReading({ samples }, { nowMs: 60_000, lifeMs: 60_000 });
  return "message" in reading ? reading.message : "";
}

pure("sentences of pods with a metric", () =>
  assertSentences([
    [
      "query",
      () => annotation("job", "up"),
      'mbcas.io/demand-query: "job" is not a query of metrics.queries; did you mean jobs?',
    ],
    [
      "prometheusURL",
      () => annotation("jobs", "up", null),
      'mbcas.io/demand-query: "jobs": no metrics.prometheusURL is configured',
    ],
    [
      "back quotes",
      () => annotation("jobs", "up{p=`$pod`}"),
      "mbcas.io/demand-query: \"jobs\": a name of the pod can't stand in the query's back quotes",
    ],
    ["empty", () => answer(), "the query finds nothing"],
    [
      "ambiguous",
      () => answer(1, 2),
      "the query finds several series, expected one: aggregate it, for instance with sum()",
    ],
    ["unusable: NaN", () => answer(NaN), "the value is NaN, no number"],
    ["unusable: infinite", () => answer(Infinity), "the value is infinite"],
    ["unusable: negative", () => answer(-1), "the value is negative"],
    ["unusable: large", () => answer(100_001), "the value is above 100000 cores"],
    ["value", () => demandSource("jobs", 0.5004), "query jobs says 0.5 cores for the pod"],
    ["old", () => answer(1), "the value is too old, or the clocks differ"],
  ]));

/** Log lines of a server that does not answer, an ambiguous answer, and a late round. */
function metricReports(): string {
  const lines: string[] = [];
  const put = (message: string): void => void lines.push(message);
  const log: Log = { debug: put, info: put, warn: put, error: put };
  const clock = createVirtualClock({ wallStart: 0 });
  const { answered, late } = createMetricReports({ log, clock });
  const question = { server: "http://s", name: "web", query: "up" };
  answered(question, { kind: "unreachable", message: "refused" });
  answered(question, { kind: "ambiguous", message: "several" });
  late({ questions: 7, tookMs: 20_000 });
  return lines.join("; ");
}

pure("sentences of logs of metrics", () =>
  assertSentences([
    [
      "unreachable, ambiguous, late",
      metricReports,
      "Prometheus does not answer; Prometheus answers; A metric query gives no demand; " +
      "Metric queries take longer than metrics.interval",
    ],
  ]));

/** The last event about a pod that was made for spot in a fallback, once more. */
function unplacedEvent(): string {
  let last = "";
  const emit = ({ message }: { message: string }): void => void (last = message);
  const { reconciled } = createPlacementReporter({ events: { emit }, log: silentLog });
  const counts = { spot: 1, "on-demand": 2 };
  const phase = { sinceMs: 0, untilMs: 120_000, rounds: 1, remade: { atMs: 1, count: 1 } };
  reconciled({ kind: "Deployment", namespace: "shop", name: "web", uid: "u1" }, {
    decision: { wait: "AsSpecified", message: "" },
    evictions: [],
    shortage: { before: phase, after: phase, unplaced: [placedPod("web-1")] },
    replicas: { actual: counts, desired: counts, floor: 0, pendingMs: 0 },
    status: readStatus(""),
    requeueAfterMs: Infinity,
  }, 0);
  return last;
}

async function placementWarning(): Promise<string> {
  const settings = () => PLACEMENT_DEFAULTS;
  const view = createWebhookView(manualCaches(), { settings, evicted: new Set() });
  const annotations = { "spotalis.io/enabled": "true", "spotalis.io/spot-percentage": "most" };
  const mutation = await createPlacementWarner({ view, settings }).mutate({
    ...{ uid: "1", kind: "Deployment", resource: "deployments", operation: "CREATE" },
    ...{ namespace: "shop", name: "web", dryRun: false },
    object: { metadata: { name: "web", annotations }, spec: {} },
  }, new AbortController().signal);
  return mutation?.warnings?.[0] ?? "";
}

pure("sentences of events and warnings of placement", () =>
  assertSentences([
    [
      "pod for spot in a fallback",
      unplacedEvent,
      "pod web-1 was made for spot in it: is the webhook asked?",
    ],
    [
      "workload with faults",
      placementWarning,
      "placement leaves the pods of Deployment web as they are",
    ],
  ]));
