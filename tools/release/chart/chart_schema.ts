/**
 * The JSON schema of the chart's values: Helm refuses what it does not know before anything is installed.
 *
 * @module
 */
import { fileKeysOf, type Setting } from "../../../shared/config/setting.ts";
import type { Members } from "./marked_object.ts";
import { valueName } from "./chart_templates.ts";

/** The components and settings that the values may name. */
export interface ChartChoices {
  /** Names of the components' folders. */
  readonly components: readonly string[];
  /** Settings that `config` may have. */
  readonly settings: readonly Setting[];
}

const MAP: Members = { type: "object" };
const TEXTS: Members = { type: "object", additionalProperties: { type: "string" } };
const PORT: Members = { type: "integer", minimum: 1, maximum: 65535 };
const NAME = text("[a-z0-9]([-a-z0-9.]*[a-z0-9])?");
const QUANTITIES: Members = {
  type: "object",
  additionalProperties: { type: ["string", "number"] },
};

/** Templates read members of these. An empty key, `agent:`, is null, and by that Helm removes the defaults. */
const SECTIONS = [
  ...["image", "controller", "agent", "alerts", "networkPolicy", "metricQueries", "test"],
  "components",
];

/** The content of `values.schema.json`. */
export function chartSchema({ components, settings }: ChartChoices): Members {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...closed({
      image: closed({
        registry: text("\\S*[^/\\s]"),
        tag: text("(\\w[\\w.-]{0,127})?"),
        pullPolicy: { enum: ["", "Always", "IfNotPresent", "Never"] },
      }, ["registry"]),
      imagePullSecrets: { type: "array", items: closed({ name: NAME }, ["name"]) },
      commonLabels: labels(),
      config: settingsSchema(settings),
      controller: closed(
        { replicas: { type: "integer", minimum: 1 }, ...podValues() },
        ["replicas", "image"],
      ),
      agent: closed(podValues(), ["image"]),
      alerts: closed({ runbooks: text("https?://[^\\s#]+") }, ["runbooks"]),
      networkPolicy: closed({
        enabled: { type: "boolean" },
        extraEgress: {
          type: "array",
          items: closed({
            to: { type: "array", items: MAP },
            ports: { type: "array", items: MAP },
          }),
        },
      }, ["enabled"]),
      metricQueries: closed({ namespace: NAME, port: PORT }, ["namespace", "port"]),
      test: closed({ image: text("\\S+") }, ["image"]),
      components: {
        ...closed(
          Object.fromEntries(components.map((name) => [valueName(name), { type: "boolean" }])),
        ),
        if: { properties: { webhookCertManager: { const: true } } },
        then: { properties: { webhook: { const: true } } },
      },
      // Helm's own, and what parent charts name as the condition of this one.
      global: MAP,
      enabled: { type: "boolean" },
    }, SECTIONS),
  };
}

/** Values that agent and controller have both. */
function podValues(): Members {
  return {
    image: closed({ digest: text("(sha256:[0-9a-f]{64})?") }),
    resources: closed({ requests: QUANTITIES, limits: QUANTITIES }),
    nodeSelector: TEXTS,
    tolerations: { type: "array", items: MAP },
    affinity: MAP,
    priorityClassName: { anyOf: [{ const: "" }, NAME] },
    podLabels: labels(),
    podAnnotations: {
      ...TEXTS,
      propertyNames: {
        not: { enum: ["checksum/config", "kubectl.kubernetes.io/default-container"] },
      },
    },
  };
}

/** Not those by which objects find each other, roles are aggregated, and Grafana finds dashboards. */
function labels(): Members {
  const own = "^(app\\.kubernetes\\.io/|rbac\\.authorization\\.k8s\\.io/|grafana_dashboard$)";
  return { ...TEXTS, propertyNames: { not: { pattern: own } } };
}

/** A text that is this as a whole. */
function text(pattern: string): Members {
  return { type: "string", pattern: `^${pattern}$` };
}

function closed(properties: Members, required: readonly string[] = []): Members {
  const needed = required.length === 0 ? {} : { required };
  return { type: "object", additionalProperties: false, properties, ...needed };
}

/** Names alone are checked; the programs say what is wrong with a value. */
function settingsSchema(settings: readonly Setting[]): Members {
  const properties: Record<string, unknown> = {};
  const sections = new Map<string, [string, unknown][]>();
  const shorthands = new Set<string | undefined>();
  for (const setting of settings) {
    if (setting.shorthand === true) shorthands.add(setting.key.split(".")[0]);
    for (const key of fileKeysOf(setting)) {
      const [section = "", ...rest] = key.split(".");
      // Deeper names are left to the programs.
      const value: unknown = rest.length > 1 ? {} : { description: setting.description };
      if (rest.length === 0) properties[section] = value;
      else sections.set(section, [...sections.get(section) ?? [], [rest[0] ?? "", value]]);
    }
  }
  for (const [section, members] of sections) {
    const whole = closed(Object.fromEntries(members));
    // `market: off` stands for the whole section.
    properties[section] = shorthands.has(section)
      ? { ...whole, type: ["object", "boolean", "string"] }
      : whole;
  }
  return closed(properties);
}
