/**
 * The arena's page as a browser shows it: in both schemes and on small screens nothing breaks,
 * nothing leaves, and no mark lies outside of its plot.
 *
 * @module
 */
import assert from "node:assert/strict";
import { arenaPage } from "../../lab/arena/arena_page.ts";
import { COALLOCATOR, EQUAL_CORES, ORACLE } from "../../lab/arena/outcome.ts";
import { checkGoals } from "../../lab/arena/goals.ts";
import { allRivals } from "../../lab/simulation/rivals/all_rivals.ts";
import { openBrowser, withoutBrowser } from "../../tools/open_browser.ts";
import { outcome, stageResult } from "../fixtures/lab/arena_outcomes.ts";
import { syntheticRuns } from "../fixtures/lab/run_records.ts";

const LEAVING_MARKS = `[...document.querySelectorAll("svg.plot")]
  .filter((svg) => svg.checkVisibility())
  .flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("path, circle, rect, line, text")]
      .map((mark) => mark.getBoundingClientRect())
      .filter((box) => box.left < frame.left - 2 || box.right > frame.right + 2 ||
        box.top < frame.top - 2 || box.bottom > frame.bottom + 2)
      .map(() => svg.getAttribute("aria-label"));
  })`;

function madePage(): string {
  const rivals = allRivals().map(({ algorithm, setting }, index) =>
    outcome({ algorithm, setting, cores: 1.6 + index / 9, p99Ms: 60 + 400 * (index % 7) })
  );
  const runs = syntheticRuns({ pods: 1, minutes: 10 });
  const named = [COALLOCATOR, EQUAL_CORES, ORACLE];
  const records = named.flatMap(({ algorithm, setting }, index) => {
    const run = runs[index];
    return run === undefined ? [] : [{ ...run, algorithm, description: setting }];
  });
  const outcomes = [...rivals, ...named.map((entry) => outcome(entry))];
  const results = [
    stageResult(outcomes, { records }),
    stageResult(outcomes, { records, kind: "shared node", name: "eight-equal" }),
  ];
  return arenaPage(results, checkGoals(results));
}

Deno.test({
  name: "arenaPage() makes a page that a browser shows whole, on every screen and in both schemes",
  ignore: withoutBrowser(),
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "coallocator-arena-" });
    await Deno.writeTextFile(`${folder}/arena.html`, madePage());
    const address = `file://${folder}/arena.html`;
    const browser = await openBrowser();
    try {
      for (const colorScheme of ["light", "dark"] as const) {
        for (const width of [1280, 800, 390]) {
          const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
          const complaints: string[] = [];
          const requests: string[] = [];
          page.on("console", (message) => complaints.push(message.text()));
          page.on("request", (request) => requests.push(request.url()));
          await page.goto(address);
          assert.deepEqual(await page.evaluate<string[]>(LEAVING_MARKS), []);
          const overflow = await page.evaluate<number>(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth",
          );
          assert.equal(overflow, 0, `the page scrolls sideways at ${width}`);
          await page.locator("summary").first().press("Enter");
          assert(await page.locator("details tbody tr").first().isVisible());
          assert.deepEqual(complaints, []);
          assert.deepEqual(requests.filter((url) => !url.startsWith("data:")), [address]);
          await page.screenshot({ path: `${folder}/${colorScheme}-${width}.png`, fullPage: true });
          await page.close();
        }
      }
      console.log(`Screenshots: ${folder}`);
    } finally {
      await browser.close();
    }
  },
});
