import assert from "node:assert/strict";
import { createEndpointSliceStore } from "../../adapters/kube/writers/webhook_stores.ts";
import {
  type CertificateMaker,
  type CertificateReader,
  createCertificateMaker,
  createCertificateReader,
} from "../../adapters/webhook/certificates.ts";
import { createSimulatedAPI, type SimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock, type VirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { agentLeaseRef } from "../../shared/api/lease.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { seededRandom } from "../../shared/random.ts";
import { controllerPorts } from "../fixtures/controller_ports.ts";
import { sampleWorkload } from "../fixtures/sample_workloads.ts";
import { createPaperCertificates } from "../fixtures/webhook/webhook_replica.ts";
import { serveWebhookObjects } from "../fixtures/webhook/webhook_objects.ts";
import {
  endpointSliceContract,
  eventSinkContract,
  eventText,
  leaseStoreContract,
  listWatchContract,
  nodeLinkContract,
  selectiveListWatchContract,
} from "./api_contracts.ts";
import {
  allocationStoreContract,
  desiredWriterContract,
  policyStatusContract,
  reportStoreContract,
} from "./custom_resource_contracts.ts";
import { instantQueriesContract, metricResults } from "./usage_contracts.ts";
import { podEvictorContract, podResizerContract } from "./pod_contracts.ts";
import {
  type ContractHarness,
  contractTests,
  type OpenHarness,
} from "./support/contract_harness.ts";
import { sampleAllocation, sampleNode, samplePod, samplePolicy } from "./support/sample_objects.ts";
import { settleVirtually } from "./support/settle_virtually.ts";
import { workloadWriterContract } from "./workload_writer_contract.ts";
import { createMetricAnswers } from "../fixtures/metrics/metric_answers.ts";

interface Server extends ContractHarness {
  readonly api: SimulatedAPI;
  readonly clock: VirtualClock;
}

function server(): Server {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const api = createSimulatedAPI({ clock, random: seededRandom(7) });
  return { api, clock, settle: (promise) => settleVirtually(clock, promise) };
}

/** A version after which something was written and forgotten. */
function expiredVersion(api: SimulatedAPI, write: () => unknown): string {
  const version = String(api.store.version());
  write();
  api.compact();
  return version;
}

function act(action: () => void): Promise<void> {
  return Promise.resolve().then(action);
}

selectiveListWatchContract('listWatch("Pod")', () => {
  const { api, ...harness } = server();
  const { Pod: pods } = api.store.tables;
  return {
    ...harness,
    subject: api.listWatch("Pod", { nodeName: "node-1" }),
    create: (name: string) => act(() => void pods.create(samplePod(name))),
    createForeign: (name: string) =>
      act(() => void pods.create(samplePod(name, { nodeName: "node-2" }))),
    change: (name: string) =>
      act(() =>
        void pods.modify(`shop/${name}`, (pod) => ({ ...pod, priority: pod.priority + 1 }))
      ),
    remove: (name: string) => act(() => void pods.remove(`shop/${name}`)),
    expiredVersion: () => Promise.resolve(expiredVersion(api, () => pods.create(samplePod("x")))),
  };
});

listWatchContract('listWatch("Node")', () => {
  const { api, ...harness } = server();
  const { Node: nodes } = api.store.tables;
  return {
    ...harness,
    subject: api.listWatch("Node"),
    create: (name: string) => act(() => void nodes.create(sampleNode(name))),
    change: (name: string) =>
      act(() => void nodes.modify(name, (node) => ({ ...node, ready: !node.ready }))),
    remove: (name: string) => act(() => void nodes.remove(name)),
    expiredVersion: () => Promise.resolve(expiredVersion(api, () => nodes.create(sampleNode("x")))),
  };
});

allocationStoreContract(() => {
  const { api, ...harness } = server();
  const { PodAllocation: allocations, Pod: pods } = api.store.tables;
  return {
    ...harness,
    subject: api.allocationStore,
    pod: pods.create(samplePod("web")),
    read: ({ metadata }: PodAllocation) => Promise.resolve(allocations.get(objectKey(metadata))),
  };
});

podResizerContract(() => {
  const { api, ...harness } = server();
  const { Pod: pods, Node: nodes } = api.store.tables;
  nodes.create(sampleNode("node-1"));
  let created = 0;
  return {
    ...harness,
    subject: api.podResizer(),
    restorer: api.podResizer("mbcas-restore"),
    create: (containers) =>
      Promise.resolve(pods.create(samplePod(`web-${created++}`, { containers }))),
    read: ({ metadata }) => Promise.resolve(pods.get(objectKey(metadata))),
  };
});

desiredWriterContract(() => {
  const { api, ...harness } = server();
  const { PodAllocation: allocations, Pod: pods } = api.store.tables;
  const allocate = (name: string, nodeName: string): PodAllocation => {
    const created = allocations.create(
      sampleAllocation(pods.create(samplePod(name, { nodeName }))),
    );
    return allocations.replaceStatus({ ...created, status: { phase: "Pending" } });
  };
  return {
    ...harness,
    subject: api.desiredWriter("node-1"),
    own: allocate("web", "node-1"),
    foreign: allocate("db", "node-2"),
    read: ({ metadata }: PodAllocation) => Promise.resolve(allocations.get(objectKey(metadata))),
  };
});

nodeLinkContract(() => {
  const { api, clock, ...harness } = server();
  api.store.tables.Node.create(sampleNode("node-1"));
  const leaseKey = objectKey(agentLeaseRef("node-1"));
  return {
    ...harness,
    subject: api.nodeLink("node-1"),
    nodeName: "node-1",
    lost: api.nodeLink("node-9"),
    renewedAt: () => Promise.resolve(api.store.tables.Lease.get(leaseKey)?.renewTimeMs),
    pass: () => clock.sleep(50),
  };
});

leaseStoreContract(() => {
  const { api, ...harness } = server();
  const ref = { namespace: "mbcas-system", name: "mbcas-controller" };
  return { ...harness, subject: controllerPorts(api).leaseStore(ref) };
});

endpointSliceContract(() => {
  const { api, ...harness } = server();
  const ref = { namespace: "mbcas-system", name: "mbcas-webhook-ipv4" };
  return { ...harness, subject: controllerPorts(api).endpointSliceStore(ref) };
});

eventSinkContract(() => {
  const { api, ...harness } = server();
  const texts = (uid: string): readonly string[] => [
    ...api.events.all().filter(({ about }) => about.uid === uid).map((event) =>
      eventText(event.about, event)
    ),
    ...api.rightsizingEvents.all().filter(({ about }) => about.uid === uid).map((event) =>
      eventText(event.about, event)
    ),
  ];
  return {
    ...harness,
    ...{ ofPods: api.events, ofWorkloads: api.rightsizingEvents, namespace: "shop" },
    seen: (uid) => Promise.resolve(texts(uid)),
  };
});

listWatchContract('listWatch("OptimizationPolicy")', () => {
  const { api, ...harness } = server();
  const { OptimizationPolicy: policies } = api.store.tables;
  const status = (count: number) => ({ workloadsDiscovered: count });
  return {
    ...harness,
    subject: api.listWatch("OptimizationPolicy"),
    create: (name: string) => act(() => void policies.create(samplePolicy(name))),
    change: (name: string) =>
      act(() =>
        void policies.modify(`shop/${name}`, (policy) => ({
          ...policy,
          status: status((policy.status.workloadsDiscovered ?? 0) + 1),
        }))
      ),
    remove: (name: string) => act(() => void policies.remove(`shop/${name}`)),
    expiredVersion: () =>
      Promise.resolve(expiredVersion(api, () => policies.create(samplePolicy("x")))),
  };
});

policyStatusContract(() => {
  const { api, ...harness } = server();
  const { OptimizationPolicy: policies } = api.store.tables;
  const policy = policies.create(samplePolicy("all"));
  return {
    ...harness,
    subject: controllerPorts(api).policyStatusWriter,
    policy,
    read: () => Promise.resolve(policies.get(objectKey(policy.metadata))),
    remove: () => act(() => void policies.remove(objectKey(policy.metadata))),
  };
});

reportStoreContract(() => {
  const { api, ...harness } = server();
  const { RecommendationReport: reports } = api.store.tables;
  return {
    ...harness,
    subject: controllerPorts(api).reportStore,
    namespace: "shop",
    read: (name) => Promise.resolve(reports.get(`shop/${name}`)),
  };
});

workloadWriterContract(() => {
  const { api, ...harness } = server();
  const { Deployment: deployments } = api.store.tables;
  let created = 0;
  return {
    ...harness,
    subject: controllerPorts(api).workloadWriter,
    create: (containers, annotations = {}) => {
      const template = { containers, initContainers: [] };
      const spec = { paused: false, replicas: 0, template };
      const { metadata, ...workload } = sampleWorkload({ annotations, spec });
      return Promise.resolve(deployments.create({
        ...workload,
        metadata: { ...metadata, name: `web-${created++}` },
      }));
    },
    read: ({ metadata }) => Promise.resolve(deployments.get(objectKey(metadata))),
    edit: ({ metadata }, requestCPU) =>
      act(() =>
        void deployments.modify(objectKey(metadata), (stored) => {
          const { spec } = stored;
          if (spec === undefined) return stored;
          const [first, ...rest] = spec.template.containers;
          const containers = first === undefined
            ? []
            : [{ ...first, requests: { ...first.requests, cpu: requestCPU } }, ...rest];
          return { ...stored, spec: { ...spec, template: { ...spec.template, containers } } };
        })
      ),
    remove: ({ metadata }) => act(() => void deployments.remove(objectKey(metadata))),
  };
});

podEvictorContract(() => {
  const { api, ...harness } = server();
  const { Pod: pods, PodDisruptionBudget: budgets } = api.store.tables;
  return {
    ...harness,
    subject: controllerPorts(api).podEvictor,
    running: (name: string) =>
      Promise.resolve(pods.seed({ ...samplePod(name), phase: "Running", ready: true })),
    pending: (name: string) => Promise.resolve(pods.seed(samplePod(name, { nodeName: "" }))),
    protect: (count: number) =>
      act(() => {
        for (let index = 0; index < count; index++) {
          budgets.create({
            metadata: { namespace: "shop", name: `none-${index}`, uid: "", resourceVersion: "" },
            selector: { matchLabels: {}, matchExpressions: [] },
            disruptionsAllowed: 0,
            current: true,
            freesUnready: false,
          });
        }
      }),
    read: ({ metadata }: Pod) => Promise.resolve(pods.get(objectKey(metadata))),
  };
});

endpointSliceContract(() => {
  const server = serveWebhookObjects({ name: "mbcas-webhook", webhooks: [] });
  const place = { namespace: "mbcas-system", name: "mbcas-webhook-ipv4", labels: {} };
  return {
    subject: createEndpointSliceStore(server.connection, place),
    close: async () => await server[Symbol.asyncDispose](),
  };
});

certificateContract("paper", createPaperCertificates);

certificateContract("X.509", () => ({
  maker: createCertificateMaker(),
  reader: createCertificateReader(),
}));

instantQueriesContract("createMetricAnswers()", () => {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const subject = createMetricAnswers(clock);
  for (const [query, result] of metricResults()) subject.results.set(query, result);
  return {
    subject,
    server: "http://metrics",
    wall: clock.wall,
    stop: () => {
      subject.up = false;
      return Promise.resolve();
    },
    settle: (promise) => settleVirtually(clock, promise),
  };
});

/** A maker, and a reader of its certificates. */
interface CertificateHarness extends ContractHarness {
  readonly maker: CertificateMaker;
  readonly reader: CertificateReader;
}

const VALIDITY = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2051, 5, 1) };
const NAMES = ["mbcas-webhook.mbcas-system.svc", "mbcas-webhook.mbcas-system"];

