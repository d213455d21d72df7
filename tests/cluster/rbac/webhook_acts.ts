/**
 * What the controller does with each right that the component webhook adds: it leads the Service to the
 * leader, keeps certificates of its own, and has API servers trust them.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import {
  createEndpointSliceStore,
  createSecretStore,
  createTrustStore,
  type KubeSecretStore,
} from "../../../adapters/kube/writers/webhook_stores.ts";
import { endpointSpec } from "../../../controller/webhook/keep_endpoint.ts";
import {
  ENDPOINT_SLICES,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_SECRET,
} from "../../../controller/webhook/webhook_objects.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { RoleAct } from "./role_act.ts";
import type { RoleStage } from "./role_stage.ts";

const SECRET = `secrets "${WEBHOOK_SECRET}" in mbcas-system`;
const CONFIGURATION =
  `mutatingwebhookconfigurations.admissionregistration.k8s.io "${WEBHOOK_CONFIGURATION}"`;
const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
/** By it our own configuration is distinguished from that of an installed webhook. */
const TRIED_WEBHOOK = "rbac-test.mbcas.io";
const AUTHORITY = new URL("../../fixtures/tls/ca.crt", import.meta.url);

/**
 * The configuration by its name, of which there is one in the cluster: where the webhook is installed
 * it is that one, otherwise one without a matching rule, which is removed in the end.
 */
export async function setWebhookConfiguration(
  { admin }: Pick<RoleStage, "admin">,
): Promise<AsyncDisposable> {
  const body = {
    metadata: { name: WEBHOOK_CONFIGURATION },
    webhooks: [{
      name: TRIED_WEBHOOK,
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      failurePolicy: "Ignore",
      clientConfig: { service: { namespace: "mbcas-system", name: "none" } },
      rules: [],
    }],
  };
  try {
    await admin.request({ method: "POST", path: CONFIGURATIONS, body });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    return { [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const path = `${CONFIGURATIONS}/${WEBHOOK_CONFIGURATION}`;
  return {
    [Symbol.asyncDispose]: async () => void await admin.request({ method: "DELETE", path }),
  };
}

function secret(connection: KubeConnection, { namespace }: RoleStage): KubeSecretStore {
  return createSecretStore(connection, { namespace, name: WEBHOOK_SECRET, labels: {} });
}

function slice(name: string) {
  const address = name.endsWith("6") ? "fd00::1" : "10.0.0.1";
  const store = (connection: KubeConnection, { namespace }: RoleStage) =>
    createEndpointSliceStore(connection, { namespace, name, labels: {} });
  // Of no Service that there is: an installed webhook goes on with its own.
  return { store, spec: endpointSpec("rbac-test", { address, port: 9443 }) };
}

function endpointActs(name: string): readonly RoleAct[] {
  const { store, spec } = slice(name);
  const object = `endpointslices.discovery.k8s.io "${name}" in mbcas-system`;
  return [
    {
      right: `get ${object}`,
      deed: `see where ${name} leads`,
      async perform(connection, stage) {
        const seen = await store(connection, stage).read();
        assert.ok(seen === undefined || seen.metadata.name === name);
      },
    },
    {
      right: `update ${object}`,
      deed: `take ${name} over`,
      async perform(connection, stage) {
        const slices = store(connection, stage);
        await store(stage.admin, stage).create(spec).catch((error: unknown) => {
          if (!(error instanceof ApiError) || error.status !== 409) throw error;
        });
        const seen = await store(stage.admin, stage).read() ?? assert.fail("there is none");
        await slices.replace(seen, { ...spec, endpoints: [] });
        assert.deepEqual((await store(stage.admin, stage).read())?.endpoints, []);
      },
    },
  ];
}

/** Where the Service leads, in the order in which a controller comes to it. */
const ENDPOINT_ACTS: readonly RoleAct[] = [
  {
    right: "create endpointslices.discovery.k8s.io in mbcas-system",
    deed: "lead the Service to the first leader",
    async perform(connection, stage) {
      // An installed webhook has its own EndpointSlice; RBAC can't allow the creation of one name alone.
      const name = "mbcas-webhook-rbac-test";
      const { store, spec } = slice(name);
      await store(connection, stage).create(spec);
      const path = `/apis/discovery.k8s.io/v1/namespaces/${stage.namespace}/endpointslices/${name}`;
      await stage.admin.request({ method: "DELETE", path });
    },
  },
  ...ENDPOINT_SLICES.flatMap(endpointActs),
];

/** Of the webhook's own certificates, in the order in which a controller comes to them. */
export const CERTIFICATE_ACTS: readonly RoleAct[] = [
  {
    right: "create secrets in mbcas-system",
    deed: "share its first certificate",
    perform: (connection, stage) => secret(connection, stage).create({ of: "first" }),
  },
  {
    right: `get ${SECRET}`,
    deed: "take up the certificate that is shared",
    async perform(connection, stage) {
      assert.deepEqual((await secret(connection, stage).read())?.data, { of: "first" });
    },
  },
  {
    right: `update ${SECRET}`,
    deed: "renew the certificate",
    async perform(connection, stage) {
      const store = secret(connection, stage);
      // An account without the right is refused before the server looks what is there.
      const seen = await store.read() ?? { resourceVersion: "", data: {} };
      await store.replace(seen, { of: "second" });
      assert.deepEqual((await store.read())?.data, { of: "second" });
    },
  },
  {
    right: `get ${CONFIGURATION}`,
    deed: "see the authorities that API servers trust",
    async perform(connection) {
      const trust = await createTrustStore(connection, { name: WEBHOOK_CONFIGURATION }).read();
      assert.ok((trust?.bundles.length ?? 0) > 0);
    },
  },
  {
    right: `patch ${CONFIGURATION}`,
    deed: "have API servers trust it",
    async perform(connection) {
      const store = createTrustStore(connection, { name: WEBHOOK_CONFIGURATION });
      const seen = await store.read() ?? assert.fail("there is no configuration");
      const [webhook, trusted] = seen.bundles[0] ?? assert.fail("it has no webhook");
      // An installed webhook goes on with what it has.
      const bundle = webhook === TRIED_WEBHOOK ? await Deno.readTextFile(AUTHORITY) : trusted;
      await store.write(seen, bundle);
      assert.equal((await store.read())?.bundles[0]?.[1], bundle);
    },
  },
];

/** All that the component webhook adds. */
export const WEBHOOK_ACTS: readonly RoleAct[] = [...ENDPOINT_ACTS, ...CERTIFICATE_ACTS];
