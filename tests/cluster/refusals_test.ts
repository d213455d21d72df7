/**
 * Resizes that a LimitRange or a policy engine refuses, on a server of its own: the product foresees
 * what a LimitRange does to a pod that is older, and knows a policy's denial for what it is.
 */
import assert from "node:assert/strict";
import { type KubeConnection, patchRequest } from "../../adapters/kube/client/connection.ts";
import { parseLimitRange } from "../../adapters/kube/kinds/namespaces.ts";
import { parsePod } from "../../adapters/kube/kinds/pods.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { EnforcementReason } from "../../shared/api/reasons/enforcement_reasons.ts";
import { decide, MANUAL_CHAIN } from "../../shared/resize/chain.ts";
import { resourceRangesOf } from "../../shared/resize/checks/limit_range.ts";
import { refusalKind, refusalReason } from "../../shared/resize/refusal.ts";
import {
  createPuppetNode,
  PUPPET_NAMESPACE,
  PUPPET_NODE,
  type PuppetPod,
  type RawResources,
  startEmulatedServer,
} from "./scene/emulated_server.ts";
import { until } from "./scene/until.ts";

const NAMESPACE = `/api/v1/namespaces/${PUPPET_NAMESPACE}`;
/** A limit for `app` that each LimitRange is in the way of, millicores. */
const MOST = 120;

function sized(request: number, limit: number): RawResources {
  return { requests: { cpu: `${request}m` }, limits: { cpu: `${limit}m` } };
}

const APP = sized(20, 40);
const SIDE = sized(10, 20);
/** Its request is already more than {@linkcode MAX} allows as a limit. */
const LARGE = sized(160, 170);
/** From it the server makes a default limit and request of 150 m, too. */
const MAX = { type: "Container", max: { cpu: "150m" } };
const PREPARE = { name: "prepare", image: "busybox:stable", resources: sized(10, 300) };

interface RangeRow {
  /** As in `spec.limits` of a LimitRange, which comes later than the pod. */
  readonly item: Readonly<Record<string, unknown>>;
  readonly pod: PuppetPod;
  /** The limit that the product sends instead, millicores; undefined: none. */
  readonly sent?: number;
  /** The server takes the limit, and writes its defaults into container `side`. @default {false} */
  readonly defaults?: boolean;
}

const RANGES: Readonly<Record<string, RangeRow>> = {
  "max": {
    item: { type: "Container", max: { cpu: "60m" } },
    pod: { containers: { app: APP } },
    sent: 60,
  },
  "pod-ratio": {
    item: { type: "Pod", maxLimitRequestRatio: { cpu: "3" } },
    pod: { containers: { app: APP, side: SIDE } },
    sent: 70,
  },
  "min": {
    item: { type: "Container", min: { cpu: "30m" } },
    pod: { containers: { app: APP, side: SIDE } },
  },
  "sibling": { item: MAX, pod: { containers: { app: APP, side: LARGE } } },
  "pod-init": {
    item: { type: "Pod", max: { cpu: "150m" } },
    pod: { containers: { app: APP }, spec: { initContainers: [PREPARE] } },
  },
  "bare": { item: MAX, pod: { containers: { app: APP, side: {} } }, defaults: true },
};