/** Registers the suite for what goes by this name. */
function certificateContract(
  name: string,
  open: OpenHarness<CertificateHarness>,
): void {
  const contract = contractTests(open);
  contract(`${name}: readPair() reads what makeAuthority() wrote`, async (h) => {
    const made = await h.maker.makeAuthority({ name: "one", ...VALIDITY });
    assert.deepEqual(h.reader.readPair(made), {
      ...VALIDITY,
      names: [],
      authority: true,
    });
    assert.ok(h.reader.signed(made.cert, made.cert));
  });

  contract(`${name}: signed() reports the owner of a certificate`, async (h) => {
    const [one, two] = await Promise.all(
      ["one", "one"].map((name) => h.maker.makeAuthority({ name, ...VALIDITY })),
    );
    assert.ok(one !== undefined && two !== undefined);
    const serving = await h.maker.makeServing(one, { names: NAMES, ...VALIDITY });
    assert.deepEqual(h.reader.readPair(serving), {
      ...VALIDITY,
      names: NAMES,
      authority: false,
    });
    assert.ok(h.reader.signed(one.cert, serving.cert));
    assert.ok(!h.reader.signed(two.cert, serving.cert));
  });

  contract(`${name}: readBundle() reads each certificate back as it was`, async (h) => {
    const one = await h.maker.makeAuthority({ name: "one", ...VALIDITY });
    const two = await h.maker.makeServing(one, { names: NAMES, ...VALIDITY });
    const bundle = h.reader.readBundle(one.cert + two.cert);
    assert.deepEqual(bundle.map(({ cert }) => cert.trim()), [one.cert.trim(), two.cert.trim()]);
    assert.deepEqual(bundle.map(({ authority }) => authority), [true, false]);
    assert.deepEqual(h.reader.readBundle(""), []);
  });

  contract(`${name}: readPair() and readBundle() refuse other texts`, async (h) => {
    const one = await h.maker.makeAuthority({ name: "one", ...VALIDITY });
    const two = await h.maker.makeAuthority({ name: "two", ...VALIDITY });
    for (const pair of [{ ...one, key: two.key }, { ...one, cert: "x" }, { cert: "", key: "" }]) {
      assert.throws(() => h.reader.readPair(pair), { name: "TypeError", message: /^Cannot / });
    }
    assert.throws(() => h.reader.readBundle(`${one.cert}-----BEGIN`), TypeError);
  });
}
