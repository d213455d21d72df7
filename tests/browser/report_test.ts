/**
 * The report page as a browser shows it: nothing breaks, nothing leaves, every plot can be seen.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { renderReport } from "../../lab/simulation/report/render_report.ts";
import { SCORE_MEASURES } from "../../lab/simulation/report/score_measures.ts";
import { syntheticRuns } from "../fixtures/lab/run_records.ts";
import { openBrowser, withoutBrowser } from "../../tools/open_browser.ts";
import { tallyPods, tallyText } from "../../lab/simulation/report/change_list.ts";

const SCENE = {
  description: "Twenty small services on one node of eight cores.",
  traces: [{ name: "bursty", source: "a published artefact", licence: "MIT" }],
};
const HOSTILE = [
  `<img src=https://example.com/x onerror="document.title='broken'">`,
  "a".repeat(250),
];
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
    const boxes = [...svg.querySelectorAll("path, circle, line")]
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

async function checkPlots(page: Page, expected: number): Promise<void> {
  const plots = await page.evaluate<SeenPlot[]>(LOOK_AT_PLOTS);
  assert.equal(plots.length, expected);
  for (const plot of plots) {
    assert(plot.marks >= 3, `${plot.label}: ${plot.marks} visible marks`);
    assert.equal(plot.outside, 0, `${plot.label}: marks outside of the plot`);
    assert(plot.smallestText >= 8, `${plot.label}: text of ${plot.smallestText} px`);
  }
}

Deno.test({
  name:
    "renderReport() makes a page that a browser shows whole, on every screen and in both schemes",
  ignore: withoutBrowser(),
  async fn(t) {
    const folder = await Deno.makeTempDir({ prefix: "coallocator-report-" });
    const runs = syntheticRuns({ names: HOSTILE });
    await Deno.writeTextFile(`${folder}/report.html`, renderReport(runs, { scene: SCENE }));
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
            const address = `file://${folder}/report.html`;
            await page.goto(address);

            await checkPlots(page, 2 + 20);
            const cells = await page.locator(".scores tbody td").allInnerTexts();
            assert.deepEqual(
              cells.map((cell) => cell.replaceAll(/\s+/g, " ")),
              [
                ...SCORE_MEASURES.flatMap(({ text }) => runs.map(text)),
                ...runs.map((run, place) =>
                  place === 0 ? "–" : tallyText(tallyPods(runs[0] ?? run, run))
                ),
              ],
            );
            assert.equal(await page.locator(".pods tbody tr").count(), 20);
            await page.locator("summary").click();
            assert(await page.locator(".changes tbody tr").first().isVisible());
            await page.locator("summary").click();

            const overflow = await page.evaluate<number>(
              "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            assert.equal(overflow, 0, "the page scrolls sideways");
            assert.match(await page.title(), /^CoAllocator: 30 minutes, 20 pods/);
            assert.deepEqual(complaints, []);
            assert.deepEqual(requests.filter((url) => !url.startsWith("data:")), [address]);
            await page.screenshot({
              path: `${folder}/${colorScheme}-${screen}.png`,
              fullPage: true,
            });
            await page.close();
          });
        }
      }
      console.log(`Screenshots: ${folder}`);
    } finally {
      await browser.close();
    }
  },
});
