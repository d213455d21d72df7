/**
 * A setting as a row of its program's table. Flags, variables, the file, `--help` and the
 * documentation all come from this one table.
 *
 * @module
 */

/** How the text of a value is read. */
export interface SettingKind<T> {
  /** What a value looks like, after "expected ", for instance `a whole number from 1 to 8192`. */
  readonly expects: string;
  /** The value of a text; undefined when the text is not such a value. */
  parse(text: string): T | undefined;
  /**
   * What is wrong with a text that is not such a value, where that can be said better than by the
   * whole text and what was expected.
   */
  explain?(text: string): string | undefined;
  /** True when the value is a map of texts in the file; its text is that map as JSON. */
  readonly map?: true;
  /** True when the value may be a map or a list of such in the file; its text is then that as JSON. */
  readonly tree?: true;
}

/** One setting of a program. No setting holds a secret: the effective settings are printed. */
export interface Setting<T> {
  /**
   * Its place in the file, `section.name` or deeper. A key without a section can't stand in the file:
   * only flag and variable set it.
   */
  readonly key: string;
  /** With its dashes, for instance `--burst-factor`. */
  readonly flag?: string;
  /** The variable, for instance `MBCAS_BURST_FACTOR`. */
  readonly env?: string;
  /**
   * Names under which others' manifests set it: a flag with its dashes, or a key of the file. A key in
   * no section may also stand beside the file in a ConfigMap.
   */
  readonly aliases?: readonly string[];
  /** A hint for users that know the aliases from elsewhere: a clause. */
  readonly aliasNote?: string;
  /** The text of the value that holds where nothing else is said; may be empty. */
  readonly default: string;
  readonly description: string;
  readonly kind: SettingKind<T>;
  /** True when the value may stand in the place of its section, as in `market: off`. */
  readonly shorthand?: boolean;
  /** True when the program follows a change of the file without a restart. */
  readonly live?: boolean;
}

/** The settings of one program by the names that its code uses. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

/** The values of a table. */
export type SettingValues<T extends SettingTable> = {
  readonly [Name in keyof T]: T[Name] extends Setting<infer Value> ? Value : never;
};

/** The section of a key; undefined for one that can't stand in the file. */
export function sectionOf(key: string): string | undefined {
  const dot = key.indexOf(".");
  return dot < 0 ? undefined : key.slice(0, dot);
}

/** All flags of a setting, its own first. */
export function flagsOf({ flag, aliases = [] }: Setting<unknown>): readonly string[] {
  return [...(flag === undefined ? [] : [flag]), ...aliases.filter(isFlag)];
}

/** All keys under which a setting may stand in the file, its own first. */
export function fileKeysOf({ key, aliases = [] }: Setting<unknown>): readonly string[] {
  return [
    ...(sectionOf(key) === undefined ? [] : [key]),
    ...aliases.filter((name) => !isFlag(name)),
  ];
}

function isFlag(name: string): boolean {
  return name.startsWith("-");
}
