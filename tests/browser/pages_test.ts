/**
 * The pages of demo and arena as a browser shows them: in both schemes and on every screen nothing
 * breaks, nothing leaves, and every plot can be seen whole.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { arenaPage } from "../../lab/arena/arena_page.ts";
import { checkGoals } from "../../lab/arena/goals.ts";
import { ENTRIES } from "../../lab/arena/outcome.ts";
import { renderReport } from "../../lab/simulation/report/render_report.ts";
import { SCORE_MEASURES } from "../../lab/simulation/report/score_measures.ts";
import { allRivals } from "../../lab/simulation/rivals/all_rivals.ts";
import { openBrowser, withoutBrowser } from "../../tools/open_browser.ts";
import { outcome, stageResult } from "../fixtures/lab/arena_outcomes.ts";
import { syntheticRuns } from "../fixtures/lab/run_records.ts";

const SCREENS = { desktop: 1280, tablet: 800, phone: 390 };

/** The browser's measures of one plot that is displayed. */
interface SeenPlot {
  readonly label: string;
  readonly marks: number;
  readonly outside: number;
  readonly smallestText: number;
}

/** Runs in the page: marks of at least a pixel in size, and those that leave the plot's box. */
const LOOK_AT_PLOTS = `[...document.querySelectorAll("svg.plot")]
  .filter((svg) => svg.checkVisibility())
  .map((svg) => {
    const frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll("path, circle, rect, line")]
      .filter((mark) => mark.closest("[aria-label$='tick'], [aria-label$='grid']") === null)
      .map((mark) => mark.getBoundingClientRect())
      .filter((box) => box.width >= 1 || box.height >= 1);
    const texts = [...svg.querySelectorAll("text")].map((text) =>
      parseFloat(getComputedStyle(text).fontSize) * frame.width / svg.viewBox.baseVal.width);
    const leaves = (box) => box.left < frame.left - 2 || box.right > frame.right + 2 ||
      box.top < frame.top - 2 || box.bottom > frame.bottom + 2;
    return {
      label: svg.getAttribute("aria-label"),
      marks: boxes.length,
      outside: boxes.filter(leaves).length,
      smallestText: Math.min(...texts),
    };
  })`;

/** Opens the page on every screen and in both schemes, and looks at what all pages have. */
async function checkOnScreens(
  t: Deno.TestContext,
  markup: string,
  { plots, check }: { readonly plots: number; readonly check: (page: Page) => Promise<void> },
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "coallocator-page-" });
  await Deno.writeTextFile(`${folder}/page.html`, markup);
  const address = `file://${folder}/page.html`;
  const browser = await openBrowser();
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [screen, width] of Object.entries(SCREENS)) {
        await t.step(`${colorScheme}, ${screen}`, async () => {
          const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
          const complaints: string[] = [];
          const requests: string[] = [];
          page.on("console", (message) => complaints.push(message.text()));
          page.on("pageerror", (error) => complaints.push(error.message));
          page.on("request", (request) => requests.push(request.url()));
          await page.goto(address);
          const seen = await page.evaluate<SeenPlot[]>(LOOK_AT_PLOTS);
          assert.equal(seen.length, plots);
          for (const plot of seen) {
            assert(plot.marks >= 3, `${plot.label}: ${plot.marks} visible marks`);
            assert.equal(plot.outside, 0, `${plot.label}: marks outside of the plot`);
            assert(plot.smallestText >= 8, `${plot.label}: text of ${plot.smallestText} px`);
          }
          await check(page);
          const overflow = await page.evaluate<number>(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth",
          );
          assert.equal(overflow, 0, "the page scrolls sideways");
          assert.deepEqual(complaints, []);
          assert.deepEqual(requests.filter((url) => !url.startsWith("data:")), [address]);
          await page.screenshot({ path: `${folder}/${colorScheme}-${screen}.png`, fullPage: true });
          await page.close();
        });
      }
    }
    console.log(`Screenshots: ${folder}`);
  } finally {
    await browser.close();
  }
}

const SCENE = {
  description: "Twenty small services on one node of eight cores.",
  traces: [{ name: "bursty", source: "a published artefact", licence: "MIT" }],
};
const HOSTILE = [
  `<img src=https://example.com/x onerror="document.title='broken'">`,
  "a".repeat(250),
];

Deno.test({
  name:
    "renderReport() makes a page that a browser shows whole, on every screen and in both schemes",
  ignore: withoutBrowser(),
  fn(t) {
    const runs = syntheticRuns({ names: HOSTILE });
    const figures = SCORE_MEASURES.flatMap(({ text }) => runs.map(text));
    return checkOnScreens(t, renderReport(runs, { scene: SCENE }), {
      plots: 2 + 20,
      async check(page) {
        const cells = await page.locator(".scores tbody td").allInnerTexts();
        assert.deepEqual(cells.map((cell) => cell.replaceAll(/\s+/g, " ")), figures);
        assert.equal(await page.locator(".pod").count(), 20);
        await page.locator("summary").click();
        assert(await page.locator(".changes tbody tr").first().isVisible());
        await page.locator("summary").click();
        assert.match(await page.title(), /^CoAllocator: 30 minutes, 20 pods/);
      },
    });
  },
});

function madeArenaPage(): string {
  const rivals = allRivals().map(({ algorithm, setting }, index) =>
    outcome({ algorithm, setting, cores: 1.6 + index / 9, p99Ms: 60 + 400 * (index % 7) })
  );
  const runs = syntheticRuns({ pods: 1, minutes: 10 });
  const named = [ENTRIES.coallocator, ENTRIES.equalCores, ENTRIES.oracle];
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
  fn: (t) =>
    checkOnScreens(t, madeArenaPage(), {
      plots: 2,
      async check(page) {
        await page.locator("summary").first().press("Enter");
        assert(await page.locator("details tbody tr").first().isVisible());
      },
    }),
});
