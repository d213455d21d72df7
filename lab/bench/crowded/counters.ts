/**
 * Counters from the text of a `/metrics` page, and by how much they grew.
 *
 * @module
 */
import type { Kubectl } from "../../../tests/cluster/kubectl.ts";
import { PRODUCT_NAMESPACE } from "../../../tests/cluster/scene/product/product.ts";

/** One line of such a page. */
export interface CounterLine {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** The lines of these names, in their order. */
export function parseCounters(text: string, names: readonly string[]): CounterLine[] {
  return text.split("\n").flatMap((line): CounterLine[] => {
    const [, name = "", inside = "", value = ""] = LINE.exec(line) ?? [];
    if (!names.includes(name)) return [];
    const labels = [...inside.matchAll(LABEL)].map(([, key = "", quoted = ""]) =>
      [key, quoted.replace(/\\(.)/g, (_, char) => char === "n" ? "\n" : char)] as const
    );
    return [{ name, labels: Object.fromEntries(labels), value: Number(value) }];
  });
}

/** What came since: lines that grew, with their growth. A line that is new counts from 0. */
export function counterGrowth(
  before: readonly CounterLine[],
  after: readonly CounterLine[],
): CounterLine[] {
  const key = ({ name, labels }: CounterLine): string =>
    JSON.stringify([name, Object.entries(labels).sort(([a], [b]) => a < b ? -1 : 1)]);
  const known = new Map(before.map((line) => [key(line), line.value]));
  return after.map((line) => ({ ...line, value: line.value - (known.get(key(line)) ?? 0) }))
    .filter(({ value }) => value > 0);
}

/** The counters of one controller, the leader or not. */
export interface ControllerCounters {
  readonly pod: string;
  readonly counters: readonly CounterLine[];
}

const NAMES = ["mbcas_resizes_total", "mbcas_held_total", "mbcas_market_enabled", "mbcas_leader"];
const PORT = 8080;

/** Those of all running controllers, through the API server. */
export async function scrapeControllers(kubectl: Kubectl): Promise<ControllerCounters[]> {
  const pods = await kubectl.must([
    ...["get", "pods", "-n", PRODUCT_NAMESPACE, "-l", "app.kubernetes.io/name=mbcas-controller"],
    ...["--field-selector=status.phase=Running", "-o", "jsonpath={.items[*].metadata.name}"],
  ]);
  const names = pods.split(" ").filter((name) => name !== "");
  return await Promise.all(names.map(async (pod) => {
    const path = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods/${pod}:${PORT}/proxy/metrics`;
    const text = await kubectl.must(["get", "--raw", path]);
    return { pod, counters: parseCounters(text, NAMES) };
  }));
}
