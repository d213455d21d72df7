import { pure } from "../../tests/fixtures/pure.ts";
import type { Log } from "../../shared/log.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { samplePod } from "../../tests/contract/support/sample_objects.ts";
import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
import { type DemandReading, demandReading, demandSource } from "./metric_answer.ts";
import { metricQuestion } from "./metric_question.ts";
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import { createMetricReports, type MetricReports } from "./metric_watch.ts";
import { refusalOf } from "../../shared/config/kinds.ts";
import { queryTableKind, readQueryTemplate } from "./query_template.ts";

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

function logged(report: (reports: MetricReports) => void): string {
  const lines: string[] = [];
  const put = (message: string): void => void lines.push(message);
  const log: Log = { debug: put, info: put, warn: put, error: put };
  report(createMetricReports({ log, clock: createVirtualClock({ wallStart: 0 }) }));
  return lines.join("; ");
}

pure("sentences of logs of metrics", () => {
  const question = { server: "http://s", name: "web", query: "up" };
  const silent: DemandReading = { kind: "unreachable", message: "refused" };
  const several: DemandReading = { kind: "ambiguous", message: "several" };
  return assertSentences([
    [
      "unreachable, then ambiguous",
      () =>
        logged(({ answered }) => {
          for (const reading of [silent, several]) answered(question, reading);
        }),
      "Prometheus does not answer; Prometheus answers; A metric query gives no demand",
    ],
    [
      "late",
      () => logged(({ late }) => late({ questions: 7, tookMs: 20_000 })),
      "Metric queries take longer than metrics.interval",
    ],
  ]);
});
