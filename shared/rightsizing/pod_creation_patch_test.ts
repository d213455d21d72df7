import assert from "node:assert/strict";
import fc from "fast-check";
import type { Resources } from "../api/pod.ts";
import { parseBytes, parseCPU } from "../quantity.ts";
import { qosClassOf } from "../resize/inputs/qos.ts";
import { podTotal } from "../resize/inputs/resources.ts";
import { type CreationStep, podCreationPatch, readCreatedPod } from "./pod_creation_patch.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const MI = 2 ** 20;

function podOf(...containers: readonly object[]): object {
  return { metadata: { generateName: "web-" }, spec: { containers } };
}

const burstable = {
  name: "app",
  image: "app:1",
  resources: { requests: { cpu: "100m" }, limits: { cpu: "0.2", memory: "128Mi" } },
};

test("podCreationPatch() adds what is not there, and replaces what is", () => {
  const values = new Map([["app", { requests: { cpu: 150, memory: 96 * MI }, limits: {} }]]);
  assert.deepEqual(podCreationPatch(podOf({ name: "log" }, burstable), values), [
    { op: "replace", path: "/spec/containers/1/resources/requests/cpu", value: "150m" },
    { op: "add", path: "/spec/containers/1/resources/requests/memory", value: "96Mi" },
  ]);
  const { requests: _none, ...limits } = burstable.resources;
  const open = { name: "log", resources: { requests: { cpu: "1m" } } };
  assert.deepEqual(
    podCreationPatch(podOf({ ...burstable, resources: limits }, open), values),
    [{
      op: "add",
      path: "/spec/containers/0/resources/requests",
      value: { cpu: "150m", memory: "96Mi" },
    }],
  );
  assert.deepEqual(podCreationPatch(podOf({ name: "app" }, open), values), [{
    op: "add",
    path: "/spec/containers/0/resources",
    value: { requests: { cpu: "150m", memory: "96Mi" } },
  }]);
});

test("podCreationPatch() has no steps where the values are the same, however they are written", () => {
  const values = new Map([["app", {
    requests: { cpu: 100 },
    limits: { cpu: 200, memory: 128 * MI },
  }]]);
  assert.deepEqual(podCreationPatch(podOf(burstable), values), []);
  assert.deepEqual(podCreationPatch(podOf(burstable), new Map()), []);
  assert.deepEqual(
    podCreationPatch(podOf(burstable), new Map([["other", { requests: { cpu: 1 }, limits: {} }]])),
    [],
  );
});

test("podCreationPatch() cuts requests at limits, and leaves BestEffort pods alone", () => {
  const values = new Map([["app", { requests: { cpu: 900 }, limits: {} }]]);
  assert.deepEqual(podCreationPatch(podOf(burstable), values), [
    // Its memory request is its limit, so that a CPU request at the limit would make it Guaranteed.
    { op: "replace", path: "/spec/containers/0/resources/requests/cpu", value: "199m" },
  ]);
  assert.deepEqual(podCreationPatch(podOf({ name: "app" }), values), []);
});

test("podCreationPatch() moves both halves in a Guaranteed pod, or neither", () => {
  const same = { cpu: "200m", memory: "128Mi" };
  const guaranteed = podOf({ name: "app", resources: { requests: same, limits: same } });
  assert.deepEqual(
    podCreationPatch(guaranteed, new Map([["app", { requests: { cpu: 100 }, limits: {} }]])),
    [],
  );
  assert.deepEqual(
    podCreationPatch(
      guaranteed,
      new Map([["app", { requests: { cpu: 100 }, limits: { cpu: 120 } }]]),
    ),
    [
      { op: "replace", path: "/spec/containers/0/resources/requests/cpu", value: "100m" },
      { op: "replace", path: "/spec/containers/0/resources/limits/cpu", value: "100m" },
    ],
  );
});

test("podCreationPatch() writes a request down that has only been the default for its limit", () => {
  const open = { name: "log", resources: { requests: { cpu: "1m" } } };
  const pod = podOf({ name: "app", resources: { limits: { memory: "64Mi" } } }, open);
  const values = new Map([["app", {
    requests: { memory: 64 * MI },
    limits: { memory: 128 * MI },
  }]]);
  assert.deepEqual(podCreationPatch(pod, values), [
    { op: "add", path: "/spec/containers/0/resources/requests", value: { memory: "64Mi" } },
    { op: "replace", path: "/spec/containers/0/resources/limits/memory", value: "128Mi" },
  ]);
  assert.deepEqual(
    podCreationPatch(pod, new Map([["app", { requests: { memory: 64 * MI }, limits: {} }]])),
    [],
  );
});

test("podCreationPatch() stays within what the pod says as a whole", () => {
  const values = new Map([["app", { requests: { cpu: 150 }, limits: {} }]]);
  const spec = (cpu: string) => ({
    spec: { containers: [burstable], resources: { requests: { cpu } } },
  });
  assert.deepEqual(podCreationPatch(spec("120m"), values), []);
  assert.equal(podCreationPatch(spec("150m"), values).length, 1);
});

test("podCreationPatch() sets no limit where there is no request, since the server would take it for one", () => {
  const values = new Map([["app", { requests: {}, limits: { cpu: 1000, memory: 1 << 20 } }]]);
  assert.deepEqual(podCreationPatch(podOf({ name: "app" }), values), []);
  const pod = podOf({ name: "app", resources: { requests: { cpu: "1" } } });
  assert.deepEqual(
    podCreationPatch(pod, new Map([["app", { requests: {}, limits: { memory: 1 << 20 } }]])),
    [],
  );
  const steps = podCreationPatch(pod, new Map([["app", { requests: {}, limits: { cpu: 2000 } }]]));
  assert.deepEqual(steps, [
    { op: "add", path: "/spec/containers/0/resources/limits", value: { cpu: "2" } },
  ]);
});

