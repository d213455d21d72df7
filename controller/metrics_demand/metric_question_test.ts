import assert from "node:assert/strict";
import type { Pod, PodOwner } from "../../shared/api/pod.ts";
import { samplePod } from "../../tests/contract/support/sample_objects.ts";
import { metricQuestion } from "./metric_question.ts";
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import { readQueryTemplate } from "./query_template.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const SERVER = "http://prometheus:9090";

function configured(queries: Readonly<Record<string, string>>) {
  return {
    server: SERVER,
    queries: new Map(
      Object.entries(queries).map(([name, text]) => {
        const template = readQueryTemplate(text);
        assert.ok("parts" in template);
        return [name, template];
      }),
    ),
  };
}

interface Choice {
  readonly owner?: PodOwner;
  readonly labels?: Readonly<Record<string, string>>;
}

function podNaming(name: string | undefined, { owner, labels = {} }: Choice = {}): Pod {
  const pod = samplePod("web-7d58cb54b7-5q96x");
  const annotations: Record<string, string> = name === undefined ? {} : { [DEMAND_QUERY]: name };
  const metadata = {
    ...pod.metadata,
    labels,
    annotations,
    ...(owner === undefined ? {} : { owner }),
  };
  return { ...pod, metadata };
}

const REPLICA_SET = {
  labels: { "pod-template-hash": "7d58cb54b7" },
  owner: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d58cb54b7", uid: "1" },
};
const TEXT = 'jobs{n="$namespace", w="$workload", p="$pod"}';

function query(pod: Pod): string | undefined {
  const question = metricQuestion(pod, configured({ jobs: TEXT }));
  assert.ok(question !== undefined && "query" in question, JSON.stringify(question));
  assert.deepEqual([question.server, question.name], [SERVER, "jobs"]);
  return question.query;
}

function fault(name: string, config = configured({ jobs: TEXT })): string {
  const question = metricQuestion(podNaming(name), config);
  assert.ok(question !== undefined && "fault" in question, JSON.stringify(question));
  return question.fault;
}

test("metricQuestion() is about the pod, and the workload that made it", () => {
  assert.equal(
    query(podNaming("jobs", REPLICA_SET)),
    'jobs{n="shop", w="web", p="web-7d58cb54b7-5q96x"}',
  );
  assert.equal(
    query(podNaming("jobs")),
    'jobs{n="shop", w="web-7d58cb54b7-5q96x", p="web-7d58cb54b7-5q96x"}',
    "a bare pod is its own workload",
  );
  assert.equal(metricQuestion(podNaming(undefined), configured({ jobs: TEXT })), undefined);
});

test("metricQuestion() lets no owner's name, which users may choose, out of its string", () => {
  const owner = { ...REPLICA_SET.owner, name: 'x"} or vector(9) #' };
  const text = query(podNaming("jobs", { owner }));
  assert.equal(text, 'jobs{n="shop", w="x\\"} or vector(9) #", p="web-7d58cb54b7-5q96x"}');
});

test("metricQuestion() quotes the name of an unknown query", () => {
  assert.match(fault("x\ny"), /: "x\\ny" .*metrics\.queries$/);
  assert.match(fault("constructor", configured({})), /: "constructor" .*metrics\.queries$/);
});
