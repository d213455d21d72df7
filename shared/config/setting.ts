/**
 * Settings of a program: a zod object with one schema per setting, from which flags, variables, the
 * file, `--help` and the documentation follow.
 *
 * @module
 */
import * as z from "zod";
import { namesOf, type SetOnlyBy, type SettingNames } from "./aliases.ts";
import { type FileForm, type Kind, kindMeta, valueOf } from "./kinds.ts";

/** A setting's default and description, beside its key and kind. */
export interface SettingRules {
  /** The text of the default; may be empty. */
  readonly default: string;
  readonly description: string;
  /** True when the program follows a change of the file without a restart. @default {false} */
  readonly live?: boolean;
  /** True when the value may take the place of its section, as in `market: off`. @default {false} */
  readonly shorthand?: boolean;
  /** Where it can be set. @default everywhere */
  readonly onlyBy?: SetOnlyBy;
}

/** One setting of a program. No setting holds a secret: the effective settings are printed. */
export interface Setting extends SettingNames, SettingRules {
  /**
   * Its place in the file, `section.name` or deeper. A key without a section can't be in the file:
   * only flag and variable set it.
   */
  readonly key: string;
  /** See {@linkcode KindMeta}. */
  readonly expects: string;
  readonly form: FileForm;
  /** True when its flag may lack a value, which means `true`. */
  readonly isSwitch: boolean;
}

/** The schema of one setting: reads a text, or none for the default. */
export type SettingSchema<T> = z.ZodType<T, string | undefined>;

/** The settings of one program or feature by the names that its code uses. */
export type SettingsSchema = z.ZodObject<Readonly<Record<string, SettingSchema<unknown>>>>;

/** The values of settings. */
export type SettingValues<S extends SettingsSchema> = Readonly<z.output<S>>;

const SETTINGS = z.registry<Setting>();

/** A setting; its key gives its names, see {@linkcode namesOf}. */
export function setting<T>(
  key: string,
  { kind, ...rules }: SettingRules & { readonly kind: Kind<T> },
): SettingSchema<T> {
  return kind.prefault(rules.default).register(SETTINGS, {
    key,
    ...rules,
    ...namesOf(key, rules.onlyBy),
    ...kindMeta(kind),
    isSwitch: typeof valueOf(kind, rules.default) === "boolean",
  });
}

/** The setting behind its schema. Throws a `TypeError` for another schema. */
export function settingOf(schema: SettingSchema<unknown>): Setting {
  const found = SETTINGS.get(schema);
  if (found === undefined) throw new TypeError("Cannot describe the setting: setting() made none");
  return found;
}

/** All settings of a schema, in the order in which they are shown. */
export function settingsOf(schema: SettingsSchema): readonly Setting[] {
  return Object.values(schema.shape).map(settingOf);
}

/** The section of a key; undefined for one that can't be in the file. */
export function sectionOf(key: string): string | undefined {
  const dot = key.indexOf(".");
  return dot < 0 ? undefined : key.slice(0, dot);
}

/** All flags of a setting; aliases last. */
export function flagsOf({ flag, aliases }: SettingNames): readonly string[] {
  return [...(flag === undefined ? [] : [flag]), ...aliases.filter(isFlag)];
}

/** All keys under which a setting may be in the file; aliases last. */
export function fileKeysOf({ key, aliases }: Setting): readonly string[] {
  return [
    ...(sectionOf(key) === undefined ? [] : [key]),
    ...aliases.filter((name) => !isFlag(name)),
  ];
}

function isFlag(name: string): boolean {
  return name.startsWith("-");
}
