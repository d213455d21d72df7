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
  readonly ignoredSections?: readonly string[];
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
    const given = givenTexts(setting, { ...sources, written });
    const read = one.safeParse(given[0].text);
    faults.push(...faultsOf(one, given));
    overridden.push(...overriddenBy(one, given));
    const { text, origin } = read.success ? given[0] : defaultOf(setting);
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

function unknownVariables(
  env: Readonly<Record<string, string>>,
  settings: readonly Setting[],
): string[] {
  const known = new Set(settings.flatMap(({ env: name }) => name ?? []));
  const isOurs = (name: string): boolean =>
    VARIABLE_PREFIXES.some((prefix) => name.startsWith(prefix));
  return Object.keys(env).filter((name) => isOurs(name) && !known.has(name)).map((name) => {
    const replacement = SPOTALIS_VARIABLES.get(name);
    const nearest = replacement === undefined ? nearestName(name, known) : replacement || undefined;
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
  { file, ignoredSections = [] }: SettingSources,
  { settings, faults }: { readonly settings: readonly Setting[]; readonly faults: string[] },
): readonly NamedTexts[] {
  if (file === undefined) return [];
  const inFile = fileValues(file, { settings, ignoredSections });
  const beside = file.keys && keyValues(file.keys, settings);
  faults.push(...inFile.faults, ...beside?.faults ?? []);
  return [
    { texts: inFile.texts, place: `${file.path}: ` },
    { texts: beside?.texts, place: file.keys?.place ?? "" },
  ];
}

/** A text, where it came from, and the name under which it was given. */
interface Given {
  readonly origin: SettingOrigin;
  readonly text: string;
  readonly where: string;
}

/** All texts of a setting: the one that takes precedence, then the others. */
type GivenTexts = readonly [Given, ...Given[]];

function givenTexts(
  setting: Setting,
  { flags, env = {}, written }: SettingSources & { readonly written: readonly NamedTexts[] },
): GivenTexts {
  const exported = setting.env === undefined ? "" : env[setting.env] ?? "";
  const given: readonly Given[] = [
    ...textsUnder(flagsOf(setting), { texts: flags, place: "flag ", origin: "flag" }),
    // An empty variable counts as unset: manifests can't leave a variable out.
    ...(exported === ""
      ? []
      : [{ origin: "environment", text: exported, where: `env ${setting.env}` } as const]),
    ...written.flatMap((one) => textsUnder(fileKeysOf(setting), { ...one, origin: "file" })),
  ];
  const [first, ...others] = given;
  const last = defaultOf(setting);
  return first === undefined ? [last] : [first, ...others, last];
}

function textsUnder(
  names: readonly string[],
  { texts, place, origin }: NamedTexts & Pick<Given, "origin">,
): readonly Given[] {
  return names.flatMap((name) => {
    const text = texts?.get(name);
    return text === undefined ? [] : [{ origin, text, where: `${place}${name}` }];
  });
}

function defaultOf({ key, flag, env, default: text }: Setting): Given {
  const where = [flag, env && `env ${env}`].filter(Boolean).join(" or ") || key;
  return { origin: "default", text, where };
}

/** Faults of the text, and of texts from the same source by other names of the setting. */
function faultsOf(
  schema: SettingSchema<unknown>,
  [choice, ...others]: GivenTexts,
): readonly string[] {
  const { data } = schema.safeParse(choice.text);
  const conflicting = others.filter(({ origin, text }) =>
    origin === choice.origin && text !== choice.text
  );
  return [choice, ...conflicting].flatMap((given) => {
    const read = schema.safeParse(given.text);
    // The message of a kind continues the name of the source.
    if (!read.success) return [`${given.where}${read.error.issues[0]?.message}`];
    if (given === choice || data === undefined || read.data === data) return [];
    const [one, other] = [choice, given].map(({ text, where }) =>
      `${where} is ${JSON.stringify(text)}`
    );
    const { key } = settingOf(schema);
    return [`${one} and ${other}, but both are names of ${key}: keep one of them`];
  });
}

/** The value of the file to which a flag or a variable gives another value, if there is one. */
function overriddenBy(
  schema: SettingSchema<unknown>,
  [{ origin, text, where }, ...others]: GivenTexts,
): readonly OverriddenSetting[] {
  const inFile = origin === "file" ? undefined : others.find((one) => one.origin === "file")?.text;
  if (inFile === undefined || inFile === text) return [];
  if (schema.safeParse(inFile).data === schema.safeParse(text).data) return [];
  return [{ key: settingOf(schema).key, inFile, holds: text, by: where }];
}
