/**
 * The contract of `WorkloadWriter`.
 *
 * @module
 */
import { type PodContainer, type Resources, withResources } from "../../shared/api/pod.ts";
import type { WorkloadWriter } from "../../shared/rightsizing/ports.ts";
import { RIGHTSIZING_MANAGER } from "../../shared/resize/original_limits.ts";
import { refusalKind } from "../../shared/resize/refusal.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Workload } from "../../shared/api/workload.ts";
import {
  type RightsizedWorkload,
  rightsizedWorkload,
} from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import {
  assertRefused,
  CONFLICT,
  type ContractHarness,
  contractTests,
  INVALID,
  NOT_FOUND,
  type OpenHarness,
  OTHER_UID,
} from "./support/contract_harness.ts";
import { sampleContainer } from "./support/sample_objects.ts";
import assert from "node:assert/strict";

/** A server with workloads, which others write as well. */
export interface WorkloadWriterHarness extends ContractHarness {
  readonly subject: WorkloadWriter;
  /** Makes a Deployment of no pods with these containers and annotations, by another hand. */
  create(
    containers: readonly PodContainer[],
    annotations?: Readonly<Record<string, string>>,
  ): Promise<Workload>;
  /** The stored one. */
  read(workload: Pick<Workload, "metadata">): Promise<Workload | undefined>;
  /** Another hand sets the CPU request of the first container, millicores. */
  edit(workload: Workload, requestCPU: number): Promise<void>;
  remove(workload: Workload): Promise<void>;
}

const MI = 2 ** 20;
const HOW = [{ serverSideApply: true }, { serverSideApply: false }] as const;

/** As the guards take it. */
function rightsized(workload: Workload | undefined): RightsizedWorkload {
  assert.ok(workload);
  const found = rightsizedWorkload(workload);
  assert.ok(found, workload.unreadableTemplate);
  return found;
}

/** The template's values, by container: request and limit of CPU, then of memory. */
function valuesOf(workload: Workload | undefined): Record<string, (number | undefined)[]> {
  return Object.fromEntries(
    rightsized(workload).template.containers.map((
      {
        name,
        requests: { cpu: requestCPU, memory: requestMemory },
        limits: { cpu: limitCPU, memory: limitMemory },
      }: PodContainer & Resources,
    ) => [name, [requestCPU, limitCPU, requestMemory, limitMemory]]),
  );
}

/** Requests and limits of containers that rightsizing owns in the template. */
function ownValues(workload: Workload | undefined): readonly string[] {
  return Object.entries(workload?.spec?.owners ?? {}).flatMap(([name, owners]) =>
    Object.entries(owners).filter(([, { manager }]) => manager === RIGHTSIZING_MANAGER)
      .map(([field]) => `${name} ${field}`)
  ).sort();
}

