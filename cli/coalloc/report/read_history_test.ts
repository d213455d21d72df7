import assert from "node:assert/strict";
import type { PrometheusProblem } from "../../../adapters/prometheus/prometheus_request.ts";
import type { PrometheusRange } from "../../../adapters/prometheus/range_queries.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { type HistoryRequest, readHistory } from "./read_history.ts";
import type { HistoryFigures } from "./report_view.ts";

const HOUR = 3_600_000;
const REQUEST: HistoryRequest = {
  ...{ server: "http://p:9090", matchers: [], nowMs: 9 * HOUR, sinceMs: HOUR, beforeMs: 8 * HOUR },
  ...{ namespace: { all: true }, namespaces: ["shop"], pods: 10 },
};

type Reply = (query: string, now: boolean) => number | PrometheusProblem | undefined;

/**
 * Figures and queries with these replies of a Prometheus; its other replies are of one sane cluster.
 */
async function read(
  reply: Reply,
  request: Partial<HistoryRequest> = {},
): Promise<HistoryFigures & { readonly queries: readonly string[]; readonly most: number }> {
  const queries: string[] = [];
  let [running, most] = [0, 0];
  const history = await readHistory({ ...REQUEST, ...request }, {
    async ask({ query, endMs }: PrometheusRange) {
      queries.push(query);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      const usual = query.startsWith("count_over_time") ? 240 : 1;
      const value = reply(query, endMs === REQUEST.nowMs) ?? usual;
      if (typeof value !== "number") return value;
      const values = Float64Array.of(value);
      return { series: [{ labels: {}, values, timesMs: Float64Array.of(0) }] };
    },
    signal: new AbortController().signal,
  });
  return { ...history, queries, most };
}

function whysOf({ missing }: HistoryFigures, key: string): readonly string[] {
  return missing.filter((one) => one.key === key).map(({ why }) => why);
}

pure("readHistory() compares no period with one that has more data, or less", async () => {
  const ofSamples = (before: number): Promise<HistoryFigures> =>
    read((query, now) => query.startsWith("count_over_time") && !now ? before : undefined);
  const compared = async (before: number): Promise<number> =>
    (await ofSamples(before)).figures.filter(({ before }) => before !== undefined).length;
  assert.deepEqual([await compared(240), await compared(480), await compared(120)], [7, 0, 0]);
  assert.match(whysOf(await ofSamples(480), "before")[0] ?? "", /^there are 2 h|^there are 1 h/);
});

pure("readHistory() gives the reason where the period before can't be read", async () => {
  const slow: PrometheusProblem = { problem: "unreachable", message: "no answer" };
  const coverage = await read((query, now) =>
    query.startsWith("count_over_time") && !now ? slow : undefined
  );
  assert.deepEqual(whysOf(coverage, "before"), ["no answer", "no answer"]);
  const large: PrometheusProblem = { problem: "refused", message: "too much", tooMuch: true };
  const one = await read((query, now) =>
    query.includes("mbcas_pod_throttled") && !now ? large : undefined
  );
  assert.match(whysOf(one, "before")[0] ?? "", /--since/);
});

pure(
  "readHistory() adds up no clusters with different labels, nor those of earlier leaders",
  async () => {
    const kubelets = await read((query) =>
      /^count\(group.*container_cpu/.test(query) ? 3 : undefined
    );
    assert.match(whysOf(kubelets, "containersCPU")[0] ?? "", /3 clusters.*--prometheus-matchers/);
    assert(kubelets.figures.some(({ key }) => key === "throttledSeconds"));
    const leaders = await read((query, now) => query.includes("leader") && !now ? 2 : undefined);
    assert.deepEqual([leaders.figures.length, leaders.queries.length], [0, 2]);
  },
);

pure("readHistory() asks a few queries at a time, and for fewer moments of many pods", async () => {
  const { most, queries } = await read(() => undefined);
  assert.equal(most, 2);
  assert(queries.every((query) => !query.includes("process_start")), queries.join("\n"));
  const stepOf = async (pods: number): Promise<string | undefined> =>
    (await read(() => undefined, { pods, sinceMs: 168 * HOUR })).queries.map((query) =>
      /:(\d+s)\]\) \/ scalar/.exec(query)?.[1]
    ).find((step) => step !== undefined);
  assert.deepEqual([await stepOf(100), await stepOf(1000), await stepOf(50_000)], [
    ...["605s", "1210s", "6048s"],
  ]);
});

pure("readHistory() asks nothing of containers where no pod is in the market", async () => {
  const empty = await read(() => undefined, { namespaces: [] });
  assert.equal(whysOf(empty, "containersCPU").length, 1);
  assert(empty.queries.every((query) => !query.includes("container_")));
});
