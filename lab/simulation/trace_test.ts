import fc from "fast-check";
import assert from "node:assert/strict";
import { seededRandom } from "../../shared/random.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { quantile } from "./statistics.ts";
import {
  guessTraceFormat,
  parseTimedValues,
  parseTrace,
  type Trace,
  type TraceFormat,
} from "./trace.ts";
import { readShippedTrace, readTraceFile, SHIPPED_TRACES } from "./trace_files.ts";
import {
  busiestWindow,
  ratesOf,
  scaleToMean,
  scaleToP95,
  wholeMinutes,
  withBursts,
} from "./trace_shape.ts";

function parse(format: TraceFormat, text: string) {
  return parseTrace(text, { format, name: "file.txt" });
}

function prometheus(...series: readonly (readonly (readonly [number, string])[])[]): string {
  const result = series.map((values) => ({ metric: { pod: "a" }, values }));
  return JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
}

pure("parseTrace() reads each format", () => {
  const rps = parse("rps", "\uFEFF157\r\n158.5\n\n");
  assert.deepEqual({ ...rps, values: [...rps.values] }, {
    name: "file.txt",
    unit: "requests/s",
    stepS: 1,
    values: [157, 158.5],
  });
  const cores = parse("cores", "ts,value\n60,1.5\n120,2\n180,1e-1\n");
  assert.deepEqual([cores.unit, cores.stepS, ...cores.values], ["cores", 60, 1.5, 2, 0.1]);
  const dated = parse("cores", "2024-01-01T00:00:00Z,1\n2024-01-01T00:00:15Z,3");
  assert.deepEqual([dated.stepS, ...dated.values], [15, 1, 3]);
  const arrivals = parse(
    "arrivals",
    "TIMESTAMP,Tokens\n2023-11-16 18:17:03.9799600,1\n2023-11-16 18:17:03.99,2\n2023-11-16 18:17:05.1,3",
  );
  assert.deepEqual([arrivals.unit, arrivals.stepS, ...arrivals.values], ["requests/s", 1, 2, 0, 1]);
  assert.deepEqual([...(arrivals.arrivalsMs ?? [])].map(Math.round), [980, 990, 2100]);
  const range = parse("prometheus", prometheus([[10, "0.5"], [25, "1"], [40, "2"]]));
  assert.deepEqual([range.unit, range.stepS, ...range.values], ["cores", 15, 0.5, 1, 2]);
});

pure("parseTimedValues() keeps the times of samples, and gaps", () => {
  const csv = parseTimedValues("\uFEFFts,value\n60,1\n120,2\n600,3\n", {
    format: "cores",
    name: "f",
  });
  assert.deepEqual(csv, [{ atS: 60, value: 1 }, { atS: 120, value: 2 }, { atS: 600, value: 3 }]);
  const range = parseTimedValues(prometheus([[10, "2e9"], [99, "1"]]), {
    format: "prometheus",
    name: "f",
    most: 1e10,
  });
  assert.deepEqual(range, [{ atS: 10, value: 2e9 }, { atS: 99, value: 1 }]);
});

pure("parseTrace() sorts recorded arrivals and counts them from the first whole second", () => {
  const { values, arrivalsMs } = parse("arrivals", "12.5,a\n10.25,b\n12.5,c\n10.75,d\n");
  assert.deepEqual([...values], [2, 0, 2]);
  assert.deepEqual([...(arrivalsMs ?? [])], [250, 750, 2500, 2500]);
  assert.equal(parse("rps", "1").arrivalsMs, undefined);
});

pure("parseTrace() interpolates samples that are missing", () => {
  const { stepS, values } = parse("cores", "0,1\n60,2\n120,3\n300,9");
  assert.deepEqual([stepS, ...values], [60, 1, 2, 3, 5, 7, 9]);
});

