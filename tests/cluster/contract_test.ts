import type { ApiObject } from "../../shared/api/object.ts";
import type { ListWatch } from "../../shared/control/informer.ts";
import { allocationListWatch, allocationsPath } from "../../adapters/kube/kinds/allocations.ts";
import {
  createAllocationStore,
  createDesiredWriter,
} from "../../adapters/kube/writers/allocation_writers.ts";
import { createEndpointSliceStore } from "../../adapters/kube/writers/webhook_stores.ts";
import { createEventSink } from "../../adapters/kube/writers/event_sink.ts";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { createLeaseStore, createNodeLink } from "../../adapters/kube/writers/lease_writers.ts";
import { LEASES, parseLease } from "../../adapters/kube/kinds/leases.ts";
import {
  createPolicyStatusWriter,
  createReportStore,
} from "../../adapters/kube/writers/recommendation_writers.ts";
import {
  optimizationPolicyListWatch,
  parseOptimizationPolicy,
  parseRecommendationReport,
  POLICIES,
  REPORTS,
} from "../../adapters/kube/kinds/optimization_policies.ts";
import { readNode } from "../../adapters/kube/kinds/nodes.ts";
import { parsePodDisruptionBudget } from "../../adapters/kube/kinds/pod_disruption_budgets.ts";
import { parseWorkload } from "../../adapters/kube/kinds/workloads.ts";
import { createPodEvictor, createPodResizer } from "../../adapters/kube/writers/pod_writers.ts";
import { createWorkloadWriter } from "../../adapters/kube/writers/workload_writer.ts";
import { podListWatch } from "../../adapters/kube/kinds/pods.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import type { MarketEvent } from "../../shared/api/ports.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import {
  endpointSliceContract,
  eventSinkContract,
  eventText,
  leaseStoreContract,
  listWatchContract,
  nodeLinkContract,
  selectiveListWatchContract,
} from "../contract/api_contracts.ts";
import {
  allocationStoreContract,
  desiredWriterContract,
  policyStatusContract,
  reportStoreContract,
} from "../contract/custom_resource_contracts.ts";
import { podEvictorContract, podResizerContract } from "../contract/pod_contracts.ts";
import { workloadWriterContract } from "../contract/workload_writer_contract.ts";
import {
  SAMPLE_POLICY_SPEC,
  sampleAllocation,
  sampleContainer,
  samplePod,
} from "../contract/support/sample_objects.ts";
import { createKubectl } from "./kubectl.ts";
import { applyRights } from "./rendered_manifests.ts";
import { connectByToken, requestToken } from "./scene/real_node.ts";
import {
  containerSpec,
  type ContractWorld,
  expiredVersion,
  openContractWorld,
} from "./scene/contract_world.ts";
import { pauseControllerMeanwhile, PRODUCT_NAMESPACE } from "./scene/product.ts";
import { until } from "./scene/until.ts";
import { patchRequest, resourcePath } from "../../adapters/kube/client/connection.ts";

/** The contract suites of all ports, against a real API server. */

const random = seededRandom(7);

pauseControllerMeanwhile();
Deno.test.beforeAll(() => applyRights(createKubectl()));

/** Actions of list-watch contracts on the objects of a collection: a change is an annotation. */
function collection(
  { connection }: Pick<ContractWorld, "connection">,
  { path, subject, create }: {
    readonly path: string;
    readonly subject: ListWatch<ApiObject>;
    readonly create: (name: string) => Promise<unknown>;
  },
) {
  const change = async (name: string): Promise<void> => {
    const body = { metadata: { annotations: { changed: crypto.randomUUID() } } };
    await connection.request(patchRequest("merge", { path: `${path}/${name}`, body }));
  };
  return {
    create: async (name: string) => void await create(name),
    change,
    async remove(name: string) {
      const query = { gracePeriodSeconds: "0" };
      await connection.request({ method: "DELETE", path: `${path}/${name}`, query });
    },
    async expiredVersion() {
      await create("written");
      return await expiredVersion(subject, () => change("written"));
    },
  };
}

selectiveListWatchContract("podListWatch()", async () => {
  const world = await openContractWorld();
  const { connection, namespace, idlePod } = world;
  const [labels, labelSelector] = [{ contract: "own" }, "contract=own"];
  const subject = podListWatch(connection, { namespace, labelSelector, random });
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const create = (name: string) => idlePod(name, labels);
  return {
    ...world,
    subject,
    ...collection(world, { path, subject, create }),
    createForeign: async (name) => void await idlePod(name),
  };
});