test("podCreationPatch() names what can't be read", () => {
  const values = new Map([["app", { requests: { cpu: 150 }, limits: {} }]]);
  for (
    const pod of [undefined, null, 7, {}, { spec: {} }, { spec: { containers: [7] } }, podOf({})]
  ) {
    assert.throws(() => podCreationPatch(pod, values), {
      name: "TypeError",
      message: /^Cannot read/,
    });
  }
  const bad = podOf({ name: "app", resources: { requests: { cpu: "much" } } });
  assert.throws(() => podCreationPatch(bad, values), { name: "SyntaxError", message: /"much"/ });
});

/** The document after the steps, which name only members of objects and places of containers. */
function patched(pod: object, steps: readonly CreationStep[]): unknown {
  const copy: unknown = structuredClone(pod);
  for (const { op, path, value } of steps) {
    const names = path.split("/").slice(1);
    const last = names.pop() ?? "";
    let at = copy as Record<string, unknown>;
    for (const name of names) at = at[name] as Record<string, unknown>;
    assert.equal(Object.hasOwn(at, last), op === "replace", path);
    at[last] = value;
  }
  return copy;
}

interface Raw {
  readonly requests?: { readonly cpu?: string; readonly memory?: string };
  readonly limits?: { readonly cpu?: string; readonly memory?: string };
}

/** With the server's defaults: a limit without a request is the request. */
function read(raw: Raw | undefined): Resources {
  const { requests = {}, limits = {} } = raw ?? {};
  const cpu = requests.cpu ?? limits.cpu;
  const memory = requests.memory ?? limits.memory;
  return {
    requests: {
      ...(cpu === undefined ? {} : { cpu: parseCPU(cpu) }),
      ...(memory === undefined ? {} : { memory: parseBytes(memory) }),
    },
    limits: {
      ...(limits.cpu === undefined ? {} : { cpu: parseCPU(limits.cpu) }),
      ...(limits.memory === undefined ? {} : { memory: parseBytes(limits.memory) }),
    },
  };
}

test("podCreationPatch() keeps class, limits above requests and init containers, for any pod", () => {
  const amount = fc.integer({ min: 1, max: 50 });
  const pair = fc.record({ request: amount, extra: fc.nat(3) }, { requiredKeys: [] })
    .map(({ request, extra }) => ({
      request: request === undefined ? undefined : String(request),
      limit: extra === undefined ? undefined : String((request ?? 1) + extra),
    }));
  const resources = fc.tuple(pair, pair).map(([cpu, memory]) => {
    const of = (side: "request" | "limit") => ({
      ...(cpu[side] === undefined ? {} : { cpu: cpu[side] }),
      ...(memory[side] === undefined ? {} : { memory: memory[side] }),
    });
    return { requests: of("request"), limits: of("limit") };
  });
  const container = fc.record({ resources }, { requiredKeys: [] });
  const pods = fc.record({
    containers: fc.array(container, { minLength: 1, maxLength: 3 }),
    initContainers: fc.array(container, { maxLength: 2 }),
  }).map(({ containers, initContainers }) => ({
    spec: {
      containers: containers.map((one, index) => ({ name: `c${index}`, ...one })),
      initContainers: initContainers.map((one, index) => ({ name: `i${index}`, ...one })),
    },
  }));
  const amounts = fc.record({
    cpu: amount.map((cores) => cores * 1000),
    memory: amount,
  }, { requiredKeys: [] });
  const value = fc.record({ requests: amounts, limits: amounts });
  const values = fc.dictionary(fc.constantFrom("c0", "c1", "c2", "i0", "i1"), value)
    .map((all) => new Map(Object.entries(all)));
  let changed = 0;
  fc.assert(
    fc.property(pods, values, (pod, asked) => {
      const before = structuredClone(pod);
      const steps = podCreationPatch(pod, asked);
      assert.deepEqual(pod, before);
      changed += steps.length;
      const after = patched(pod, steps) as typeof pod;
      const all = ({ spec }: typeof pod): Resources[] =>
        [...spec.containers, ...spec.initContainers].map((one) => read(one.resources as Raw));
      assert.equal(qosClassOf(all(after)), qosClassOf(all(pod)));
      assert.deepEqual(after.spec.initContainers, pod.spec.initContainers);
      for (const { requests, limits } of all(after)) {
        assert.ok((requests.cpu ?? 0) <= (limits.cpu ?? Infinity));
        assert.ok((requests.memory ?? 0) <= (limits.memory ?? Infinity));
      }
      assert.deepEqual(podCreationPatch(after, asked), [], "a second time there is nothing to do");
    }),
  );
  assert.ok(changed > 100, `${changed}`);
});

const cpu = (amount: string) => ({ resources: { requests: { cpu: amount } } });

Deno.test({
  name: "readCreatedPod() counts sidecars with the containers that they run beside",
  permissions: "none",
  fn() {
    const { containers, subject } = readCreatedPod({
      spec: {
        containers: [{ name: "app", ...cpu("100m") }],
        initContainers: [
          { name: "proxy", restartPolicy: "Always", ...cpu("50m") },
          { name: "setup", ...cpu("120m") },
        ],
      },
    });
    assert.deepEqual(containers.map(({ name }) => name), ["app"]);
    assert.deepEqual(subject.containers.map(({ name, sidecar }) => [name, sidecar]), [
      ["app", false],
      ["proxy", true],
    ]);
    assert.deepEqual(subject.initContainers.map(({ name }) => name), ["setup"]);
    assert.equal(podTotal(subject, ({ requests }) => requests.cpu), 170);
  },
});
