import assert from "node:assert/strict";
import { lintSource } from "./lint_source.ts";
import { proseInAssertions } from "./prose_in_assertions.ts";

const findings = (source: string, path = "shared/a_test.ts"): number =>
  lintSource(proseInAssertions, { path, source }).length;

Deno.test("proseInAssertions refuses sentences in strings, templates and expressions", () => {
  assert.equal(findings('assert.equal(text, "the pod has no limit");'), 1);
  assert.equal(findings("assert.equal(text, `${pod} has no such limit ${cpu}`);"), 1);
  assert.equal(findings("assert.match(text, /the pod has no limit/);"), 1);
  assert.equal(findings('assert.ok(text.includes("the pod has no limit"));'), 1);
  assert.equal(findings('assertReported(a, [{ message: "the pod has no limit" }]);'), 1);
  assert.equal(
    findings('assert.throws(() => read("x"), { message: "Cannot read a pod without limits" });'),
    1,
  );
});

Deno.test("proseInAssertions accepts values, inputs and what a failure means", () => {
  assert.equal(findings("assert.match(text, /web-1.*250m.*300m/);"), 0);
  assert.equal(findings('assert.equal(reason, "QuotaExceeded", "the pod has no limit");'), 0);
  assert.equal(findings('const input = "the pod has no limit";'), 0);
  assert.equal(findings('assert.fail("the pod has no limit");'), 0);
  assert.equal(findings('assert.throws(() => read("the pod has no limit"), RangeError);'), 0);
});

Deno.test("proseInAssertions leaves the tables of sentences and the sources alone", () => {
  const source = 'assertSentences([["A", () => a, "the pod has no limit"]]);';
  assert.equal(findings(source, "shared/market/sentences_test.ts"), 0);
  assert.equal(findings(source, "tests/fixtures/assert_sentences.ts"), 1);
  assert.equal(findings(source, "shared/market/solver.ts"), 0);
});
