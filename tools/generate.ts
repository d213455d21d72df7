/**
 * Writes what is made from the source, by the names of its parts: `deno task generate:docs` and
 * `deno task crds`. With `--check` it writes nothing and fails when a file differs from what it would write.
 *
 * @module
 */
import { parse, stringify } from "yaml";
import { AGENT_SETTINGS } from "../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../controller/settings.ts";
import { settingsPage } from "./configuration_page.ts";
import {
  type JSONValue,
  optimizationPolicyCRD,
  podAllocationCRD,
  recommendationReportCRD,
} from "./crd/definitions.ts";
import { keepFiles } from "./project_files.ts";
import { type Alert, metricsPage } from "./metrics_page.ts";
import { reasonsPage } from "./reasons_page.ts";

const root = new URL("../", import.meta.url);
const DOCS = "generate:docs";

/** Each part by its name. */
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  configuration: () =>
    keepFiles({
      "docs/configuration.md": settingsPage([
        { title: "Controller: mbcas-controller", schema: CONTROLLER_SETTINGS },
        { title: "Agent: mbcas-agent", schema: AGENT_SETTINGS },
      ]),
    }, DOCS),
  reasons: () => keepFiles({ "docs/reasons.md": reasonsPage() }, DOCS),
  async metrics() {
    const page = await Deno.readTextFile(new URL("docs/metrics.md", root));
    const rules: { spec: { groups: { rules: Alert[] }[] } } = parse(
      await Deno.readTextFile(new URL("manifests/components/alerts/alerts.yaml", root)),
    );
    const alerts = rules.spec.groups.flatMap((group) => group.rules);
    await keepFiles({ "docs/metrics.md": metricsPage(page, alerts) }, DOCS);
  },
  crds: () =>
    keepFiles({
      "manifests/crds/rightsizing/optimizationpolicies.yaml": manifest(optimizationPolicyCRD()),
      "manifests/crds/market/podallocations.yaml": manifest(podAllocationCRD()),
      "manifests/crds/rightsizing/recommendationreports.yaml": manifest(recommendationReportCRD()),
    }, "crds"),
};

function manifest(definition: JSONValue): string {
  return "# Made from the schemas in shared/api by `deno task crds`; changes here are lost.\n" +
    stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false });
}

for (const name of Deno.args.filter((one) => one !== "--check")) {
  const keep = PARTS[name];
  if (keep === undefined) {
    throw new RangeError(`Cannot generate ${name}: expected ${Object.keys(PARTS).join(", ")}`);
  }
  await keep();
}
