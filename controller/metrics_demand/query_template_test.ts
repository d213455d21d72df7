import assert from "node:assert/strict";
import fc from "fast-check";
import { fillQuery, type QueryTemplate, readQueryTemplate } from "./query_template.ts";
import { effectiveSettings } from "../../shared/config/load.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { CONTROLLER_SETTINGS } from "../settings.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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

test("fillQuery() puts names into strings, and leaves all else as it is", () => {
  for (
    const [text, expected] of [
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
    ] as const
  ) assert.equal(filled(text), expected);
});

test("fillQuery() lets no value end its string", () => {
  const pod = `x"} or vector(9) # '\\`;
  assert.equal(filled('up{pod="$pod"}', { pod }), `up{pod="x\\"} or vector(9) # '\\\\"}`);
  assert.equal(filled("up{pod='$pod'}", { pod }), `up{pod='x"} or vector(9) # \\'\\\\'}`);
  assert.equal(filled("up{pod=`$pod`}", { pod }), "up{pod=`" + pod + "`}");
  assert.equal(filled("up{pod=`$pod`}", { pod: "a`} or vector(9)" }), undefined);
});

test("fillQuery() matches a name in a regular expression as it stands", () => {
  const values = { pod: "web.0+" };
  assert.equal(filled('up{pod=~"$pod-.*"}', values), 'up{pod=~"web\\\\.0\\\\+-.*"}');
  assert.equal(filled("up{pod!~ `$pod`}", values), "up{pod!~ `web\\.0\\+`}");
  assert.equal(filled('up{pod="$pod"}', values), 'up{pod="web.0+"}');
  assert.equal(filled('up{a=~"x", pod="$pod"}', values), 'up{a=~"x", pod="web.0+"}');
});

/** What PromQL makes of the string literal that a text begins with, and the text after it. */
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

test("fillQuery() makes any value the value of the string, in either kind of quotes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom('"', "'"), (pod, quote) => {
      const text = filled(`${quote}$pod${quote} + 1`, { pod }) ?? "";
      assert.deepEqual(firstString(text), { value: pod, rest: " + 1" });
    }),
  );
});

test("fillQuery() makes any value a pattern of just that value", () => {
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

test("readQueryTemplate() finds a variable outside of quotes, and an open string, anywhere", () => {
  assert.match(fault('up{a="b"} * $pod'), / \$pod .*quotes$/);
  for (const text of ['up{pod="$pod}', 'up{pod="a\\"}']) assert.match(fault(text), / end .* " /);
});

test("readQueryTemplate() refuses variables as other languages write them, and says what to write", () => {
  for (const name of ["namespace", "workload", "pod"]) {
    for (const text of [`\${${name}}`, `\${${name}`, `$(${name})`, `$$${name}`, `$$\{${name}}`]) {
      assert.equal(fault(`up{a="${text}"}`), `has ${text}, expected $${name}`);
      assert.equal(fault(`up{a=~'x-${text}'}`), `has ${text}, expected $${name}`);
    }
  }
  assert.match(fault('up{a="${cluster}"}'), /^has \$\{cluster\}, .*; known are \$n/);
  assert.match(fault('up{a="${}"}'), /^has \$\{\}, .*; known /);
  assert.match(fault('up{a="${ pod }"}'), /^has \$\{, .*; known /);
  assert.match(fault('up{a="$$cluster"}'), /^has \$\$cluster, .*; known /);
});

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

function settings(text: string) {
  return effectiveSettings(CONTROLLER_SETTINGS, { file: { path: "f", text } });
}

function faults(text: string): readonly string[] {
  const read = settings(text);
  assert.ok("faults" in read, text);
  return read.faults;
}

Deno.test({
  name: "queryTableKind takes a map of the file, and none where nothing is said",
  permissions: PURE,
  fn() {
    const text = `
metrics:
  prometheusURL: http://prometheus.monitoring:9090/
  queries:
    web: sum(busy{pod="$pod"})
    jobs: |
      vector(2) # cores, "always"
`;
    const read = settings(text);
    assert.ok(!("faults" in read), JSON.stringify(read));
    const { prometheusURL, metricQueries } = read.values;
    assert.equal(prometheusURL, "http://prometheus.monitoring:9090");
    assert.deepEqual([...metricQueries.keys()], ["web", "jobs"]);
    for (const empty of ["", "metrics:\n", "metrics: {queries: }\n", "metrics: {queries: {}}\n"]) {
      const none = settings(empty);
      assert.ok(!("faults" in none));
      assert.equal(none.values.metricQueries.size, 0);
      assert.equal(none.values.prometheusURL, null);
    }
  },
});

Deno.test({
  name: "queryTableKind names each query that it refuses",
  permissions: PURE,
  fn() {
    const text = "metrics: {queries: {Web: up, jobs: '$pod', ok: up, none: ''}}";
    assertMatches(faults(text), [
      /^f: metrics\.queries: "Web" [^;]*; jobs has \$pod [^;]*; none [^;]*$/,
    ]);
    assertMatches(faults("metrics: {queries: {jobs: 'up{n=\"${namespace}\"}'}}"), [
      /^f: metrics\.queries: jobs has \$\{namespace\}, .* \$namespace$/,
    ]);
    assertMatches(faults("metrics: {queries: {a: 3, b: [up]}}"), [
      /^f: metrics\.queries\.a is 3, /,
      /^f: metrics\.queries\.b is \["up"\], /,
    ]);
    assertMatches(faults("metrics: {queries: up}"), [/^f: metrics\.queries is "up", .* map /]);
    const [fault = "", ...others] = faults("metrics: {prometheusURL: 'http://me:secret@host'}");
    assert.match(fault, /^f: metrics\.prometheusURL: .* password /);
    assert.deepEqual([fault.includes("secret"), others], [false, []]);
  },
});
