/**
 * The settings that a program runs with: flag over variable over file over default.
 *
 * @module
 */
import type { LogFields } from "../log.ts";
import { nearestName } from "./nearest_name.ts";
import {
  fileKeysOf,
  flagsOf,
  type Setting,
  type SettingTable,
  type SettingValues,
} from "./setting.ts";
import { fileValues, keyValues, type SettingsFile } from "./settings_file.ts";
import { SPOTALIS_VARIABLES } from "./spotalis_variables.ts";

/** Where values may come from. */
export interface SettingSources {
  /** Texts by flag, `--burst-factor`. */
  readonly flags?: ReadonlyMap<string, string>;
  /** The environment, or the part of it that the program may read. */
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: SettingsFile;
  /** Sections that another program checks: keys that the table lacks are passed over there. */
  readonly otherSections?: readonly string[];
}

/** Where a value came from. */
export type SettingOrigin = "flag" | "environment" | "file" | "default";

/** What holds. */
export interface Effective<T extends SettingTable> {
  readonly values: SettingValues<T>;
  /** The text and origin of each value by key, in the order of the table. */
  readonly origins: ReadonlyMap<string, { readonly origin: SettingOrigin; readonly text: string }>;
  /** Values of the file without effect, since a flag or a variable has another one. */
  readonly overridden: readonly OverriddenSetting[];
}

/** A value of the file, and what takes precedence over it. */
export interface OverriddenSetting {
  readonly key: string;
  readonly inFile: string;
  readonly holds: string;
  /** For instance `flag --market` or `env MBCAS_MARKET`. */
  readonly by: string;
}

/** All that is wrong: one sentence each, with source, key, value and remedy. */
export interface SettingFaults<T extends SettingTable> {
  readonly faults: readonly string[];
  /** What can be read all the same; the default for each setting that has a fault. */
  readonly readable: Effective<T>;
}

/** What settings must fulfil together. */
export interface SettingsOptions<T extends SettingTable> {
  /** A sentence for each rule that they break; asked where each by itself fits. */
  readonly check?: ((values: SettingValues<T>) => readonly string[]) | undefined;
  /** What a program starts with although its settings have faults; undefined: it does not start. */
  readonly despiteFaults?: ((readable: Effective<T>) => Effective<T> | undefined) | undefined;
}

/** Variables that begin like this are this product's: an unknown one is a misspelt one. */
const PREFIXES = ["MBCAS_", "SPOTALIS_"];

/** Puts the sources together; all faults come at once. */
export function effectiveSettings<const T extends SettingTable>(
  table: T,
  sources: SettingSources = {},
  { check }: SettingsOptions<T> = {},
): Effective<T> | SettingFaults<T> {
  const { env = {}, file, otherSections = [] } = sources;
  const faults = unknownVariables(env, table);
  const read = file === undefined ? undefined : fileValues(file, { table, otherSections });
  const beside = file?.keys === undefined ? undefined : keyValues(file.keys, table);
  for (const part of [read, beside]) faults.push(...part?.faults ?? []);
  const written: readonly NamedTexts[] = [
    { texts: read?.texts, place: `${file?.path}: ` },
    { texts: beside?.texts, place: file?.keys?.place ?? "" },
  ];
  const values: Record<string, unknown> = {};
  const origins = new Map<string, { origin: SettingOrigin; text: string }>();
  const overridden: OverriddenSetting[] = [];
  for (const [name, setting] of Object.entries(table)) {
    const { origin, text, where, also = [] } = chosen(setting, { ...sources, written });
    const value = setting.kind.parse(text);
    if (value === undefined) faults.push(notExpected(where, text, setting));
    const inFile = origin === "file" ? undefined : writtenTexts(setting, written)[0]?.text;
    if (inFile !== undefined && inFile !== text && setting.kind.parse(inFile) !== value) {
      overridden.push({ key: setting.key, inFile, holds: text, by: where });
    }
    for (const other of also) {
      if (other.text === text) continue;
      const otherValue = setting.kind.parse(other.text);
      if (otherValue === undefined) {
        // In the kind's own message, which hides a secret in the value.
        faults.push(notExpected(other.where, other.text, setting));
        continue;
      }
      if (value === undefined || otherValue === value) continue;
      faults.push(
        `${where} is ${JSON.stringify(text)} and ${other.where} is ${
          JSON.stringify(other.text)
        }, ` +
          `but both are names of ${setting.key}: keep one of them`,
      );
    }
    const holds = value === undefined
      ? { origin: "default" as const, text: setting.default }
      : { origin, text };
    values[name] = value ?? setting.kind.parse(setting.default);
    origins.set(setting.key, holds);
  }
  const whole = { values: values as SettingValues<T>, origins, overridden };
  if (faults.length === 0) faults.push(...check?.(whole.values) ?? []);
  return faults.length > 0 ? { faults, readable: whole } : whole;
}

