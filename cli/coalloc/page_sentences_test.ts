/** The sentences of `doctor`, `report` and `placement`. */
import type { PlacementPhase } from "../../shared/api/reasons/placement_reasons.ts";
import { nextText, phaseText } from "../../shared/view/placed_workloads.ts";
import { assertTexts } from "../../tests/fixtures/assert_sentences.ts";
import { shopTest } from "../../tests/fixtures/cli/advised_shop.ts";
import { printed, sceneTest } from "../../tests/fixtures/cli/coalloc_scene.ts";
import { HEALTHY, snapshotOf } from "../../tests/fixtures/cli/healthy_snapshot.ts";
import { NOW, placedTest, remember, SHOP } from "../../tests/fixtures/placement/placed_shop.ts";
import { pure } from "../../tests/fixtures/pure.ts";

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
  await assertTexts(
    {
      "healthy": doctor(),
      "nothing in the namespace": doctor({ programs: HEALTHY.programs.slice(0, 1) }),
      "findings": doctor({ kubelets: [kubelet], leases: HEALTHY.leases.slice(0, 1) }, {
        policies: "the right to list networkpolicies.networking.k8s.io is missing",
      }),
      "rejections and kubelets that are not to be asked": doctor({
        priorityLevels: [rejecting],
        kubelets: hidden,
      }),
    },
    `\
healthy
| Checks: 20; errors: 0, warnings: 0, infos: 0
nothing in the namespace
| error    NotInstalled  DaemonSet mbcas-system/mbcas-agent
|          it does not exist
|          → install the product: docs/install.md; where it is in another namespace, set COALLOC_SYSTEM_NAMESPACE to that
|
| Checks: 20; errors: 1, warnings: 0, infos: 0
findings
| error    AgentSilent  Node node-1
|          no agent has a Lease for it
|          → look at the node's agent: kubectl get pods -n mbcas-system -o wide -l app.kubernetes.io/name=mbcas-agent
| warning  StaticCPUManager  Node node-1
|          cpuManagerPolicy is static: Guaranteed pods with whole CPUs can't be resized
|          → keep such pods out of the market, which is the default, and out of rightsizing
| unknown  NetworkPolicies: the right to list networkpolicies.networking.k8s.io is missing
|
| Checks: 19; errors: 1, warnings: 1, infos: 0, could not look: 1
rejections and kubelets that are not to be asked
| warning  KubeletSettingsHidden  Node node-1 and 1 more
|          the right to get nodes/proxy is missing: version and driver of cgroups, cpuCFSQuota, the CPU manager's policy and clusterDNS were not looked at
|          → let an administrator run doctor, or grant that right in a ClusterRole
| warning  APIRequestsRejected  PriorityLevelConfiguration workload-low
|          since the server's start 2 requests rejected and 1 timed out, 1 of them in the last 3 s, of 9 dispatched
|          → give the service accounts of mbcas-system a FlowSchema and priority level of their own
|
| Checks: 20; errors: 0, warnings: 2, infos: 0
`,
  );
});

