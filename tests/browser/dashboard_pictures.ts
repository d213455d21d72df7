/**
 * Takes the pictures of the dashboard for docs/dashboard.md: each page in both themes, of a sample cluster
 * of 200 pods. Long pages are cut, so that the files stay small.
 *
 * @module
 */
import { serveTimed } from "../../adapters/timed_server.ts";
import { openBrowser } from "../../tools/open_browser.ts";
import { sampleSite, TOKENS } from "../fixtures/dashboard/sample_site.ts";

/** Pages, in the order of the sample's paths, with the height at which a long one is cut, pixels. */
const PICTURES = [
  ["cluster", 1520],
  ["node", 1400],
  ["pods", 900],
  ["pod", 1900],
  ["rightsizing", 1400],
  ["placement", 1400],
] as const;

const WIDTH = 1000;

const { app, paths, end } = sampleSite({ pods: 200 });
const server = await serveTimed(app, { address: "127.0.0.1:0" });
const browser = await openBrowser();
try {
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await browser.newPage({
      colorScheme,
      viewport: { width: WIDTH, height: 720 },
      extraHTTPHeaders: { authorization: `Bearer ${TOKENS.admin}` },
    });
    for (const [index, [name, mostHeight]] of PICTURES.entries()) {
      await page.goto(`http://${server.address}${paths[index]}`);
      const height = await page.evaluate<number>("document.documentElement.offsetHeight");
      await page.screenshot({
        path: `docs/dashboard/${name}-${colorScheme}.png`,
        fullPage: true,
        clip: { x: 0, y: 0, width: WIDTH, height: Math.min(height, mostHeight) },
      });
    }
    await page.close();
  }
} finally {
  await browser.close();
  end();
  await server.shutdown();
}