const REFUSED: readonly (readonly [TraceFormat, string, RegExp])[] = [
  ["rps", "1\n\n2", /line 2 is ""/],
  ["rps", "1e99", /line 1 is "1e99"/],
  ["cores", "6,200\n9,200\n9.0001,404", / 9\.0001 after 9,.*--format arrivals/],
  ["cores", "6,200\n9,200\n8.9,404", / 8\.9 after 9,.*--format arrivals/],
  ["cores", "60,1\n61,1\n62,1\n9e15,1", /line 4 is "9e15,1"/],
  ["cores", "60,1\n61,1\n62,1\n9000000000,1", / 1100000\b/],
  ["arrivals", "0\n99999999999", / 100000000000 s\b/],
  [
    "cores",
    "ts,value\n1700000000000,1\n1700000010000,2",
    /line 2 .* 1700000000000, .*milliseconds.* 1000$/,
  ],
  ["cores", "1,1\n100000000000,1", /line 2 .* milliseconds/],
  ["cores", "1700000000000000,1\n1700000010000000,1", /microseconds.* 1e6$/],
  ["arrivals", "1700000000000000000,a", /line 1 .*nanoseconds.* 1e9$/],
  ["arrivals", "1700000000000\n1700000000250", /line 1 .*milliseconds.* 1000$/],
  ["prometheus", '{"status":"error"}', /status: .* \/api\/v1\/query_range /],
  ["prometheus", prometheus([[1, "NaN"]]), /values\.0 is "NaN" at 1,.* cores .* 1e9$/],
  ["prometheus", prometheus([[1, "1"], [1.0001, "1"]]), / 1\.0001 after 1, .* 1s /],
];

for (const [format, text, message] of REFUSED) {
  pure(
    `parseTrace() refuses ${format} ${JSON.stringify(text).slice(0, 60)} with a remedy`,
    () => assert.throws(() => parse(format, text), { name: "SyntaxError", message }),
  );
}

pure("parseTrace() takes samples of about a second, and a tenth of early arrivals", () => {
  assert.equal(parse("cores", "0,1\n0.95,2\n2,3\n3,4\n4,5").stepS, 1);
  const times = Array.from({ length: 20 }, (_, index) => index === 7 || index === 9 ? 1 : index);
  assert.equal(parse("arrivals", times.join("\n")).arrivalsMs?.length, 20);
  assert.throws(() => parse("arrivals", [...times, 1].join("\n")), / 3 of 21 /);
  // A second column is none of a rate's.
  assert.equal(parse("arrivals", "5,a\n7,b\n6,c\n9,d\n8,e").arrivalsMs?.length, 5);
  // The year 9999 as a date is no number of milliseconds.
  assert.equal(parse("arrivals", "9999-01-01 00:00:00,a").values.length, 1);
});

pure("parseTrace() says what an unnamed format was taken for, but of JSON", () => {
  const guessed = (format: TraceFormat, text: string) => () =>
    parseTrace(text, { format, name: "f", guessed: true });
  assert.throws(guessed("cores", "1,1\n1.2,1"), /\(.*\bcores; .*--format .*\)$/);
  assert.throws(guessed("rps", "1\nx"), /157 \(.*\brps; .*--format .*\)$/);
  assert.throws(guessed("prometheus", prometheus()), /^(?!.*--format)/);
  assert.throws(() => parse("rps", "1\nx"), / 157$/);
});

pure("parseTrace() reads any text as a sound trace or refuses it by name", () => {
  const line = fc.tuple(
    fc.oneof(fc.nat(5000).map(String), fc.string(), fc.constantFrom("1e9", "-1", "NaN", "")),
    fc.constantFrom(",", ";", "", "\n"),
    fc.oneof(fc.double().map(String), fc.string()),
  ).map((parts) => parts.join(""));
  const garbage = fc.oneof(
    fc.string(),
    fc.array(line).map((lines) => lines.join("\n")),
    fc.json(),
    fc.array(fc.tuple(fc.double({ noNaN: true }), fc.string())).map((values) => prometheus(values)),
  );
  const format = fc.constantFrom<TraceFormat>("rps", "cores", "arrivals", "prometheus");
  fc.assert(
    fc.property(format, garbage, (format, text) => {
      try {
        const { stepS, values, arrivalsMs } = parse(format, text);
        assert.ok(stepS > 0 && stepS < Infinity && values.length >= 1);
        assert.ok(values.every((value) => value >= 0 && value < Infinity));
        assert.equal(arrivalsMs !== undefined, format === "arrivals");
        arrivalsMs?.forEach((at, index) => {
          assert.ok(at >= (arrivalsMs[index - 1] ?? 0) && at <= values.length * 1000);
        });
      } catch (error) {
        assert.ok(error instanceof SyntaxError, String(error));
        assert.match(error.message, /^Cannot read trace "file\.txt": /);
      }
    }),
  );
});

