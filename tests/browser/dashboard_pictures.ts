/**
 * Takes the pictures of the dashboard for docs/dashboard.md: each page in both themes, of a sample cluster
 * of 200 pods. Long pages are cut, so that the files stay small.
 *
 * @module
 */
import { serveHTTP } from "../../adapters/program_server.ts";
import { openBrowser } from "../../tools/open_browser.ts";
import { sampleSite, TOKENS } from "../fixtures/dashboard/sample_site.ts";

const NAMES = ["cluster", "node", "pods", "pod", "rightsizing", "placement"];

/** Pixels. */
const WIDTH = 1000;
const MOST_HEIGHT = 1400;

const { app, paths, end } = sampleSite({ pods: 200 });
const server = await serveHTTP(app, { address: "127.0.0.1:0" });
const browser = await openBrowser();
try {
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await browser.newPage({
      colorScheme,
      viewport: { width: WIDTH, height: 720 },
      extraHTTPHeaders: { authorization: `Bearer ${TOKENS.admin}` },
    });
    for (const [index, path] of paths.entries()) {
      await page.goto(`http://${server.address}${path}`);
      const height = await page.evaluate<number>("document.documentElement.offsetHeight");
      await page.screenshot({
        path: `docs/dashboard/${NAMES[index]}-${colorScheme}.png`,
        fullPage: true,
        clip: { x: 0, y: 0, width: WIDTH, height: Math.min(height, MOST_HEIGHT) },
      });
    }
    await page.close();
  }
} finally {
  await browser.close();
  end();
  await server.shutdown();
}
