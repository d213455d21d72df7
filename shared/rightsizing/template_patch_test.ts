import fc from "fast-check";
import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  MI,
  rightsizingFacts,
  templateContainer,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { createdPod, OWNS_NOTHING } from "../../tests/fixtures/rightsizing/rightsizing_patches.ts";
import { applyJSONPatch } from "../../tests/fixtures/apply_json_patch.ts";
import type { Resources } from "../api/pod.ts";
import type { ResourceField } from "../api/workload.ts";
import { qosClassOf } from "../resize/inputs/qos.ts";
import { withDefaultRequests } from "../resize/inputs/resources.ts";
import { podCreationPatch } from "./pod_creation_patch.ts";
import { type OwnedFields, ownedFields, templateOwners, templatePatch } from "./template_patch.ts";

const { workload } = rightsizingFacts({
  containers: [
    templateContainer(),
    templateContainer({ name: "log", requests: { cpu: 30 } }),
    templateContainer({ name: "proxy", sidecar: true, limits: { cpu: 50 } }),
  ],
});
const wanted = new Map([["app", { requests: { cpu: 150, memory: 96 * MI }, limits: {} }]]);

/** Fields by container: `limits.cpu limits.memory`. */
function fields(all: Readonly<Record<string, string>>): OwnedFields["containers"] {
  return new Map(
    Object.entries(all).map(([name, names]) =>
      [name, new Set(names.split(" ") as ResourceField[])] as const
    ),
  );
}

pure("templatePatch() is one patch for all containers, of resources alone, under the UID", () => {
  const app = { name: "app", resources: { requests: { cpu: "150m", memory: "96Mi" } } };
  const metadata = { name: "web", namespace: "shop", uid: "uid-web" };
  const spec = { template: { spec: { containers: [app] } } };
  assert.deepEqual(templatePatch(workload, { wanted, owned: OWNS_NOTHING }), {
    contentType: "application/apply-patch+yaml",
    fieldManager: "optipod",
    force: true,
    body: { apiVersion: "apps/v1", kind: "Deployment", metadata, spec },
  });
  const owned: OwnedFields = {
    containers: fields({
      app: "limits.memory",
      log: "requests.cpu requests.memory",
      gone: "requests.cpu",
    }),
    initContainers: fields({ proxy: "limits.cpu" }),
  };
  // Without server-side apply what changes, and no more.
  assert.deepEqual(templatePatch(workload, { wanted, owned }, { serverSideApply: false }), {
    contentType: "application/strategic-merge-patch+json",
    fieldManager: "optipod",
    force: false,
    body: { metadata, spec },
  });
  // With it what is owned is named again, for every container.
  assert.deepEqual(templatePatch(workload, { wanted, owned }).body.spec.template.spec, {
    containers: [
      { name: "app", resources: { ...app.resources, limits: { memory: "128Mi" } } },
      { name: "log", resources: { requests: { cpu: "30m", memory: "64Mi" } } },
    ],
    initContainers: [{ name: "proxy", resources: { limits: { cpu: "50m" } } }],
  });
});

const cpuLimit = { "f:resources": { "f:limits": { "f:cpu": {} } } };
const requests = { "f:resources": { "f:requests": { "f:cpu": {}, "f:memory": {} } } };

function managed(manager: unknown, containers: object, initContainers: object = {}) {
  const spec = { "f:containers": containers, "f:initContainers": initContainers };
  const fieldsV1 = { "f:spec": { "f:template": { "f:spec": spec } } };
  return { manager, operation: "Apply", fieldsV1 };
}

const entry = managed("optipod", {
  'k:{"name":"app"}': { ...requests, "f:image": {} },
  'k:{"name":"log"}': { "f:resources": { "f:limits": { "f:memory": {} } } },
  'k:{"name":"bare"}': { "f:image": {} },
  "k:{": requests,
  ".": {},
}, { 'k:{"name":"proxy"}': cpuLimit });