pure("guessTraceFormat() knows each format by its first lines", () => {
  const cases: readonly [string, TraceFormat][] = [
    ["157\n158\n", "rps"],
    ["0.5\n", "rps"],
    ["", "rps"],
    ["ts,value\n1628640000,39.7\n", "cores"],
    ["1628640000,39.7\n", "cores"],
    ["TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,4808,10\n", "arrivals"],
    ["2023-11-16T18:17:03Z\n2023-11-16T18:17:04Z\n", "arrivals"],
    ['\uFEFF {"status":"success"}', "prometheus"],
  ];
  for (const [text, format] of cases) assert.equal(guessTraceFormat(text), format, text);
});

function trace(stepS: number, values: readonly number[]): Trace {
  return { name: "made up", unit: "cores", stepS, values: Float64Array.from(values) };
}

pure("busiestWindow() cuts out the largest sum, the first of equals, or all of it", () => {
  const long = trace(60, [1, 5, 0, 3, 3, 1]);
  assert.deepEqual([...busiestWindow(long, 120).values], [1, 5]);
  assert.deepEqual([...busiestWindow(long, 180).values], [5, 0, 3]);
  assert.deepEqual([...busiestWindow(trace(60, [1, 5, 0, 3, 4, 1]), 120).values], [3, 4]);
  assert.equal(busiestWindow(long, 7200), long);
});

pure("wholeMinutes() rounds down, and refuses less than one with the length and a remedy", () => {
  const refuse = (state: string) => new RangeError(state);
  assert.equal(wholeMinutes(trace(50, [1, 1, 1]), refuse), 2);
  assert.equal(wholeMinutes(trace(60, [1]), refuse), 1);
  assert.throws(() => wholeMinutes(trace(1.5, [1, 1, 1]), refuse), { message: /\b4 s\b/ });
});

pure("scaleToP95() and scaleToMean() reach their target and keep the shape", () => {
  const ramp = trace(60, Array.from({ length: 101 }, (_, index) => index));
  const scaled = scaleToP95(ramp, 1.9);
  assert.ok(Math.abs(quantile(scaled.values, 0.95) - 1.9) < 1e-12);
  assert.ok(Math.abs((scaled.values[50] ?? 0) - 1) < 1e-12);
  assert.ok(Math.abs((scaleToMean(ramp, 5).values[100] ?? 0) - 10) < 1e-12);
});

pure("withBursts() multiplies whole seconds by the factor, for the stated length", () => {
  const burst = withBursts(trace(60, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]), {
    everyS: 100,
    lastS: 8,
    random: seededRandom(4),
  });
  assert.equal(burst.stepS, 1);
  assert.equal(burst.values.length, 600);
  assert.ok(burst.values.every((value) => value === 2 || value === 8));
  const runs = [...burst.values].map((value) => value === 8 ? "x" : ".").join("").match(/x+/g);
  assert.ok(runs !== null && runs.length >= 4);
  assert.ok(runs.every((run) => run.length === 8), runs.join(" "));
});

pure("busiestWindow() cuts recorded arrivals with their seconds, the end left out", () => {
  const recorded: Trace = {
    name: "made up",
    unit: "requests/s",
    stepS: 1,
    values: Float64Array.from([1, 0, 2, 1, 1]),
    arrivalsMs: Float64Array.from([500, 2000, 2250, 3999, 4000]),
  };
  const cut = busiestWindow(recorded, 2);
  assert.deepEqual([...cut.values], [2, 1]);
  assert.deepEqual([...(cut.arrivalsMs ?? [])], [0, 250, 1999]);
  assert.equal(busiestWindow(recorded, 5), recorded);
});