selectiveListWatchContract("allocationListWatch()", async () => {
  const world = await openContractWorld();
  const { connection, namespace } = world;
  const own = `node-${namespace}`;
  const path = allocationsPath(namespace);
  const create = (name: string, nodeName = own) => {
    const pod = samplePod(name, { namespace, nodeName });
    const uid = crypto.randomUUID();
    const { metadata: _owned, ...rest } = sampleAllocation({
      ...pod,
      metadata: { ...pod.metadata, uid },
    });
    // Without an owner: the garbage collector would look for a pod that never was.
    const body = { ...rest, metadata: { namespace, name } };
    return connection.request({ method: "POST", path, body });
  };
  const fieldSelector = `spec.nodeName=${own}`;
  const subject = allocationListWatch(connection, { fieldSelector, random });
  return {
    ...world,
    subject,
    ...collection(world, { path, subject, create }),
    createForeign: async (name) => void await create(name, "another-node"),
  };
});

allocationStoreContract(async () => {
  const world = await openContractWorld();
  return {
    ...world,
    subject: createAllocationStore(world.connection),
    pod: { ...await world.idlePod("web"), nodeName: "node-1" },
    read: world.allocation,
  };
});

podResizerContract(async () => {
  const world = await openContractWorld();
  let created = 0;
  return {
    ...world,
    subject: createPodResizer(world.connection),
    restorer: createPodResizer(world.connection, { fieldManager: "mbcas-restore" }),
    create: (containers) => world.runningPod(`web-${created++}`, containers),
    read: world.pod,
  };
});

desiredWriterContract(async () => {
  const world = await openContractWorld();
  const { connection, nodeName } = world;
  const { metadata: { uid } } = await readNode(connection, nodeName);
  const account = { namespace: PRODUCT_NAMESPACE, account: "mbcas-agent" };
  const token = await requestToken(connection, { ...account, node: { name: nodeName, uid } });
  const agent = await connectByToken(token);
  const store = createAllocationStore(connection);
  const allocate = async (name: string, node: string) => {
    const pod = { ...await world.idlePod(name), nodeName: node };
    const created = await store.create(sampleAllocation(pod));
    return await store.writeStatus({ ...created, status: { phase: "Pending" } });
  };
  return {
    ...world,
    subject: createDesiredWriter(agent),
    own: await allocate("web", nodeName),
    foreign: await allocate("db", "another-node"),
    read: world.allocation,
    async close() {
      agent.close();
      await world.close();
    },
  };
});

nodeLinkContract(async () => {
  const { connection, namespace, nodeName, ...world } = await openContractWorld();
  const link = (name: string) =>
    createNodeLink(connection, {
      nodeName: name,
      namespace,
      clock: systemClock,
      durationSeconds: 120,
    });
  return {
    ...world,
    subject: link(nodeName),
    nodeName,
    lost: link("no-such-node"),
    async renewedAt() {
      const path = `${resourcePath({ ...LEASES, namespace })}/mbcas-agent-${nodeName}`;
      const raw = await world.find(path);
      return raw === undefined ? undefined : parseLease(raw).renewTimeMs;
    },
    pass: () => systemClock.sleep(5),
  };
});

leaseStoreContract(async () => {
  const world = await openContractWorld();
  const { connection, namespace } = world;
  return { ...world, subject: createLeaseStore(connection, { namespace, name: "leader" }) };
});

endpointSliceContract(async () => {
  const world = await openContractWorld();
  const { connection, namespace } = world;
  const place = { namespace, name: "webhook-ipv4", labels: { contract: "own" } };
  return { ...world, subject: createEndpointSliceStore(connection, place) };
});

eventSinkContract(async () => {
  const world = await openContractWorld();
  const { connection, namespace } = world;
  const stop = new AbortController();
  const sink = createEventSink(connection, { clock: systemClock, log: silentLog });
  const running = sink.run(stop.signal);
  const read = async (uid: string): Promise<readonly string[]> => {
    const path = `/api/v1/namespaces/${namespace}/events`;
    const fieldSelector = `involvedObject.uid=${uid}`;
    const { items } = objectOf(await connection.request({ path, query: { fieldSelector } }));
    const events = items as (MarketEvent & { involvedObject: Parameters<typeof eventText>[0] })[];
    return events.map((event) => eventText(event.involvedObject, event));
  };
  return {
    ...world,
    ...{ ofPods: sink, ofWorkloads: sink },
    seen: (uid, count) =>
      until(`${count} events`, async () => {
        const events = await read(uid);
        return events.length >= count ? events : undefined;
      }),
    async close() {
      stop.abort();
      await running;
      await world.close();
    },
  };
});

