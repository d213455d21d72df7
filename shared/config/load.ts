/**
 * The settings that a program runs with: flag over variable over file over default.
 *
 * @module
 */
import type { LogFields } from "../log.ts";
import { nearestName } from "../nearest_name.ts";
import { SPOTALIS_VARIABLES, VARIABLE_PREFIXES } from "./aliases.ts";
import { fileValues, keyValues, type SettingsFile } from "./file.ts";
import {
  fileKeysOf,
  flagsOf,
  type Setting,
  settingOf,
  type SettingSchema,
  settingsOf,
  type SettingsSchema,
  type SettingValues,
} from "./setting.ts";

/** Where values may come from. */
export interface SettingSources {
  /** Texts by flag, `--burst-factor`. */
  readonly flags?: ReadonlyMap<string, string>;
  /** The environment, or the part of it that the program may read. */
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: SettingsFile;
  /** Sections that another program checks: keys that the schema lacks are ignored there. */
  readonly otherSections?: readonly string[];
}

/** Where a value came from. */
export type SettingOrigin = "flag" | "environment" | "file" | "default";

/** The effective settings. */
export interface Effective<S extends SettingsSchema> {
  readonly values: SettingValues<S>;
  /** The text and origin of each value by key, in the order of the schema. */
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

/** All faults: one sentence each, with source, key, value and remedy. */
export interface SettingFaults<S extends SettingsSchema> {
  readonly faults: readonly string[];
  /** The values without a fault, and the default for each setting that has one. */
  readonly readable: Effective<S>;
}

/** Puts the sources together; all faults come at once. */
export function effectiveSettings<S extends SettingsSchema>(
  schema: S,
  sources: SettingSources = {},
): Effective<S> | SettingFaults<S> {
  const faults = unknownVariables(sources.env ?? {}, settingsOf(schema));
  const written = writtenTexts(sources, { settings: settingsOf(schema), faults });
  const texts: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const origins = new Map<string, { origin: SettingOrigin; text: string }>();
  const overridden: OverriddenSetting[] = [];
  for (const [name, one] of Object.entries(schema.shape)) {
    const setting = settingOf(one);
    const choice = chosen(setting, { ...sources, written });
    const read = one.safeParse(choice.text);
    if (!read.success) faults.push(faultOf(choice, read.error));
    faults.push(...contradictions(one, choice));
    overridden.push(...overriddenBy(choice, { schema: one, written }));
    const { text, origin } = read.success ? choice : { text: setting.default, origin: DEFAULT };
    texts[name] = text;
    values[name] = read.success ? read.data : one.parse(text);
    origins.set(setting.key, { origin, text });
  }
  if (faults.length === 0) {
    faults.push(...schema.safeParse(texts).error?.issues.map(({ message }) => message) ?? []);
  }
  const effective = { values: values as SettingValues<S>, origins, overridden };
  return faults.length > 0 ? { faults, readable: effective } : effective;
}

/** The effective settings as fields of one log line: `4 (default)` by key. */
export function effectiveFields(
  { origins }: Pick<Effective<SettingsSchema>, "origins">,
): LogFields {
  return Object.fromEntries(
    [...origins].map(([key, { origin, text }]) => [key, `${text} (${origin})`]),
  );
}

const DEFAULT: SettingOrigin = "default";

function unknownVariables(
  env: Readonly<Record<string, string>>,
  settings: readonly Setting[],
): string[] {
  const known = new Set(settings.flatMap(({ env: name }) => name ?? []));
  const isOurs = (name: string): boolean =>
    VARIABLE_PREFIXES.some((prefix) => name.startsWith(prefix));
  return Object.keys(env).filter((name) => isOurs(name) && !known.has(name)).map((name) => {
    const ours = SPOTALIS_VARIABLES.get(name);
    const nearest = ours === undefined ? nearestName(name, known) : ours || undefined;
    const remedy = nearest === undefined ? "unset it" : `did you mean ${nearest}?`;
    return `env ${name} is not a setting; ${remedy}`;
  });
}

/** Texts by name, and the text before a name in messages. */
interface NamedTexts {
  readonly texts: ReadonlyMap<string, string> | undefined;
  readonly place: string;
}

/** The texts of the file and of the keys beside it; their faults are added to `faults`. */
function writtenTexts(
  { file, otherSections = [] }: SettingSources,
  { settings, faults }: { readonly settings: readonly Setting[]; readonly faults: string[] },
): readonly NamedTexts[] {
  if (file === undefined) return [];
  const inFile = fileValues(file, { settings, otherSections });
  const beside = file.keys && keyValues(file.keys, settings);
  faults.push(...inFile.faults, ...beside?.faults ?? []);
  return [
    { texts: inFile.texts, place: `${file.path}: ` },
    { texts: beside?.texts, place: file.keys?.place ?? "" },
  ];
}

/** A text, and the name under which it was given. */
interface Given {
  readonly text: string;
  readonly where: string;
}

/** The text that takes precedence. */
interface Choice extends Given {
  readonly origin: SettingOrigin;
  /** Texts of the same setting by other names, from the same source. */
  readonly others: readonly Given[];
}

function chosen(
  setting: Setting,
  { flags, env = {}, written }: SettingSources & { readonly written: readonly NamedTexts[] },
): Choice {
  const { key, flag, env: variable, default: text } = setting;
  const [typed, ...othersTyped] = given(flagsOf(setting), { texts: flags, place: "flag " });
  if (typed !== undefined) return { origin: "flag", ...typed, others: othersTyped };
  // An empty variable counts as unset: manifests can't leave a variable out.
  const exported = variable === undefined ? "" : env[variable] ?? "";
  const atVariable = `env ${variable}`;
  if (exported !== "") {
    return { origin: "environment", text: exported, where: atVariable, others: [] };
  }
  const [first, ...others] = inFile(setting, written);
  if (first !== undefined) return { origin: "file", ...first, others };
  const where = [flag, variable && atVariable].filter(Boolean).join(" or ") || key;
  return { origin: DEFAULT, text, where, others: [] };
}

function inFile(setting: Setting, written: readonly NamedTexts[]): readonly Given[] {
  return written.flatMap((place) => given(fileKeysOf(setting), place));
}

function given(names: readonly string[], { texts, place }: NamedTexts): readonly Given[] {
  return names.flatMap((name) => {
    const text = texts?.get(name);
    return text === undefined ? [] : [{ text, where: `${place}${name}` }];
  });
}

type ReadError = ReturnType<SettingSchema<unknown>["safeParse"]>["error"];

/** The message of a kind continues the name of the source. */
function faultOf({ where }: Given, error: NonNullable<ReadError>): string {
  return `${where}${error.issues[0]?.message}`;
}

/** Faults of other names of the setting that have another value. */
function contradictions(
  schema: SettingSchema<unknown>,
  { text, where, others }: Choice,
): readonly string[] {
  const { data } = schema.safeParse(text);
  return others.filter((other) => other.text !== text).flatMap((other) => {
    const read = schema.safeParse(other.text);
    if (!read.success) return [faultOf(other, read.error)];
    if (data === undefined || read.data === data) return [];
    const quoted = [text, other.text].map((one) => JSON.stringify(one));
    return [
      `${where} is ${quoted[0]} and ${other.where} is ${quoted[1]}, ` +
      `but both are names of ${settingOf(schema).key}: keep one of them`,
    ];
  });
}

/** The value of the file to which a flag or a variable gives another value, if there is one. */
function overriddenBy(
  { origin, text, where }: Choice,
  { schema, written }: {
    readonly schema: SettingSchema<unknown>;
    readonly written: readonly NamedTexts[];
  },
): readonly OverriddenSetting[] {
  const { key } = settingOf(schema);
  const [first] = origin === "file" ? [] : inFile(settingOf(schema), written);
  if (first === undefined || first.text === text) return [];
  if (schema.safeParse(first.text).data === schema.safeParse(text).data) return [];
  return [{ key, inFile: first.text, holds: text, by: where }];
}