pure("scaleToMean(), scaleToP95() and withBursts() go by the rates of recorded arrivals", () => {
  const recorded = { ...trace(1, [1, 3]), arrivalsMs: Float64Array.from([0, 1000, 1200, 1400]) };
  const plain = ratesOf(recorded);
  assert.equal("arrivalsMs" in plain, false);
  assert.deepEqual(scaleToMean(recorded, 4), scaleToMean(plain, 4));
  assert.deepEqual([...scaleToMean(recorded, 4).values], [2, 6]);
  assert.deepEqual(scaleToP95(recorded, 4), scaleToP95(plain, 4));
  const bursts = (one: Trace) => withBursts(one, { everyS: 1, lastS: 1, random: seededRandom(4) });
  assert.deepEqual(bursts(recorded), bursts(plain));
});

pure("quantile() interpolates between neighbours, whatever their order", () => {
  assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5);
  assert.ok(Math.abs(quantile([1, 2, 3, 4], 0.95) - 3.85) < 1e-12);
  assert.equal(quantile([7], 0.95), 7);
  assert.equal(quantile([3, 1], 1), 3);
  assert.ok(Number.isNaN(quantile([], 0.5)));
  assert.throws(() => quantile([1], 2), /2 is not between 0 and 1/);
});

const read = { read: [new URL("traces/", import.meta.url)] };

Deno.test({
  name: "readShippedTrace() reads every trace that comes with the project",
  permissions: read,
  async fn() {
    const sizes = new Map<string, number>();
    for (const name of SHIPPED_TRACES) {
      const trace = await readShippedTrace(name);
      sizes.set(name, trace.values.length);
      assert.equal(trace.stepS, name.startsWith("crane") ? 60 : 1);
    }
    assert.deepEqual(Object.fromEntries(sizes), {
      diurnal: 3600,
      bursty: 3600,
      "azure-code": 3437,
      crane0: 11520,
      crane1: 23040,
      crane2: 23040,
      crane3: 23040,
      crane4: 21600,
      crane5: 23040,
    });
    const first = await readShippedTrace("crane0");
    assert.equal(first.values[0], 39.72233);
    const { values, arrivalsMs } = await readShippedTrace("azure-code");
    assert.equal(arrivalsMs?.length, 8819);
    assert.equal(values.reduce((a, b) => a + b, 0), 8819);
    // 18:17:03.97996 is its first request; a double of seconds since 1970 resolves 0.24 µs.
    assert.ok(Math.abs((arrivalsMs?.[0] ?? 0) - 979.96) < 1e-3);
  },
});

/** A case with the path of a file that goes with it. */
function fileTest(name: string, use: (path: string) => Promise<void>): void {
  Deno.test(name, async () => {
    const path = await Deno.makeTempFile();
    try {
      await use(path);
    } finally {
      await Deno.remove(path);
    }
  });
}

fileTest("readTraceFile() recognizes gzip by its first bytes and refuses damage", async (path) => {
  await Deno.writeTextFile(path, "1\n2\n");
  assert.deepEqual([...(await readTraceFile(path, "rps")).trace.values], [1, 2]);
  const zipped = new Blob(["3\n4\n"]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(zipped).arrayBuffer());
  await Deno.writeFile(path, bytes);
  assert.deepEqual([...(await readTraceFile(path, "rps")).trace.values], [3, 4]);
  await Deno.writeFile(path, bytes.subarray(0, 12));
  await assert.rejects(readTraceFile(path, "rps"), /damaged gzip file/);
  await Deno.writeFile(path, new Uint8Array([0xff, 0xfe, 0x00]));
  await assert.rejects(readTraceFile(path, "rps"), /not UTF-8 text/);
  await Deno.writeTextFile(path, "1\nx\n");
  await assert.rejects(readTraceFile(path, "rps"), new RegExp(`"${path}": line 2 is "x"`));
});

fileTest("readTraceFile() returns the recognized format where none is given", async (path) => {
  await Deno.writeTextFile(path, "1,200\n4,200\n");
  const { format, guess } = await readTraceFile(path);
  assert.equal(format, "cores");
  assert.match(guess ?? "", new RegExp(`"${path}" .*cores.*--format`));
  assert.equal((await readTraceFile(path, "arrivals")).guess, undefined);
  await Deno.writeTextFile(path, "1,200\n1.5,200\n");
  await assert.rejects(readTraceFile(path), /--format arrivals .*\(.*\bcores;/);
});
