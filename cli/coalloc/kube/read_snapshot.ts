/**
 * Reads the parts of a real cluster that `doctor` checks. Only the checks that need an unreadable part are
 * left out.
 *
 * @module
 */
import { unknownAllocationFields } from "../../../adapters/kube/client/api_checks.ts";
import {
  resourcePath,
  unlessNotFound,
  unlessRefused,
} from "../../../adapters/kube/client/connection.ts";
import type { UserConnection } from "../../../adapters/kube/client/user_connection.ts";
import {
  listOf,
  numberOf,
  objectOf,
  present,
  textOf,
  textsOf,
} from "../../../adapters/kube/client/json_fields.ts";
import {
  horizontalPodAutoscalerListWatch,
  verticalPodAutoscalerListWatch,
} from "../../../adapters/kube/kinds/autoscalers.ts";
import { LEASES, parseLease } from "../../../adapters/kube/kinds/leases.ts";
import { parseNamespace } from "../../../adapters/kube/kinds/namespaces.ts";
import { parseNetworkPolicy } from "./network_policies.ts";
import { parseNode } from "../../../adapters/kube/kinds/nodes.ts";
import { parseTime } from "../../../adapters/kube/kinds/object_fields.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import {
  createSecretStore,
  createTrustStore,
} from "../../../adapters/kube/writers/webhook_stores.ts";
import { inParallel } from "../../../shared/control/in_parallel.ts";
import { CONTROLLER_DEPLOYMENT, VERSION_LABEL } from "../../../shared/installation.ts";
import { SYSTEM_NAMESPACE } from "./system_namespace.ts";
import {
  type DiagnosisParts,
  missingRight,
  NODES_AT_ONCE,
  podsOf,
  podText,
  readKubelets,
  readPrograms,
  readUnready,
  seriesIn,
  type Source,
} from "./program_probes.ts";
import {
  type AgentAnswer,
  type DiagnosisReader,
  PRIORITY_LEVEL,
  type PriorityLevel,
  type Snapshot,
  type SnapshotParts,
  type Unread,
} from "./snapshot.ts";

const DEFINITIONS = [
  "podallocations.allocation.mbcas.io",
  "optimizationpolicies.optipod.io",
  "recommendationreports.optipod.io",
];

/** Creates the reader. */
export function createDiagnosisReader(
  connection: UserConnection,
  parts: DiagnosisParts,
): DiagnosisReader {
  const get: Source["get"] = (path, query = {}) =>
    unlessNotFound(connection.request({ path, query }));
  const source: Omit<Source, "server" | "nodes" | "programPods"> = {
    ...parts,
    connection,
    get,
    async items({ labelSelector, ...place }) {
      const query = present("labelSelector", labelSelector);
      return listOf(objectOf(await get(resourcePath(place), query)).items);
    },
  };
  return {
    async snapshot() {
      const server = readServer(source);
      // Throws if the server does not answer.
      await unlessRefused(server, 403);
      const programPods = {
        "mbcas-controller": podsOf(parts.reader, "mbcas-controller"),
        "mbcas-agent": podsOf(parts.reader, "mbcas-agent"),
      };
      const nodes = source.items({ groupVersion: "v1", resource: "nodes" })
        .then((items) => items.map(parseNode));
      const read = await Promise.all(
        Object.entries(READERS).map(async ([name, reader]) =>
          [name, await partOf<unknown>(reader({ ...source, server, nodes, programPods }))] as const
        ),
      );
      return Object.fromEntries(read) as unknown as Snapshot;
    },
  };
}

/** The value, or why it could not be read. */
async function partOf<T>(answer: Promise<T>): Promise<{ readonly value: T } | Unread> {
  try {
    return { value: await answer };
  } catch (error) {
    // An object that can't be parsed makes only this part unreadable.
    if (!(error instanceof Error)) throw error;
    return { unread: error instanceof ApiError && missingRight(error) || error.message };
  }
}

