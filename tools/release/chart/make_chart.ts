/**
 * Makes the Helm chart from `charts/coallocator` and the manifests.
 *
 * @module
 */
import { stringify } from "yaml";
import { AGENT_SETTINGS } from "../../../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../../../controller/settings.ts";
import { settingsOf } from "../../../shared/config/setting.ts";
import { run } from "../../../tests/cluster/harness/shell.ts";
import { createKubectl } from "../../../tests/cluster/kubectl.ts";
import { componentNames, renderWith } from "../../../tests/cluster/rendered_manifests.ts";
import { chartSchema } from "./chart_schema.ts";
import { chartTemplates, valueName } from "./chart_templates.ts";

const root = new URL("../../../", import.meta.url).pathname;

/** What a chart is made for. */
export interface ChartOptions {
  readonly version: string;
  /** Of the images. */
  readonly registry: string;
  /** Below the root; the chart's folder is made in it. */
  readonly folder: string;
}

/** Writes the chart's folder; resolves with its absolute path. Throws an `Error` where kustomize fails. */
export async function makeChart({ version, registry, folder }: ChartOptions): Promise<string> {
  const components = componentNames();
  const kubectl = createKubectl();
  const steps = await Promise.all(["", ...components].map(async (component, count) => ({
    component,
    objects: await renderWith(kubectl, {
      overlay: "base",
      components: components.slice(0, count),
    }),
  })));
  const source = `${root}charts/coallocator`;
  const target = `${root}${folder}/coallocator`;
  await run(["rm", "-rf", target]);
  await Deno.mkdir(target, { recursive: true });
  await run(["cp", "-r", `${source}/templates`, `${root}manifests/base/config.yaml`, target]);
  const write = (file: string, text: string): Promise<void> =>
    Deno.writeTextFile(`${target}/${file}`, text);
  await write("Chart.yaml", stringify(chartFile(version)));
  const settings = [CONTROLLER_SETTINGS, AGENT_SETTINGS].flatMap(settingsOf);
  await write("values.schema.json", JSON.stringify(chartSchema({ components, settings }), null, 2));
  const values = await Deno.readTextFile(`${source}/values.yaml`);
  const described = await Promise.all(components.map(async (name) =>
    componentValue(
      name,
      await Deno.readTextFile(`${root}manifests/components/${name}/kustomization.yaml`),
    )
  ));
  await write(
    "values.yaml",
    values.replace("registry.example.com/coallocator", registry) + described.join(""),
  );
  for (const [name, text] of Object.entries(chartTemplates(steps))) {
    await write(`templates/${name}`, text);
  }
  return target;
}

function chartFile(version: string): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "v2",
    name: "coallocator",
    description: "Divides each node's CPU among its pods by resizing them in place",
    type: "application",
    version,
    appVersion: version,
    kubeVersion: ">=1.33.0-0",
  };
}

/** The component's value with the comment at the head of its kustomization. */
function componentValue(name: string, kustomization: string): string {
  const comment = /^(?:#.*\n)+/.exec(kustomization)?.[0] ?? "";
  return `${comment}${valueName(name)}: false\n`.replace(/^/gm, "  ").trimEnd() + "\n";
}