function policyBody(name: string): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "optipod.io/v1alpha1",
    kind: "OptimizationPolicy",
    metadata: { name },
    spec: SAMPLE_POLICY_SPEC,
  };
}

listWatchContract("optimizationPolicyListWatch()", async () => {
  const world = await openContractWorld();
  const { connection, namespace } = world;
  const path = resourcePath({ ...POLICIES, namespace });
  const subject = optimizationPolicyListWatch(connection, { namespace, random });
  const create = (name: string) =>
    connection.request({ method: "POST", path, body: policyBody(name) });
  return { ...world, subject, ...collection(world, { path, subject, create }) };
});

policyStatusContract(async () => {
  const { connection, namespace, find, ...world } = await openContractWorld();
  const collection = resourcePath({ ...POLICIES, namespace });
  const path = resourcePath({ ...POLICIES, namespace, name: "all" });
  const made = await connection.request({
    method: "POST",
    path: collection,
    body: policyBody("all"),
  });
  return {
    ...world,
    subject: createPolicyStatusWriter(connection),
    policy: parseOptimizationPolicy(made),
    async read() {
      const raw = await find(path);
      return raw === undefined ? undefined : parseOptimizationPolicy(raw);
    },
    remove: async () => void await connection.request({ method: "DELETE", path }),
  };
});

reportStoreContract(async () => {
  const { connection, namespace, find, ...world } = await openContractWorld();
  return {
    ...world,
    subject: createReportStore(connection),
    namespace,
    async read(name) {
      const raw = await find(resourcePath({ ...REPORTS, namespace, name }));
      return raw === undefined ? undefined : parseRecommendationReport(raw);
    },
  };
});

podEvictorContract(async () => {
  const { connection, namespace, ...world } = await openContractWorld();
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  return {
    ...world,
    subject: createPodEvictor(connection),
    running: (name) => world.runningPod(name, [sampleContainer()]),
    pending: (name) => world.idlePod(name),
    async protect(count) {
      for (let index = 0; index < count; index++) {
        const body = {
          apiVersion: "policy/v1",
          kind: "PodDisruptionBudget",
          metadata: { name: `none-${index}` },
          spec: { maxUnavailable: 0, selector: {} },
        };
        await connection.request({ method: "POST", path: budgets, body });
      }
      await until("budgets in force", async () => {
        const { items } = objectOf(await connection.request({ path: budgets }));
        const all = listOf(items).map((raw) => parsePodDisruptionBudget(raw));
        return all.length === count && all.every(({ current }) => current) ? true : undefined;
      });
    },
    read: world.pod,
  };
});

workloadWriterContract(async () => {
  const { connection, namespace, find, ...world } = await openContractWorld();
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  let created = 0;
  return {
    ...world,
    subject: createWorkloadWriter(connection, { log: silentLog }),
    async create(containers, annotations = {}) {
      const labels = { app: `web-${created}` };
      const spec = {
        containers: containers.filter(({ sidecar }) => !sidecar).map(containerSpec),
        initContainers: containers.filter(({ sidecar }) => sidecar).map(containerSpec),
      };
      const body = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: `web-${created++}`, annotations },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec },
        },
      };
      const query = { fieldManager: "other" };
      return parseWorkload(
        await connection.request({ method: "POST", path, query, body }),
        "Deployment",
      );
    },
    async read({ metadata: { name } }) {
      const raw = await find(`${path}/${name}`);
      return raw === undefined ? undefined : parseWorkload(raw, "Deployment");
    },
    async edit({ metadata: { name }, spec }, requestCPU) {
      const first = spec?.template.containers[0]?.name;
      const containers = [{ name: first, resources: { requests: { cpu: `${requestCPU}m` } } }];
      await connection.request(
        patchRequest("strategic", {
          path: `${path}/${name}`,
          query: { fieldManager: "other" },
          body: { spec: { template: { spec: { containers } } } },
        }),
      );
    },
    remove: async ({ metadata: { name } }) =>
      void await connection.request({ method: "DELETE", path: `${path}/${name}` }),
  };
});
