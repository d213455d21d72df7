import { NO_RESOURCES } from "../../../shared/api/pod.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import {
  reportsOf,
  shopPods,
  shopRecords,
  template,
} from "../../../tests/fixtures/cli/advised_shop.ts";
import { workloadRecords } from "../../../tests/fixtures/rightsizing/workload_records.ts";
import type { WorkloadTemplate } from "../../../shared/api/workload.ts";
import { parseBytes, parseCPU } from "../../../shared/quantity.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import type { AdviceView } from "./advice_view.ts";
import { adviseAll } from "./advise.ts";
import { sumOfChanges } from "./changes.ts";
import { patchText } from "./patch_text.ts";

function test(name: string, fn: () => void): void {
  // The reader of YAML asks for these.
  Deno.test({ name, permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] }, fn });
}

interface PatchDocument {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly template: {
      readonly spec: Readonly<Partial<Record<"containers" | "initContainers", PatchedContainer[]>>>;
    };
  };
}

interface PatchedContainer {
  readonly name: string;
  readonly resources: Readonly<Partial<Record<"requests" | "limits", Record<string, string>>>>;
}

/** The text, and what a reader of YAML makes of it. */
function patched(
  records: readonly WorkloadRecord[],
  { templates }: { readonly templates?: readonly WorkloadTemplate[] } = {},
): { readonly text: string; readonly documents: readonly PatchDocument[] } {
  const reports = reportsOf(records);
  const facts = { reports, templates, pods: shopPods(), allocations: [] };
  const workloads = adviseAll(facts);
  const changes = sumOfChanges(workloads.map((one) => one.changes));
  const view: AdviceView = { workloads, changes, notes: ["a note"] };
  const text = patchText(view);
  const read = parseAllDocuments(text);
  assert.deepEqual(read.flatMap(({ errors }) => errors), []);
  const documents = read.map((one) => one.toJS());
  return { text, documents };
}

test("patchText() is read again as what was recommended, each container once, nothing else", () => {
  fc.assert(
    fc.property(workloadRecords("shop", { mostWorkloads: 8 }), (drawn) => {
      // Nothing is lowered and nothing cut: other tests have that.
      const records = drawn.map((record) => ({
        ...record,
        recommendations: record.recommendations.map(({ cpuLimit, memoryLimit, ...one }) => ({
          ...one,
          ...(cpuLimit === undefined ? {} : { cpuLimit: Math.max(one.cpu, cpuLimit) }),
          ...(memoryLimit === undefined ? {} : { memoryLimit: Math.max(one.memory, memoryLimit) }),
        })),
      }));
      const templates = records.map(({ workload: { kind, name }, recommendations }) =>
        template(
          `${kind}/${name}`,
          1,
          recommendations.map(({ container, memoryLimit }) => ({
            name: container,
            sidecar: false,
            requests: {},
            limits: { ...(memoryLimit === undefined ? {} : { memory: 0 }) },
          })),
        )
      );
      const { documents } = patched(records, { templates });
      const wanted = records.filter(({ recommendations }) => recommendations.length > 0);
      assert.equal(documents.length, wanted.length);
      for (const { workload, recommendations } of wanted) {
        const document = documents.find(({ kind, metadata }) =>
          kind === workload.kind && metadata.name === workload.name
        );
        assert.equal(document?.metadata.namespace, "shop");
        const containers = document?.spec.template.spec.containers ?? [];
        const read = containers.map(({ name, resources: { requests = {}, limits = {} } }) => ({
          container: name,
          cpu: parseCPU(requests["cpu"] ?? ""),
          memory: parseBytes(requests["memory"] ?? ""),
          ...(limits["cpu"] === undefined ? {} : { cpuLimit: parseCPU(limits["cpu"]) }),
          ...(limits["memory"] === undefined ? {} : { memoryLimit: parseBytes(limits["memory"]) }),
        }));
        const values = recommendations.map(({ explanation: _explanation, ...one }) => one);
        assert.deepEqual(read, values);
      }
    }),
  );
});

