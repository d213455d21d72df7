import assert from "node:assert/strict";
import { seededRandom } from "../../shared/random.ts";
import {
  sampleContainer,
  samplePod,
  sampleQuota,
} from "../../tests/contract/support/sample_objects.ts";
import { assertTexts, messageOf } from "../../tests/fixtures/assert_sentences.ts";
import { stageResult } from "../../tests/fixtures/lab/arena_outcomes.ts";
import { nodeWith, requests } from "../../tests/fixtures/lab/one_pod_node.ts";
import { syntheticRuns } from "../../tests/fixtures/lab/run_records.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { autoPolicy } from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { arenaPage } from "../arena/arena_page.ts";
import { traceScene, type TraceSceneOptions } from "../arena/trace_scene.ts";
import { chargeQuotas, checkLimitRanges } from "./api/admission.ts";
import { createSimulatedAPI } from "./api/simulated_api.ts";
import { misfit } from "./kubelet.ts";
import { planLimits } from "./oracle/oracle_rival.ts";
import { readRequestLog } from "./oracle/play_log.ts";
import { headline, keyFigures, renderReport, tallySentence } from "./report/render_report.ts";
import { SCORE_MEASURES } from "./report/score_measures.ts";
import { replayPolicy } from "./rightsizing/replay_policy.ts";
import { judgeReplay } from "./rightsizing/replay_rule.ts";
import { readUsage, scaledTo, usageHistory } from "./rightsizing/usage_history.ts";
import type { RunRecord, RunScores } from "./run_record.ts";
import { createScene } from "./scene.ts";
import { parseTimedValues, parseTrace, type Trace, type TraceFormat } from "./trace.ts";
import { guessOf, readShippedTrace } from "./trace_files.ts";
import { busiestWindow, scaleToMean, scaleToP95 } from "./trace_shape.ts";
import { createVirtualClock } from "./virtual_clock.ts";

function test(name: string, ...texts: Parameters<typeof assertTexts>): void {
  pure(name, () => assertTexts(...texts));
}

function trace(stepS: number, values: readonly number[]): Trace {
  return { name: "made up", unit: "cores", stepS, values: Float64Array.from(values) };
}

function played(values: readonly number[], options: Partial<TraceSceneOptions> = {}): unknown {
  return traceScene(trace(1, values), { seed: 1, ...options });
}

test(
  "sentences on traces that are played",
  {
    "short trace": () => messageOf(() => played([1, 1, 1])),
    "idle trace": () => messageOf(() => played(Array(60).fill(0))),
    "request above the limit": () =>
      messageOf(() => played(Array(60).fill(1), { request: 500, originalLimit: 400 })),
    "no trace": () => messageOf(() => createScene({ seed: 1, pods: 1, minutes: 1, traces: [] })),
  },
  `\
short trace
  Cannot play trace "made up": it is 3 s long, expected at least a minute: export a longer stretch
idle trace
  Cannot play trace "made up": there is no load in it, expected a value above 0: export a stretch with some
request above the limit
  Cannot set up the service: its request of 500m is not between 0 and its limit of 400m
no trace
  Cannot make a scene: there is no trace
`,
);

/** Texts on the page of a stage in which no algorithm ran. */
function arenaTexts(pattern: RegExp, stage?: Parameters<typeof stageResult>[1]): string {
  const texts = [...arenaPage([stageResult([], stage)], []).matchAll(pattern)].map(([, text]) =>
    text
  );
  return [...new Set(texts)].join(" ");
}

test(
  "sentences of the arena",
  {
    "nothing to draw": () => arenaTexts(/<p class="nothing">([^<]*)</g),
    "method": () => arenaTexts(/<b>(inside [^<]*)</g),
    "scaled trace": () => arenaTexts(/(only its shape [^<]*)</g, { format: "cores", p95Cores: 2 }),
  },
  `\
nothing to draw
  No series of these algorithms were kept.
method
  inside a sample the demand is modelled
scaled trace
  only its shape is the recorded one, it was scaled so that its 95th percentile is 2.00 CPUs.
`,
);

/** Timers that fire at once for ever. */
function endlessLoop(): Promise<void> {
  const clock = createVirtualClock({ wallStart: 0 });
  const again = (): void => void clock.at(0, again);
  again();
  return clock.runUntil(1);
}

