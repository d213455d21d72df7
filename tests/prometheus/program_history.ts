/**
 * The metrics of agents and controllers as a Prometheus would have recorded them: the programs' own
 * code serves them at each scrape.
 *
 * @module
 */
import { Registry } from "prom-client";
import { registerProgramMetrics } from "../../adapters/program_server.ts";
import { createAgentMetrics } from "../../agent/reporting/metrics.ts";
import type { Participant } from "../../agent/market/participants.ts";
import type { ContainerResult } from "../../agent/market/round.ts";
import { createControllerMetrics } from "../../controller/metrics.ts";
import type { ControllerSettings } from "../../controller/settings.ts";
import type { NodeView, PodView } from "../../shared/view/node_view.ts";
import { sampleNodeView, samplePodView } from "../fixtures/cli/node_views.ts";

/** The target's metrics at a time, ms since 1970. */
export interface Scrape {
  readonly atMs: number;
  readonly text: string;
}

/** A target, and its labels in Prometheus. */
export interface RecordedTarget {
  readonly labels: Readonly<Record<string, string>>;
  readonly scrapes: readonly Scrape[];
}

/** OpenMetrics text with times, for `promtool tsdb create-blocks-from`; without histograms. */
export function recordedText(targets: readonly RecordedTarget[]): string {
  const families = new Map<string, { readonly type: string; readonly lines: string[] }>();
  for (const { labels, scrapes } of targets) {
    const own = Object.entries(labels).map(([name, value]) => `${name}="${value}"`).join(",");
    for (const { atMs, text } of scrapes) {
      const types = new Map(
        text.matchAll(/^# TYPE (\w+) (\w+)$/gm).map(([, name = "", type = ""]) => [name, type]),
      );
      for (const [, name = "", served, value] of text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
        const type = types.get(name);
        if (type !== "gauge" && type !== "counter") continue;
        const family = families.get(name) ?? { type, lines: [] };
        families.set(name, family);
        const all = served === undefined ? own : `${served},${own}`;
        family.lines.push(`${name}{${all}} ${value === "Nan" ? "NaN" : value} ${atMs / 1000}`);
      }
    }
  }
  const parts = [...families].flatMap(([name, { type, lines }]) => [
    `# TYPE ${type === "counter" ? name.replace(/_total$/, "") : name} ${type}`,
    ...lines,
  ]);
  return [...parts, "# EOF", ""].join("\n");
}

/** A pod as its agent has it, and how long it was throttled since the agent sees it. */
export interface ServedPod {
  readonly name: string;
  /** Millicores. */
  readonly usage: number;
  readonly original: number;
  readonly throttledMs: number;
}

/** An agent that began at that time. */
export function recordedAgent(startedAtMs: number): {
  /** Its metrics at that time for these pods; the node's CPU was scarce for so long, ms. */
  at(atMs: number, pods: readonly ServedPod[], scarceMs: number): Promise<Scrape>;
} {
  const registry = new Registry();
  registerProgramMetrics(registry, { program: "agent", startedAtMs });
  let view: NodeView | undefined;
  const metrics = createAgentMetrics({ registry, view: () => view });
  let scarceBefore = 0;
  return {
    async at(atMs, pods, scarceMs) {
      view = sampleNodeView(pods.map(viewOf));
      // A round begins the scarcity and one ends it.
      const lengths = [0, scarceMs - scarceBefore];
      for (const [index, now] of lengths.entries()) {
        metrics.cleared({
          now,
          nodeState: { state: index === 0 ? "scarce" : "ample", since: 0 },
          containers: pods.map(resultOf),
        }, 1);
      }
      scarceBefore = scarceMs;
      return { atMs, text: await registry.metrics() };
    },
  };
}

function viewOf({ name, usage, original: originalLimit }: ServedPod): PodView {
  return { ...samplePodView(name), usage, originalLimit };
}

function resultOf({ name, throttledMs }: ServedPod): ContainerResult {
  const participant = { containerID: name, allocation: { spec: { podUID: name } } } as Participant;
  return { participant, state: { throttledMs }, from: 0, limit: 0 } as unknown as ContainerResult;
}

/** A controller that began at that time. */
export function recordedController(startedAtMs: number, leads: boolean): {
  /** Its metrics at that time, with so many resizes since the last scrape. */
  at(atMs: number, resizes?: readonly string[]): Promise<Scrape>;
} {
  const registry = new Registry();
  registerProgramMetrics(registry, { program: "controller", startedAtMs });
  const metrics = createControllerMetrics(registry, {
    allocations: () => [],
    synced: () => [],
    settings: () => ({ market: true, dryRun: false }) as ControllerSettings,
    settingsValid: () => true,
  });
  metrics.leads(leads);
  return {
    async at(atMs, resizes = []) {
      for (const outcome of resizes) {
        metrics.resized({
          ...{ reason: "Throttled", restoring: false },
          outcome: outcome as "accepted" | "refused",
        });
      }
      return { atMs, text: await registry.metrics() };
    },
  };
}