/** The effective settings as fields of one log line: `4 (default)` by key. */
export function effectiveFields<T extends SettingTable>({ origins }: Effective<T>): LogFields {
  return Object.fromEntries(
    [...origins].map(([key, { origin, text }]) => [key, `${text} (${origin})`]),
  );
}

/** A text, and under which name it was given. */
interface Given {
  readonly text: string;
  readonly where: string;
}

interface Chosen extends Given {
  readonly origin: SettingOrigin;
  /** The same setting by other names, at the same place. */
  readonly also?: readonly Given[];
}

function chosen(
  setting: Setting<unknown>,
  { flags, env, written }: SettingSources & { readonly written: readonly NamedTexts[] },
): Chosen {
  const { key, env: variable } = setting;
  const allFlags = flagsOf(setting);
  const [typed, ...alsoTyped] = given(allFlags, { texts: flags, place: "flag " });
  if (typed !== undefined) return { origin: "flag", ...typed, also: alsoTyped };
  // An empty variable is one that was not set: manifests can't leave a variable out.
  const exported = variable === undefined ? "" : env?.[variable] ?? "";
  if (exported !== "") return { origin: "environment", text: exported, where: `env ${variable}` };
  const [first, ...alsoWritten] = writtenTexts(setting, written);
  if (first !== undefined) return { origin: "file", ...first, also: alsoWritten };
  const where = [allFlags[0], variable === undefined ? undefined : `env ${variable}`].filter(
    Boolean,
  );
  return { origin: "default", text: setting.default, where: where.join(" or ") || key };
}

/** Texts by name, and what stands before a name in messages. */
interface NamedTexts {
  readonly texts: ReadonlyMap<string, string> | undefined;
  readonly place: string;
}

function writtenTexts(
  setting: Setting<unknown>,
  written: readonly NamedTexts[],
): readonly Given[] {
  return written.flatMap((place) => given(fileKeysOf(setting), place));
}

function given(names: readonly string[], { texts, place }: NamedTexts): readonly Given[] {
  return names.flatMap((name) => {
    const text = texts?.get(name);
    return text === undefined ? [] : [{ text, where: `${place}${name}` }];
  });
}

function notExpected(where: string, text: string, { kind }: Setting<unknown>): string {
  const explanation = kind.explain?.(text);
  if (explanation !== undefined) return `${where}: ${explanation}`;
  return text === ""
    ? `${where} is not set, expected ${kind.expects}`
    : `${where} is ${JSON.stringify(text)}, expected ${kind.expects}`;
}

function unknownVariables(
  env: Readonly<Record<string, string>>,
  table: SettingTable,
): string[] {
  const known = new Set<string>();
  for (const { env: name } of Object.values(table)) {
    if (name !== undefined) known.add(name);
  }
  const isOurs = (name: string): boolean => PREFIXES.some((prefix) => name.startsWith(prefix));
  return Object.keys(env).filter((name) => isOurs(name) && !known.has(name)).map((name) => {
    const ours = SPOTALIS_VARIABLES.get(name);
    const nearest = ours === undefined ? nearestName(name, known) : ours || undefined;
    const remedy = nearest === undefined ? "unset it" : `did you mean ${nearest}?`;
    return `env ${name} is not a setting; ${remedy}`;
  });
}
