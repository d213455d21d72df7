import assert from "node:assert/strict";
import type { TraceFormat } from "../../../lab/simulation/trace.ts";
import { type CoallocScene, sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { pure, pureYAML } from "../../../tests/fixtures/pure.ts";
import { readCommandLine } from "../coalloc_command.ts";
import { chooseSeries, type History, policyInFile, readHistory } from "./read_history.ts";
import { asksForPolicy, type PolicyRequest, policyRequest } from "./simulate_arguments.ts";

function read(
  content: string | Error,
  { format, maxMinutes = 60, series }: {
    format?: TraceFormat;
    maxMinutes?: number;
    series?: ReadonlyMap<string, string>;
  } = {},
): Promise<History> {
  const source = {
    path: "f",
    ...(format === undefined ? {} : { format }),
    ...(series === undefined ? {} : { series }),
  };
  const readFile = () =>
    content instanceof Error
      ? Promise.reject(content)
      : Promise.resolve(new TextEncoder().encode(content));
  return readHistory(source, { readFile, maxMinutes });
}

function lines(count: number, text: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => text(index)).join("\n");
}

function prometheus(...values: readonly string[]): string {
  const samples = values.map((value, index) => [1_700_000_000 + 30 * index, value]);
  const result = [{ metric: { pod: "web-0" }, values: samples }];
  return JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
}

pure("readHistory() reads request rates, CPU usage, arrivals and Prometheus exports", async () => {
  const shape = async (text: string, format?: TraceFormat) => {
    const { trace, minutes, ...history } = await read(text, format === undefined ? {} : { format });
    return [history.format, trace.unit, trace.stepS, trace.values.length, minutes];
  };
  const rps = lines(120, (second) => String(100 + second));
  assert.deepEqual(await shape(rps), ["rps", "requests/s", 1, 120, 2]);
  const cores = `time,cores\n${lines(3, (minute) => `${1_700_000_000 + 60 * minute},0.${minute}`)}`;
  assert.deepEqual(await shape(cores), ["cores", "cores", 60, 3, 3]);
  const arrivals = lines(240, (half) => `${1_700_000_000 + half / 2}`);
  assert.deepEqual(await shape(arrivals, "arrivals"), ["arrivals", "requests/s", 1, 120, 2]);
  const range = prometheus("0.5", "1", "0.75", "0.5");
  assert.deepEqual(await shape(range), ["prometheus", "cores", 30, 4, 2]);
});

pure("readHistory() reports no format that a flag or JSON leaves no doubt about", async () => {
  assert.equal((await read(lines(60, () => "1"), { format: "rps" })).guess, undefined);
  assert.equal((await read(prometheus("1", "1"))).guess, undefined);
});

pure("readHistory() takes the busiest minutes of a longer file", async () => {
  const text = lines(300, (second) => second < 120 || second >= 180 ? "1" : "9");
  const { trace, minutes } = await read(text, { maxMinutes: 1 });
  assert.equal(minutes, 5);
  assert.deepEqual(new Set(trace.values), new Set([9]));
  const coarse = lines(3, (hour) => `${1_700_000_000 + 3600 * hour},${hour + 1}`);
  assert.deepEqual([...(await read(coarse, { maxMinutes: 1 })).trace.values], [3]);
});

