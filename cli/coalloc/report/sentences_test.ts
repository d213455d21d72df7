/** The sentences of `report`. */
import { assertSentences } from "../../../tests/fixtures/assert_sentences.ts";
import { shopTest } from "../../../tests/fixtures/cli/shop_scene.ts";

shopTest("sentences of report", async (scene) => {
  const flags = "--core-hour 0.1 --currency EUR";
  await assertSentences([
    [
      "text",
      scene.said(`report ${flags}`),
      `\
CoAllocator in namespace shop, 2025-12-25 00:00 to 2026-01-01 00:00 UTC

FIGURE                                                         VALUE   FROM
CPU limits lent above the original ones, now              0.00 cores   PodAllocations
CPU limits returned below the original ones, now          0.00 cores   PodAllocations
Pods in the market, now                                            0   PodAllocations
Pods with a CPU limit that was changed                             0   PodAllocations
CPU requests saved by rightsizing                         0.00 cores   RecommendationReports
Memory requests saved by rightsizing                        0.00 GiB   RecommendationReports
CPU requests that recommendations would save further      0.04 cores   RecommendationReports
Memory requests that recommendations would save further    -0.06 GiB   RecommendationReports
Money saved                                                 0.00 EUR   RecommendationReports
Money that recommendations would save in a month            3.07 EUR   RecommendationReports

Saved by rightsizing
WORKLOAD              CORES    GIB      MONEY
shop/statefulset/db    0.00   0.00   0.00 EUR

Notes
- CPU limits lent above the original ones, now: room to burst, not CPU in use
- Pods with a CPU limit that was changed: of the pods that still exist
- CPU requests saved by rightsizing; Memory requests saved by rightsizing: raises subtracted
- CPU requests that recommendations would save further; Memory requests that recommendations would save further: raises subtracted; workloads that are skipped or failed are left out
- Money saved: since values were last applied, at the given prices, if the nodes' bill follows requests

Missing
- Usage and throttled time, now: No agent runs: figures are those of the allocations, as old as they say
- Throttled time of pods in the market; The same in as long a time before; Changes of CPU limits; Time in which a node's CPU was scarce; Usage beyond original limits: the cluster keeps no history: give --prometheus with the address of a Prometheus
`,
    ],
    [
      "markdown",
      scene.said("report -o markdown"),
      `\
# CoAllocator in namespace shop, 2025-12-25 00:00 to 2026-01-01 00:00 UTC

| Figure | Value | From |
| --- | ---: | --- |
| CPU limits lent above the original ones, now | 0.00 cores | PodAllocations |
| CPU limits returned below the original ones, now | 0.00 cores | PodAllocations |
| Pods in the market, now | 0 | PodAllocations |
| Pods with a CPU limit that was changed | 0 | PodAllocations |
| CPU requests saved by rightsizing | 0.00 cores | RecommendationReports |
| Memory requests saved by rightsizing | 0.00 GiB | RecommendationReports |
| CPU requests that recommendations would save further | 0.04 cores | RecommendationReports |
| Memory requests that recommendations would save further | -0.06 GiB | RecommendationReports |

## Saved by rightsizing

| Workload | Cores | GiB |
| --- | ---: | ---: |
| shop/statefulset/db | 0.00 | 0.00 |

## Notes

- CPU limits lent above the original ones, now: room to burst, not CPU in use
- Pods with a CPU limit that was changed: of the pods that still exist
- CPU requests saved by rightsizing; Memory requests saved by rightsizing: raises subtracted
- CPU requests that recommendations would save further; Memory requests that recommendations would save further: raises subtracted; workloads that are skipped or failed are left out

## Missing

- Usage and throttled time, now: No agent runs: figures are those of the allocations, as old as they say
- Throttled time of pods in the market; The same in as long a time before; Changes of CPU limits; Time in which a node's CPU was scarce; Usage beyond original limits: the cluster keeps no history: give --prometheus with the address of a Prometheus
- Money: no prices are given: add --core-hour and --gib-hour
`,
    ],
  ]);
});
