import { type Resources, withResources } from "../../api/pod.ts";
import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import {
  bareContainer,
  type FactsChoice,
  MI,
  NOW_MS,
  outcomeOf,
  recommendation,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { TemplateOwners } from "../../api/workload.ts";
import { RIGHTSIZING_MANAGER } from "../../resize/original_limits.ts";
import type { UpdateStrategy } from "../policy_spec.ts";
import type { ContainerTemplate } from "../workload_record.ts";
import {
  type AppliedRecord,
  compareTemplate,
  templateWith,
  withUnrecorded,
} from "./template_changes.ts";
import assert from "node:assert/strict";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const HOUR_MS = 3_600_000;
const AUTHOR = { requests: { cpu: 100, memory: 64 * MI }, limits: {} };
const WRITTEN = { ...AUTHOR, requests: { ...AUTHOR.requests, cpu: 180 } };
const KNOWN: ContainerTemplate = { container: "app", values: { cpu: 100, memory: 64 * MI } };

function compared(
  resources: Resources,
  { known = [KNOWN], owners, nowMs = NOW_MS }: {
    readonly known?: readonly ContainerTemplate[];
    readonly owners?: TemplateOwners;
    readonly nowMs?: number;
  } = {},
) {
  const containers = [bareContainer("app", resources), templateContainer({ sidecar: true })];
  return compareTemplate(known, { containers, owners, nowMs });
}

function ownedBy(manager: string, atMs: number): TemplateOwners {
  const owner = { manager, atMs };
  const app = { "requests.cpu": owner, "requests.memory": owner, "limits.cpu": owner };
  return { app: { ...app, "limits.memory": owner } };
}

test("compareTemplate() finds no change of a template that is new, or as it was recorded", () => {
  const unchanged = { template: [KNOWN], unrecorded: [] };
  assert.deepEqual(compared(AUTHOR, { known: [] }), unchanged);
  assert.deepEqual(compared(AUTHOR, { owners: ownedBy("helm", NOW_MS) }), unchanged);
});

test("compareTemplate() finds the manager that has changed a resource, and when it did", () => {
  const changes = (resources: Resources, owners?: TemplateOwners) =>
    compared(resources, owners && { owners }).template[0]?.changed;
  const atMs = NOW_MS - HOUR_MS;
  assert.deepEqual(changes(WRITTEN, ownedBy("helm", atMs)), { cpu: { by: "helm", atMs } });
  assert.deepEqual(changes({ ...AUTHOR, limits: { ...AUTHOR.limits, memory: MI } }), {
    memory: { atMs: NOW_MS },
  });
  assert.deepEqual(changes({ requests: { cpu: 100 }, limits: {} }), { memory: { atMs: NOW_MS } });
  const ahead = ownedBy("helm", NOW_MS + HOUR_MS);
  assert.deepEqual(changes(WRITTEN, ahead), { cpu: { by: "helm", atMs: NOW_MS } });
});

test("compareTemplate() keeps a change for a day", () => {
  const [known = assert.fail()] = compared(WRITTEN).template;
  const after = (hours: number) =>
    compared(WRITTEN, { known: [known], nowMs: NOW_MS + hours * HOUR_MS }).template[0];
  assert.deepEqual(after(23.9), known);
  assert.deepEqual(after(-2)?.changed, { cpu: { atMs: NOW_MS - 2 * HOUR_MS } });
  assert.deepEqual(after(24), { container: "app", values: { cpu: 180, memory: 64 * MI } });
});

test("compareTemplate() takes rightsizing's own values for unrecorded ones, not for a change", () => {
  const owners = ownedBy(RIGHTSIZING_MANAGER, NOW_MS - HOUR_MS);
  const values = { cpu: 180, memory: 64 * MI };
  assert.deepEqual(compared(WRITTEN, { owners }), {
    template: [{ container: "app", values }],
    unrecorded: [{ container: "app", resource: "cpu", pair: { request: 180 } }],
  });
  const template = templateWith(new Map([["app", { requests: { cpu: 180 }, limits: {} }]]), [
    KNOWN,
  ]);
  assert.deepEqual(compared(WRITTEN, { known: template, owners }), { template, unrecorded: [] });
  assert.deepEqual(compared(AUTHOR, { known: template }).template[0]?.changed, {
    cpu: { atMs: NOW_MS },
  });
});

test("compareTemplate() takes a request or limit that is gone for a change, whatever owns the other half", () => {
  const known = [{ ...KNOWN, values: { ...KNOWN.values, cpuLimit: 200 } }];
  const owners = ownedBy(RIGHTSIZING_MANAGER, NOW_MS - HOUR_MS);
  const changed = { cpu: { atMs: NOW_MS } };
  const withoutLimit = compared(AUTHOR, { known, owners });
  assert.deepEqual([withoutLimit.template[0]?.changed, withoutLimit.unrecorded], [changed, []]);
  const helm = { manager: "helm", atMs: NOW_MS - HOUR_MS };
  const request = compared({ requests: { memory: 64 * MI }, limits: { cpu: 200 } }, {
    known,
    owners: { app: { "limits.cpu": helm } },
  });
  assert.deepEqual([request.template[0]?.changed, request.unrecorded], [changed, []]);
});

test("compareTemplate() takes each half for its own manager's", () => {
  const known = [{ ...KNOWN, values: { ...KNOWN.values, cpuLimit: 200 } }];
  const atMs = NOW_MS - HOUR_MS;
  const owners = {
    app: {
      "requests.cpu": { manager: RIGHTSIZING_MANAGER, atMs },
      "limits.cpu": { manager: "helm", atMs },
    },
  };
  const { template, unrecorded } = compared({ ...WRITTEN, limits: { cpu: 300 } }, {
    known,
    owners,
  });
  assert.deepEqual(template[0]?.changed, { cpu: { by: "helm", atMs } });
  assert.deepEqual(unrecorded, [{ container: "app", resource: "cpu", pair: { request: 180 } }]);
});

const AUTHORED = { cpu: 100, memory: 64 * MI };

test("withUnrecorded() counts the values as applied now, beside those of other resources", () => {
  const containers = [
    bareContainer("app", { ...WRITTEN, limits: { ...WRITTEN.limits, memory: 128 * MI } }),
  ];
  const record: AppliedRecord = {
    inForce: [
      { container: "app", cpu: 120, cpuLimit: 300, memory: 70 * MI, adoptedOn: AUTHORED },
      { container: "log", cpu: 10 },
    ],
    appliedAtMs: NOW_MS - 9000,
    method: "InPlace",
  };
  const now = { containers, nowMs: NOW_MS };
  assert.equal(withUnrecorded(record, [], now), record);
  const cpu = { container: "app", resource: "cpu", pair: { request: 180 } } as const;
  // The author's new memory limit ends the memory values in force.
  const adoptedOn = { ...AUTHORED, cpu: 180 };
  assert.deepEqual(withUnrecorded(record, [cpu], now), {
    inForce: [
      { container: "log", cpu: 10 },
      { container: "app", cpu: 180, memory: 70 * MI, adoptedOn },
    ],
    appliedAtMs: NOW_MS,
    method: "Recreate",
  });
});

const ROLLOUT = { allowInPlaceResize: false, allowRecreate: true };

/** The template has 100 m and 64 Mi of `app` since then: more CPU is recommended, and less memory. */
function edited(hoursAgo: number, choice: FactsChoice = {}): FactsChoice {
  const change = { by: "helm", atMs: NOW_MS - hoursAgo * HOUR_MS };
  return {
    recommendations: [recommendation({ memory: 32 * MI })],
    remembered: [{ ...KNOWN, changed: { cpu: change, memory: change } }],
    ...choice,
  };
}

/** The same, of a workload that rightsizing has applied values to before. */
function undone(hoursAgo: number, choice: FactsChoice = {}): FactsChoice {
  return edited(hoursAgo, {
    strategy: ROLLOUT,
    recommendations: [recommendation()],
    lastAppliedMs: NOW_MS - 48 * HOUR_MS,
    ...choice,
  });
}

test("takenBack() leaves the template alone for a day after a change by another manager", () => {
  assert.match(
    outcomeOf(undone(1)),
    /^TakenBack TakenBack: helm .*2027-01-15T07:00:00.* until 2027-01-16T07:00:00/,
  );
  assert.match(outcomeOf(undone(23.9)), /^TakenBack /);
  const all = "Recreate: app cpu 150m, app memory 96Mi";
  assert.equal(outcomeOf(undone(24)), all);
  assert.match(outcomeOf(undone(-1)), /^TakenBack /, "the clock was set back");
  // Another recommendation waits as well.
  assert.match(outcomeOf(undone(1, { recommendations: [recommendation({ cpu: 400 })] })), /^Taken/);
  const hardly = [recommendation({ cpu: 105, memory: 66 * MI })];
  assert.match(outcomeOf(undone(1, { recommendations: hardly })), /^BelowThreshold /);
});

test("takenBack() waits from the last change on, of whatever resource", () => {
  const atMs = (hoursAgo: number) => ({ atMs: NOW_MS - hoursAgo * HOUR_MS });
  const remembered = [{ ...KNOWN, changed: { cpu: atMs(20), memory: atMs(30) } }];
  assert.match(outcomeOf(undone(0, { remembered })), /^TakenBack .* until 2027-01-15T12:00:00/);
});

test("takenBack() holds nothing of a workload that rightsizing has applied nothing to", () => {
  const recommendations = [recommendation()];
  assert.match(outcomeOf(edited(1, { recommendations, strategy: ROLLOUT })), /^Recreate: /);
});

test("takenBack() lets pods get in place what only goes by a rollout beside something else", () => {
  const containers = [templateContainer({ restartsOnMemory: true })];
  const strategy = { allowInPlaceResize: true, allowRecreate: true };
  assert.equal(outcomeOf({ containers, strategy }), "Recreate: app cpu 150m, app memory 96Mi");
  assert.equal(outcomeOf(undone(1, { containers, strategy })), "InPlace: app cpu 150m");
  assert.match(outcomeOf(undone(1, { strategy: {} })), /^InPlace: /);
});

test("recentlyEdited() lowers nothing for a day after the change, by whatever method", () => {
  assert.equal(outcomeOf(edited(1)), "InPlace: app cpu 150m");
  assert.equal(outcomeOf(edited(1, { strategy: ROLLOUT })), "Recreate: app cpu 150m");
  assert.equal(outcomeOf(edited(23.9)), "InPlace: app cpu 150m");
  assert.equal(outcomeOf(edited(24)), "InPlace: app cpu 150m, app memory 32Mi");
  const less = [recommendation({ cpu: 50, memory: 32 * MI })];
  assert.match(
    outcomeOf(edited(1, { recommendations: less })),
    /^RecentlyEdited .* 50m: helm .*2027-01-15T07:00:00.*2027-01-16T07:00:00/,
  );
});

test("recentlyEdited() holds no other resource", () => {
  const remembered = [{ ...KNOWN, changed: { cpu: { atMs: NOW_MS } } }];
  assert.equal(outcomeOf(edited(1, { remembered })), "InPlace: app cpu 150m, app memory 32Mi");
});

test("recentlyEdited() lets a request be raised beside a limit that would be lowered, and the other way round", () => {
  const template = { requests: { cpu: 200, memory: 512 * MI }, limits: {} };
  const recommendations = [
    recommendation({ cpu: 600, cpuLimit: 700, memory: 960 * MI, memoryLimit: 1056 * MI }),
  ];
  const of = (limits: ContainerFields, strategy: Partial<UpdateStrategy> = {}) =>
    outcomeOf(edited(1, {
      containers: [
        bareContainer("app", { ...limits, ...withResources<Resources>(template, limits) }),
      ],
      recommendations,
      strategy: { updateRequestsOnly: false, ...strategy },
      memoryPeaks: new Map([["app", 800 * MI]]),
    }));
  const raised = "app cpu 600m, app memory 960Mi";
  assert.equal(of({}), `InPlace: ${raised}`, "no limit comes where there was none");
  assert.equal(of({}, ROLLOUT), `Recreate: ${raised}`);
  assert.equal(of({ limits: { cpu: 800, memory: 2048 * MI } }), `InPlace: ${raised}`);
  const below = { requests: {}, limits: { cpu: 650, memory: 1000 * MI } };
  const both = "app cpu 600m (limit 700m), app memory 960Mi (limit 1056Mi)";
  assert.equal(of(below), `InPlace: ${both}`);
  const more = { requests: { cpu: 640, memory: 990 * MI }, limits: {} };
  const limits = "app cpu limit 700m, app memory limit 1056Mi";
  assert.equal(
    of(withResources(more, below), { changeThresholdPercent: 1 }),
    `InPlace: ${limits}`,
  );
  const lower = [recommendation({ memory: 64 * MI, memoryLimit: 96 * MI, cpu: 100 })];
  assert.match(
    outcomeOf(edited(1, { recommendations: lower, strategy: { updateRequestsOnly: false } })),
    /^RecentlyEdited .* memory limit .* 96Mi: /,
  );
});

test("recentlyEdited() moves nothing of a Guaranteed pod that would be lowered", () => {
  const equal = { requests: { cpu: 200, memory: 64 * MI }, limits: { cpu: 200, memory: 64 * MI } };
  const outcome = outcomeOf(edited(1, {
    containers: [bareContainer("app", equal)],
    recommendations: [recommendation({ cpu: 300, cpuLimit: 600, memory: 32 * MI })],
    strategy: { updateRequestsOnly: false },
  }));
  assert.equal(outcome, "InPlace: app cpu 300m (limit 300m)");
});
