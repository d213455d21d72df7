import { assertSentences, messageOf } from "../../tests/fixtures/assert_sentences.ts";
import { parseTimedValues, parseTrace, type Trace, type TraceFormat } from "./trace.ts";
import { guessOf, readShippedTrace } from "./trace_files.ts";
import { busiestWindow, scaleToMean, scaleToP95 } from "./trace_shape.ts";

function trace(stepS: number, values: readonly number[]): Trace {
  return { name: "made up", unit: "cores", stepS, values: Float64Array.from(values) };
}

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

const rows: Parameters<typeof assertSentences>[0] = [
  [
    "unknown trace",
    () => messageOf(() => readShippedTrace("sunny")),
    'Cannot read trace "sunny": it does not come with the project, expected one of diurnal, ' +
    "bursty, azure-code, crane0, crane1, crane2, crane3, crane4, crane5",
  ],
  [
    "guessed format",
    () => guessOf("a.csv", "cores").guess ?? "",
    'Trace "a.csv" is read as cores; give --format otherwise',
  ],
  [
    "guessed format, refused",
    () => messageOf(() => parseTrace("1\nx", { format: "rps", name: "f", guessed: true })),
    'Cannot read trace "f": line 2 is "x", expected one request rate from 0 to 1e9 per line, for ' +
    "instance 157 (read as rps; give --format otherwise)",
  ],
  [
    "out of range",
    () => messageOf(() => parseTimedValues(seriesOf([[10, "1001"]]), TIMED)),
    'Cannot read trace "f": data.result.0.values.0 is "1001" at 10, expected a number of bytes ' +
    "from 0 to 1e3",
  ],
  [
    "short window",
    () => messageOf(() => busiestWindow(RAMP, 30)),
    'Cannot cut trace "made up": 30 s is less than its step of 60 s',
  ],
  [
    "scaled from 0",
    () => messageOf(() => scaleToMean(trace(1, [0, 0]), 1)),
    'Cannot scale trace "made up" to 1: its present level is 0',
  ],
  [
    "scaled to no number",
    () => messageOf(() => scaleToP95(RAMP, NaN)),
    'Cannot scale trace "made up": the target is NaN',
  ],
  [
    "request rate",
    () => refused("rps", "1\nx"),
    'Cannot read trace "f": line 2 is "x", expected one request rate from 0 to 1e9 per line, for ' +
    "instance 157",
  ],
  [
    "timestamp",
    () => refused("cores", "60,1\n120,-1"),
    'Cannot read trace "f": line 2 is "120,-1", expected a timestamp and a number from 0 to 1e9, ' +
    "for instance 1628640000,39.72",
  ],
  [
    "falling time",
    () => refused("cores", "60,1\n0,2"),
    'Cannot read trace "f": sample 2 has the time 0 after 60, expected growing times: sort it',
  ],
  [
    "equal times",
    () => refused("cores", "60,1\n60,2"),
    'Cannot read trace "f": sample 2 has the time 60 after 60, expected at least 1 s between ' +
    "samples: leave samples out, or give --format arrivals if each line is one request",
  ],
  [
    "time",
    () => refused("arrivals", "time\n2023-13-45 00:00:00,1"),
    'Cannot read trace "f": line 2 is "2023-13-45 00:00:00,1", expected a time in the first ' +
    "column, for instance 2023-11-16 18:17:03.97",
  ],
  [
    "milliseconds",
    () => refused("cores", "1700000000000,1\n1700000010000,2"),
    'Cannot read trace "f": line 1 has the time 1700000000000, expected seconds; it looks like ' +
    "milliseconds: divide by 1000",
  ],
  [
    "falling arrivals",
    () => refused("arrivals", "5\n7\n6\n9\n8"),
    'Cannot read trace "f": its times fall at 2 of 5 lines, which looks like a rate per second: ' +
    "give --format rps, or sort it if each line is the time of a request",
  ],
  [
    "Prometheus error",
    () => refused("prometheus", ERROR),
    'Cannot read trace "f": Prometheus answered with an error, bad_data: unclosed',
  ],
  [
    "no series",
    () => refused("prometheus", seriesOf()),
    'Cannot read trace "f": it has no series: the query found nothing in that time',
  ],
  [
    "two series",
    () => refused("prometheus", seriesOf([], [])),
    'Cannot read trace "f": it has 2 series, expected one: aggregate the query with sum()',
  ],
];

Deno.test({ name: "sentences on traces", permissions: "none", fn: () => assertSentences(rows) });