shopTest("sentences of report", async (scene) => {
  const flags = "--core-hour 0.1 --gib-hour 0 --currency EUR";
  // Without the figures and the sentences of the text.
  const markdown = async (flags: string): Promise<string> => {
    const repeated =
      /PodAllocations|RecommendationReports|^- (CPU (lim|req)|Mem|Pods with|Pods.*;|Usage)|^$/;
    const lines = (await scene.said(`report -o markdown${flags}`)()).split("\n");
    return lines.filter((line) => !repeated.test(line)).join("\n");
  };
  await assertTexts(
    {
      "text": scene.said(`report ${flags}`),
      "markdown": () => markdown(""),
      "markdown of a Prometheus that is half as old as the period": () => {
        scene.rightsizing.reports = [];
        scene.history = ({ query }) => {
          const value = query.startsWith("count_over_time(g")
            ? 480
            : /^count\(|^max_over_time/.test(query)
            ? 1
            : 36;
          const values = Float64Array.from([value]);
          return { series: [{ labels: {}, values, timesMs: Float64Array.from([0]) }] };
        };
        return markdown(" -A --prometheus http://p:9090");
      },
    },
    `\
text
| CoAllocator in namespace shop, 2025-12-25 00:00 to 2026-01-01 00:00 UTC
|
| FIGURE                                                                VALUE       BEFORE   FROM
| CPU limits above the original ones, now                          0.00 cores                PodAllocations
| CPU limits below the original ones, now                          0.00 cores                PodAllocations
| Pods in the market, now                                                   0                PodAllocations
| Pods with a CPU limit that was changed                                    0                PodAllocations
| CPU requests of workloads with values applied in place, now      2.00 cores   2.00 cores   RecommendationReports
| CPU requests saved by rightsizing                                0.00 cores                RecommendationReports
| CPU requests that recommendations would save further             0.04 cores                RecommendationReports
| Memory requests of workloads with values applied in place, now     2.00 GiB     2.00 GiB   RecommendationReports
| Memory requests saved by rightsizing                               0.00 GiB                RecommendationReports
| Memory requests that recommendations would save further           -0.06 GiB                RecommendationReports
| Money saved                                                        0.00 EUR                RecommendationReports
| Money that recommendations would save in a month                   3.07 EUR                RecommendationReports
|
| Saved by rightsizing
| WORKLOAD              CORES    GIB      MONEY
| shop/statefulset/db    0.00   0.00   0.00 EUR
|
| Notes
| - CPU limits above the original ones, now: room to burst, not CPU in use
| - Pods with a CPU limit that was changed: of the pods that still exist
| - CPU requests of workloads with values applied in place, now; Memory requests of workloads with values applied in place, now: the column Before has what the manifests request
| - CPU requests saved by rightsizing; Memory requests saved by rightsizing: raises subtracted
| - CPU requests that recommendations would save further; Memory requests that recommendations would save further: raises subtracted; workloads that are skipped or failed are left out
| - Money saved: since values were last applied, at the given prices, as if the pods of now had run all that time, and if the nodes' bill follows requests
|
| Missing
| - Usage and throttled time, now: No agent runs: only the allocations are known, as old as they say
| - Pods in the market; CPU used beyond original limits; Throttled time of pods in the market; Changes of CPU limits; Time in which a node's CPU was scarce; Throttled time of containers; CPU used by containers: the cluster keeps no history: give --prometheus with the address of a Prometheus
markdown
  # CoAllocator in namespace shop, 2025-12-25 00:00 to 2026-01-01 00:00 UTC
  | Figure | Value | Before | From |
  | --- | ---: | ---: | --- |
  ## Saved by rightsizing
  | Workload | Cores | GiB |
  | --- | ---: | ---: |
  | shop/statefulset/db | 0.00 | 0.00 |
  ## Notes
  ## Missing
  - Money: no prices are given: add --core-hour and --gib-hour
markdown of a Prometheus that is half as old as the period
  # CoAllocator in the cluster, 2025-12-25 00:00 to 2026-01-01 00:00 UTC
  | Figure | Value | Before | From |
  | --- | ---: | ---: | --- |
  | Time of the period with data in Prometheus | 80.67 hours |  | Prometheus |
  | Pods in the market | 36 | 36 | Prometheus |
  | CPU used beyond original limits | 36.00 cores | 36.00 cores | Prometheus |
  | Throttled time of pods in the market | 36 s | 36 s | Prometheus |
  | Changes of CPU limits | 36 | 36 | Prometheus |
  | Time in which a node's CPU was scarce | 36 s | 36 s | Prometheus |
  ## Notes
  - Before: as long a period that ended at 2025-12-25 00:00 UTC; load and pods may have differed
  - Time of the period with data in Prometheus: the period has 168 hours: of the others Prometheus keeps nothing, or has collected nothing, and its figures leave them out
  - Pods in the market: mean over the time with data
  - CPU used beyond original limits: these would have refused it; mean over the time with data, pods that are gone included
  - Throttled time of pods in the market: summed over threads
  - Changes of CPU limits: accepted resizes, those of requests included
  - Time in which a node's CPU was scarce: summed over nodes
  ## Missing
  - Throttled time of containers; CPU used by containers: no pod is in the market
  - Requests saved: no OptimizationPolicy has looked at a workload here
`,
  );
});

placedTest("sentences of placement: pages", SHOP, async (scene) => {
  remember(scene, "short", { shortage: { untilMs: NOW + 60_000, rounds: 1 } });
  remember(scene, "web", { lastMoveAtMs: NOW - 4000 });
  await assertTexts(
    {
      ...printed(scene, "placement", "placement web", "placement -n far"),
      "window": async () => /^Spec: .*$/m.exec((await scene.ran("placement late"))[1])?.[0] ?? "",
      "off": () => {
        scene.placement.variables = {};
        scene.settings = "placement:\n  enabled: false\n";
        return scene.said("placement")().then((text) => text.split("\n").at(-2) ?? "");
      },
    },
    `\
placement
| WORKLOAD           SPOT   ON-DEMAND   PENDING   PHASE                                NEXT
| deployment/bad        0           1         0   configuration error                  none: annotation spotalis.io/spot-percentage of the workload is "lots": must be a whole number from 0 to 100, with or without %, for instance 70%
| deployment/late     0/1         2/1         0   outside the window until 02:00:00Z   evict pod late-1 (youngest surplus on-demand) to spot at the earliest 02:00:00Z
| deployment/rest     0/1         2/1         0   paused                               none: spotalis.io/paused is set
| deployment/short    0/1         2/1         0   fallback until 00:01:00Z             evict pod short-1 (youngest surplus on-demand) to spot at the earliest 00:01:00Z
| deployment/wait     0/1         1/1         1   not whole                            none: of 2 replicas 2 are there, 1 Ready, 2 updated; of 2 pods 1 are Ready
| deployment/web      4/3         1/2         0   cooldown until 00:00:06Z             evict pod web-3 (youngest surplus spot) to on-demand at the earliest 00:00:06Z
| statefulset/db      2/1         1/2         0   converging                           evict pod db-0 (misplaced by its ordinal) to on-demand
|
| 1 workload takes no part; -o wide shows it
placement web
| Deployment shop/web: cooldown until 00:00:06Z, 5 replicas
| MoveCooldown: a replica of the workload was moved a moment ago (it lasts 10 s after a move)
| What to do: nothing: the next move follows
| Spec: 60 % spot; moved at any time
|   spot       ███▒  4 of 3
|   on-demand  █·    1 of 2
| Next: evict pod web-3 (youngest surplus spot) to on-demand at the earliest 00:00:06Z
|
| POD     CLASS       NODE     STATE
| web-0   spot        spot-1   Ready
| web-1   spot        spot-1   Ready
| web-2   spot        spot-1   Ready
| web-3   spot        spot-1   Ready
| web-4   on-demand   od-1     Ready
|
| █ there as specified, ▒ too many, · missing
placement -n far
| No workloads are placed here.
|
| No workload of namespace far asks for placement, or placement is off (placement.enabled); the component placement of the manifests turns it on
window
  Spec: 50 % spot; moved from 0 2 * * * on for 60 min
off
  Placement is off (placement.enabled): this is the last published state
`,
  );
});

placedTest("sentences of placement: names, rights, and a controller that does nothing", [{
  nodes: ["od-1"],
  annotations: { "spot-percentage": "0" },
}], async (scene) => {
  scene.controllerAlive = false;
  await assertTexts(
    printed(
      scene,
      ...["placement", "placement web -n far", "placement webb", "placement sts/web"],
      "placement cart -A",
    ),
    `\
placement
| WORKLOAD         SPOT   ON-DEMAND   PENDING   PHASE          NEXT
| deployment/web    0/0         1/1         0   as specified   -
|
| No controller renews its lease: nothing is placed or moved until one runs
placement web -n far
| Cannot show placement of web: no workload of namespace far asks for it (spotalis.io/enabled), or placement is off (placement.enabled)
placement webb
| Cannot show placement of webb: the controller has published no such Deployment or StatefulSet in namespace shop; is it deployment/web?
placement sts/web
| Cannot show placement of web: the controller has published no such StatefulSet in namespace shop; is it deployment/web?
placement cart -A
| Cannot show placement of cart: the controller has published no such Deployment or StatefulSet in the cluster; is -n right?
`,
  );
  scene.controllerAlive = true;
  scene.placement.readOnly = true;
  const readOnly = (await scene.said("placement")()).split("\n").at(-2) ?? "";
  scene.placement.hidden.add("statuses");
  await assertTexts(
    { "read-only": () => readOnly, ...printed(scene, "placement") },
    `\
read-only
  Placement only reads (placement.readOnlyMode): nothing of this is done
placement
| Cannot read what the controller publishes: statuses is forbidden: User "u" cannot list resource "x"; ask an administrator for this right; kubectl auth can-i --list shows what you have
`,
  );
});

pure("sentences of placement: phases that those pages do not have", () => {
  const web = {
    namespace: "shop",
    kind: "Deployment",
    name: "web",
    revisions: [],
    pods: [],
  } as const;
  const shown = (phase: PlacementPhase) => () => {
    const workload = { ...web, phase, message: "why" };
    return `${phaseText(workload, 0)}, next ${nextText(workload, 0)}`;
  };
  const phases = ["BlockedByBudget", "Bound", "LeftAlone", "Returning", "Unknown"] as const;
  return assertTexts(
    Object.fromEntries(phases.map((phase) => [phase, shown(phase)])),
    `\
BlockedByBudget
  blocked by a budget, next none: why
Bound
  none may move, next none: why
LeftAlone
  takes no part, next none: why
Returning
  returning, next -
Unknown
  not known, next none: why
`,
  );
});
