/**
 * The pages of dashboard, demo and arena as a browser shows them: on every screen and in both schemes
 * nothing breaks, nothing leaves, nothing scrolls sideways, and every plot can be seen whole. The dashboard
 * keeps accessibility rules, works by keyboard and without scripts, and updates itself.
 */
import axe from "axe-core/axe.min.js" with { type: "text" };
import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { serveTimed } from "../../adapters/timed_server.ts";
import { arenaPage } from "../../lab/arena/arena_page.ts";
import { checkGoals } from "../../lab/arena/goals.ts";
import { ENTRIES } from "../../lab/arena/outcome.ts";
import { renderReport } from "../../lab/simulation/report/render_report.ts";
import { SCORE_MEASURES } from "../../lab/simulation/report/score_measures.ts";
import { allRivals } from "../../lab/simulation/rivals/all_rivals.ts";
import { openBrowser, withoutBrowser } from "../../tools/open_browser.ts";
import { type SampleSite, sampleSite, TOKENS } from "../fixtures/dashboard/sample_site.ts";
import { outcome, stageResult } from "../fixtures/lab/arena_outcomes.ts";
import { syntheticRuns } from "../fixtures/lab/run_records.ts";

const SCREENS = [1280, 800, 390];
const SCHEMES = ["light", "dark"] as const;

function browserTest(
  name: string,
  fn: (browser: Browser, t: Deno.TestContext) => Promise<void>,
): void {
  Deno.test({
    name,
    ignore: withoutBrowser(),
    async fn(t) {
      const browser = await openBrowser();
      try {
        await fn(browser, t);
      } finally {
        await browser.close();
      }
    },
  });
}

interface WatchedPage {
  readonly page: Page;
  /** Fails for a complaint, a request to another address, or a page that scrolls sideways. */
  assertWhole(address: string): Promise<void>;
}

async function watchedPage(
  browser: Browser,
  options: Parameters<Browser["newPage"]>[0],
): Promise<WatchedPage> {
  const page = await browser.newPage(options);
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => requests.push(request.url()));
  return {
    page,
    async assertWhole(address) {
      const overflow = await page.evaluate<number>(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      );
      assert.equal(overflow, 0, "the page scrolls sideways");
      const foreign = requests.filter((url) => !/^data:/.test(url) && !url.startsWith(address));
      assert.deepEqual([complaints, foreign], [[], []]);
    },
  };
}

/** Runs in the page: the rules that are broken, with the first elements. */
const CHECK_RULES = `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] })
  .then(({ violations }) => violations.map(({ id, nodes }) =>
    id + ": " + nodes.slice(0, 3).map(({ target }) => target).join(" ")))`;

/** Runs before the page: counts the charts, of which each listens to the window until it is destroyed. */
const COUNT_CHARTS = `globalThis.charts = 0;
  for (const [name, by] of [["addEventListener", 1], ["removeEventListener", -1]]) {
    const original = globalThis[name];
    globalThis[name] = function (...options) {
      if (options[0] === "dppxchange") globalThis.charts += by;
      return original.apply(this, options);
    };
  }`;

type OpenPage = (options?: { width?: number; javaScript?: boolean }) => Promise<Page>;

/** A test of the dashboard with so many pods, for a browser with the token of an administrator. */
function siteTest(
  name: string,
  pods: number,
  fn: (open: OpenPage, site: SampleSite & { address: string; browser: Browser }) => Promise<void>,
): void {
  browserTest(`dashboardRoutes() ${name}`, async (browser) => {
    const site = sampleSite({ pods });
    const server = await serveTimed(site.app, { address: "127.0.0.1:0" });
    try {
      await fn(
        ({ width = 1280, javaScript = true } = {}) =>
          browser.newPage({
            javaScriptEnabled: javaScript,
            viewport: { width, height: 900 },
            extraHTTPHeaders: AS_ADMIN,
          }),
        { ...site, browser, address: `http://${server.address}` },
      );
    } finally {
      site.end();
      await server.shutdown();
    }
  });
}

const AS_ADMIN = { authorization: `Bearer ${TOKENS.admin}` };

for (const pods of [1, 2000]) {
  siteTest(`makes pages that a browser shows whole with ${pods} pods`, pods, async (_, site) => {
    const { browser, address, paths } = site;
    for (const colorScheme of SCHEMES) {
      for (const width of SCREENS) {
        const viewport = { width, height: 900 };
        const options = { colorScheme, viewport, extraHTTPHeaders: AS_ADMIN };
        const { page, assertWhole } = await watchedPage(browser, options);
        for (const path of paths) {
          const what = `${path} at ${width}, ${colorScheme}`;
          const response = await page.goto(address + path);
          assert.equal(response?.status(), 200, what);
          const charts = await page.locator("[data-chart]").count();
          assert.equal(await page.locator("[data-chart] canvas").count(), charts, what);
          await page.evaluate(axe);
          assert.deepEqual(await page.evaluate(CHECK_RULES), [], what);
          await assertWhole(address);
        }
        await page.close();
      }
    }
  });
}