pure("readHistory() says in one line what is wrong with a file, and the remedy", async () => {
  const refused: readonly (readonly [string, Parameters<typeof read>[1], RegExp])[] = [
    [" \n", { format: "prometheus" }, / empty,/],
    ["1\nmuch\n", {}, /line 2 is "much", .* 0 to 1e9/],
    ["1\nNaN\n", { format: "rps" }, /line 2 is "NaN"/],
    ["t,v\n1,0.5\n2,-0.5\n", {}, /line 3 is "2,-0.5", .*timestamp .* 0 to 1e9/],
    ["1\n2\n", { format: "cores" }, /line 1 is "1"|line 2 is "2"/],
    ["a\nb\n", { format: "arrivals" }, /line 2 is "b", .*\bcolumn\b/],
    ["{}", {}, /\/api\/v1\/query_range/],
    ["{", {}, / JSON \(/],
    [prometheus("0.5", "NaN"), {}, /values\.1 is "NaN" at 1700000030, /],
    [prometheus("0.5", "-1"), {}, /values\.1 is "-1" at 1700000030, .* 0 to 1e9/],
    [lines(60, () => "0"), {}, / is 0, /],
    ["5\n5\n", {}, / 2 s /],
    [
      '{"status":"error","errorType":"timeout","error":"query timed out"}',
      {},
      /Prometheus .*timeout: query timed out$/,
    ],
    ['{"status":"success","data":{"resultType":"matrix","result":[]}}', {}, /no series: /],
    ["1,200\n1.2,200\n", {}, /--format arrivals .*\bcores; .*--format/],
    [prometheus("1"), { series: new Map([["pod", "a"]]) }, / pod=a;/],
  ];
  for (const [text, options, message] of refused) {
    await assert.rejects(read(text, options), (error: Error) => {
      assert.equal(error.name, "SyntaxError", error.stack ?? "");
      assert.match(error.message, message);
      assert.match(error.message, /^Cannot read trace "f": [^\n]*$/);
      return true;
    });
  }
});

pure("readHistory() passes on a fault that is not the file's", async () => {
  await assert.rejects(read(new TypeError("a fault")), { name: "TypeError", message: "a fault" });
});

type Metric = Readonly<Record<string, string>>;

function exported(...metrics: readonly (Metric | undefined)[]): string {
  const result = metrics.map((metric, index) => ({ metric, values: [[index, "1"]] }));
  return JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
}

function chosen(text: string, wanted: Metric = {}): unknown {
  const refuse = (state: string) => new SyntaxError(state);
  const body = chooseSeries(text, { wanted: new Map(Object.entries(wanted)), refuse });
  return JSON.parse(body).data.result.map(({ metric }: { metric: Metric }) => metric);
}

const WEB_0 = { namespace: "shop", pod: "web-0" };
const WEB_1 = { namespace: "shop", pod: "web-1" };

pure("chooseSeries() takes the only series, and the one that has all labels", () => {
  const many = Array.from({ length: 10 }, (_, pod) => ({ pod: `web-${pod}` }));
  assert.throws(() => chosen(exported(...many)), { message: /\{pod=web-7\}, and 2 more; / });
  assert.deepEqual(chosen(exported(WEB_0)), [WEB_0]);
  assert.deepEqual(chosen(exported(undefined)), [undefined]);
  assert.deepEqual(chosen(exported(WEB_0, WEB_1), { pod: "web-1" }), [WEB_1]);
  assert.deepEqual(chosen(exported(WEB_0, WEB_1), WEB_0), [WEB_0]);
});

pure("chooseSeries() leaves other texts, and exports without series, to the parser", () => {
  const refuse = (state: string) => new SyntaxError(state);
  for (const text of ["", "{", "[]", '{"data":{"result":"none"}}', exported()]) {
    assert.equal(chooseSeries(text, { refuse }), text);
  }
});

const MEBIBYTE = 2 ** 20;
/** Four days, a value each five minutes: 0.2 of a unit; 1, 1.5, 2, 2.5 in the hours from noon. */
function days(unit: number): string {
  return Array.from({ length: 4 * 288 }, (_, index) => {
    const [day, hour] = [Math.floor(index / 288), Math.floor(index / 12) % 24];
    return `${1_633_478_400 + 300 * index},${unit * (hour === 12 ? 1 + day / 2 : 0.2)}`;
  }).join("\n");
}

function policy(more = ""): string {
  return `kind: OptimizationPolicy
metadata: {name: web}
spec:
  mode: Auto
  metricsConfig: {provider: prometheus, percentile: P90}
  selector: {namespaces: {allow: [shop]}}
  resourceBounds: {cpu: {min: 50m, max: 4}, memory: {min: 64Mi, max: 4Gi}}
  updateStrategy: {${more}}
`;
}

function policyTest(name: string, fn: (scene: CoallocScene) => Promise<void>): void {
  sceneTest(name, (scene) => {
    scene.files.set("p.yaml", policy());
    scene.files.set("cpu.csv", days(1));
    scene.files.set("memory.csv", days(1000 * MEBIBYTE));
    return fn(scene);
  });
}

const CPU = "simulate --policy p.yaml --history cpu.csv --format cores".split(" ");
const MEMORY = "simulate --policy p.yaml --history memory.csv --resource memory --format cores"
  .split(" ");

policyTest("simulatePolicy() draws requests over time, and has a row a day", async (scene) => {
  assert.equal(await scene.run(...CPU.slice(0, -2)), 0);
  assert.match(scene.err, /^Trace "cpu\.csv" .* cores; .*\n$/);
  assert.match(scene.out, /^CPU under the policy$/m);
  // An hour of a day is less than a tenth of it: P90 is 0.2 cores, and the noons are short.
  assert.match(scene.out, /^ +1 +240m +95\.83 +60\.0 +[\d.]+ +0$/m);
  scene.files.set("p.yaml", policy("updateRequestsOnly: false"));
  assert.match((await scene.ran(MEMORY.join(" ")))[1], /^DAY .* KILLS /m);
});

policyTest("simulatePolicy() prints one object for programs", async (scene) => {
  scene.files.set("p.yaml", policy("updateRequestsOnly: false"));
  assert.equal(await scene.run(...MEMORY, "--json"), 0);
  const { total, days, requests, kills, ...rest } = JSON.parse(scene.out);
  assert.deepEqual(rest, {
    policy: "web",
    history: "memory.csv",
    resource: "memory",
    stepS: 300,
    warmUpS: 86_400,
  });
  assert.equal(days.length, 3);
  assert.ok(total.kills >= 2);
  assert.equal(total.kills, kills.length);
  assert.equal(requests.length, 1 + total.changes);
  assert.ok(requests.every((one: { request: number }) => Number.isInteger(one.request)));
  scene.out = "";
  assert.equal(await scene.run(...MEMORY, "-o", "yaml"), 0);
  assert.match(scene.out, /^policy: web\nhistory: memory\.csv\n/);
});

policyTest("simulatePolicy() chooses a series of a Prometheus export", async (scene) => {
  const values = days(1).split("\n").map((line) => line.split(","))
    .map(([at, value]) => [Number(at), String(value)]);
  const result = ["a", "b"].map((pod) => ({ metric: { pod }, values }));
  const text = JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
  scene.files.set("cpu.json", text);
  const args = "simulate --policy p.yaml --history cpu.json".split(" ");
  assert.equal(await scene.run(...args), 1);
  assert.match(scene.err, /"cpu\.json": .* 2 series: .*--series pod=a/);
  scene.err = "";
  assert.equal(await scene.run(...args, "--series", "pod=b"), 0);
  assert.match(scene.out, /covered 95\.83 %/);
});

policyTest("simulatePolicy() ends with 2 for its flags, with 1 for its files", async (scene) => {
  assert.equal(await scene.run("simulate", "--policy", "p.yaml"), 2);
  for (
    const line of [
      "--policy gone --history cpu.csv",
      "--policy p.yaml --history gone",
      "--policy p.yaml --history cpu.csv --series a=b",
    ]
  ) assert.deepEqual((await scene.ran(`simulate ${line}`)).slice(0, 2), [1, ""], line);
});

function flagsOf(line: string): Readonly<Record<string, unknown>> {
  const call = readCommandLine([
    "simulate",
    ...line.split(" ").filter((argument) => argument !== ""),
  ]);
  assert("flags" in call, JSON.stringify(call));
  return call.flags;
}

function asked(line: string): PolicyRequest | string {
  return policyRequest(flagsOf(line));
}

pure("asksForPolicy() is true for flags of a policy's replay alone", () => {
  assert.equal(asksForPolicy(flagsOf("--trace f --limit 2")), false);
  for (const line of ["--policy p", "--history h", "--resource memory"]) {
    assert.equal(asksForPolicy(flagsOf(line)), true, line);
  }
});

pure("policyRequest() reads its flags, and takes CPU for granted", () => {
  assert.deepEqual(asked("--policy p.yaml --history -"), {
    policy: "p.yaml",
    source: { path: "-" },
    resource: "cpu",
    output: "table",
  });
  const line = "--policy p --history h --resource memory --format prometheus --series pod=a";
  assert.deepEqual(asked(`${line} -o yaml`), {
    policy: "p",
    source: { path: "h", format: "prometheus", series: new Map([["pod", "a"]]) },
    resource: "memory",
    output: "yaml",
  });
  assert.equal((asked(`${line} --json`) as PolicyRequest).output, "json");
});

const POLICY = `kind: OptimizationPolicy
metadata: {name: web}
spec:
  mode: Auto
  metricsConfig: {provider: prometheus}
  selector: {namespaces: {allow: [shop]}}
  resourceBounds: {cpu: {min: 50m, max: 4}, memory: {min: 64Mi, max: 4Gi}}
`;

pureYAML("policyInFile() finds the only policy among other objects", () => {
  const { name, policy } = policyInFile(`kind: Namespace\n---\n${POLICY}---\n`, "f");
  assert.deepEqual([name, policy.percentile], ["web", "P90"]);
  assert.equal(policyInFile(POLICY.replace("metadata: {name: web}\n", ""), "f").name, "f");
});

pureYAML("policyInFile() refuses other files with their path and what is wrong", () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ["", /0 objects .*OptimizationPolicy/],
    ["a: [", /YAML: /],
    [
      POLICY.replace("Auto", "Often").replace("50m", "none"),
      /spec\.mode .*; spec\.resourceBounds\.cpu\.min .*"none"/,
    ],
  ];
  for (const [text, message] of wrong) {
    assert.throws(() => policyInFile(text, "f"), (error: Error) => {
      assert.equal(error.name, "CommandProblem");
      assert.match(error.message, message);
      assert.match(error.message, /^Cannot replay policy "f": [^\n]*$/);
      return true;
    });
  }
});