test(
  "sentences of the simulated node and of what plays on it",
  {
    "pod that is gone": () => messageOf(() => nodeWith(1).pod("pod")),
    "container that is gone": () => messageOf(() => nodeWith(1).container("c-pod")),
    "endless loop": () => messageOf(endlessLoop),
    "plan between grid points": () =>
      messageOf(() =>
        planLimits(readRequestLog(requests([], 1), 1000), {
          sloMs: 100,
          threads: 8,
          floor: 12,
          ceiling: 18,
          maxChanges: 0,
          cores: 8,
          stepMs: 1000,
          phaseMs: 0,
          uid: "pod",
        })
      ),
  },
  `\
pod that is gone
  Cannot find pod pod: it is not on the node
container that is gone
  Cannot find container c-pod: it is not on the node
endless loop
  Cannot run the clock: 100001 timers fired at 0 ms, some loop never waits
plan between grid points
  Cannot plan: no multiple of 10 m lies between floor 12 and ceiling 18
`,
);

const POD = samplePod("web", {
  containers: [sampleContainer({ requests: { memory: 10 }, limits: { memory: 90 } })],
});

function emptyStore() {
  const clock = createVirtualClock({ wallStart: 0 });
  return createSimulatedAPI({ clock, random: seededRandom(7) }).store;
}

/** The refusal by a LimitRange of a container's memory. */
function ranged(memory: { readonly min?: number; readonly max?: number; readonly ratio?: number }) {
  const store = emptyStore();
  const metadata = { name: "r", namespace: "shop", uid: "", resourceVersion: "" };
  store.tables.LimitRange.create({ metadata, items: [{ type: "Container", memory }] });
  return messageOf(() => checkLimitRanges(store, POD));
}

/** The refusal by a quota with 100 bytes left. */
function charged(): Promise<string> {
  const store = emptyStore();
  const bounds = { "requests.memory": { hard: 104, used: 100 } };
  store.tables.ResourceQuota.create(sampleQuota({ bounds }));
  const before = samplePod("web");
  return messageOf(() => chargeQuotas(store, { before, after: POD }));
}

test(
  "sentences of the simulated API server and kubelet, as Kubernetes has them",
  {
    "minimum": () => ranged({ min: 32 }),
    "maximum": () => ranged({ max: 64 }),
    "ratio": () => ranged({ ratio: 4 }),
    "quota": charged,
    "Deferred": () => misfit(samplePod("web"), { others: [], allocatableCPU: 50 })?.message ?? "",
  },
  `\
minimum
  pods "web" is forbidden: minimum memory usage per Container is 32, but request is 10
maximum
  pods "web" is forbidden: maximum memory usage per Container is 64, but limit is 90
ratio
  pods "web" is forbidden: memory max limit to request ratio per Container is 4, but provided ratio is 9.000000
quota
  pods "web" is forbidden: exceeded quota: cpu, requested: requests.memory=10, used: requests.memory=100, limited: requests.memory=104
Deferred
  Node didn't have enough resource: cpu, requested: 100, used: 0, capacity: 50
`,
);

function refused(format: TraceFormat, text: string): Promise<string> {
  return messageOf(() => parseTrace(text, { format, name: "f" }));
}

function seriesOf(...series: readonly (readonly (readonly [number, string])[])[]): string {
  const result = series.map((values) => ({ metric: {}, values }));
  return JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
}

const ERROR = '{"status":"error","errorType":"bad_data","error":"unclosed"}';
const RAMP = trace(60, [0, 1, 2]);
const TIMED = { name: "f", most: 1e3, counted: "bytes", format: "prometheus" } as const;

