import fc from "fast-check";
import assert from "node:assert/strict";
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import type { PodOwner } from "../../shared/api/pod.ts";
import { effectiveSettings } from "../../shared/config/load.ts";
import { samplePod } from "../../tests/contract/support/sample_objects.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { pure, pureYAML } from "../../tests/fixtures/pure.ts";
import { ofDeployment } from "../../tests/fixtures/sample_workloads.ts";
import { CONTROLLER_SETTINGS } from "../settings.ts";
import { metricQuestion } from "./metric_question.ts";
import {
  fillQuery,
  queryTableKind,
  type QueryTemplate,
  readQueryTemplate,
} from "./query_template.ts";

function template(text: string): QueryTemplate {
  const read = readQueryTemplate(text);
  assert.ok("parts" in read, JSON.stringify(read));
  return read;
}

function fault(text: string): string {
  const read = readQueryTemplate(text);
  assert.ok("fault" in read, text);
  return read.fault;
}

const WEB = { namespace: "shop", workload: "web", pod: "web-7d58cb54b7-5q96x" };

function filled(text: string, values: Partial<typeof WEB> = {}): string | undefined {
  return fillQuery(template(text), { ...WEB, ...values });
}

pure("fillQuery() puts names into strings, and leaves all else as it is", () => {
  const rows = [
    ["vector(1)", "vector(1)"],
    [
      'sum(rate(busy{namespace="$namespace", pod="$pod"}[1m]))',
      'sum(rate(busy{namespace="shop", pod="web-7d58cb54b7-5q96x"}[1m]))',
    ],
    ["up{job='$namespace/$workload'}", "up{job='shop/web'}"],
    ["up{job=`$workload`}", "up{job=`web`}"],
    [
      `label_replace(up, "to", "$1", "from", "(.*)$")`,
      `label_replace(up, "to", "$1", "from", "(.*)$")`,
    ],
    [
      'label_replace(up, "to", "${1}-$2", "from", "(.*)-(.*)$")',
      'label_replace(up, "to", "${1}-$2", "from", "(.*)-(.*)$")',
    ],
    ["up # of ${namespace}\n", "up # of ${namespace}\n"],
    ['up{a="it\\"s $pod"} # don\'t "mind', 'up{a="it\\"s web-7d58cb54b7-5q96x"} # don\'t "mind'],
  ] as const;
  for (const [text, expected] of rows) assert.equal(filled(text), expected);
});

pure("fillQuery() lets no value end its string", () => {
  const pod = `x"} or vector(9) # '\\`;
  assert.equal(filled('up{pod="$pod"}', { pod }), `up{pod="x\\"} or vector(9) # '\\\\"}`);
  assert.equal(filled("up{pod='$pod'}", { pod }), `up{pod='x"} or vector(9) # \\'\\\\'}`);
  assert.equal(filled("up{pod=`$pod`}", { pod }), "up{pod=`" + pod + "`}");
  assert.equal(filled("up{pod=`$pod`}", { pod: "a`} or vector(9)" }), undefined);
});

pure("fillQuery() matches a name in a regular expression as it stands", () => {
  const values = { pod: "web.0+" };
  assert.equal(filled('up{pod=~"$pod-.*"}', values), 'up{pod=~"web\\\\.0\\\\+-.*"}');
  assert.equal(filled("up{pod!~ `$pod`}", values), "up{pod!~ `web\\.0\\+`}");
  assert.equal(filled('up{pod="$pod"}', values), 'up{pod="web.0+"}');
  assert.equal(filled('up{a=~"x", pod="$pod"}', values), 'up{a=~"x", pod="web.0+"}');
});

/** The value in PromQL of the string literal that a text begins with, and the text after it. */
function firstString(text: string): { value: string; rest: string } {
  const quote = text[0];
  let value = "";
  for (let at = 1; at < text.length; at++) {
    if (text[at] === quote) return { value, rest: text.slice(at + 1) };
    assert.notEqual(text[at], "\n", "a line ends in a string");
    if (text[at] !== "\\") value += text[at];
    else {
      at++;
      value += text[at] === "n" ? "\n" : text[at];
    }
  }
  throw new SyntaxError(`Cannot read ${text}: its string has no end`);
}

pure("fillQuery() makes any value the value of the string, in either kind of quotes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom('"', "'"), (pod, quote) => {
      const text = filled(`${quote}$pod${quote} + 1`, { pod }) ?? "";
      assert.deepEqual(firstString(text), { value: pod, rest: " + 1" });
    }),
  );
});

