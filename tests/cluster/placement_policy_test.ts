import assert from "node:assert/strict";
import { workloadCollection, workloadPath } from "../../adapters/kube/kinds/workloads.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import {
  DISRUPTION_DURATION,
  DISRUPTION_SCHEDULE,
  ENABLED,
  MIN_ON_DEMAND,
  SPOT_PERCENTAGE,
} from "../../shared/api/placement_keys.ts";
import {
  PLACED_KINDS,
  type PlacedKind,
  type PlacementFault,
  placementFaultText,
} from "../../shared/placement/eligibility.ts";
import {
  caseText,
  faultsOf,
  namespaceLabels,
  type NamespaceValue,
  WORDED_CASES,
  type WordedCase,
} from "../fixtures/placement/worded_workloads.ts";
import { type Change, installPolicy, untilInForce } from "./scene/policy_stage.ts";
import { until } from "./scene/until.ts";
import { type OpenKubeConnection, patchRequest } from "../../adapters/kube/client/connection.ts";
import { createKubectl, type Kubectl } from "./kubectl.ts";
import { openRealNode, scratchNamespace } from "./scene/real_node.ts";

/** The placement annotations that a real API server takes: those that the parser can read. */

async function assertRefused(
  write: () => Promise<unknown>,
  fault: PlacementFault,
): Promise<void> {
  await assert.rejects(write, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    const { status, message } = error;
    assert.equal(status, 422, message);
    const { place, key, value, remedy } = fault;
    // The parser cuts long values.
    const isWhole = value === undefined || value.endsWith('"');
    const parts = isWhole ? [placementFaultText(fault)] : [`${place} ${key}`, remedy];
    for (const part of [`ValidatingAdmissionPolicy '${ANNOTATION_POLICY}'`, ...parts]) {
      assert.ok(message.includes(part), `${message} lacks ${part}`);
    }
    return true;
  });
}

function firstFault(one: Omit<WordedCase, "is">): PlacementFault {
  const [fault] = faultsOf(one);
  return fault ?? assert.fail(`nothing is wrong with ${JSON.stringify(one)}`);
}

async function written(t: Deno.TestContext, stage: WordedStage): Promise<void> {
  for (const kind of PLACED_KINDS) {
    for (const one of WORDED_CASES) {
      const { labels = {}, annotations, namespace = "absent" } = one;
      const isRefused = one.is === "ConfigurationError" && one.beyondCEL !== true;
      const verb = isRefused ? "refused" : "taken";
      await t.step(`a new ${kind} is ${verb}: ${caseText(one)}`, async () => {
        const metadata = { labels, annotations };
        const create = () =>
          stage.create(kind, { namespace: stage.namespaces[namespace], metadata, dryRun: true });
        if (isRefused) await assertRefused(create, firstFault(one));
        else await create();
      });
    }
  }
}

const WRONG = { [ENABLED]: "true", [SPOT_PERCENTAGE]: "a lot", [MIN_ON_DEMAND]: "x" };

/** A workload that was wrong before anybody could refuse it: its namespace was out. */
async function wrongBefore(
  stage: WordedStage,
  kind: PlacedKind,
): Promise<{ readonly kind: PlacedKind; readonly path: string }> {
  const namespace = stage.namespaces.false;
  await stage.create(kind, { namespace, metadata: { annotations: WRONG } });
  return { kind, path: workloadPath(namespace, { kind, name: "web" }) ?? assert.fail(kind) };
}

async function setEnabled({ admin, namespaces }: WordedStage, value: string): Promise<void> {
  await admin.request(
    patchRequest("merge", {
      path: `/api/v1/namespaces/${namespaces.false}`,
      body: { metadata: { labels: { [ENABLED]: value } } },
    }),
  );
}

