/** The sentences of `report`. */
import { assertSentences } from "../../../tests/fixtures/assert_sentences.ts";
import { shopTest } from "../../../tests/fixtures/cli/advised_shop.ts";

shopTest("sentences of report", async (scene) => {
  const flags = "--core-hour 0.1 --gib-hour 0 --currency EUR";
  await assertSentences([
    [
      "text",
      scene.said(`report ${flags}`),
      `\
CoAllocator in namespace shop, 2025-12-25 00:00 to 2026-01-01 00:00 UTC

FIGURE                                                                VALUE       BEFORE   FROM
CPU limits above the original ones, now                          0.00 cores                PodAllocations
CPU limits below the original ones, now                          0.00 cores                PodAllocations
Pods in the market, now                                                   0                PodAllocations
Pods with a CPU limit that was changed                                    0                PodAllocations
CPU requests of workloads with values applied in place, now      2.00 cores   2.00 cores   RecommendationReports
CPU requests saved by rightsizing                                0.00 cores                RecommendationReports
CPU requests that recommendations would save further             0.04 cores                RecommendationReports
Memory requests of workloads with values applied in place, now     2.00 GiB     2.00 GiB   RecommendationReports
Memory requests saved by rightsizing                               0.00 GiB                RecommendationReports
Memory requests that recommendations would save further           -0.06 GiB                RecommendationReports
Money saved                                                        0.00 EUR                RecommendationReports
Money that recommendations would save in a month                   3.07 EUR                RecommendationReports

Saved by rightsizing
WORKLOAD              CORES    GIB      MONEY
shop/statefulset/db    0.00   0.00   0.00 EUR

Notes
- CPU limits above the original ones, now: room to burst, not CPU in use
- Pods with a CPU limit that was changed: of the pods that still exist
- CPU requests of workloads with values applied in place, now; Memory requests of workloads with values applied in place, now: the column Before has what the manifests request
- CPU requests saved by rightsizing; Memory requests saved by rightsizing: raises subtracted
- CPU requests that recommendations would save further; Memory requests that recommendations would save further: raises subtracted; workloads that are skipped or failed are left out
- Money saved: since values were last applied, at the given prices, as if the pods of now had run all that time, and if the nodes' bill follows requests

Missing
- Usage and throttled time, now: No agent runs: only the allocations are known, as old as they say
- Pods in the market; CPU used beyond original limits; Throttled time of pods in the market; Changes of CPU limits; Time in which a node's CPU was scarce; Throttled time of containers; CPU used by containers: the cluster keeps no history: give --prometheus with the address of a Prometheus
`,
    ],
    [
      "markdown",
      // The figures and the sentences are those of the text.
      async () =>
        (await scene.said("report -o markdown")()).split("\n")
          .filter((line) => !/^(\| (CPU|Mem|Pods)|- (CPU|Mem|Pods|Usage)|$)/.test(line)).join("\n"),
      `\
# CoAllocator in namespace shop, 2025-12-25 00:00 to 2026-01-01 00:00 UTC
| Figure | Value | Before | From |
| --- | ---: | ---: | --- |
## Saved by rightsizing
| Workload | Cores | GiB |
| --- | ---: | ---: |
| shop/statefulset/db | 0.00 | 0.00 |
## Notes
## Missing
- Money: no prices are given: add --core-hour and --gib-hour`,
    ],
    [
      "markdown of a Prometheus that is half as old as the period",
      () => {
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
        return scene.said("report -A -o markdown --prometheus http://p:9090")();
      },
      `\
# CoAllocator in the cluster, 2025-12-25 00:00 to 2026-01-01 00:00 UTC

| Figure | Value | Before | From |
| --- | ---: | ---: | --- |
| CPU limits above the original ones, now | 0.00 cores |  | PodAllocations |
| CPU limits below the original ones, now | 0.00 cores |  | PodAllocations |
| Pods in the market, now | 0 |  | PodAllocations |
| Pods with a CPU limit that was changed | 0 |  | PodAllocations |
| Time of the period with data in Prometheus | 80.67 hours |  | Prometheus |
| Pods in the market | 36 | 36 | Prometheus |
| CPU used beyond original limits | 36.00 cores | 36.00 cores | Prometheus |
| Throttled time of pods in the market | 36 s | 36 s | Prometheus |
| Changes of CPU limits | 36 | 36 | Prometheus |
| Time in which a node's CPU was scarce | 36 s | 36 s | Prometheus |

## Notes

- Before: as long a period that ended at 2025-12-25 00:00 UTC; load and pods may have differed
- CPU limits above the original ones, now: room to burst, not CPU in use
- Pods with a CPU limit that was changed: of the pods that still exist
- Time of the period with data in Prometheus: the period has 168 hours: of the others Prometheus keeps nothing, or has collected nothing, and its figures leave them out
- Pods in the market: mean over the time with data
- CPU used beyond original limits: these would have refused it; mean over the time with data, pods that are gone included
- Throttled time of pods in the market: summed over threads
- Changes of CPU limits: accepted resizes, those of requests included
- Time in which a node's CPU was scarce: summed over nodes

## Missing

- Usage and throttled time, now: No agent runs: only the allocations are known, as old as they say
- Throttled time of containers; CPU used by containers: no pod is in the market
- Requests saved: no OptimizationPolicy has looked at a workload here
`,
    ],
  ]);
});
