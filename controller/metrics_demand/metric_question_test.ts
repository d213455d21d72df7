import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { samplePod } from "../../tests/contract/support/sample_objects.ts";
import { ofDeployment } from "../../tests/fixtures/sample_workloads.ts";
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import type { PodOwner } from "../../shared/api/pod.ts";
import { metricQuestion } from "./metric_question.ts";
import { queryTableKind } from "./query_template.ts";

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

/** Names of queries, owners, and the query or the end of the fault. */
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
