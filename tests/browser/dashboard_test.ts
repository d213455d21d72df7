/**
 * The dashboard as a browser shows it: with one pod and with 2,000, on every screen and in both schemes
 * nothing breaks, nothing scrolls sideways, and accessibility rules hold; it works by keyboard and without
 * scripts, and updates itself.
 *
 * @module
 */
import axe from "axe-core/axe.min.js" with { type: "text" };
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { serveTimed } from "../../adapters/timed_server.ts";
import { openBrowser, withoutBrowser } from "../../tools/open_browser.ts";
import { type SampleSite, sampleSite, TOKENS } from "../fixtures/dashboard/sample_site.ts";

const SCREENS = [1280, 800, 390];

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

const OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** Serves the site to a browser with the token of an administrator. */
async function withSite(
  pods: number,
  use: (
    open: (
      options?: { width?: number; colorScheme?: "light" | "dark"; javaScript?: boolean },
    ) => Promise<Page>,
    site: SampleSite & { readonly address: string },
  ) => Promise<void>,
): Promise<void> {
  const site = sampleSite({ pods });
  const server = await serveTimed(site.app, { address: "127.0.0.1:0" });
  const browser = await openBrowser();
  try {
    await use(
      ({ width = 1280, colorScheme = "light", javaScript = true } = {}) =>
        browser.newPage({
          colorScheme,
          javaScriptEnabled: javaScript,
          viewport: { width, height: 900 },
          extraHTTPHeaders: { authorization: `Bearer ${TOKENS.admin}` },
        }),
      { ...site, address: `http://${server.address}` },
    );
  } finally {
    await browser.close();
    site.end();
    await server.shutdown();
  }
}

for (const pods of [1, 2000]) {
  Deno.test({
    name: `dashboardRoutes() makes pages that a browser shows whole with ${pods} pods`,
    ignore: withoutBrowser(),
    fn: () =>
      withSite(pods, async (open, { address, paths }) => {
        for (const colorScheme of ["light", "dark"] as const) {
          for (const width of SCREENS) {
            const page = await open({ width, colorScheme });
            const complaints: string[] = [];
            const foreign: string[] = [];
            page.on("console", (message) => complaints.push(message.text()));
            page.on("pageerror", (error) => complaints.push(error.message));
            page.on("request", (request) => {
              if (!/^data:/.test(request.url()) && !request.url().startsWith(address)) {
                foreign.push(request.url());
              }
            });
            for (const path of paths) {
              const what = `${path} at ${width}, ${colorScheme}`;
              const response = await page.goto(address + path);
              assert.equal(response?.status(), 200, what);
              assert.equal(await page.evaluate(OVERFLOW), 0, `${what} scrolls sideways`);
              const charts = await page.locator("[data-chart]").count();
              assert.equal(await page.locator("[data-chart] canvas").count(), charts, what);
              await page.evaluate(axe);
              assert.deepEqual(await page.evaluate(CHECK_RULES), [], what);
            }
            assert.deepEqual([complaints, foreign], [[], []]);
            await page.close();
          }
        }
      }),
  });
}

Deno.test({
  name: "dashboardRoutes() makes pages that the keyboard alone can use, and that need no script",
  ignore: withoutBrowser(),
  fn: () =>
    withSite(120, async (open, { address, paths }) => {
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
    }),
});

Deno.test({
  name:
    "dashboardRoutes() updates an open page, keeps its focus and scroll position, and leaks no chart",
  ignore: withoutBrowser(),
  fn: () =>
    withSite(100, async (open, { address, round, paths, state }) => {
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
    }),
});

Deno.test({
  name: "dashboardRoutes() logs a browser in with a token, and out again",
  ignore: withoutBrowser(),
  async fn() {
    const { app, end } = sampleSite({ pods: 1 });
    const server = await serveTimed(app, { address: "127.0.0.1:0" });
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`http://${server.address}/pods`);
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
    } finally {
      await browser.close();
      end();
      await server.shutdown();
    }
  },
});
