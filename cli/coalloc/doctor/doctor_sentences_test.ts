/** The sentences of `doctor`. */
import { assertSentences } from "../../../tests/fixtures/assert_sentences.ts";
import { sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { HEALTHY, snapshotOf } from "../../../tests/fixtures/cli/healthy_snapshot.ts";

sceneTest("sentences of doctor", async (scene) => {
  const doctor = (...args: Parameters<typeof snapshotOf>) => () => {
    scene.snapshot = snapshotOf(...args);
    return scene.said("doctor")();
  };
  const rejecting = {
    ...{ name: "workload-low", dispatched: 9, rejected: 2, timedOut: 1 },
    recent: { refused: 1, seconds: 3 },
  };
  const hidden = ["node-1", "node-2"].map((node) => ({
    ...{ node, clusterDNS: [] },
    missingRight: "the right to get nodes/proxy is missing",
  }));
  const kubelet = { node: "node-1", cpuManagerPolicy: "static", clusterDNS: [] };
  await assertSentences([
    ["healthy", doctor(), "Checks: 20; errors: 0, warnings: 0, infos: 0\n"],
    [
      "nothing in the namespace",
      doctor({ programs: HEALTHY.programs.slice(0, 1) }),
      `\
error    NotInstalled  DaemonSet mbcas-system/mbcas-agent
         it does not exist
         → install the product: docs/install.md; where it is in another namespace, set COALLOC_SYSTEM_NAMESPACE to that

Checks: 20; errors: 1, warnings: 0, infos: 0
`,
    ],
    [
      "findings",
      doctor({ kubelets: [kubelet], leases: HEALTHY.leases.slice(0, 1) }, {
        policies: "the right to list networkpolicies.networking.k8s.io is missing",
      }),
      `\
error    AgentSilent  Node node-1
         no agent has a Lease for it
         → look at the node's agent: kubectl get pods -n mbcas-system -o wide -l app.kubernetes.io/name=mbcas-agent
warning  StaticCPUManager  Node node-1
         cpuManagerPolicy is static: Guaranteed pods with whole CPUs can't be resized
         → keep such pods out of the market, which is the default, and out of rightsizing
unknown  NetworkPolicies: the right to list networkpolicies.networking.k8s.io is missing

Checks: 19; errors: 1, warnings: 1, infos: 0, could not look: 1
`,
    ],
    [
      "rejections and kubelets that are not to be asked",
      doctor({ priorityLevels: [rejecting], kubelets: hidden }),
      `\
warning  KubeletSettingsHidden  Node node-1 and 1 more
         the right to get nodes/proxy is missing: version and driver of cgroups, cpuCFSQuota, the CPU manager's policy and clusterDNS were not looked at
         → let an administrator run doctor, or grant that right in a ClusterRole
warning  APIRequestsRejected  PriorityLevelConfiguration workload-low
         since the server's start 2 requests rejected and 1 timed out, 1 of them in the last 3 s, of 9 dispatched
         → give the service accounts of mbcas-system a FlowSchema and priority level of their own

Checks: 20; errors: 0, warnings: 2, infos: 0
`,
    ],
  ]);
});