pure("fillQuery() makes any value a pattern of just that value", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii" }), fc.string(), (pod, other) => {
      const query = filled('x=~"$pod"', { pod }) ?? "";
      const { value } = firstString(query.slice(3));
      const pattern = new RegExp(`^(?:${value})$`);
      assert.ok(pattern.test(pod));
      assert.equal(pattern.test(other), other === pod);
    }),
  );
});

pure("readQueryTemplate() finds a variable outside of quotes, and an open string, anywhere", () => {
  assert.match(fault('up{a="b"} * $pod'), / \$pod .*quotes$/);
  for (const text of ['up{pod="$pod}', 'up{pod="a\\"}']) assert.match(fault(text), / end .* " /);
});

pure("readQueryTemplate() refuses other languages' variables, and names ours", () => {
  for (const name of ["namespace", "workload", "pod"]) {
    for (const text of [`\${${name}}`, `\${${name}`, `$(${name})`, `$$${name}`, `$$\{${name}}`]) {
      assert.equal(fault(`up{a="${text}"}`), `has ${text}, expected $${name}`);
      assert.equal(fault(`up{a=~'x-${text}'}`), `has ${text}, expected $${name}`);
    }
  }
  assert.match(fault('up{a="${}"}'), /^has \$\{\}, .*; known /);
  assert.match(fault('up{a="${ pod }"}'), /^has \$\{, .*; known /);
  assert.match(fault('up{a="$$cluster"}'), /^has \$\$cluster, .*; known /);
});

function settings(text: string) {
  return effectiveSettings(CONTROLLER_SETTINGS, { file: { path: "f", text } });
}

pureYAML("queryTableKind takes a map or none, and names each query that it refuses", () => {
  const read = settings(
    "metrics:\n  prometheusURL: http://prometheus.monitoring:9090/\n  queries:\n" +
      '    web: sum(busy{pod="$pod"})\n    jobs: |\n      vector(2) # cores, "always"\n',
  );
  assert.ok(!("faults" in read), JSON.stringify(read));
  const { prometheusURL, metricQueries } = read.values;
  assert.equal(prometheusURL, "http://prometheus.monitoring:9090");
  assert.deepEqual([...metricQueries.keys()], ["web", "jobs"]);
  for (const empty of ["", "metrics:\n", "metrics: {queries: }\n", "metrics: {queries: {}}\n"]) {
    const none = settings(empty);
    assert.ok(!("faults" in none));
    assert.deepEqual([none.values.metricQueries.size, none.values.prometheusURL], [0, null]);
  }
  const refused = settings("metrics: {queries: {Web: up, jobs: '$pod', ok: up, none: ''}}");
  assertMatches("faults" in refused ? refused.faults : [], [
    /^f: metrics\.queries: "Web" [^;]*; jobs has \$pod [^;]*; none [^;]*$/,
  ]);
});

const SERVER = "http://prometheus:9090";
const CONFIG = {
  server: SERVER,
  queries: queryTableKind.parse(
    '{"jobs":"jobs{n=\\"$namespace\\", w=\\"$workload\\", p=\\"$pod\\"}"}',
  ),
};

/** The question of pod `web-0`, which names this query, of Deployment `web` or by itself. */
function questionOf(name: string | undefined, owner?: Partial<PodOwner>) {
  const pod = owner === undefined ? samplePod("web-0") : ofDeployment(samplePod("web-0"));
  const metadata = {
    ...pod.metadata,
    annotations: name === undefined ? {} : { [DEMAND_QUERY]: name },
    ...(pod.metadata.owner && { owner: { ...pod.metadata.owner, ...owner } }),
  };
  return metricQuestion({ ...pod, metadata }, CONFIG);
}

const QUESTIONS: readonly (readonly [string, Partial<PodOwner> | undefined, string | RegExp])[] = [
  ["jobs", {}, 'jobs{n="shop", w="web", p="web-0"}'],
  // A bare pod is its own workload.
  ["jobs", undefined, 'jobs{n="shop", w="web-0", p="web-0"}'],
  // Users may choose an owner's name.
  ["jobs", { name: 'x"} or vector(9) #' }, 'jobs{n="shop", w="x\\"} or vector(9) #", p="web-0"}'],
  ["x\ny", undefined, /: "x\\ny" .*metrics\.queries$/],
  ["constructor", undefined, /: "constructor" .*metrics\.queries$/],
];

pure("metricQuestion() is about the pod, and the workload that made it", () => {
  assert.equal(questionOf(undefined), undefined);
  for (const [name, owner, expected] of QUESTIONS) {
    const question = questionOf(name, owner) ?? assert.fail("it is asked");
    if (typeof expected === "string") {
      assert.deepEqual(question, { server: SERVER, name: "jobs", query: expected });
    } else assert.match("fault" in question ? question.fault : "", expected);
  }
});