/** The server's version and clock. */
async function readServer(
  { connection, clock }: Pick<Source, "connection" | "clock">,
): Promise<SnapshotParts["server"]> {
  const parse = (text: string, headers: Headers): unknown => ({
    version: JSON.parse(text).gitVersion,
    date: headers.get("date"),
  });
  const { version, date } = objectOf(await connection.request({ path: "/version", parse }));
  return { version: textOf(version) ?? "", atMs: parseTime(date) ?? clock.wall() };
}

/** Readers of the parts by name. */
const READERS: {
  readonly [P in keyof SnapshotParts]: (source: Source) => Promise<SnapshotParts[P]>;
} = {
  server: ({ server }) => server,
  nodes: ({ nodes }) => nodes,
  kubelets: readKubelets,
  pods: ({ reader }) => reader.pods(),
  namespaces: async ({ items }) =>
    (await items({ groupVersion: "v1", resource: "namespaces" })).map(parseNamespace),
  allocations: async ({ reader }) => await unlessNotFound(reader.allocations()) ?? [],
  reports: async ({ recommendations }) => await unlessNotFound(recommendations.reports()) ?? [],
  async verticalAutoscalers({ connection, clock, signal }) {
    return (await verticalPodAutoscalerListWatch(connection, { clock }).list(signal)).items;
  },
  async autoscalers({ connection, signal }) {
    return (await horizontalPodAutoscalerListWatch(connection).list(signal)).items;
  },
  settings: async ({ reader }) => await reader.settingsText() ?? "",
  programs: readPrograms,
  unready: readUnready,
  async leases({ items }) {
    const raw = await items({ ...LEASES, namespace: SYSTEM_NAMESPACE });
    return raw.map((one) => {
      const times = listOf(objectOf(objectOf(one).metadata).managedFields)
        .map((entry) => parseTime(objectOf(entry).time) ?? 0);
      return {
        ...parseLease(one),
        ...(times.length === 0 ? {} : { writtenAtMs: Math.max(...times) }),
      };
    });
  },
  async agents({ views }) {
    return await inParallel(await views.agents(), async (agent): Promise<AgentAnswer> => {
      try {
        return { ...agent, view: await views.view(agent) };
      } catch (error) {
        if (error instanceof ApiError && error.status === 403 || !(error instanceof Error)) {
          throw error;
        }
        return { ...agent, problem: error.message };
      }
    }, NODES_AT_ONCE);
  },
  async controllerMetrics(source) {
    const pods = await source.programPods[CONTROLLER_DEPLOYMENT];
    const answers = await inParallel(
      pods.filter(({ ready }) => ready),
      ({ metadata: { name } }) =>
        podText(source, { program: CONTROLLER_DEPLOYMENT, name, path: "/metrics" }),
    );
    return answers.map(seriesIn);
  },
  async policies({ items }) {
    const policies = { groupVersion: "networking.k8s.io/v1", resource: "networkpolicies" };
    return (await items({ ...policies, namespace: SYSTEM_NAMESPACE })).map(parseNetworkPolicy);
  },
  async apiAddresses(source) {
    const slices = await slicesOf(source, { namespace: "default", service: "kubernetes" });
    return slices.flatMap(({ addresses, ports }) =>
      addresses.flatMap((address) => ports.map((port) => ({ address, port })))
    );
  },
  async dns(source) {
    const place = { namespace: "kube-system", service: "kube-dns" };
    const path = resourcePath({
      groupVersion: "v1",
      resource: "services",
      namespace: place.namespace,
      name: place.service,
    });
    const service = await source.get(path);
    if (service === undefined) return undefined;
    const slices = await slicesOf(source, place);
    return {
      addresses: listOf(objectOf(objectOf(service).spec).clusterIPs).flatMap((one) =>
        textOf(one) ?? []
      ),
      ready: slices.reduce((sum, { addresses }) => sum + addresses.length, 0),
    };
  },
  async definitions({ get }) {
    const resource = "customresourcedefinitions";
    return await Promise.all(DEFINITIONS.map(async (name) => {
      const raw = await get(
        resourcePath({ groupVersion: "apiextensions.k8s.io/v1", resource, name }),
      );
      const labels = textsOf(objectOf(objectOf(raw).metadata).labels);
      return { name, exists: raw !== undefined, ...present("version", labels[VERSION_LABEL]) };
    }));
  },
  unknownFields: ({ connection }) => unknownAllocationFields(connection),
  webhook: readWebhook,
  async priorityLevels(source) {
    const first = await readPriorityLevels(source);
    const refused = first.some(({ name, rejected, timedOut }) =>
      name === PRIORITY_LEVEL && rejected + timedOut > 0
    );
    if (!refused) return first;
    // Counted since the server's start: a second reading shows whether they still grow.
    await source.clock.sleep(REJECTION_WINDOW_MS, source.signal);
    const later = new Map((await readPriorityLevels(source)).map((one) => [one.name, one]));
    const grown = first.map((one) => {
      const { dispatched, rejected, timedOut } = later.get(one.name) ?? one;
      const refused = rejected + timedOut - one.rejected - one.timedOut;
      const fell = dispatched < one.dispatched || refused < 0;
      return { ...one, fell, recent: { refused, seconds: REJECTION_WINDOW_MS / 1000 } };
    });
    // A counter that fell is of another server behind the same address, or the server has restarted.
    return grown.some(({ fell }) => fell) ? first : grown.map(({ fell: _, ...one }) => one);
  },
};

