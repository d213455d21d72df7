/**
 * The scene of usage as two collectors would have recorded it from kubelets.
 *
 * @module
 */
import { SCENE, SCENE_STEP_MS, sceneMoments, usesAt } from "../contract/support/usage_scene.ts";

/** Minutes before the end at which a container of the living pod was restarted: its counter began anew. */
const RESTART_MINUTES = 15;

/** Both collect the same kubelets. */
const JOBS = ["cadvisor", "kubelet"] as const;

/** Labels of what a kubelet reports beside containers: the pause container, and the pod as a whole. */
const BESIDE = ["POD", ""] as const;

/** OpenMetrics text: counters with a reset, gauges, doubles, a gap, and what is no container. */
export function usageHistory(endMs: number): string {
  const cpu: string[] = [];
  const memory: string[] = [];
  const places = new Map(
    SCENE.map(({ namespace, pod, container }) => [
      `${namespace} ${pod} ${container}`,
      { namespace, pod, container },
    ]),
  );
  for (const place of places.values()) {
    const recorded = recordedUsage(place, endMs);
    for (const container of [place.container, ...BESIDE]) {
      // All of the pod is more than any container.
      const factor = container === place.container ? 1 : 100;
      if (factor > 1 && place.container !== "app") continue;
      for (const job of JOBS) {
        const labels = Object.entries({ ...place, container, job, id: `/${container}/${job}` })
          .map(([name, value]) => `${name}="${value}"`).join(",");
        for (const { timeMs, seconds, bytes } of recorded) {
          const at = (timeMs / 1000).toFixed(3);
          cpu.push(`container_cpu_usage_seconds_total{${labels}} ${factor * seconds} ${at}`);
          memory.push(`container_memory_working_set_bytes{${labels}} ${factor * bytes} ${at}`);
        }
      }
    }
  }
  return [
    "# TYPE container_cpu_usage_seconds counter",
    ...cpu,
    "# TYPE container_memory_working_set_bytes gauge",
    ...memory,
    "# EOF",
    "",
  ].join("\n");
}

interface Recorded {
  readonly timeMs: number;
  /** Seconds of CPU since the container began. */
  readonly seconds: number;
  readonly bytes: number;
}

function recordedUsage(
  place: { readonly namespace: string; readonly pod: string; readonly container: string },
  endMs: number,
): readonly Recorded[] {
  const recorded: Recorded[] = [];
  let seconds = 0;
  for (const timeMs of sceneMoments(endMs)) {
    const use = usesAt(timeMs, endMs).find(({ namespace, pod, container }) =>
      namespace === place.namespace && pod === place.pod && container === place.container
    );
    if (use === undefined) continue;
    if (timeMs === endMs - RESTART_MINUTES * 60_000) seconds = 0;
    seconds += use.millicores / 1000 * (SCENE_STEP_MS / 1000);
    const beforeEnd = (endMs - timeMs) / 60_000;
    // No samples were collected for two and a half minutes.
    if (beforeEnd > 20 && beforeEnd < 22.5) continue;
    recorded.push({ timeMs, seconds, bytes: use.bytes });
  }
  return recorded;
}
