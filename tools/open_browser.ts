/**
 * The browser of the tests: Debian's Chromium, or the reason why there is none.
 *
 * @module
 */
import { type Browser, chromium } from "playwright-core";

/** Where Debian's package puts it. */
const CHROMIUM = "/usr/bin/chromium";

/** Nothing of the browser's own may reach for the network. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Whether browser tests are to be left out: Chromium is missing and REQUIRE_BROWSER is not `1`.
 * Says so on the console, so that an ignored test is not taken for a passed one.
 */
export function withoutBrowser(): boolean {
  if (Deno.env.get("REQUIRE_BROWSER") === "1") return false;
  try {
    return !Deno.statSync(CHROMIUM).isFile;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.warn(`Browser tests are ignored: ${CHROMIUM} does not exist (package chromium)`);
    return true;
  }
}

/** A headless browser; the caller closes it. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args: ARGUMENTS });
}
