/**
 * Objects of manifests as text of Helm's templates.
 *
 * @module
 */
import { stringify } from "yaml";
import { isMembers } from "../../../shared/members.ts";

/** A map of whatever values. */
export type Members = Readonly<Record<string, unknown>>;

/** An object as it is from a condition on: with one more component. */
export interface Version {
  /** For `{{ if }}`; empty for the base, which needs none. */
  readonly condition: string;
  readonly value: unknown;
}

const IF = "@if ";
const END = "@end";
const VALUE = "@value ";
const YAML = "@yaml ";
const INLINE = "@inline ";

/** Stands for `{{ expression }}`. */
export function valueOf(expression: string): string {
  return VALUE + expression;
}

/** Stands for the YAML of an expression's value, a map or a list. */
export function yamlOf(expression: string): string {
  return YAML + expression;
}

/** Stands for the members of an expression's value, beside others in a map. */
export function inlined(expression: string): Members {
  return { [INLINE + expression]: null };
}

/** Stands for the items of an expression's value, beside others in a list. */
export function inlinedItems(expression: string): string {
  return INLINE + expression;
}

/** Keys that are there under a condition, in a map. */
export function keysUnder(condition: string, keys: Members): Members {
  const id = Object.keys(keys).join();
  return { [`${IF}${condition} #${id}`]: null, ...keys, [`${END} #${id}`]: null };
}

/**
 * One object of all its versions, each of which adds keys of maps or items at the end of lists to the
 * one before. Throws an `Error` where a version changes or removes a value: a template can't follow.
 */
export function merged(versions: readonly Version[], place = ""): unknown {
  const last = versions.at(-1)?.value;
  if (Array.isArray(last)) {
    const lists = versions.map(({ value }) => asList(value, place));
    return last.flatMap((_, index) => {
      const those = versions.flatMap(({ condition }, at) => {
        const value = lists[at]?.[index];
        return value === undefined ? [] : [{ condition, value }];
      });
      const item = merged(those, `${place}/${index}`);
      const condition = those[0]?.condition ?? "";
      return condition === versions[0]?.condition ? [item] : [IF + condition, item, END];
    });
  }
  if (isMembers(last)) {
    const maps = versions.map(({ value }) => isMembers(value) ? value : different(place));
    return Object.assign(
      {},
      ...Object.keys(last).map((key): Members => {
        const those = versions.flatMap(({ condition }, at) => {
          const value = maps[at]?.[key];
          return value === undefined ? [] : [{ condition, value }];
        });
        const value = merged(those, `${place}/${key}`);
        const condition = those[0]?.condition ?? "";
        return condition === versions[0]?.condition
          ? { [key]: value }
          : keysUnder(condition, { [key]: value });
      }),
    );
  }
  return versions.every(({ value }) => value === last) ? last : different(place);
}

function asList(value: unknown, place: string): readonly unknown[] {
  return Array.isArray(value) ? value : different(place);
}

function different(place: string): never {
  throw new Error(
    `Cannot make the chart: a component changes ${place}, expected only new keys and items at the ` +
      "end of lists",
  );
}

/** The text of a template with this object; `texts` are expressions that stand for texts in it. */
export function templateText(
  object: unknown,
  texts: Readonly<Record<string, string>> = {},
): string {
  const text = stringify(object, { lineWidth: 0, version: "1.1" })
    .replaceAll("{{", '{{ "{{" }}')
    .replace(/^ *(?:- )?"@if (.*?)(?: #.*)?"(?:: null)?$/gm, "{{- if $1 }}")
    .replace(/^ *(?:- )?"@end(?: #.*)?"(?:: null)?$/gm, "{{- end }}")
    // Neighbours under one condition.
    .replace(/(?<=^\{\{- if (.*) \}\}\n(?:[^{].*\n)+)\{\{- end \}\}\n\{\{- if \1 \}\}\n/gm, "")
    .replace(/"@value (.*)"$/gm, "{{ $1 }}")
    .replace(
      /^( *)(?:- "@inline (.*)"|"@inline (.*)": null)$/gm,
      (_, { length }: string, items: string | undefined, members: string | undefined) =>
        `{{- with ${items ?? members} }}\n{{- toYaml . | nindent ${length} }}\n{{- end }}`,
    )
    .replace(
      /^( *)(.*): "@yaml (.*)"$/gm,
      (_, indent: string, key: string, expression: string) =>
        `${indent}${key}:\n${indent}{{- toYaml ${expression} | nindent ${indent.length + 2} }}`,
    );
  return Object.entries(texts).reduce(
    (known, [part, expression]) =>
      known
        // A whole value is quoted: a namespace may be a number.
        .replace(
          new RegExp(`(?<=(?:: |- ))${RegExp.escape(part)}$`, "gm"),
          `{{ ${expression} | quote }}`,
        )
        .replaceAll(part, `{{ ${expression} }}`),
    text,
  );
}