siteTest(
  "makes pages that the keyboard alone can use, and that need no script",
  120,
  async (open, { address, paths }) => {
    const page = await open();
    for (const path of paths) {
      await page.goto(address + path);
      await page.keyboard.press("Tab");
      assert.equal(await page.locator(":focus").getAttribute("class"), "skip");
      const links = await page.locator("a[href], button, input, select").count();
      const reached = new Set(["0"]);
      for (let press = 0; press < 2 * links + 20 && reached.size < links; press++) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate<string>(
          `String([...document.querySelectorAll("a[href], button, input, select")].indexOf(document.activeElement))`,
        );
        if (at !== "-1") reached.add(at);
      }
      assert.equal(reached.size, links, path);
      assert.notEqual(
        await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"),
        "none",
      );
    }
    await page.goto(`${address}/pods?sort=limit`);
    await page.locator("nav.pages a").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${address}/pods?sort=limit&page=2#pods`);
    assert.equal(await page.locator("tbody tr").count(), 20);
    const plain = await open({ javaScript: false });
    await plain.goto(`${address}/`);
    await plain.locator("a", { hasText: "node-1" }).click();
    await plain.locator("tbody a").first().click();
    assert.equal(await plain.locator(".stages > li").count(), 8);
    await plain.goto(`${address}/pods`);
    await plain.locator("#search").fill("cart");
    await plain.locator("form.filter button").click();
    assert.match(await plain.locator(".lead").innerText(), /^20 pods/);
  },
);

siteTest(
  "updates an open page, keeps its focus and scroll position, and leaks no chart",
  100,
  async (open, { address, round, paths, state }) => {
    const page = await open({ width: 390 });
    await page.addInitScript(COUNT_CHARTS);
    await page.goto(address + paths[1]);
    const charts = await page.evaluate("charts");
    const link = page.locator("tbody a").nth(20);
    await link.focus();
    const name = await link.innerText();
    const scrolled = await page.evaluate("scrollY");
    const [view] = state.collector.views.values();
    assert.ok(view);
    Object.assign(view, { mode: "overloaded" });
    round();
    await page.getByText("overloaded").first().waitFor();
    assert.equal(await page.locator(":focus").innerText(), name);
    assert.equal(await page.evaluate("scrollY"), scrolled);
    assert.match(await page.locator("#live").innerText(), /^Updated at/);
    assert.ok(Number(charts) > 0);
    assert.equal(await page.evaluate("charts"), charts);
  },
);

siteTest("logs a browser in with a token, and out again", 1, async (_, { browser, address }) => {
  const page = await browser.newPage();
  await page.goto(`${address}/pods`);
  await page.locator("textarea").fill("bad");
  await page.locator("button").click();
  await page.locator("[role=alert]").waitFor();
  await page.locator("textarea").fill(TOKENS.shop);
  await page.locator("button").click();
  await page.locator("nav a", { hasText: "Pods" }).click();
  await page.locator("h1", { hasText: "Pods in the market" }).waitFor();
  assert.equal(await page.evaluate("document.cookie"), "");
  await page.locator("button", { hasText: "Log out" }).click();
  await page.locator("textarea").waitFor();
});

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

function pageTest(
  name: string,
  markup: () => string,
  { plots, check }: { readonly plots: number; readonly check: (page: Page) => Promise<void> },
): void {
  browserTest(`${name} makes a page that a browser shows whole`, async (browser, t) => {
    const folder = await Deno.makeTempDir({ prefix: "coallocator-page-" });
    await Deno.writeTextFile(`${folder}/page.html`, markup());
    const address = `file://${folder}/page.html`;
    for (const colorScheme of SCHEMES) {
      for (const width of SCREENS) {
        await t.step(`${colorScheme}, ${width}`, async () => {
          const options = { colorScheme, viewport: { width, height: 900 } };
          const { page, assertWhole } = await watchedPage(browser, options);
          await page.goto(address);
          const seen = await page.evaluate<SeenPlot[]>(LOOK_AT_PLOTS);
          assert.equal(seen.length, plots);
          for (const plot of seen) {
            assert(plot.marks >= 3, `${plot.label}: ${plot.marks} visible marks`);
            assert.equal(plot.outside, 0, `${plot.label}: marks outside of the plot`);
            assert(plot.smallestText >= 8, `${plot.label}: text of ${plot.smallestText} px`);
          }
          await check(page);
          await assertWhole(address);
          await page.screenshot({ path: `${folder}/${colorScheme}-${width}.png`, fullPage: true });
          await page.close();
        });
      }
    }
    console.log(`Screenshots: ${folder}`);
  });
}

const SCENE = {
  description: "Twenty small services on one node of eight cores.",
  traces: [{ name: "bursty", source: "a published artefact", licence: "MIT" }],
};
const HOSTILE = [
  `<img src=https://example.com/x onerror="document.title='broken'">`,
  "a".repeat(250),
];

const RUNS = syntheticRuns({ names: HOSTILE });

pageTest("renderReport()", () => renderReport(RUNS, { scene: SCENE }), {
  plots: 2 + 20,
  async check(page) {
    const cells = await page.locator(".scores tbody td").allInnerTexts();
    const figures = SCORE_MEASURES.flatMap(({ text }) => RUNS.map(text));
    assert.deepEqual(cells.map((cell) => cell.replaceAll(/\s+/g, " ")), figures);
    assert.equal(await page.locator(".pod").count(), 20);
    await page.locator("summary").click();
    assert(await page.locator(".changes tbody tr").first().isVisible());
    await page.locator("summary").click();
    assert.match(await page.title(), /^CoAllocator: 30 minutes, 20 pods/);
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

pageTest("arenaPage()", madeArenaPage, {
  plots: 2,
  async check(page) {
    await page.locator("summary").first().press("Enter");
    assert(await page.locator("details tbody tr").first().isVisible());
  },
});
