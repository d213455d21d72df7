/**
 * The files of the Helm chart that are made from the manifests and the settings.
 *
 * @module
 */
import { stringify } from "yaml";
import { AGENT_SETTINGS } from "../../../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../../../controller/settings.ts";
import { fileKeysOf, type Setting, settingsOf } from "../../../shared/config/setting.ts";
import { VERSION } from "../../../shared/version.ts";
import { componentNames, renderWith } from "../../../tests/cluster/rendered_manifests.ts";
import { REPOSITORY } from "../release_names.ts";
import { chartSchema } from "./chart_schema.ts";
import { chartTemplates, valueName } from "./chart_templates.ts";
import { settingsTemplate } from "./pod_values.ts";

const root = new URL("../../../", import.meta.url).pathname;

/** Templates that are written by hand. */
export const OWN_TEMPLATES: readonly string[] = ["NOTES.txt", "tests"];

const HEADER = "{{- /* Made from manifests/ by `deno task chart`; changes here are lost. */ -}}\n";

/**
 * The text of each file by its path in the chart's folder. The part of `values.yaml` from the
 * components on is made, and the rest is taken as it is. Throws an `Error` where kustomize fails.
 */
export async function chartFiles(): Promise<Readonly<Record<string, string>>> {
  const components = componentNames();
  const steps = await Promise.all(["", ...components].map(async (component, count) => ({
    component,
    objects: await renderWith("base", { components: components.slice(0, count) }),
  })));
  const templates = Object.entries(chartTemplates(steps)).map(([name, text]) =>
    [`templates/${name}`, HEADER + text] as const
  );
  const programs = {
    agent: settingsOf(AGENT_SETTINGS),
    controller: settingsOf(CONTROLLER_SETTINGS),
  };
  const settings = Object.values(programs).flat();
  return {
    "Chart.yaml": stringify(chartFile()),
    "config.yaml": await Deno.readTextFile(`${root}manifests/base/config.yaml`),
    "values.schema.json": `${JSON.stringify(chartSchema({ components, settings }), null, 2)}\n`,
    "values.yaml": await values(components),
    ...Object.fromEntries(templates),
    "templates/_settings.tpl": HEADER + SETTINGS_AMONG +
      settingsOfProgram("agent", programs.agent) +
      settingsOfProgram("controller", programs.controller),
  };
}

function chartFile(): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "v2",
    name: "coallocator",
    description: "Divides each node's CPU among its pods by resizing them in place",
    type: "application",
    version: VERSION,
    appVersion: VERSION,
    kubeVersion: ">=1.33.0-0",
    home: REPOSITORY,
    sources: [REPOSITORY],
    keywords: ["cpu", "rightsizing", "resize"],
  };
}

/** The head of the file, which is written by hand, and each component with its description. */
async function values(components: readonly string[]): Promise<string> {
  const present = await Deno.readTextFile(`${root}charts/coallocator/values.yaml`);
  const [head = ""] = /^[^]*?^components:\n/m.exec(present) ?? [];
  const described = await Promise.all(components.map(async (name) => {
    const file = `${root}manifests/components/${name}/kustomization.yaml`;
    // The comment at its head.
    const [comment = ""] = /^(?:#.*\n)+/.exec(await Deno.readTextFile(file)) ?? [];
    return `${comment}${valueName(name)}: false\n`.replace(/^(?=.)/gm, "  ");
  }));
  return head + described.join("");
}

/** Settings of `.Values.config` among the named ones, as a text. */
const SETTINGS_AMONG = `{{- define "coallocator.settingsAmong" }}
{{- $keys := rest . }}
{{- range $section, $value := first . }}
{{- if not (kindIs "map" $value) }}
{{- if has $section $keys }}{{ $section }}={{ toJson $value }};{{ end }}
{{- else }}
{{- range $key, $one := $value }}
{{- $name := printf "%s.%s" $section $key }}
{{- if has $name $keys }}{{ $name }}={{ toJson $one }};{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
`;

/** Those that a program does not follow while it runs; deeper names count as one. */
function settingsOfProgram(program: "agent" | "controller", settings: readonly Setting[]): string {
  const keys = settings.filter(({ live }) => live !== true).flatMap(namesInValues);
  const names = [...new Set(keys)].sort().map((key) => `"${key}"`).join(" ");
  return `{{- define "${settingsTemplate(program)}" }}
{{- include "coallocator.settingsAmong" (list .Values.config ${names}) }}
{{- end }}
`;
}

/** Section and key; the section alone, where the value may take its place. */
function namesInValues(setting: Setting): readonly string[] {
  const keys = fileKeysOf(setting).map((key) => key.split(".").slice(0, 2).join("."));
  return setting.shorthand === true
    ? [...keys, ...keys.map((key) => key.split(".")[0] ?? "")]
    : keys;
}