/** Time between two readings of rejections. */
const REJECTION_WINDOW_MS = 3000;

async function readPriorityLevels(
  { connection }: Pick<Source, "connection">,
): Promise<readonly PriorityLevel[]> {
  const path = "/debug/api_priority_and_fairness/dump_priority_levels";
  const parse = (text: string): unknown => text.trim().split("\n").slice(1);
  return listOf(await unlessNotFound(connection.request({ path, parse }))).map((line) => {
    const cells = String(line).split(",").map((cell) => cell.trim());
    const [name = "", , , , , , dispatched, rejected, timedOut] = cells;
    return {
      name,
      dispatched: Number(dispatched),
      rejected: Number(rejected),
      timedOut: Number(timedOut),
    };
  });
}

/** Ready endpoints of a Service. */
async function slicesOf(
  { items }: Source,
  { namespace, service }: { readonly namespace: string; readonly service: string },
): Promise<
  readonly { readonly addresses: readonly string[]; readonly ports: readonly number[] }[]
> {
  const slices = await items({
    groupVersion: "discovery.k8s.io/v1",
    resource: "endpointslices",
    namespace,
    labelSelector: `kubernetes.io/service-name=${service}`,
  });
  return slices.map(objectOf).map(({ endpoints, ports }) => ({
    addresses: listOf(endpoints).map(objectOf)
      .filter(({ conditions }) => objectOf(conditions).ready !== false)
      .flatMap(({ addresses }) => listOf(addresses).flatMap((one) => textOf(one) ?? [])),
    ports: listOf(ports).flatMap((one) => numberOf(objectOf(one).port) ?? []),
  }));
}

/** The bundles by which API servers trust the webhook, beside what it serves. */
async function readWebhook({ connection }: Source): Promise<SnapshotParts["webhook"]> {
  const name = "mbcas-webhook";
  const place = { namespace: SYSTEM_NAMESPACE, name: `${name}-certificates`, labels: {} };
  const trust = await createTrustStore(connection, { name }).read();
  if (trust === undefined) return undefined;
  const secret = await createSecretStore(connection, place).read();
  // Loaded here, since its library takes longer to load than the rest of the command.
  const { createCertificateReader } = await import("../../../adapters/webhook/certificates.ts");
  const { readBundle, signed } = createCertificateReader();
  const served = secret?.data["tls.crt"];
  const serving = served === undefined ? undefined : readBundle(served)[0];
  const bundles = trust.bundles.map(([webhook, text]) => {
    try {
      const certificates = readBundle(text);
      const signs = serving && certificates.some(({ cert }) => signed(cert, serving.cert));
      return { webhook, certificates, ...present("signs", signs) };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return { webhook, certificates: [], problem: error.message };
    }
  });
  return { bundles, ...present("serving", serving) };
}
