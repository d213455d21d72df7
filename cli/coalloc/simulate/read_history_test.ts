import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { TraceFormat } from "../../../lab/simulation/trace.ts";
import { chooseSeries, type History, readHistory } from "./read_history.ts";

function read(
  content: string | Error,
  { format, mostMinutes = 60, series }: {
    format?: TraceFormat;
    mostMinutes?: number;
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
  return readHistory(source, { readFile, mostMinutes });
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
    const { trace, minutes, ...history } = await read(
      text,
      format === undefined ? {} : { format },
    );
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
  const { trace, minutes } = await read(text, { mostMinutes: 1 });
  assert.equal(minutes, 5);
  assert.deepEqual(new Set(trace.values), new Set([9]));
  const coarse = lines(3, (hour) => `${1_700_000_000 + 3600 * hour},${hour + 1}`);
  assert.deepEqual([...(await read(coarse, { mostMinutes: 1 })).trace.values], [3]);
});

pure("readHistory() says in one line what is wrong with a file, and the remedy", async () => {
  const refused: readonly (readonly [string, Parameters<typeof read>[1], RegExp])[] = [
    [" \n", { format: "prometheus" }, /it is empty/],
    ["1\nmuch\n", {}, /line 2 is "much", .* 0 to 1e9/],
    ["1\nNaN\n", { format: "rps" }, /line 2 is "NaN"/],
    ["t,v\n1,0.5\n2,-0.5\n", {}, /line 3 is "2,-0.5", .*timestamp .* 0 to 1e9/],
    ["1\n2\n", { format: "cores" }, /line 1 is "1"|line 2 is "2"/],
    ["a\nb\n", { format: "arrivals" }, /line 2 is "b", .*first column/],
    ["{}", {}, /\/api\/v1\/query_range/],
    ["{", {}, /it is not JSON/],
    [prometheus("0.5", "NaN"), {}, /values\.1 is "NaN" at 1700000030, /],
    [prometheus("0.5", "-1"), {}, /values\.1 is "-1" at 1700000030, .* 0 to 1e9/],
    [lines(60, () => "0"), {}, / is 0, .*load: export/],
    ["5\n5\n", {}, / 2 s long, .*minute: export/],
    [
      '{"status":"error","errorType":"timeout","error":"query timed out"}',
      {},
      /Prometheus .*timeout: query timed out$/,
    ],
    ['{"status":"success","data":{"resultType":"matrix","result":[]}}', {}, /no series: /],
    ["1,200\n1.2,200\n", {}, /--format arrivals .*\(read as cores; .*--format/],
    [prometheus("1"), { series: new Map([["pod", "a"]]) }, /^Cannot .*: none .*pod=a/],
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
