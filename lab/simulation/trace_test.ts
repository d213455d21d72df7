import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { guessTraceFormat, parseTimedValues, parseTrace, type TraceFormat } from "./trace.ts";

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
  assert.deepEqual([arrivals.unit, arrivals.stepS, ...arrivals.values], [
    "requests/s",
    1,
    2,
    0,
    1,
  ]);
  assert.deepEqual([...(arrivals.arrivalsMs ?? [])].map(Math.round), [980, 990, 2100]);
  const range = parse("prometheus", prometheus([[10, "0.5"], [25, "1"], [40, "2"]]));
  assert.deepEqual([range.unit, range.stepS, ...range.values], ["cores", 15, 0.5, 1, 2]);
});

pure("parseTimedValues() keeps the times of samples, and gaps", () => {
  const csv = parseTimedValues("\uFEFFts,value\n60,1\n120,2\n600,3\n", {
    format: "cores",
    name: "f",
  });
  assert.deepEqual(csv, [
    { atS: 60, value: 1 },
    { atS: 120, value: 2 },
    { atS: 600, value: 3 },
  ]);
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
  ["rps", "", /"file\.txt": it is empty/],
  ["rps", "1\n\n2", /line 2 is ""/],
  ["rps", "1e99", /line 1 is "1e99"/],
  ["cores", "ts,value\n60,1\n120,-1", /line 3 is "120,-1",.* from 0 to 1e9,/],
  ["cores", "6,200\n9,200\n9.0001,404", / 9\.0001 after 9,.*--format arrivals/],
  ["cores", "6,200\n9,200\n8.9,404", / 8\.9 after 9,.*--format arrivals/],
  ["cores", "60,1\n61,1\n62,1\n9e15,1", /line 4 is "9e15,1"/],
  ["cores", "60,1\n61,1\n62,1\n9000000000,1", /expected at most 1100000: cut it/],
  ["arrivals", "0\n99999999999", /expected at most a year/],
  [
    "cores",
    "ts,value\n1700000000000,1\n1700000010000,2",
    /line 2 .* 1700000000000, .* milliseconds: divide by 1000$/,
  ],
  ["cores", "1,1\n100000000000,1", /line 2 .* milliseconds/],
  ["cores", "1700000000000000,1\n1700000010000000,1", /microseconds: divide by 1e6$/],
  ["arrivals", "1700000000000000000,a", /line 1 .* nanoseconds: divide by 1e9$/],
  ["arrivals", "1700000000000\n1700000000250", /line 1 .* milliseconds: divide by 1000$/],
  ["prometheus", "{", /it is not JSON/],
  [
    "prometheus",
    '{"status":"error","errorType":"bad_data","error":"parse error: unclosed"}',
    /Prometheus .*bad_data: parse error: unclosed$/,
  ],
  ["prometheus", '{"status":"error"}', /status: .* expected the JSON of \/api\/v1\/query_range/],
  ["prometheus", prometheus(), /no series/],
  ["prometheus", prometheus([], []), / 2 series,.*aggregate/],
  ["prometheus", prometheus([]), /it is empty/],
  [
    "prometheus",
    prometheus([[1, "NaN"]]),
    /values\.0 is "NaN" at 1,.* cores from 0 to 1e9/,
  ],
  ["prometheus", prometheus([[1, "1"], [1.0001, "1"]]), /query with a step of 1s or more$/],
];

for (const [format, text, message] of REFUSED) {
  pure(
    `parseTrace() refuses ${format} ${JSON.stringify(text).slice(0, 60)} with a remedy`,
    () => assert.throws(() => parse(format, text), { name: "SyntaxError", message }),
  );
}

pure(
  "parseTrace() takes samples of about a second, and arrivals of which a tenth come too early",
  () => {
    assert.equal(parse("cores", "0,1\n0.95,2\n2,3\n3,4\n4,5").stepS, 1);
    const times = Array.from({ length: 20 }, (_, index) => index === 7 || index === 9 ? 1 : index);
    assert.equal(parse("arrivals", times.join("\n")).arrivalsMs?.length, 20);
    assert.throws(() => parse("arrivals", [...times, 1].join("\n")), /fall at 3 of 21 lines/);
    // A second column is none of a rate's.
    assert.equal(parse("arrivals", "5,a\n7,b\n6,c\n9,d\n8,e").arrivalsMs?.length, 5);
    // The year 9999 as a date is no number of milliseconds.
    assert.equal(parse("arrivals", "9999-01-01 00:00:00,a").values.length, 1);
  },
);

pure(
  "parseTrace() says what an unnamed format was taken for, but of JSON, which is nothing else",
  () => {
    const guessed = (format: TraceFormat, text: string) => () =>
      parseTrace(text, { format, name: "f", guessed: true });
    assert.throws(guessed("cores", "1,1\n1.2,1"), /\(read as cores; .*--format.*\)$/);
    assert.throws(guessed("rps", "1\nx"), /157 \(read as rps; .*--format.*\)$/);
    assert.throws(guessed("prometheus", prometheus()), /in that time$/);
    assert.throws(() => parse("rps", "1\nx"), /for instance 157$/);
  },
);

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
