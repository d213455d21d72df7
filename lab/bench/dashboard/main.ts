/**
 * Times the dashboard of a cluster of 2,000 pods on 40 nodes: each page, the update of an open page, and
 * the view of an agent on its way into the history: `deno task bench:dashboard`; `--json`.
 *
 * @module
 */
import { nodeViewSchema } from "../../../shared/view/node_view.ts";
import {
  nodeViewAt,
  NOW,
  sampleSite,
  TOKENS,
} from "../../../tests/fixtures/dashboard/sample_site.ts";
import { STEP_MS } from "../../../controller/dashboard/history.ts";
import { Command } from "commander";
import { benchFlags, columns } from "../bench.ts";

const { json } = benchFlags(
  new Command("bench:dashboard").description("Pages and updates of the dashboard with 2,000 pods."),
);
const PODS = 2000;
const ROUNDS = 50;

/** Milliseconds of one run. */
interface Timing {
  readonly name: string;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly kilobytes: number;
}

/** Runs it until it is compiled, then times it; resolves with the timing. */
async function time(name: string, run: () => Promise<number>): Promise<Timing> {
  let bytes = 0;
  const times: number[] = [];
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const begin = performance.now();
    bytes = await run();
    if (round >= ROUNDS) times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => Number((times[Math.floor(share * ROUNDS)] ?? 0).toFixed(2));
  return { name, medianMs: at(0.5), p95Ms: at(0.95), kilobytes: Math.round(bytes / 1000) };
}

const { app, history, paths } = sampleSite({ pods: PODS });
const headers = { authorization: `Bearer ${TOKENS.admin}` };
const timings: Timing[] = [];
for (const path of paths) {
  timings.push(
    await time(`page ${path}`, async () => {
      const response = await app.request(path, { headers });
      return (await response.text()).length;
    }),
  );
}
const view = JSON.stringify(nodeViewAt(0, { step: Math.floor(NOW / STEP_MS), pods: PODS }));
timings.push(
  await time("view of 50 pods, read and recorded", () => {
    history.take(nodeViewSchema.parse(JSON.parse(view)), NOW);
    return Promise.resolve(view.length);
  }),
);
console.log(
  json ? JSON.stringify({ pods: PODS, timings }, undefined, 2) : columns(
    [
      ["", "median ms", "p95 ms", "kB"],
      ...timings.map(({ name, medianMs, p95Ms, kilobytes }) => [
        name,
        ...[medianMs, p95Ms, kilobytes].map(String),
      ]),
    ],
  ),
);
