import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  asks,
  assertDecisions,
  bareContainer,
  LIMITS,
  MI,
  NOW_MS,
  RECREATE,
  sized,
  type SnapshotChoice,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import type { ResourceName, Resources } from "../../api/pod.ts";
import type { TemplateOwners } from "../../api/workload.ts";
import { defined } from "../../defined.ts";
import { RIGHTSIZING_MANAGER } from "../../resize/original_limits.ts";
import type { ContainerTemplate, TemplateChange } from "../workload_record.ts";
import {
  type AppliedRecord,
  compareTemplate,
  templateWith,
  withUnrecorded,
} from "./template_changes.ts";

const HOUR_MS = 3_600_000;
const AN_HOUR_AGO = NOW_MS - HOUR_MS;
const AUTHOR = sized([100, 64]);
const WRITTEN = sized([180, 64]);
const KNOWN: ContainerTemplate = { container: "app", cpu: 100, memory: 64 * MI };
const LIMITED = [{ ...KNOWN, cpuLimit: 200 }];

function owned(requests: string, limits = requests, atMs = AN_HOUR_AGO): TemplateOwners {
  const [request, limit] = [{ manager: requests, atMs }, { manager: limits, atMs }];
  return {
    app: {
      "requests.cpu": request,
      "requests.memory": request,
      "limits.cpu": limit,
      "limits.memory": limit,
    },
  };
}

const OURS = RIGHTSIZING_MANAGER;
const CPU_NOW = { cpu: { atMs: NOW_MS } };
const CPU_WRITTEN = { app: { requests: { cpu: 180 }, limits: {} } };

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

function changesOf({ cpuChanged: cpu, memoryChanged: memory }: Partial<ContainerTemplate> = {}) {
  return defined({ cpu, memory });
}

pure("compareTemplate() finds changes by managers, and unrecorded ones of ours", () => {
  const { cpu: _cpu, ...memory } = AUTHOR.requests;
  const rows: readonly (readonly [
    Resources,
    NonNullable<Parameters<typeof compared>[1]>,
    Partial<Record<ResourceName, TemplateChange>>,
    unknown,
  ])[] = [
    // A template that is new, or as it was recorded.
    [AUTHOR, { known: [] }, {}, {}],
    [AUTHOR, { owners: owned("helm") }, {}, {}],
    [WRITTEN, { owners: owned("helm") }, { cpu: { by: "helm", atMs: AN_HOUR_AGO } }, {}],
    [WRITTEN, { owners: owned("helm", "helm", NOW_MS + 1) }, {
      cpu: { by: "helm", atMs: NOW_MS },
    }, {}],
    [sized([100, 64], [undefined, 1]), {}, { memory: { atMs: NOW_MS } }, {}],
    [{ requests: { cpu: 100 }, limits: {} }, {}, { memory: { atMs: NOW_MS } }, {}],
    [WRITTEN, { owners: owned(OURS) }, {}, CPU_WRITTEN],
    // A request or limit that is gone is a change, whatever owns the other half.
    [AUTHOR, { known: LIMITED, owners: owned(OURS) }, CPU_NOW, {}],
    [
      { requests: memory, limits: { cpu: 200 } },
      { known: LIMITED, owners: owned("helm") },
      CPU_NOW,
      {},
    ],
    // Each half for its own manager's.
    [
      sized([180, 64], [300]),
      { known: LIMITED, owners: owned(OURS, "helm") },
      { cpu: { by: "helm", atMs: AN_HOUR_AGO } },
      CPU_WRITTEN,
    ],
  ];
  for (const [resources, choice, changed, expected] of rows) {
    const { template: [app], unrecorded } = compared(resources, choice);
    assert.deepEqual([changesOf(app), Object.fromEntries(unrecorded)], [changed, expected]);
  }
  const template = templateWith(new Map(Object.entries(CPU_WRITTEN)), [KNOWN]);
  assert.deepEqual(compared(WRITTEN, { known: template, owners: owned(OURS) }), {
    template,
    unrecorded: new Map(),
  });
  assert.deepEqual(changesOf(compared(AUTHOR, { known: template }).template[0]), CPU_NOW);
});