async function changes(t: Deno.TestContext, stage: WordedStage): Promise<void> {
  const { admin } = stage;
  const wrong = await Promise.all(PLACED_KINDS.map((kind) => wrongBefore(stage, kind)));
  await setEnabled(stage, "true");
  await stage.untilRefused(stage.namespaces.false);
  for (const { kind, path } of wrong) {
    const patch = (body: unknown, { dryRun = false, scale = "" } = {}) =>
      admin.request(patchRequest("merge", {
        path: path + scale,
        query: dryRun ? { dryRun: "All" } : {},
        body,
      }));
    const taken: readonly (readonly [what: string, body: unknown, scale?: string])[] = [
      ["takes replicas", { spec: { replicas: 0, revisionHistoryLimit: 3 } }],
      ["takes other annotations", { metadata: { annotations: { note: "a" } } }],
      ["takes labels", { metadata: { labels: { team: "a" } } }],
      ["takes finalizers", { metadata: { finalizers: ["try.mbcas.io/a"] } }],
      ["loses its finalizers, so that it can go", { metadata: { finalizers: null } }],
      ["is scaled, by its scale too", { spec: { replicas: 0 } }, "/scale"],
    ];
    for (const [what, body, scale = ""] of taken) {
      await t.step(
        `a ${kind} that was wrong ${what}`,
        async () => void await patch(body, { scale }),
      );
    }
    const annotate = (annotations: Readonly<Record<string, string | null>>, dryRun: boolean) =>
      patch({ metadata: { annotations } }, { dryRun });
    await t.step(`a ${kind} that was wrong takes no other wrong annotations`, async () => {
      const fault = firstFault({ annotations: { ...WRONG, [SPOT_PERCENTAGE]: "most" } });
      assert.deepEqual([fault.key, fault.value], [SPOT_PERCENTAGE, '"most"']);
      await assertRefused(() => annotate({ [SPOT_PERCENTAGE]: "most" }, false), fault);
    });
    await t.step(`a ${kind} that was wrong is taken out by one label`, async () => {
      await annotate({ [ENABLED]: "false" }, true);
    });
    await t.step(`a ${kind} that was wrong is mended as a whole`, async () => {
      const mended = { ...WRONG, [SPOT_PERCENTAGE]: "70" };
      const left = firstFault({ annotations: mended });
      assert.deepEqual([left.key, left.value], [MIN_ON_DEMAND, '"x"']);
      await assertRefused(() => annotate({ [SPOT_PERCENTAGE]: "70" }, true), left);
      await annotate({ [SPOT_PERCENTAGE]: "70", [MIN_ON_DEMAND]: null }, false);
      const { [MIN_ON_DEMAND]: _none, ...whole } = mended;
      const schedule = { [DISRUPTION_SCHEDULE]: "0 2 * * *" };
      const unbounded = firstFault({ annotations: { ...whole, ...schedule } });
      assert.deepEqual([unbounded.key, unbounded.value], [DISRUPTION_DURATION, undefined]);
      await assertRefused(() => annotate(schedule, true), unbounded);
    });
  }
}

Deno.test("the policy over placement's annotations, on a real API server", async (t) => {
  await using stage = await setWordedStage();
  await t.step("the server finds nothing amiss in the policy's expressions", async () => {
    const get = ["get", "validatingadmissionpolicy", ANNOTATION_POLICY, "-o", "json"];
    const checked = await until("checked types", async () => {
      const { metadata, status } = JSON.parse(await stage.kubectl.must(get));
      return status?.observedGeneration === metadata.generation ? status : undefined;
    });
    assert.deepEqual(checked.typeChecking?.expressionWarnings ?? [], []);
  });
  await written(t, stage);
  await changes(t, stage);
});

const ANNOTATION_POLICY = "spotalis-annotations";

const VALUES: readonly NamespaceValue[] = ["absent", "true", "false", "yes"];

interface WordedStage extends AsyncDisposable {
  readonly admin: OpenKubeConnection;
  readonly kubectl: Kubectl;
  /** Namespaces, by their label. */
  readonly namespaces: Readonly<Record<NamespaceValue, string>>;
  /** Makes a workload `web` without replicas, or only tries to. */
  create(
    kind: PlacedKind,
    at: { readonly namespace: string; readonly metadata: Change["metadata"]; dryRun?: boolean },
  ): Promise<void>;
  untilRefused(namespace: string): Promise<void>;
}

/** Sets the stage, with the component's policy as it is rendered; where it is installed it stays. */
async function setWordedStage(): Promise<WordedStage> {
  const kubectl = createKubectl();
  await using stack = new AsyncDisposableStack();
  const { connection: admin } = stack.use(await openRealNode());
  stack.use(await installPolicy(kubectl, ANNOTATION_POLICY));

  const made = await Promise.all(VALUES.map(async (value) => {
    const one = stack.use(
      await scratchNamespace(admin, {
        labels: namespaceLabels(value),
        annotations: { "mbcas.io/managed": "false" },
      }),
    );
    return [value, one.name] as const;
  }));

  const create: WordedStage["create"] = async (kind, { namespace, metadata, dryRun = false }) => {
    const labels = { app: "web" };
    const containers = [{ name: "app", image: "busybox:stable" }];
    await admin.request({
      method: "POST",
      path: workloadCollection(kind, namespace),
      query: dryRun ? { dryRun: "All" } : {},
      body: {
        metadata: { name: "web", ...metadata },
        spec: {
          replicas: 0,
          ...(kind === "StatefulSet" ? { serviceName: "web" } : {}),
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers } },
        },
      },
    });
  };

  const untilRefused: WordedStage["untilRefused"] = (namespace) => {
    const annotations = { [ENABLED]: "true", [SPOT_PERCENTAGE]: "probe" };
    const metadata = { name: "probe", annotations };
    return untilInForce(
      new RegExp(ANNOTATION_POLICY),
      () => create("Deployment", { namespace, metadata, dryRun: true }),
    );
  };

  const namespaces = Object.fromEntries(made) as Record<NamespaceValue, string>;
  for (const value of ["absent", "true", "yes"] as const) await untilRefused(namespaces[value]);
  const objects = stack.move();
  return {
    admin,
    kubectl,
    namespaces,
    create,
    untilRefused,
    [Symbol.asyncDispose]: () => objects[Symbol.asyncDispose](),
  };
}
