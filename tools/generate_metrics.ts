/**
 * Writes the tables of docs/metrics.md from those of shared/metrics, and from the alerts:
 * `deno task generate:docs`. With `--check` it writes nothing and fails when the page differs from what it
 * would write.
 *
 * @module
 */
import { parse } from "yaml";
import { keepPage } from "./generated_page.ts";
import { type Alert, metricsPage } from "./metrics_page.ts";

const root = new URL("../", import.meta.url);
const page = await Deno.readTextFile(new URL("docs/metrics.md", root));
const rules: { spec: { groups: { rules: Alert[] }[] } } = parse(
  await Deno.readTextFile(new URL("manifests/components/alerts/alerts.yaml", root)),
);
const alerts = rules.spec.groups.flatMap((group) => group.rules);
await keepPage({ name: "metrics.md", text: metricsPage(page, alerts) });
