/**
 * The part of the installation's settings that decides who takes part. The programs check the file;
 * here it is only looked at, and what can't be read counts as not set.
 *
 * @module
 */
import { parse } from "yaml";
import type { ScopeSettings } from "../../shared/actuation/scope.ts";

/** The programs' defaults. */
export const DEFAULT_MARKET_SETTINGS: ScopeSettings = {
  market: true,
  managementPolicy: "OptOut",
  excludedNamespaces: ["kube-system", "kube-public", "kube-node-lease", "mbcas-system"],
};

/** What the text of the settings file says; defaults where it says nothing. */
export function marketSettings(text: string): ScopeSettings {
  const { market } = membersOf(yamlOf(text));
  const { enabled = market, managementPolicy, excludedNamespaces } = membersOf(market);
  return {
    market: !isOff(enabled),
    managementPolicy: managementPolicy === "OptIn" ? "OptIn" : "OptOut",
    excludedNamespaces: words(excludedNamespaces) ?? DEFAULT_MARKET_SETTINGS.excludedNamespaces,
  };
}

function yamlOf(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "YAMLParseError") throw error;
    return undefined;
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Readonly<Record<string, unknown>>
    : {};
}

function isOff(value: unknown): boolean {
  return value === false || value === "off" || value === "false";
}

function words(value: unknown): readonly string[] | undefined {
  if (typeof value === "string") {
    return value.split(",").map((word) => word.trim()).filter((word) => word !== "");
  }
  return Array.isArray(value)
    ? value.filter((word): word is string => typeof word === "string")
    : undefined;
}