test("patchText() makes no container of one that the template no longer has", () => {
  const templates = [
    template("Deployment/web", 1, [{ name: "app", sidecar: false, ...NO_RESOURCES }]),
    template("StatefulSet/db", 1, []),
  ];
  const { text, documents } = patched(shopRecords(), { templates });
  assert.deepEqual(documents.map(({ spec }) => spec.template.spec.containers?.map((c) => c.name)), [
    ["app"],
  ]);
  assert.match(text, /^# proxy of deployment\/web: left out: .*template/m);
  assert.match(text, /^# StatefulSet shop\/db .*: UnsafeMemoryDecrease: /m);
  assert.match(text, /^# DaemonSet shop\/log .*exists$/m);
});

test("patchText() asks for no more than the limits that it leaves alone", () => {
  const limits = { requests: {}, limits: { cpu: 300, memory: 64 * 2 ** 20 } };
  const templates = [
    template("Deployment/web", 1, [{ name: "app", sidecar: false, ...limits }]),
  ];
  const { text, documents } = patched(shopRecords().slice(0, 1), { templates });
  assert.deepEqual(documents[0]?.spec.template.spec.containers, [
    { name: "app", resources: { requests: { cpu: "300m", memory: "67108864" } } },
  ]);
  assert.match(text, /^# app of .*: cpu .*limit, 300m/m);
  assert.match(text, /^# app of .*: memory .*limit, 64Mi/m);
});

test("patchText() lowers memory no nearer to what was used than is safe, whatever the policy's mode", () => {
  const [web] = shopRecords();
  const [usage] = web?.usage ?? [];
  assert.ok(web !== undefined && usage?.memory !== undefined);
  const requestMemory = 128 * 2 ** 20;
  const templates = [
    template("Deployment/web", 1, [{
      name: "app",
      sidecar: false,
      requests: { memory: requestMemory },
      limits: {},
    }]),
  ];
  const of = (record: WorkloadRecord): readonly [string | undefined, string] => {
    const { text, documents } = patched([record], { templates });
    const [app] = documents[0]?.spec.template.spec.containers ?? [];
    assert.equal(app?.resources.requests?.["cpu"], "336m");
    return [app?.resources.requests?.["memory"], text];
  };
  const at = (max: number): WorkloadRecord => ({
    ...web,
    usage: [{ ...usage, memory: { ...usage.memory!, max } }],
  });
  // 88617123 / 1.15 = 77058367.8.
  assert.equal(of(at(77_058_367))[0], "88617123");
  const [near, why] = of(at(77_058_368));
  assert.equal(near, "88617124");
  assert.match(why, /memory .*: 84\.5Mi .* 73\.5Mi, \+ 15 %/);
  const { usage: _usage, ...unknown } = web;
  assert.match(of(unknown)[1], /memory .*: 84\.5Mi .*peak/);
  const other = { ...at(1), reason: "UnsafeMemoryDecrease" };
  assert.equal(of(other)[0], "88617123", "that may be of another container");
});

test("patchText() brings memory that is raised, also where lowering it is unsafe", () => {
  const [, db] = shopRecords();
  assert.ok(db !== undefined);
  const small = {
    name: "db",
    sidecar: false,
    requests: { memory: 2 ** 20 },
    limits: { memory: 2 ** 20 },
  };
  const { text, documents } = patched([db], {
    templates: [template("StatefulSet/db", 1, [small])],
  });
  const [container] = documents[0]?.spec.template.spec.containers ?? [];
  assert.equal(container?.resources.requests?.["memory"], String(512 * 2 ** 20));
  assert.equal(container?.resources.limits?.["memory"], String(600 * 2 ** 20));
  assert.doesNotMatch(text, /left out/);
});

test("patchText() is a comment where there is nothing to patch", () => {
  const { text, documents } = patched([]);
  assert.deepEqual(documents, []);
  assert.match(text, /^# No recommendations here\.$/m);
});

test("patchText() lets no text out of its comments", () => {
  const [web] = shopRecords();
  assert.ok(web !== undefined);
  const explanation = "x\n---\nkind: Secret\r\u2028apiVersion: v1";
  const recommendations = [{ container: "app", cpu: 1, memory: 1, explanation }];
  const { documents } = patched([{ ...web, recommendations }]);
  assert.deepEqual(documents.map(({ kind }) => kind), ["Deployment"]);
});