/** Registers the suite. */
export function workloadWriterContract(open: OpenHarness<WorkloadWriterHarness>): void {
  const contract = contractTests(open);
  const memory = { requests: { memory: 64 * MI }, limits: { memory: 128 * MI } };
  const app = sampleContainer(memory);
  const log = sampleContainer({ ...memory, name: "log" });
  const proxy = sampleContainer({ ...memory, name: "proxy", sidecar: true });
  const asMade = [100, 200, 64 * MI, 128 * MI];
  const cpu = (request: number) => ({ requests: { cpu: request }, limits: {} });

  for (const how of HOW) {
    const manner = how.serverSideApply ? "applied" : "merged";

    contract(
      `recreate() ${manner} sets values of several containers, and nothing else`,
      async ({ subject, ...harness }) => {
        const made = await harness.create([app, log, proxy], { "mbcas.io/note": "own" });
        const wanted = new Map<string, Resources>([
          ["app", { requests: { cpu: 150, memory: 96 * MI }, limits: { cpu: 300 } }],
          ["log", { requests: {}, limits: { memory: 256 * MI } }],
        ]);
        await subject.recreate(rightsized(made), wanted, how);
        const stored = await harness.read(made);
        assert.deepEqual(valuesOf(stored), {
          app: [150, 300, 96 * MI, 128 * MI],
          log: [100, 200, 64 * MI, 256 * MI],
          proxy: asMade,
        });
        assert.equal(stored?.metadata.uid, made.metadata.uid);
        // The server knows their owner, whatever becomes of the answer.
        assert.deepEqual(ownValues(stored), [
          "app limits.cpu",
          "app requests.cpu",
          "app requests.memory",
          "log limits.memory",
        ]);
        assert.deepEqual(ownValues(made), []);
        assert.notEqual(stored.metadata.resourceVersion, made.metadata.resourceVersion);
        assert.equal(stored.metadata.annotations["mbcas.io/note"], "own");
        assert.equal(stored.spec?.replicas, made.spec?.replicas);
      },
    );

    contract(
      `recreate() ${manner} keeps what it has set before and does not name again`,
      async ({ subject, ...harness }) => {
        const made = await harness.create([app, log]);
        const first = new Map([[
          "app",
          withResources(cpu(150), { requests: { memory: 96 * MI } }),
        ]]);
        await subject.recreate(rightsized(made), first, how);
        const between = await harness.read(made);
        await subject.recreate(rightsized(between), new Map([["log", cpu(40)]]), how);
        await subject.recreate(
          rightsized(await harness.read(made)),
          new Map([["app", cpu(160)]]),
          how,
        );
        assert.deepEqual(valuesOf(await harness.read(made)), {
          app: [160, 200, 96 * MI, 128 * MI],
          log: [40, 200, 64 * MI, 128 * MI],
        });
      },
    );

    contract(
      `recreate() ${manner} is refused with 409 where the template is not the one decided on`,
      async (harness) => {
        const { subject } = harness;
        const made = await harness.create([app]);
        await harness.edit(made, 120);
        const wanted = new Map([["app", cpu(150)]]);
        await assertRefused(subject.recreate(rightsized(made), wanted, how), CONFLICT);
        const stored = await harness.read(made);
        assert.deepEqual(valuesOf(stored), { app: [120, 200, 64 * MI, 128 * MI] });
        await subject.recreate(rightsized(stored), wanted, how);
        const after = await harness.read(made);
        assert.deepEqual(valuesOf(after), { app: [150, 200, 64 * MI, 128 * MI] });
      },
    );

    contract(
      `recreate() ${manner} is refused with 422 where a request would be above its limit`,
      async (harness) => {
        const { subject } = harness;
        const made = await harness.create([app, log]);
        const wanted = new Map([["app", cpu(150)], ["log", cpu(250)]]);
        await assertRefused(subject.recreate(rightsized(made), wanted, how), INVALID);
        assert.deepEqual(valuesOf(await harness.read(made)), { app: asMade, log: asMade });
      },
    );

    contract(
      `recreate() ${manner} is refused with 404 when the workload is gone or another one`,
      async (harness) => {
        const { subject } = harness;
        const wanted = new Map([["app", cpu(150)]]);
        const made = await harness.create([app]);
        const reborn = rightsized(withUID(made));
        await assertRefused(subject.recreate(reborn, wanted, how), NOT_FOUND);
        assert.deepEqual(valuesOf(await harness.read(made)), { app: asMade });
        await harness.remove(made);
        await assertRefused(subject.recreate(rightsized(made), wanted, how), NOT_FOUND);
        assert.equal(await harness.read(made), undefined);
      },
    );
  }

  contract("annotate() sets and removes what it names, and leaves all else", async (harness) => {
    const { subject } = harness;
    const others = { "mbcas.io/note": "own" };
    const made = await harness.create([app], {
      ...others,
      "optipod.io/policy": "old",
      "optipod.io/gone": "x",
    });
    const annotations = {
      "optipod.io/policy": "shop/web",
      "optipod.io/managed": "true",
      "optipod.io/gone": null,
      "optipod.io/never-there": null,
    };
    // The counts of the server may change meanwhile.
    await harness.edit(made, 120);
    await subject.annotate(made, { metadata: { annotations } });
    const stored = await harness.read(made);
    assert.deepEqual(stored?.metadata.annotations, {
      ...others,
      "optipod.io/policy": "shop/web",
      "optipod.io/managed": "true",
    });
    assert.deepEqual(valuesOf(stored), { app: [120, 200, 64 * MI, 128 * MI] });
  });

  contract("annotate() never touches a reborn workload of the same name", async (harness) => {
    const { subject } = harness;
    const made = await harness.create([app]);
    const patch = { metadata: { annotations: { "optipod.io/managed": "true" } } };
    await assert.rejects(
      subject.annotate(withUID(made), patch),
      (error: unknown) => error instanceof ApiError && refusalKind(error) === "gone",
    );
    assert.deepEqual((await harness.read(made))?.metadata.annotations, {});
    await harness.remove(made);
    await assertRefused(subject.annotate(made, patch), { status: 404 });
  });
}

function withUID(workload: Workload): Workload {
  return { ...workload, metadata: { ...workload.metadata, uid: OTHER_UID } };
}
