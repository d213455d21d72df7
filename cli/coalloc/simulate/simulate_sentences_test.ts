import { type AlgorithmOutcome, ENTRIES, type Entry } from "../../../lab/arena/outcome.ts";
import { traceScene } from "../../../lab/arena/trace_scene.ts";
import { assertTexts, messageOf } from "../../../tests/fixtures/assert_sentences.ts";
import { sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { syntheticRuns } from "../../../tests/fixtures/lab/run_records.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { chooseSeries, readHistory } from "./read_history.ts";
import { P90 } from "./replay.ts";
import { simulatePage } from "./simulate_page.ts";
import { notes, type Story, storySentences, verdict } from "./simulate_text.ts";

/** The sentences of `simulate --trace`. */

const SLO_MS = 140;
type Figures = readonly [cores: number, p99Ms: number];
const VPA = { algorithm: "vpa", setting: "s" };

function outcome(
  { algorithm, setting }: Entry,
  ...[coresAllocated, p99Ms]: Figures
): AlgorithmOutcome {
  const sloHeld = p99Ms <= SLO_MS;
  const figures = { coresAllocated, p99Ms };
  return {
    ...{ algorithm, setting, sloHeld, sloHeldShare: Number(sloHeld) },
    ...{ median: figures, least: figures, most: figures },
  };
}

/** One of the sentences about these figures. */
const found =
  (index: number, ours: Figures, own: Figures, ...others: readonly AlgorithmOutcome[]) => () => {
    const known = [
      outcome(ENTRIES.coallocator, 8, 39),
      outcome(ENTRIES.tight, ...ours),
      outcome(ENTRIES.asItIs, ...own),
    ];
    return verdict([...known, ...others], { sloMs: SLO_MS }).at(index) ?? "";
  };

const TRACE = {
  name: "made up",
  ...{ unit: "cores" as const, stepS: 60, values: Float64Array.of(1, 1) },
};

function story(change: Partial<Story["request"]> = {}): Story {
  const source = { path: "cpu.csv" };
  const given = { source, costMs: 8, giveUp: 10, seeds: 1, minutes: 60, output: "table" as const };
  const request = { ...given, ...change };
  const replay = { scene: traceScene(TRACE, { seed: 1 }), sloMs: 139, outcomes: [], runs: [] };
  return {
    history: { path: "cpu.csv", format: "cores", minutes: 2, trace: TRACE },
    request,
    replay: { ...replay, ...(change.sloMs === undefined ? { freeP99Ms: 39 } : {}) },
  };
}

pure("sentences of simulate: verdict", () =>
  assertTexts(
    {
      "both hold": found(0, [1.2, 57], [4, 41]),
      "coallocator holds": found(0, [3, 57], [2, 900]),
      "own holds": found(0, [1, 200], [1, 41]),
      "none holds": found(0, [3, 200], [4, 900]),
      "other for more": found(1, [1.2, 57], [4, 900], outcome(VPA, 3, 50)),
      "other for less": found(1, [1.2, 57], [4, 900], outcome(P90, 1, 50)),
      "other for the same": found(1, [1.2, 57], [4, 900], outcome(VPA, 1.205, 50)),
      "other where coallocator misses": found(1, [1.2, 500], [4, 900], outcome(VPA, 1, 50)),
      "a side is missing": () =>
        messageOf(() => verdict([outcome(ENTRIES.coallocator, 8, 39)], { sloMs: SLO_MS })),
      "no other": found(1, [1.2, 57], [4, 900]),
      "no cheaper other": found(1, [1.2, 57], [4, 100], outcome(VPA, 5, 50)),
      "as shipped": found(2, [1, 50], [4, 50]),
    },
    `\
both hold
  CoAllocator with market.idleCPU: tight would have allocated 1.20 cores on average instead of 4.00 (70 % less) and kept P99 at 57.0 ms (as it is: 41.0 ms), within the SLO of 140 ms.
coallocator holds
  CoAllocator with market.idleCPU: tight would have allocated 3.00 cores on average instead of 2.00 (50 % more) and kept P99 at 57.0 ms, within the SLO of 140 ms; as it is, P99 was 900 ms.
own holds
  CoAllocator with market.idleCPU: tight would have allocated 1.00 cores, as many as your limit, but let P99 rise to 200 ms, beyond the SLO of 140 ms; your limit as it is kept it at 41.0 ms.
none holds
  CoAllocator with market.idleCPU: tight would have allocated 3.00 cores on average instead of 4.00 (25 % less) with P99 at 200 ms instead of 900 ms; neither holds the SLO of 140 ms.
other for more
  Of the other algorithms "vpa: s" held the SLO with the fewest cores: 3.00, more than CoAllocator.
other for less
  Of the other algorithms "static: P90 x 1.15", which knows the whole load beforehand, held the SLO with the fewest cores: 1.00, fewer than CoAllocator.
other for the same
  Of the other algorithms "vpa: s" held the SLO with the fewest cores: 1.21, as many as CoAllocator.
other where coallocator misses
  Of the other algorithms "vpa: s" held the SLO with the fewest cores: 1.00.
a side is missing
  Cannot compare: coallocator and the limit as it is were not both played
no other
  No other algorithm in the table held the SLO.
no cheaper other
  No other algorithm in the table held the SLO with fewer cores than your limit as it is.
as shipped
  With its defaults CoAllocator leaves the limit at its ceiling while CPU is free: P99 39.0 ms.
`,
  ));

pure("sentences of simulate: what was replayed", () =>
  assertTexts(
    {
      "assumed": () => storySentences(story()).join("\n"),
      "given": () =>
        storySentences(story({ sloMs: 139, originalLimit: 500, giveUp: 0 })).join("\n"),
      "busiest": () => {
        const { history, ...rest } = story();
        return storySentences({ ...rest, history: { ...history, minutes: 9 } })[0] ?? "";
      },
      "usage at the limit": () => notes(story({ originalLimit: 1010 })).join("\n"),
      "page": () => {
        const { replay, ...rest } = story();
        const outcomes = [ENTRIES.coallocator, ENTRIES.tight, ENTRIES.asItIs].map((entry) =>
          outcome(entry, 1, 50)
        );
        const runs = syntheticRuns({ pods: 1, minutes: 1 });
        const text = simulatePage({ ...rest, replay: { ...replay, outcomes, runs } });
        return [
          /<title>.*(?=<\/title>)/,
          /One container alone[^.]*\.[^.]*\./,
          /<b>cpu\.csv.*?(?=<\/li>)/,
        ]
          .map((part) => part.exec(text)?.[0]).join("\n");
      },
      "arrivals": () => {
        const { history, ...rest } = story();
        return notes({ ...rest, history: { ...history, format: "arrivals" } }).join("\n");
      },
    },
    `\
assumed
  cpu.csv (cores, a value per 60 s): 2 minutes; demand 1.00 cores on average, P95 1.00.
  One container with a request of 500m and a limit of 2000m (assumed: give yours with --request and --limit); medians of 1 seed. Clients give up after 10 s. SLO: P99 of at most 139 ms, 100 ms above that without any limit.
given
  cpu.csv (cores, a value per 60 s): 2 minutes; demand 1.00 cores on average, P95 1.00.
  One container with a request of 500m and a limit of 2000m; medians of 1 seed. SLO: P99 of at most 139 ms.
busiest
  cpu.csv (cores, a value per 60 s): the busiest 2 of its 9 minutes; demand 1.00 cores on average, P95 1.00.
usage at the limit
  Inside a sample of 60 s demand is modelled: requests are drawn around it.
  The usage in the file touches the limit: without it, more would have been used, and every algorithm here would have been given too little to do.
page
  <title>What would have happened: cpu.csv
  One container alone on a node of 22 cores, which is never short; limits stay between the product&#39;s floor and ceiling for it under every algorithm. The table has medians over the seeds, the plots show the first.
  <b>cpu.csv</b>: your own file. Licence: as you hold it.
arrivals
  Requests come when they were recorded; what each costs in CPU is drawn.
`,
  ));

pure("sentences of simulate: files", () => {
  const WEB = ["web-0", "web-1"].map((pod) => ({ namespace: "shop", pod }));
  const chosen = (metrics: readonly object[], wanted: Readonly<Record<string, string>> = {}) => {
    const result = metrics.map((metric) => ({ metric, values: [[0, "1"]] }));
    const text = JSON.stringify({ data: { result } });
    const refuse = (state: string) => new SyntaxError(state);
    return () =>
      messageOf(() => chooseSeries(text, { refuse, wanted: new Map(Object.entries(wanted)) }));
  };
  const encoded = (text: string) => () => Promise.resolve(new TextEncoder().encode(text));
  const read = (text: string, more: { readonly series?: ReadonlyMap<string, string> } = {}) =>
    readHistory({ path: "f", ...more }, { readFile: encoded(text), maxMinutes: 60 });
  return assertTexts(
    {
      "several series": chosen(WEB),
      "several series left": chosen(WEB, { namespace: "shop" }),
      "no series": chosen(WEB.slice(1), { pod: "db" }),
      "alike series": chosen([{}, {}]),
      "guess": async () => (await read("1\n".repeat(60))).guess ?? "",
      "empty": () => messageOf(() => read("")),
      "no load": () => messageOf(() => read("0\n".repeat(60))),
      "short": () => messageOf(() => read("5\n5\n")),
      "series of no export": () => messageOf(() => read("1\n1\n", { series: new Map() })),
    },
    `\
several series
  it has 2 series: {namespace=shop,pod=web-0}, {namespace=shop,pod=web-1}; choose one, for instance --series pod=web-0, or aggregate the query with sum()
several series left
  2 of its series have namespace=shop: {namespace=shop,pod=web-0}, {namespace=shop,pod=web-1}; choose one, for instance --series pod=web-0, or aggregate the query with sum()
no series
  none of its series has pod=db; it has {namespace=shop,pod=web-1}
alike series
  it has 2 series: {}, {}; their labels don't distinguish them: aggregate the query with sum()
guess
  Trace "f" is read as rps; give --format otherwise
empty
  Cannot read trace "f": it is empty, expected a history of requests or CPU (read as rps; give --format otherwise)
no load
  Cannot read trace "f": every value in it is 0, expected some load: export a stretch with some (read as rps; give --format otherwise)
short
  Cannot read trace "f": it is 2 s long, expected at least a minute: export a longer stretch (read as rps; give --format otherwise)
series of no export
  Cannot read trace "f": it is taken for rps, and --series chooses in a Prometheus export (read as rps; give --format otherwise)
`,
  );
});

sceneTest("sentences of simulate: arguments", async (scene) => {
  scene.files.set("milli.csv", "0,1500\n60,1600\n120,1500\n");
  const problem = (line: string) => scene.said(`simulate ${line}`);
  await assertTexts(
    {
      "no trace": problem("--json"),
      "no limit": problem("--trace f --limit much"),
      "no label": problem("--trace f --series web-0"),
      "no format": problem("--trace f --format xml"),
      "no path": problem("--trace "),
      "request above limit": problem("--trace f --request 2 --limit 500m"),
      "series of no export": problem("--trace f --series pod=a --format rps"),
      "two outputs": problem("--trace f --json --html"),
      "no file": problem("--trace gone"),
      "too much load": problem("--trace milli.csv --format cores"),
    },
    `\
no trace
| Cannot simulate: give a history with --trace, or with --policy and --history; see kubectl coalloc simulate --help
no limit
| Cannot run kubectl coalloc simulate: option '--limit <cpu>' argument 'much' is invalid. Give a CPU quantity above 0 and up to 512, for instance 500m or 1.5; see kubectl coalloc simulate --help
no label
| Cannot run kubectl coalloc simulate: option '--series <label=value>' argument 'web-0' is invalid. Give label=value, for instance pod=web-0; see kubectl coalloc simulate --help
no format
| Cannot run kubectl coalloc simulate: option '--format <format>' argument 'xml' is invalid. Allowed choices are rps, cores, arrivals, prometheus; see kubectl coalloc simulate --help
no path
| Cannot run kubectl coalloc simulate: option '--trace <file>' argument '' is invalid. Give the path of a file; see kubectl coalloc simulate --help
request above limit
| Cannot simulate: --request 2 is above --limit 500m; see kubectl coalloc simulate --help
series of no export
| Cannot simulate: --series chooses in a Prometheus export, and --format is rps; see kubectl coalloc simulate --help
two outputs
| Cannot simulate: of --json, --html and --output only one can be had; see kubectl coalloc simulate --help
no file
| Cannot read trace "gone": there is no such file; check the path
too much load
| Cannot replay trace "milli.csv": 1533 cores for 3 minutes are 34.5 million requests, expected at most 20 million: use fewer --minutes or a larger --cost-ms; if it counts millicores, use --scale-p95
`,
  );
});

/** Two days and an hour, a value each hour: 0.2 of a unit, and 1 at noon. */
function days(unit: number): string {
  return Array.from(
    { length: 49 },
    (_, hour) => `${3600 * hour},${unit * (hour % 24 === 12 ? 1 : 0.2)}`,
  )
    .join("\n");
}

const policy = (mode: string, updateStrategy: string): string => `
kind: OptimizationPolicy
metadata: {name: web}
spec:
  mode: ${mode}
  metricsConfig: {provider: prometheus, percentile: P90, minSamples: 1}
  selector: {namespaces: {allow: [shop]}}
  resourceBounds: {cpu: {min: 50m, max: 4}, memory: {min: 64Mi, max: 4Gi}}
  updateStrategy: {${updateStrategy}}
`;

sceneTest("sentences of simulate --policy", async (scene) => {
  const files = {
    "only.yaml": policy("Recommend", ""),
    "limits.yaml": policy("Auto", "updateRequestsOnly: false"),
    "two.yaml": `${policy("Auto", "")}---${policy("Auto", "")}`,
    "cpu.csv": days(1),
    "memory.csv": days(1e9),
    "flat.csv": days(1e9).replaceAll(/,.*/g, ",9e8"),
    "short.csv": "0,1\n60,1\n120,1\n180,1\n",
    "rps.txt": "1\n2\n3\n",
  };
  for (const [path, text] of Object.entries(files)) scene.files.set(path, text);
  /** Errors, or the page without its plot and table. */
  const replayed = (...args: readonly string[]) => async (): Promise<string> => {
    scene.out = scene.err = "";
    await scene.run(
      "simulate",
      ...["--policy", "--history"].flatMap((flag, index) => (
        args[index] === undefined ? [] : [flag, args[index]]
      )),
      ...args.slice(2),
    );
    return scene.err || scene.out.split("\n").filter((line) => line.endsWith(".")).join("\n");
  };
  const cores = ["--format", "cores"];
  const memory = [...cores, "--resource", "memory"];
  await assertTexts(
    {
      "CPU": replayed("only.yaml", "cpu.csv", ...cores),
      "CPU, limits follow": replayed("limits.yaml", "cpu.csv", ...cores),
      "memory": replayed("only.yaml", "memory.csv", ...memory),
      "memory, limits follow": replayed("limits.yaml", "memory.csv", ...memory),
      "memory, no kill": replayed("limits.yaml", "flat.csv", ...memory),
      "no policy file": replayed("gone", "cpu.csv"),
      "no history file": replayed("only.yaml", "gone"),
      "two policies": replayed("two.yaml", "cpu.csv"),
      "no usage": replayed("only.yaml", "rps.txt"),
      "too short": replayed("only.yaml", "short.csv", ...cores),
      "series of no export": replayed("only.yaml", "cpu.csv", "--series", "a=b"),
      "no history": replayed("only.yaml"),
      "other flag": replayed("only.yaml", "cpu.csv", "--html"),
      "two outputs": replayed("only.yaml", "cpu.csv", "--json", "-o", "yaml"),
    },
    `\
CPU
  cpu.csv: 2 d of CPU, a value per 3600 s; judged after the first 12.3 h.
  Policy web: P90 × 1.2 over 24 h, every 5 min, from 50m to 4000m; changes of 10 % and more, 30 min apart; requests only.
  The request would have covered 97.22 % of the time, with 0.175 as much idle as used, by 0 changes. The longest stretch above it lasted 60 min.
  A limit of that size would have throttled in 60 min; the policy leaves limits alone.
  The policy's mode is Recommend: this is what Auto would have done.
  Bursts inside of a sample of 3600 s are not in the file; throttling begins within 100 ms.
  Demand that a limit throttled during the recording is missing in the file.
CPU, limits follow
  cpu.csv: 2 d of CPU, a value per 3600 s; judged after the first 12.3 h.
  Policy web: P90 × 1.2 over 24 h, every 5 min, from 50m to 4000m; changes of 10 % and more, 30 min apart; limits are 1 × the request.
  The request would have covered 97.22 % of the time, with 0.175 as much idle as used, by 0 changes. The longest stretch above it lasted 60 min.
  The limit would have throttled in 60 min.
  Bursts inside of a sample of 3600 s are not in the file; throttling begins within 100 ms.
  Demand that a limit throttled during the recording is missing in the file.
memory
  memory.csv: 2 d of memory, a value per 3600 s; judged after the first 12.3 h.
  Policy web: P90 × 1.2 over 24 h, every 5 min, from 64Mi to 4Gi; changes of 10 % and more, 30 min apart; requests only.
  The request would have covered 97.22 % of the time, with 0.175 as much idle as used, by 0 changes. The longest stretch above it lasted 60 min.
  The policy leaves limits alone, so none of its own could have killed.
  The policy's mode is Recommend: this is what Auto would have done.
  A container that was killed goes on here as it was recorded.
  Demand that a limit throttled during the recording is missing in the file.
memory, limits follow
  memory.csv: 2 d of memory, a value per 3600 s; judged after the first 12.3 h.
  Policy web: P90 × 1.2 over 24 h, every 5 min, from 64Mi to 4Gi; changes of 10 % and more, 30 min apart; limits are 1.1 × the request.
  The request would have covered 97.22 % of the time, with 0.739 as much idle as used, by 1 change. The longest stretch above it lasted 60 min.
  The limit would have killed the container once.
  A container that was killed goes on here as it was recorded.
  Demand that a limit throttled during the recording is missing in the file.
memory, no kill
  flat.csv: 2 d of memory, a value per 3600 s; judged after the first 12.3 h.
  Policy web: P90 × 1.2 over 24 h, every 5 min, from 64Mi to 4Gi; changes of 10 % and more, 30 min apart; limits are 1.1 × the request.
  The request would have covered 100.00 % of the time, with 0.200 as much idle as used, by 0 changes. Usage never passed the request.
  The limit would never have killed the container.
  A container that was killed goes on here as it was recorded.
  Demand that a limit throttled during the recording is missing in the file.
no policy file
| Cannot read policy "gone": there is no such file; check the path
no history file
| Cannot read history "gone": there is no such file; check the path
two policies
| Cannot replay policy "two.yaml": it has 2 objects of kind OptimizationPolicy, expected one
no usage
| Cannot read history "rps.txt": it is taken for rps, expected usage over time: CSV of timestamp,value or a Prometheus export
too short
| Cannot replay history "short.csv": no recommendation came of its 4 samples, expected more than 1 in 24 h
series of no export
| Cannot read history "cpu.csv": it is taken for cores, and --series chooses in a Prometheus export
no history
| Cannot simulate: --policy needs a --history to replay; see kubectl coalloc simulate --help
other flag
| Cannot simulate: --html does not go with --policy; see kubectl coalloc simulate --help
two outputs
| Cannot simulate: of --json and --output only one can be had; see kubectl coalloc simulate --help
`,
  );
});