pure("compareTemplate() keeps a change for a day", () => {
  const [known = assert.fail()] = compared(WRITTEN).template;
  const after = (hours: number) =>
    compared(WRITTEN, { known: [known], nowMs: NOW_MS + hours * HOUR_MS }).template[0];
  assert.deepEqual(after(23.9), known);
  assert.deepEqual(changesOf(after(-2)), { cpu: { atMs: NOW_MS - 2 * HOUR_MS } });
  assert.deepEqual(after(24), { container: "app", cpu: 180, memory: 64 * MI });
});

pure("withUnrecorded() counts unrecorded values as applied now", () => {
  const record: AppliedRecord = {
    inForce: [
      {
        container: "app",
        cpu: 120,
        cpuLimit: 300,
        memory: 70 * MI,
        adoptedOn: { cpu: 100, memory: 64 * MI },
      },
      { container: "log", cpu: 10 },
    ],
    appliedAtMs: NOW_MS - 9000,
    method: "InPlace",
  };
  const now = { containers: [sized([180, 64], [undefined, 128])], nowMs: NOW_MS };
  assert.equal(withUnrecorded(record, new Map(), now), record);
  const cpu = new Map([["app", { requests: { cpu: 180 }, limits: {} }]]);
  assert.deepEqual(withUnrecorded(record, cpu, now), {
    inForce: [
      { container: "log", cpu: 10 },
      {
        container: "app",
        cpu: 180,
        cpuLimit: 300,
        memory: 70 * MI,
        // The author's new memory limit ends the memory values in force.
        adoptedOn: { cpu: 180, memory: 64 * MI },
      },
    ],
    appliedAtMs: NOW_MS,
    method: "Recreate",
  });
  const adoptedOn = { cpu: 180, memory: 64 * MI, memoryLimit: 128 * MI };
  assert.deepEqual(withUnrecorded({ ...record, inForce: [] }, cpu, now).inForce, [
    { container: "app", cpu: 180, adoptedOn },
  ]);
});

const cpuChanged = (atMs: number, memoryMs?: number) => ({
  recordedTemplate: [{
    ...KNOWN,
    cpuChanged: { atMs },
    ...(memoryMs === undefined ? {} : { memoryChanged: { atMs: memoryMs } }),
  }],
});

/** Changed by another manager: the template has 100 m and 64 Mi of `app` since then. */
function edited(hoursAgo: number, choice: SnapshotChoice = {}): SnapshotChoice {
  const atMs = NOW_MS - hoursAgo * HOUR_MS;
  return { ...asks(150, 32), ...cpuChanged(atMs, atMs), ...choice };
}

pure("recentlyEdited() lowers nothing for a day after a change", () => {
  const requests = [200, 512] as const;
  const much = asks(600, 960, { cpuLimit: 700, memoryLimit: 1056 });
  const of = (
    limits: readonly number[],
    strategy = {},
    present: typeof requests | readonly [640, 990] = requests,
  ) =>
    edited(1, {
      containers: [sized(present, [limits[0], limits[1]])],
      ...much,
      strategy: { ...LIMITS, ...strategy },
      memoryPeaks: new Map([["app", 800 * MI]]),
    });
  const limits = "app cpu limit 700m, app memory limit 1056Mi";
  const raised = "app cpu 600m, app memory 960Mi - RecentlyEdited";
  assertDecisions([
    [edited(1), "InPlace: app cpu 150m - RecentlyEdited"],
    [edited(24), "InPlace: app cpu 150m, app memory 32Mi"],
    // No limit comes where there was none.
    [of([]), `InPlace: ${raised}`],
    [of([800, 2048]), `InPlace: ${raised}`],
    [of([650, 1000]), "InPlace: app cpu 600m (limit 700m), app memory 960Mi (limit 1056Mi)"],
    [
      of([650, 1000], { changeThresholdPercent: 1 }, [640, 990]),
      `InPlace: ${limits} - RecentlyEdited`,
    ],
    [
      edited(1, { ...asks(100, 64, { memoryLimit: 96 }), strategy: LIMITS }),
      "RecentlyEdited - RecentlyEdited",
    ],
    // A value that another manager has changed after rightsizing's own is left alone for a day.
    [
      edited(23.9, { ...asks(150, 96), strategy: RECREATE, lastAppliedMs: NOW_MS - 48 * HOUR_MS }),
      "TakenBack",
    ],
  ]);
});
