/**
 * Takes the pictures of the dashboard for docs/dashboard.md: each page in both themes, of a sample cluster
 * of 200 pods.
 *
 * @module
 */
import { serveHTTP } from "../../adapters/program_server.ts";
import { openBrowser } from "../../tools/open_browser.ts";
import { sampleSite, TOKENS } from "../fixtures/dashboard/sample_site.ts";

const NAMES = ["cluster", "node", "pods", "pod", "rightsizing", "placement"];

const { app, paths } = sampleSite({ pods: 200 });
const server = serveHTTP(app, { address: "127.0.0.1:0" });
const browser = await openBrowser();
try {
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await browser.newPage({
      colorScheme,
      viewport: { width: 1000, height: 720 },
      extraHTTPHeaders: { authorization: `Bearer ${TOKENS.admin}` },
    });
    for (const [index, path] of paths.entries()) {
      await page.goto(`http://${server.address}${path}`);
      await page.screenshot({ path: `docs/dashboard/${NAMES[index]}-${colorScheme}.png` });
    }
    await page.close();
  }
} finally {
  await browser.close();
  await server.shutdown();
}