/** Tries a limit of `app`: the pod as it would be, or why the server refuses it. */
async function tried(
  connection: KubeConnection,
  name: string,
  cpu = MOST,
): Promise<Pod | EnforcementReason> {
  const containers = [{ name: "app", resources: { limits: { cpu: `${cpu}m` } } }];
  const path = `${NAMESPACE}/pods/${name}/resize`;
  const request = patchRequest("strategic", { path, body: { spec: { containers } } });
  try {
    return parsePod(await connection.request({ ...request, query: { dryRun: "All" } }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    assert.equal(refusalKind(error), "refused", error.message);
    return refusalReason(error);
  }
}

const LIMIT_RANGES = `${NAMESPACE}/limitranges`;

/** Fails unless the server answers as the row has it, and the product foresees that. */
async function assertForeseen(
  connection: KubeConnection,
  name: string,
  { item, sent, defaults = false }: RangeRow,
): Promise<void> {
  const body = { metadata: { name }, spec: { limits: [item] } };
  const range = await connection.request({ method: "POST", path: LIMIT_RANGES, body });
  // The server's own copy lags a little.
  await until(`effect of the LimitRange ${name}`, async () => {
    const now = await tried(connection, name);
    if (typeof now === "string") return now === "LimitRange" && !defaults || undefined;
    const side = now.containers.find((one) => one.name === "side");
    return defaults && side?.limits.cpu === 150 || undefined;
  });
  const pod = await createPuppetNode(connection).pod(name);
  const limitRange = resourceRangesOf([parseLimitRange(range)]) ?? assert.fail(name);
  const wanted = { limits: [["app", MOST]] } as const;
  const { changes, reason } = decide(MANUAL_CHAIN, { pod, limitRange }, wanted);
  assert.equal(reason, "LimitRange");
  assert.deepEqual(changes.map(({ limits }) => limits.cpu), sent === undefined ? [] : [sent]);
  if (sent !== undefined) assert.notEqual(typeof await tried(connection, name, sent), "string");
  await connection.request({ method: "DELETE", path: `${LIMIT_RANGES}/${name}` });
}

const RESIZES = {
  ...{ apiGroups: [""], apiVersions: ["v1"] },
  ...{ operations: ["UPDATE"], resources: ["pods/resize"] },
};

/** Policy engines that deny all resizes: objects by kind, and the reason that the product gives. */
const ENGINES: readonly (readonly [Readonly<Record<string, object>>, EnforcementReason])[] = [
  [{
    validatingwebhookconfigurations: {
      webhooks: [{
        name: "policy.example.com",
        // No server listens there.
        clientConfig: { url: "https://127.0.0.1:9/" },
        rules: [RESIZES],
        ...{ failurePolicy: "Fail", sideEffects: "None", timeoutSeconds: 2 },
        admissionReviewVersions: ["v1"],
      }],
    },
  }, "Refused"],
  [{
    validatingadmissionpolicies: {
      spec: {
        matchConstraints: { resourceRules: [RESIZES] },
        validations: [{ expression: "false", message: "limits are the platform team's" }],
      },
    },
    validatingadmissionpolicybindings: {
      spec: { policyName: "engine", validationActions: ["Deny"] },
    },
  }, "AdmissionDenied"],
];

Deno.test("refused resizes on a real API server", async (t) => {
  await using server = await startEmulatedServer({ version: "1.36" });
  const { connection } = server;
  const puppet = createPuppetNode(connection);
  await puppet.addNamespace();
  await puppet.addNode(PUPPET_NODE);
  for (const [name, { pod }] of Object.entries(RANGES)) await puppet.run(name, pod);
  for (const [name, row] of Object.entries(RANGES)) {
    await t.step(
      `a LimitRange (${name}) beside an older pod does what the product foresees`,
      () => assertForeseen(connection, name, row),
    );
  }
  for (const [objects, reason] of ENGINES) {
    await t.step(`a resize that a policy engine stops is ${reason}`, async () => {
      const root = "/apis/admissionregistration.k8s.io/v1";
      const accepted = async () => typeof await tried(connection, "max") !== "string" || undefined;
      await until("accepted resize", accepted);
      for (const [kind, object] of Object.entries(objects)) {
        const body = { metadata: { name: "engine" }, ...object };
        await connection.request({ method: "POST", path: `${root}/${kind}`, body });
      }
      await until(reason, async () => await tried(connection, "max") === reason || undefined);
      for (const kind of Object.keys(objects)) {
        await connection.request({ method: "DELETE", path: `${root}/${kind}/engine` });
      }
    });
  }
});
