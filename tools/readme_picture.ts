/**
 * Takes a picture of the README from a report page, in a real browser: `demo` or `arena`.
 *
 * @module
 */
import { pathToFileURL } from "node:url";
import { openBrowser } from "./open_browser.ts";
import { withText } from "./png_text.ts";

/** A picture and where it comes from. */
interface Picture {
  /** The page, written there for this purpose. */
  readonly page: string;
  readonly to: string;
  /** Title of the figure that is shown. */
  readonly figure: string;
  /** Whether the page's header is shown above it; then the file keeps the headline as text, too. */
  readonly header: boolean;
}

const PICTURES: Readonly<Record<string, Picture>> = {
  demo: {
    page: "build/report.html",
    to: "docs/demo.png",
    figure: "Throttling over time",
    header: true,
  },
  arena: {
    page: "arena.html",
    to: "docs/arena.png",
    figure: "bursty: limit against demand",
    header: false,
  },
};

const [name = ""] = Deno.args;
const picture = PICTURES[name];
if (picture === undefined) {
  const names = Object.keys(PICTURES).join(" or ");
  console.error(`Cannot take picture "${name}": expected ${names}`);
  Deno.exit(2);
}
const browser = await openBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });
  await page.goto(pathToFileURL(picture.page).href);
  const figure = page.locator("main figure", { hasText: picture.figure }).first();
  await figure.waitFor();
  // The figure alone, where it stands: without its siblings, and those of all that it is in.
  await figure.evaluate((shown: Element) => {
    for (let at = shown, parent = at.parentElement; parent?.localName !== "html";) {
      if (parent === null) return;
      for (const other of [...parent.children]) {
        if (other !== at && other.localName !== "header") other.remove();
      }
      at = parent;
      parent = at.parentElement;
    }
  });
  if (picture.header) {
    const headline = await page.locator("h1").innerText();
    await Deno.writeFile(picture.to, withText(await page.screenshot({ fullPage: true }), headline));
  } else await figure.screenshot({ path: picture.to });
} finally {
  await browser.close();
}

/** Members of the browser's elements that are used. */
interface Element {
  readonly localName: string;
  readonly parentElement: Element | null;
  readonly children: Iterable<Element>;
  remove(): void;
}
