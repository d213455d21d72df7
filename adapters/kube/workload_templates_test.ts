import assert from "node:assert/strict";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { parseWorkloadTemplate, workloadTemplateListWatch } from "./workload_templates.ts";

const metadata = { name: "web", namespace: "shop", uid: "u", resourceVersion: "1" };

function raw(spec: unknown, more: unknown = {}): unknown {
  return { metadata, spec: { template: { spec } }, ...Object(more) };
}

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("parseWorkloadTemplate() reads containers and sidecars, and no other init containers", () => {
  const template = parseWorkloadTemplate(
    raw({
      containers: [{
        name: "app",
        resources: { requests: { cpu: "250m", memory: "64Mi" }, limits: { cpu: 1 } },
      }, { name: "bare" }],
      initContainers: [
        { name: "setup", resources: { requests: { cpu: "1" } } },
        { name: "proxy", restartPolicy: "Always", resources: { limits: { memory: "1Gi" } } },
      ],
    }),
    "Deployment",
  );
  assert.deepEqual(template, {
    kind: "Deployment",
    metadata,
    replicas: 1,
    containers: [
      {
        name: "app",
        sidecar: false,
        requestCPU: 250,
        limitCPU: 1000,
        requestMemory: 64 * 2 ** 20,
      },
      { name: "bare", sidecar: false },
      // As the server writes it into the pods.
      { name: "proxy", sidecar: true, requestMemory: 2 ** 30, limitMemory: 2 ** 30 },
    ],
  });
});

pure(
  "parseWorkloadTemplate() counts a DaemonSet's pods by its status, others by their spec",
  () => {
    const counts = { status: { desiredNumberScheduled: 7 }, spec: { replicas: 3 } };
    const of = (kind: "DaemonSet" | "StatefulSet") =>
      parseWorkloadTemplate({ metadata, ...counts }, kind).replicas;
    assert.deepEqual([of("DaemonSet"), of("StatefulSet")], [7, 3]);
    assert.equal(
      parseWorkloadTemplate({ metadata, spec: { replicas: 0 } }, "Deployment").replicas,
      0,
    );
  },
);

pure("parseWorkloadTemplate() says why it can't read one, and keeps its name", () => {
  const spec = { containers: [{ name: "app", resources: { requests: { cpu: "much" } } }] };
  const template = parseWorkloadTemplate(raw(spec), "Deployment");
  assert.match(template.unreadable ?? "", /^Cannot parse CPU quantity: "much"/);
  assert.deepEqual([template.metadata, template.containers], [metadata, []]);
  assert.throws(() => parseWorkloadTemplate({ spec: {} }, "Deployment"), TypeError);
});

Deno.test("workloadTemplateListWatch() lists the kind, in a namespace or in all", async () => {
  await using server = serveCanned(() => ({
    metadata: { resourceVersion: "9" },
    items: [{ metadata }],
  }));
  const { signal } = new AbortController();
  const list = (choice: { namespace?: string }) =>
    workloadTemplateListWatch(server.connection, { kind: "StatefulSet", ...choice }).list(signal);
  assert.equal((await list({})).items[0]?.metadata.name, "web");
  await list({ namespace: "shop" });
  assert.deepEqual(server.requests.map(({ path }) => path), [
    "/apis/apps/v1/statefulsets",
    "/apis/apps/v1/namespaces/shop/statefulsets",
  ]);
});
