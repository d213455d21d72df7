import assert from "node:assert/strict";
import type { Pod } from "../../../shared/api/pod.ts";
import { sampleGuaranteed } from "../../../tests/contract/support/sample_objects.ts";
import type { NetworkPolicy, PolicyRule } from "../kube/network_policies.ts";
import { pure, pureYAML } from "../../../tests/fixtures/pure.ts";
import { sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import {
  BUNDLE,
  HEALTHY,
  NOW,
  renewedLease,
  snapshotOf,
  webPod,
} from "../../../tests/fixtures/cli/healthy_snapshot.ts";
import { reportsOf, shopRecords } from "../../../tests/fixtures/cli/advised_shop.ts";
import { sampleHPA, sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { sampleNodeView } from "../../../tests/fixtures/cli/node_views.ts";
import { diagnose } from "./check.ts";
import { CHECKS } from "./doctor_command.ts";
import type { KubeletState, PartName, SnapshotParts } from "../kube/snapshot.ts";

const { programs: [controller, agent], nodes: [node], kubelets: [kubelet] } = HEALTHY;
assert(controller && agent && node && kubelet);

const kubeletWith = (input: Partial<KubeletState>): Partial<SnapshotParts> => ({
  kubelets: [{ ...kubelet, ...input }],
});
const serving = (days: number): Partial<SnapshotParts> => ({
  webhook: { bundles: [BUNDLE], serving: { notAfterMs: NOW + days * 86_400_000 } },
});
const bundle = (change: object): Partial<SnapshotParts> => ({
  webhook: { bundles: [{ ...BUNDLE, ...change }] },
});
const metrics = (series: string, value: number): Partial<SnapshotParts> => ({
  controllerMetrics: [new Map([[series, value]])],
});
/** Only pods of the agent are selected. */
const egress = (...rules: readonly PolicyRule[]): Partial<SnapshotParts> => {
  const metadata = { name: "deny", namespace: "mbcas-system", uid: "", resourceVersion: "" };
  const pods = { matchLabels: { "app.kubernetes.io/name": "mbcas-agent" }, matchExpressions: [] };
  return { policies: [{ metadata, pods, egress: rules } satisfies NetworkPolicy] };
};
const to = (cidr: string, ...except: string[]): PolicyRule["peers"] => [
  { ipBlock: { cidr, except } },
];
const DNS: PolicyRule = { peers: [], ports: [{ protocol: "UDP", port: 53 }] };
const API: PolicyRule = { peers: [], ports: [{ protocol: "TCP", port: 6443 }] };
const inKubeSystem = {
  matchLabels: { "kubernetes.io/metadata.name": "kube-system" },
  matchExpressions: [],
};
const expired = renewedLease("mbcas-agent-node-1", -1);

/** Taken in by its annotation, so that its request moves with its limit. */
const web = webPod(sampleGuaranteed({ requests: { cpu: 200 } }));
const guaranteed: Pod = {
  ...web,
  qosClass: "Guaranteed",
  metadata: { ...web.metadata, annotations: { "mbcas.io/skip-guaranteed": "false" } },
};

/** Nodes with these labels, and no Lease of an agent. */
function withoutAgent(labels: Record<string, string>): Partial<SnapshotParts> {
  const nodes = HEALTHY.nodes.map((one) => ({ ...one, labels }));
  return { leases: HEALTHY.leases.slice(0, 1), nodes };
}

/** Changes to a healthy cluster, and the codes of all findings then. */
const CASES: readonly (readonly [Partial<SnapshotParts>, ...codes: string[]])[] = [
  [{}],
  [{ server: { version: "v1.32.1", atMs: NOW } }, "ServerTooOld", "KubeletSkew"],
  [{ server: { version: "v1.37.0", atMs: NOW } }, "ServerUntested"],
  [{ server: { version: "", atMs: NOW } }],
  [{ nodes: [{ ...node, kubeletVersion: "v1.32.9" }] }, "KubeletTooOld"],
  [{ nodes: [{ ...node, kubeletVersion: "v1.33.0" }] }],
  [kubeletWith({ problem: "i/o timeout" }), "KubeletUnreachable"],
  [{
    kubelets: ["node-1", "node-2"].map((node) => ({ node, clusterDNS: [], missingRight: "none" })),
  }, "KubeletSettingsHidden"],
  [kubeletWith({ cpuCFSQuota: false }), "CPUQuotaOff"],
  [kubeletWith({ cpuManagerPolicy: "static" }), "StaticCPUManager"],
  [kubeletWith({ cgroupVersion: 1, cgroupDriver: "cgroupfs" }), "CgroupV1"],
  [kubeletWith({ cgroupDriver: "cgroupfs" }), "CgroupfsDriver"],
  [{
    agents: [{ node: "node-1", pod: "a", view: sampleNodeView([], { held: "SchedExt" }) }],
  }, "SchedExt"],
  [{ agents: [{ node: "node-1", pod: "a", problem: "no answer" }] }, "AgentUnreachable"],
  [{ programs: [controller] }, "NotInstalled"],
  [{ programs: [{ ...controller, wanted: 2 }, agent] }, "ProgramNotReady"],
  [{ programs: [controller, { ...agent, ready: 0 }] }, "ProgramNotReady"],
  [
    { programs: [{ ...controller, podLabels: { "app.kubernetes.io/version": "0.0.9" } }, agent] },
    "VersionDiffers",
  ],
  [{ programs: [{ ...controller, podLabels: {} }, agent] }],
  [{ definitions: [{ name: "reports", exists: true, version: "0.0.9" }] }, "VersionDiffers"],
  [
    { definitions: [{ name: "podallocations.allocation.mbcas.io", exists: false }] },
    "DefinitionMissing",
  ],
  [{ definitions: [{ name: "optimizationpolicies.optipod.io", exists: false }] }],
  [{ unknownFields: ["status.bounds"] }, "DefinitionOutdated"],
  [{ leases: HEALTHY.leases.slice(1) }, "NoLeader"],
  [{ leases: [{ ...renewedLease("mbcas-controller"), holder: "" }, expired] }, "NoLeader"],
  [{ leases: HEALTHY.leases.slice(0, 1) }, "AgentSilent"],
  [
    { leases: [...HEALTHY.leases.slice(0, 1), { ...expired, writtenAtMs: NOW - 31_000 }] },
    "AgentSilent",
    "ClockSkew",
  ],
  [{ leases: HEALTHY.leases.slice(0, 1), nodes: [{ ...node, ready: false }] }],
  [withoutAgent({ type: "virtual-kubelet" })],
  [withoutAgent({ "eks.amazonaws.com/compute-type": "fargate" })],
  [{ leases: [...HEALTHY.leases, renewedLease("mbcas-agent-b", 5001)] }, "ClockSkew"],
  [{ leases: [...HEALTHY.leases, renewedLease("mbcas-agent-b", -5000)] }],
  [bundle({ certificates: [] }), "CABundleMissing"],
  [bundle({ problem: "cut off" }), "CABundleMissing"],
  [bundle({ certificates: [{ notAfterMs: NOW }] }), "CABundleExpired"],
  [bundle({ signs: false }), "CABundleForeign"],
  [serving(7), "CertificateEnds"],
  [serving(-1), "CertificateEnds"],
  [{ webhook: undefined }],
  [metrics("mbcas_resize_rate_bottleneck", 1), "ResizeRateSaturated"],
  [metrics("mbcas_settings_valid", 0), "SettingsRefused"],
  [
    { priorityLevels: [{ name: "workload-low", dispatched: 9, rejected: 1, timedOut: 0 }] },
    "APIRequestsRejected",
  ],
  [{ priorityLevels: [{ name: "catch-all", dispatched: 9, rejected: 1, timedOut: 0 }] }],
  [egress(API, DNS)],
  [egress(DNS), "EgressToAPIBlocked"],
  [egress({ peers: [], ports: [{ protocol: "TCP", port: 6000, endPort: 7000 }] }, DNS)],
  [egress({ peers: to("192.168.0.0/16"), ports: [] }, DNS)],
  [egress({ peers: to("192.168.0.0/16", "192.168.0.1/32"), ports: [] }, DNS), "EgressToAPIBlocked"],
  [egress({ peers: [{ namespaces: inKubeSystem }], ports: [] }, DNS), "EgressToAPIBlocked"],
  [egress(API), "EgressToDNSBlocked"],
  [egress(API, { ...DNS, peers: [{ namespaces: inKubeSystem }] })],
  // NodeLocal DNSCache listens on the node itself, which no selector selects.
  [{
    ...egress(API, { ...DNS, peers: [{ namespaces: inKubeSystem }] }),
    ...kubeletWith({ clusterDNS: ["169.254.20.10"] }),
  }, "EgressToDNSBlocked"],
  [{ ...egress(API), dns: undefined }],
  [{ dns: { addresses: ["10.0.0.10"], ready: 0 } }, "DNSDown"],
  [{ dns: undefined }],
  [
    { unready: [{ name: "mbcas-agent-x", reason: "no list yet", dnsError: "dns error" }] },
    "DNSFails",
  ],
  [{ unready: [{ name: "mbcas-agent-x", reason: "no list yet" }] }],
  [{ pods: [webPod({ restartsOnCPU: true })] }, "RestartsOnCPU"],
  [{ pods: [webPod({ restartsOnCPU: true })], allocations: [] }],
  [{ pods: [webPod({ restartsOnMemory: true })] }],
  [
    { pods: [webPod({ restartsOnMemory: true })], reports: reportsOf(shopRecords()) },
    "RestartsOnMemory",
  ],
  [{ verticalAutoscalers: [sampleVPA("Auto")] }, "VPAConflict"],
  [{ verticalAutoscalers: [sampleVPA("Off")] }],
  [{ verticalAutoscalers: [sampleVPA("Auto")], settings: "market: off" }],
  [{ autoscalers: [sampleHPA()] }, "HPAOverlap"],
  [{ autoscalers: [sampleHPA()], allocations: [] }],
  [{ autoscalers: [sampleHPA()], pods: [guaranteed], allocations: [] }, "HPAConflict"],
];

pureYAML("CHECKS find each fault, and nothing in a healthy cluster", () => {
  for (const [change, ...codes] of CASES) {
    const { findings, unchecked } = diagnose(snapshotOf(change), CHECKS);
    assert.deepEqual(
      findings.map(({ code }) => code).sort(),
      codes.toSorted(),
      Object.keys(change).join(),
    );
    assert.deepEqual(unchecked, []);
  }
});

pureYAML("CHECKS find a webhook that a policy keeps API servers from", () => {
  const [policy] = egress().policies ?? [];
  assert(policy);
  const pods = { matchLabels: {}, matchExpressions: [] };
  const { egress: _egress, ...rest } = policy;
  const codesFor = (ports: PolicyRule["ports"]) =>
    diagnose(snapshotOf({ policies: [{ ...rest, pods, ingress: [{ peers: [], ports }] }] }), CHECKS)
      .findings.map(({ code }) => code);
  assert.deepEqual(codesFor([{ protocol: "TCP", port: 8080 }]), ["IngressToWebhookBlocked"]);
  assert.deepEqual(codesFor([{ protocol: "TCP", port: "webhook" }]), []);
});

pure("CHECKS warn of rejections that go on, and mention those that are over", () => {
  const severities = (refused?: number): readonly string[] => {
    const recent = refused === undefined ? {} : { recent: { refused, seconds: 3 } };
    const level = { name: "workload-low", dispatched: 9, rejected: 2, timedOut: 1, ...recent };
    return diagnose(snapshotOf({ priorityLevels: [level] }), CHECKS).findings
      .map(({ severity }) => severity);
  };
  const found = [severities(0), severities(1), severities()];
  assert.deepEqual(found, [["info"], ["warning"], ["warning"]]);
});

pureYAML("diagnose() orders findings by severity, and names checks without their parts", () => {
  const parts = { ...kubeletWith({ cgroupVersion: 1 }), unknownFields: ["spec.x"] };
  const unread = { nodes: "no right", leases: "no right" };
  const { findings, unchecked, checked } = diagnose(snapshotOf(parts, unread), CHECKS);
  assert.deepEqual(findings.map(({ severity }) => severity), ["error", "info"]);
  assert.deepEqual(unchecked.map(({ why }) => why), Array(4).fill("no right"));
  assert.equal(checked, CHECKS.length - 4);
});

pure("CHECKS use every part of the snapshot", () => {
  const needed = new Set(CHECKS.flatMap(({ needs }) => needs));
  assert.deepEqual([...needed].sort(), (Object.keys(HEALTHY) as PartName[]).sort());
});

Deno.test("docs/doctor.md lists the codes that the checks find, and no others", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/doctor.md", import.meta.url));
  const listed = [...page.matchAll(/^\| `([A-Z]\w+)`/gm)].map(([, code]) => code);
  const found = CASES.flatMap(([, ...codes]) => codes);
  const all = [...found, "IngressToWebhookBlocked"];
  assert.deepEqual(listed.sort(), [...new Set(all)].sort());
});

sceneTest("doctor ends with 0 without errors, 1 with one, 3 for a check undone", async (scene) => {
  const code = async (...args: Parameters<typeof snapshotOf>): Promise<number> => {
    scene.snapshot = snapshotOf(...args);
    return (await scene.ran("doctor -o json"))[0];
  };
  assert.equal(await code(), 0);
  assert.equal(await code(kubeletWith({ cpuManagerPolicy: "static" })), 0);
  assert.equal(await code({}, { nodes: "no right" }), 3);
  assert.equal(await code({ unknownFields: ["spec.x"] }, { nodes: "no right" }), 1);
  const [first] = JSON.parse(scene.out).findings;
  assert.deepEqual([first.code, first.severity], ["DefinitionOutdated", "error"]);
  scene.snapshot = undefined;
  assert.equal((await scene.ran("doctor"))[0], 1);
});