pure("ownedFields() reads what a manager has applied", () => {
  assert.deepEqual(ownedFields([entry], "optipod"), {
    containers: fields({ app: "requests.cpu requests.memory", log: "limits.memory" }),
    initContainers: fields({ proxy: "limits.cpu" }),
  });
  const others: readonly unknown[] = [
    [{ ...entry, manager: "kubectl" }],
    [{ ...entry, operation: "Update" }],
    [{ ...entry, fieldsV1: "f:spec" }],
    [null, 7, {}],
    undefined,
    "text",
  ];
  for (const one of others) assert.deepEqual(ownedFields(one, "optipod"), OWNS_NOTHING);
});

pure("templateOwners() reads each value's last manager, and its time", () => {
  const helm = { ...managed("helm", { 'k:{"name":"app"}': cpuLimit }), operation: "Update" };
  const at = (day: number) => ({ time: `2026-01-0${day}T00:00:00Z` });
  const of = (manager: string, day: number) => ({ manager, atMs: Date.UTC(2026, 0, day) });
  const applied = { ...entry, ...at(2) };
  const valuesOf = (last: unknown) => ({ "requests.cpu": last, "requests.memory": last });
  for (const day of [1, 3]) {
    const other = { ...helm, ...at(day) };
    const again = { ...entry, manager: "kubectl", ...at(day) };
    const last = day === 1 ? of("optipod", 2) : of("kubectl", day);
    for (const entries of [[applied, other, again], [again, other, applied]]) {
      assert.deepEqual(templateOwners(entries), {
        app: { ...valuesOf(last), "limits.cpu": of("helm", day) },
        log: { "limits.memory": last },
      });
    }
  }
  const named = { ...managed("helm", { 'k:{"name":"constructor"}': requests }), ...at(1) };
  assert.deepEqual(templateOwners([named]), { constructor: valuesOf(of("helm", 1)) });
  for (const entries of [[helm], [{ ...helm, time: "soon" }], [{ ...at(1) }], undefined, "text"]) {
    assert.equal(templateOwners(entries), undefined);
  }
});

function podOf(...containers: readonly object[]): object {
  return { metadata: { generateName: "web-" }, spec: { containers } };
}