test(
  "sentences on traces",
  {
    "unknown trace": () => messageOf(() => readShippedTrace("sunny")),
    "guessed format": () => guessOf("a.csv", "cores").guess ?? "",
    "guessed format, refused": () =>
      messageOf(() => parseTrace("1\nx", { format: "rps", name: "f", guessed: true })),
    "out of range": () => messageOf(() => parseTimedValues(seriesOf([[10, "1001"]]), TIMED)),
    "short window": () => messageOf(() => busiestWindow(RAMP, 30)),
    "scaled from 0": () => messageOf(() => scaleToMean(trace(1, [0, 0]), 1)),
    "scaled to no number": () => messageOf(() => scaleToP95(RAMP, NaN)),
    "empty": async () => {
      const formats = ["rps", "cores", "arrivals"] as const;
      return (await Promise.all(formats.map((format) => refused(format, "")))).join("\n");
    },
    "request rate": () => refused("rps", "1\nx"),
    "timestamp": () => refused("cores", "60,1\n120,-1"),
    "falling time": () => refused("cores", "60,1\n0,2"),
    "equal times": () => refused("cores", "60,1\n60,2"),
    "time": () => refused("arrivals", "time\n2023-13-45 00:00:00,1"),
    "milliseconds": () => refused("cores", "1700000000000,1\n1700000010000,2"),
    "falling arrivals": () => refused("arrivals", "5\n7\n6\n9\n8"),
    "long stretch": () => refused("arrivals", "0\n99999999999"),
    "no JSON": async () => (await refused("prometheus", "{")).replace(/ \(.*/, ""),
    "Prometheus error": () => refused("prometheus", ERROR),
    "no range query": () => refused("prometheus", "{}"),
    "close samples": () => refused("prometheus", seriesOf([[1, "1"], [1.0001, "1"]])),
    "no series": () => refused("prometheus", seriesOf()),
    "two series": () => refused("prometheus", seriesOf([], [])),
  },
  `\
unknown trace
  Cannot read trace "sunny": it does not come with the project, expected one of diurnal, bursty, azure-code, crane0, crane1, crane2, crane3, crane4, crane5
guessed format
  Trace "a.csv" is read as cores; give --format otherwise
guessed format, refused
  Cannot read trace "f": line 2 is "x", expected one request rate from 0 to 1e9 per line, for instance 157 (read as rps; give --format otherwise)
out of range
  Cannot read trace "f": data.result.0.values.0 is "1001" at 10, expected a number of bytes from 0 to 1e3
short window
  Cannot cut trace "made up": 30 s is less than its step of 60 s
scaled from 0
  Cannot scale trace "made up" to 1: its present level is 0
scaled to no number
  Cannot scale trace "made up": the target is NaN
empty
  Cannot read trace "f": it is empty, expected one request rate per line
  Cannot read trace "f": it is empty, expected one timestamp and value per sample
  Cannot read trace "f": it is empty, expected one request per line
request rate
  Cannot read trace "f": line 2 is "x", expected one request rate from 0 to 1e9 per line, for instance 157
timestamp
  Cannot read trace "f": line 2 is "120,-1", expected a timestamp and a number from 0 to 1e9, for instance 1628640000,39.72
falling time
  Cannot read trace "f": sample 2 has the time 0 after 60, expected growing times: sort it
equal times
  Cannot read trace "f": sample 2 has the time 60 after 60, expected at least 1 s between samples: leave samples out, or give --format arrivals if each line is one request
time
  Cannot read trace "f": line 2 is "2023-13-45 00:00:00,1", expected a time in the first column, for instance 2023-11-16 18:17:03.97
milliseconds
  Cannot read trace "f": line 1 has the time 1700000000000, expected seconds; it looks like milliseconds: divide by 1000
falling arrivals
  Cannot read trace "f": its times fall at 2 of 5 lines, which looks like a rate per second: give --format rps, or sort it if each line is the time of a request
long stretch
  Cannot read trace "f": its requests span 100000000000 s, expected at most a year: check the first column
no JSON
  Cannot read trace "f": it is not JSON
Prometheus error
  Cannot read trace "f": Prometheus answered with an error, bad_data: unclosed
no range query
  Cannot read trace "f": status: Invalid input: expected "success", expected the JSON of /api/v1/query_range with status success and a matrix
close samples
  Cannot read trace "f": sample 2 has the time 1.0001 after 1, expected at least 1 s between samples: query with a step of 1s or more
no series
  Cannot read trace "f": it has no series: the query found nothing in that time
two series
  Cannot read trace "f": it has 2 series, expected one: aggregate the query with sum()
`,
);

const NAMED = { name: "f", resource: "cpu" } as const;

/** Usage of nothing at these seconds. */
const idle = (...seconds: readonly number[]) =>
  usageHistory(seconds.map((atS) => ({ atS, value: 0 })), NAMED);

pure("sentences of errors about replays", () =>
  assertTexts(
    {
      "format": () => messageOf(() => readUsage("1\n2\n", NAMED)),
      "samples": () => messageOf(() => idle(1)),
      "times": () => messageOf(() => idle(60, 59)),
      "steps": () => messageOf(() => idle(0, 60, 120, 1_633_478_400)),
      "scale": () => messageOf(() => scaledTo(idle(0, 60), 1000)),
      "judgement": () => messageOf(() => judgeReplay({ history: idle(0, 60), steps: [] })),
      "policy": () => messageOf(() => replayPolicy(idle(0, 60), autoPolicy())),
    },
    `\
format
  Cannot read history "f": it is taken for rps, expected usage over time: CSV of timestamp,value or a Prometheus export
samples
  Cannot replay history "f": it has 1 samples, expected at least 2
times
  Cannot replay history "f": sample 2 has the time 59 after 60, expected growing times
steps
  Cannot replay history "f": it spans 27224640 steps of 60 s, expected at most 1100000: cut it or check its times
scale
  Cannot scale history "f": its 95th percentile is 0, expected above 0
judgement
  Cannot judge a rule on history "f": it has no sample after the warm-up
policy
  Cannot replay history "f": no recommendation came of its 2 samples, expected more than 10 in 24 h
`,
  ));

/** Two runs with these scores. */
function pair(
  ...scores: readonly [Partial<RunScores>, Partial<RunScores>]
): [RunRecord, RunRecord] {
  const [ours, theirs] = syntheticRuns({ pods: 2, minutes: 1 }).map((run, index) => ({
    ...run,
    scores: { ...run.scores, coresAllocated: 4, ...scores[index] },
  }));
  assert(ours !== undefined && theirs !== undefined);
  return [ours, theirs];
}

/** Headline of a run in which pods were throttled this much, ms/s, and of one beside it. */
function compared(ours: number, other: Partial<RunScores>): string {
  return headline(...pair({ throttledMsPerS: ours }, { throttledMsPerS: 20, ...other }));
}

function tallied(ours: readonly number[], theirs: readonly number[]): string {
  const [one, other] = pair({}, {});
  const [pod] = one.pods;
  assert(pod !== undefined);
  const podsOf = (figures: readonly number[]) =>
    figures.map((throttledMsPerS, index) => ({ ...pod, name: `pod-${index}`, throttledMsPerS }));
  const under = { ...other, algorithm: "static", pods: podsOf(theirs) };
  return tallySentence({ ...one, pods: podsOf(ours) }, under) ?? "";
}

pure("sentences of a report's headline and figures", () =>
  assertTexts(
    {
      "less": () => compared(12.34, { throttledMsPerS: 361.4 }),
      "more": () => compared(400, {}),
      "as much": () => compared(20, {}),
      "alone": () => headline(pair({ throttledMsPerS: 5 }, {})[0]),
      "key figure": () => keyFigures(...pair({}, { throttledMsPerS: 361.4 }))[0]?.beside ?? "",
      "tally": () => tallied([1, 2, 9], [4, 5, 6]),
      "tally of equals": () => tallied([1, 0, 10.01], [2, 0, 10.02]),
      "reaction": () =>
        SCORE_MEASURES.find(({ name }) => name.startsWith("Reaction"))?.meaning ?? "",
    },
    `\
less
  In 1 minute, 2 pods on 8 cores were throttled 12.3 ms/s instead of 361 ms/s with limits as set.
more
  In 1 minute, 2 pods on 8 cores were throttled 400 ms/s, more than the 20.0 ms/s with limits as set.
as much
  In 1 minute, 2 pods on 8 cores were throttled 20.0 ms/s, as much as with limits as set.
alone
  In 1 minute, 2 pods on 8 cores were throttled 5.00 ms/s; no other algorithm was run beside it.
key figure
  361 ms/s with limits as set
tally
  2 of 3 pods were throttled less than with static, 1 more.
tally of equals
  1 of 3 pods was throttled less than with static, 0 more, 2 as much.
reaction
  from the start of a burst until the limit is at least the demand; a burst counts for an algorithm only if its demand exceeds that algorithm's limit, and a missed one enters median and P95 with its own length
`,
  ));

/** Texts in place of figures. */
function absent(change: Partial<RunRecord>): string {
  const idle = syntheticRuns({ pods: 2, minutes: 1, bursts: false, changes: false })
    .map((run): RunRecord => ({
      ...run,
      pods: run.pods.map((pod) => ({ ...pod, throttled: pod.throttled.map(() => 0) })),
      ...change,
    }));
  const scene = { description: "", traces: [], command: "" };
  return [...renderReport(idle, { scene }).matchAll(/<p class="nothing">([^<]*)</g)]
    .map(([, text]) => text).join(" ");
}

pure("sentences of a report's plots", () =>
  assertTexts(
    {
      "idle": () => absent({}),
      "no steps": () => absent({ pods: [], sumLimits: [], sumUsage: [], changes: [] }),
    },
    `\
idle
  No pod was throttled under any algorithm. No limit was changed.
no steps
  The runs recorded no steps to draw. The runs recorded no steps to draw. The runs recorded no pods to draw. No limit was changed.
`,
  ));
