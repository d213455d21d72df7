/**
 * The JSON schema of the chart's values: Helm refuses what it does not know before anything is installed.
 *
 * @module
 */
import { fileKeysOf, type Setting } from "../../../shared/config/setting.ts";
import type { Members } from "./marked_object.ts";
import { valueName } from "./chart_templates.ts";

/** What the values may be. */
export interface ChartChoices {
  /** Names of the components' folders. */
  readonly components: readonly string[];
  /** What `config` may have. */
  readonly settings: readonly Setting[];
}

/** The content of `values.schema.json`. */
export function chartSchema({ components, settings }: ChartChoices): Members {
  const text: Members = { type: "string" };
  const resources = closed({ requests: { type: "object" }, limits: { type: "object" } });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...closed({
      image: closed({ registry: text, tag: text, pullPolicy: text }),
      imagePullSecrets: { type: "array", items: closed({ name: text }) },
      config: settingsSchema(settings),
      controller: closed({ replicas: { type: "integer", minimum: 1 }, resources }),
      agent: closed({ resources }),
      metricQueries: closed({ namespace: text, port: { type: "integer" } }),
      test: closed({ image: text }),
      components: {
        ...closed(
          Object.fromEntries(components.map((name) => [valueName(name), { type: "boolean" }])),
        ),
        if: { properties: { webhookCertManager: { const: true } } },
        then: { properties: { webhook: { const: true } } },
      },
      // Helm's own.
      global: { type: "object" },
    }),
  };
}

function closed(properties: Members): Members {
  return { type: "object", additionalProperties: false, properties };
}

/** Names alone are checked; the programs say what is wrong with a value. */
function settingsSchema(settings: readonly Setting[]): Members {
  const properties: Record<string, unknown> = {};
  const sections = new Map<string, [string, unknown][]>();
  for (const setting of settings) {
    for (const key of fileKeysOf(setting)) {
      const [section = "", ...rest] = key.split(".");
      // Deeper names are left to the programs.
      const value: unknown = rest.length > 1 ? {} : { description: setting.description };
      if (rest.length === 0) properties[section] = value;
      else sections.set(section, [...sections.get(section) ?? [], [rest[0] ?? "", value]]);
    }
  }
  for (const [section, members] of sections) {
    // Not "type": `market: off` stands for the whole section.
    properties[section] = { additionalProperties: false, properties: Object.fromEntries(members) };
  }
  return closed(properties);
}