/** The steps for `app`: `replace 1/requests/cpu 150m`, by place of the container and the path below. */
function stepsFor(pod: unknown, app: Partial<Resources>): readonly string[] {
  const values = new Map([["app", { requests: {}, limits: {}, ...app }]]);
  return podCreationPatch(createdPod(pod), values).map(({ op, path, value }) => {
    const below = path.replace("/spec/containers/", "").replace("resources/", "");
    return `${op} ${below} ${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
}

const burstable = {
  name: "app",
  image: "app:1",
  resources: { requests: { cpu: "100m" }, limits: { cpu: "0.2", memory: "128Mi" } },
};
const open = { name: "log", resources: { requests: { cpu: "1m" } } };
const bare = { name: "app" };

pure("podCreationPatch() adds or replaces values, and keeps the QoS class", () => {
  const { requests: _none, ...limits } = burstable.resources;
  const asked = { requests: { cpu: 150, memory: 96 * MI } };
  const quantities = '{"cpu":"150m","memory":"96Mi"}';
  const same = { cpu: "200m", memory: "128Mi" };
  const guaranteed = podOf({ name: "app", resources: { requests: same, limits: same } });
  const defaulted = podOf({ name: "app", resources: { limits: { memory: "64Mi" } } }, open);
  const core = podOf({ name: "app", resources: { requests: { cpu: "1" } } });
  const podLevel = (cpu: string) => ({
    spec: { containers: [burstable], resources: { requests: { cpu } } },
  });
  const rows:
    readonly (readonly [pod: unknown, app: Partial<Resources>, steps: readonly string[]])[] = [
      [podOf({ name: "log" }, burstable), asked, [
        "replace 1/requests/cpu 150m",
        "add 1/requests/memory 96Mi",
      ]],
      [podOf({ ...burstable, resources: limits }, open), asked, [`add 0/requests ${quantities}`]],
      [podOf(bare, open), asked, [`add 0/resources {"requests":${quantities}}`]],
      // The values are the same, however they are written.
      [podOf(burstable), { requests: { cpu: 100 }, limits: { cpu: 200, memory: 128 * MI } }, []],
      [podOf(burstable), {}, []],
      [podOf(open), asked, []],
      // Its memory request is its limit, so that a CPU request at the limit would make it Guaranteed.
      [podOf(burstable), { requests: { cpu: 900 } }, ["replace 0/requests/cpu 199m"]],
      [podOf(bare), { requests: { cpu: 900 } }, []],
      // Both halves in a Guaranteed pod, or neither.
      [guaranteed, { requests: { cpu: 100 } }, []],
      [
        guaranteed,
        { requests: { cpu: 100 }, limits: { cpu: 120 } },
        ["replace 0/requests/cpu 100m", "replace 0/limits/cpu 100m"],
      ],
      // A request that has only been the default for its limit is written down.
      [
        defaulted,
        { requests: { memory: 64 * MI }, limits: { memory: 128 * MI } },
        ['add 0/requests {"memory":"64Mi"}', "replace 0/limits/memory 128Mi"],
      ],
      [defaulted, { requests: { memory: 64 * MI } }, []],
      [podLevel("120m"), { requests: { cpu: 150 } }, []],
      [podLevel("150m"), { requests: { cpu: 150 } }, ["replace 0/requests/cpu 150m"]],
      // The server would take a limit for the request where there is none.
      [podOf(bare), { limits: { cpu: 1000, memory: MI } }, []],
      [core, { limits: { memory: MI } }, []],
      [core, { limits: { cpu: 2000 } }, ['add 0/limits {"cpu":"2"}']],
    ];
  for (const [index, [pod, app, steps]] of rows.entries()) {
    assert.deepEqual(stepsFor(pod, app), steps, `${index}`);
  }
});

/** Requests and limits of one container, some of them absent; limits are not below requests. */
const someResources = (() => {
  const amount = fc.integer({ min: 1, max: 50 });
  const pair = fc.record({ request: amount, extra: fc.nat(3) }, { requiredKeys: [] });
  return fc.tuple(pair, pair).map((pairs) => {
    const [requests, limits]: Record<string, string>[] = [{}, {}];
    for (const [index, { request, extra }] of pairs.entries()) {
      const resource = index === 0 ? "cpu" : "memory";
      if (request !== undefined) requests![resource] = `${request}`;
      if (extra !== undefined) limits![resource] = `${(request ?? 1) + extra}`;
    }
    return { requests, limits };
  });
})();

pure("podCreationPatch() keeps class, limits and init containers of any pod", () => {
  const container = fc.record({ resources: someResources }, { requiredKeys: [] });
  const named = (prefix: string) => (all: readonly object[]) =>
    all.map((one, index) => ({ name: `${prefix}${index}`, ...one }));
  const pods = fc.record({
    containers: fc.array(container, { minLength: 1, maxLength: 3 }).map(named("c")),
    initContainers: fc.array(container, { maxLength: 2 }).map(named("i")),
  }).map((spec) => ({ spec }));
  const amount = fc.integer({ min: 1, max: 50 });
  const amounts = fc.record({ cpu: amount.map((cores) => cores * 1000), memory: amount }, {
    requiredKeys: [],
  });
  const value = fc.record({ requests: amounts, limits: amounts });
  const values = fc.dictionary(fc.constantFrom("c0", "c1", "c2", "i0", "i1"), value)
    .map((all) => new Map(Object.entries(all)));
  const all = (pod: unknown) => {
    const { containers, initContainers } = createdPod(pod).template;
    return [...containers, ...initContainers].map(withDefaultRequests);
  };
  let changed = 0;
  fc.assert(fc.property(pods, values, (pod, asked) => {
    const before = JSON.stringify(pod);
    const steps = podCreationPatch(createdPod(pod), asked);
    changed += steps.length;
    const after = applyJSONPatch(pod, steps) as typeof pod;
    assert.equal(JSON.stringify(pod), before);
    assert.equal(qosClassOf(all(after)), qosClassOf(all(pod)));
    assert.deepEqual(after.spec.initContainers, pod.spec.initContainers);
    for (const { requests, limits } of all(after)) {
      assert.ok((requests.cpu ?? 0) <= (limits.cpu ?? Infinity));
      assert.ok((requests.memory ?? 0) <= (limits.memory ?? Infinity));
    }
    const again = podCreationPatch(createdPod(after), asked);
    assert.deepEqual(again, [], "a second time there is nothing to do");
  }));
  assert.ok(changed > 100, `${changed}`);
});
