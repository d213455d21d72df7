/**
 * Times the dashboard of a cluster of 2,000 pods on 40 nodes: what each page, which is also the update of an
 * open one, costs the controller; the view of an agent on its way into the history; and how soon Chromium
 * has a page, from the start of the navigation: `deno task bench:dashboard`; `--json`.
 *
 * @module
 */
import { Command } from "commander";
import { serveTimed } from "../../../adapters/timed_server.ts";
import { STEP_MS } from "../../../controller/dashboard/history.ts";
import { nodeViewSchema } from "../../../shared/view/node_view.ts";
import {
  nodeViewAt,
  NOW,
  sampleSite,
  TOKENS,
} from "../../../tests/fixtures/dashboard/sample_site.ts";
import { openBrowser, withoutBrowser } from "../../../tools/open_browser.ts";
import { quantile } from "../../simulation/statistics.ts";
import { benchFlags, columns } from "../bench.ts";

const { json } = benchFlags(
  new Command("bench:dashboard").description("Pages and updates of the dashboard with 2,000 pods."),
);
const PODS = 2000;
const ROUNDS = 50;
/** Loads of each page in the browser, and of those before them that are not counted. */
const LOADS = 9;
const WARM_UPS = 2;

/** Milliseconds of one run. */
interface Timing {
  readonly name: string;
  readonly medianMs: number;
  readonly p95Ms: number;
}

function timingOf(name: string, times: readonly number[]): Timing {
  const at = (share: number): number => Number(quantile(times, share).toFixed(2));
  return { name, medianMs: at(0.5), p95Ms: at(0.95) };
}

/** Runs it until it is compiled, then times it; resolves with the timing. */
async function time(
  name: string,
  run: () => Promise<number>,
): Promise<Timing & { readonly kilobytes: number }> {
  let bytes = 0;
  const times: number[] = [];
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const begin = performance.now();
    bytes = await run();
    if (round >= ROUNDS) times.push(performance.now() - begin);
  }
  return { ...timingOf(name, times), kilobytes: Math.round(bytes / 1000) };
}

/** Runs in the page; resolves when it has painted. */
const LOAD_TIMES = `new Promise((resolve) => {
  const [{ domContentLoadedEventEnd }] = performance.getEntriesByType("navigation");
  new PerformanceObserver((list) => {
    const [paint] = list.getEntriesByName("first-contentful-paint");
    if (paint) resolve([paint.startTime, domContentLoadedEventEnd]);
  }).observe({ type: "paint", buffered: true });
})`;

/** First paint and DOMContentLoaded of each page; the latter comes after the charts' script. */
async function browserTimings(): Promise<readonly Timing[]> {
  if (withoutBrowser()) return [];
  const server = await serveTimed(app, { address: "127.0.0.1:0" });
  const browser = await openBrowser();
  try {
    const page = await browser.newPage({ extraHTTPHeaders: headers });
    const timings: Timing[] = [];
    for (const path of paths) {
      const [painted, loaded]: [number[], number[]] = [[], []];
      for (let load = 0; load < WARM_UPS + LOADS; load++) {
        await page.goto(`http://${server.address}${path}`);
        const [paintMs, loadMs] = await page.evaluate<[number, number]>(LOAD_TIMES);
        if (load < WARM_UPS) continue;
        painted.push(paintMs);
        loaded.push(loadMs);
      }
      timings.push(
        timingOf(`first contentful paint of ${path}`, painted),
        timingOf(`DOMContentLoaded of ${path}`, loaded),
      );
    }
    return timings;
  } finally {
    await browser.close();
    end();
    await server.shutdown();
  }
}

const { app, history, paths, end } = sampleSite({ pods: PODS });
const headers = { authorization: `Bearer ${TOKENS.admin}` };
const controller = [];
for (const path of paths) {
  controller.push(
    await time(`page ${path}`, async () => {
      const response = await app.request(path, { headers });
      return (await response.text()).length;
    }),
  );
}
const view = JSON.stringify(nodeViewAt(0, { step: Math.floor(NOW / STEP_MS), pods: PODS }));
controller.push(
  await time("view of 50 pods, read and recorded", () => {
    history.take(nodeViewSchema.parse(JSON.parse(view)), NOW);
    return Promise.resolve(view.length);
  }),
);
const browser = await browserTimings();
const row = ({ name, medianMs, p95Ms }: Timing): string[] => [name, `${medianMs}`, `${p95Ms}`];
console.log(
  json ? JSON.stringify({ pods: PODS, controller, browser }, undefined, 2) : columns(
    [
      ["the controller's time", "median ms", "p95 ms", "kB"],
      ...controller.map((one) => [...row(one), `${one.kilobytes}`]),
      ["in the browser", "median ms", "p95 ms", ""],
      ...browser.map((one) => [...row(one), ""]),
    ],
  ),
);
