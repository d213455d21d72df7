/**
 * Writes the CustomResourceDefinitions from the schemas: `deno task crds`. With `--check` it writes
 * nothing and fails when a file differs from what it would write.
 *
 * @module
 */
import { stringify } from "yaml";
import { optimizationPolicyCRD } from "./crd/optimization_policy_crd.ts";
import { recommendationReportCRD } from "./crd/recommendation_report_crd.ts";
import type { JSONValue } from "./crd/structural_schema.ts";
import { podAllocationCRD } from "./crd/pod_allocation_crd.ts";
import { presentText } from "./present_text.ts";

const HEADER =
  "# Made from the schemas in shared/api by `deno task crds`; changes here are lost.\n";

const DEFINITIONS: Readonly<Record<string, () => JSONValue>> = {
  "rightsizing/optimizationpolicies.yaml": optimizationPolicyCRD,
  "market/podallocations.yaml": podAllocationCRD,
  "rightsizing/recommendationreports.yaml": recommendationReportCRD,
};

const folder = new URL("../manifests/crds/", import.meta.url);

const stale: string[] = [];
for (const [file, definition] of Object.entries(DEFINITIONS)) {
  const wanted = HEADER + stringify(definition(), { lineWidth: 0, aliasDuplicateObjects: false });
  const path = new URL(file, folder);
  if (await presentText(path) === wanted) continue;
  if (Deno.args.includes("--check")) stale.push(file);
  else await Deno.writeTextFile(path, wanted);
}
for (const file of stale) console.error(`manifests/crds/${file} is stale: run deno task crds`);
console.log(`${Object.keys(DEFINITIONS).length} definitions, ${stale.length} stale`);
if (stale.length > 0) Deno.exit(1);
