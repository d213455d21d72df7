/**
 * Takes the picture of the README: headline and throttling of the demo's report, in a real browser.
 *
 * @module
 */
import { pathToFileURL } from "node:url";
import { openBrowser } from "./open_browser.ts";

/** The demo writes it there for this purpose. */
const REPORT = "build/report.html";
const PICTURE = "docs/demo.png";

/** What of the page stays on the picture: its header, and the figure with this title. */
const FIGURE = "Throttling over time";

const browser = await openBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });
  await page.goto(pathToFileURL(REPORT).href);
  const main = page.locator("main");
  const figure = main.locator("figure", { hasText: FIGURE }).first();
  await figure.waitFor();
  await main.locator("> *", { hasNotText: FIGURE }).evaluateAll((others: readonly Removable[]) => {
    for (const other of others) other.remove();
  });
  await page.locator("body > footer").evaluateAll((others: readonly Removable[]) => {
    for (const other of others) other.remove();
  });
  await page.screenshot({ path: PICTURE, fullPage: true });
} finally {
  await browser.close();
}

/** What the browser's elements can do. */
interface Removable {
  remove(): void;
}
