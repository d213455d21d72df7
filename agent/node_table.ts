/**
 * A node's view as a table for people.
 *
 * @module
 */
import type { ContainerView, NodeView, PodView } from "./look_once.ts";

const HEADER = ["POD", "CONTAINER", "USAGE", "HELD BACK", "QUOTA", "REQUEST", "PERIODS", "WAITING"];
/** As much of a container's id as people are used to. */
const SHORT_ID = 12;
const LEFT_COLUMNS = 2;

/** The view in lines, each with its line end. CPU in millicores, `-` for what is not known. */
export function nodeTable({ layout, cores, intervalMs, pods }: NodeView): string {
  const rows = [
    HEADER,
    ...pods.flatMap((pod) => pod.containers.map((c, i) => row(c, i === 0 ? pod : undefined))),
  ];
  const widths = HEADER.map((_, column) =>
    Math.max(...rows.map((cells) => (cells[column] ?? "").length))
  );
  const lines = rows.map((cells) =>
    cells.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column < LEFT_COLUMNS ? cell.padEnd(width) : cell.padStart(width);
    }).join("  ").trimEnd()
  );
  const containers = pods.reduce((sum, pod) => sum + pod.containers.length, 0);
  const summary = `${pods.length} pods, ${containers} containers, ${cores} CPUs, ` +
    `${Math.round(intervalMs)} ms between the looks`;
  return [layout, summary, "", ...lines, ""].join("\n");
}

/** The pod's own columns are filled in the row of its first container only. */
function row(container: ContainerView, pod: PodView | undefined): string[] {
  const { id, usage, heldBack, quota, periods, throttledPeriods, pressure } = container;
  return [
    pod?.uid ?? "",
    id.slice(0, SHORT_ID),
    millicores(usage),
    millicores(heldBack),
    millicores(quota),
    pod === undefined ? "" : millicores(pod.request),
    periods === undefined ? "-" : `${throttledPeriods ?? 0}/${periods}`,
    pressure === undefined ? "-" : `${Math.round(pressure * 100)}%`,
  ];
}

function millicores(value: number | undefined): string {
  return value === undefined ? "-" : `${Math.round(value)}m`;
}
