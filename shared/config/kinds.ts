/**
 * Kinds of values that settings have: schemas of the text of a flag, a variable or a value of the
 * file.
 *
 * @module
 */
import * as z from "zod";
import { formatDuration, parseDuration } from "../duration.ts";
import { countableCPU } from "../quantity.ts";

/**
 * Reads the text of a value. The message of its issue continues a sentence that begins with the source
 * of the text: ` is "9", expected a number from 1 to 8`.
 */
export type Kind<T> = z.ZodType<T, string>;

/** How the file has a value. Values of the other two forms than `scalar` are read from their JSON. */
export type FileForm = "scalar" | "map of texts" | "tree";

/** The parts of a kind that users see. */
export interface KindMeta {
  /** The form of a value, after "expected ", for instance `a whole number from 1 to 8192`. */
  readonly expects: string;
  readonly form: FileForm;
}

const KINDS = z.registry<KindMeta>();

/** The reason why a text is refused, where it says more than the whole text and the expected form. */
export class Refusal {
  /** A clause. */
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/**
 * A kind of the values that `read` returns. A string as `meta` is `expects` of a scalar. `read` refuses
 * a text by undefined, or by a {@linkcode Refusal} with a message that hides the text: it may be a secret.
 */
export function kindOf<T>(
  meta: string | KindMeta,
  read: (text: string) => T | Refusal | undefined,
): Kind<T> {
  const { expects, form }: KindMeta = typeof meta === "string"
    ? { expects: meta, form: "scalar" }
    : meta;
  return z.string().transform((text, context): T => {
    const value = read(text);
    const state = text === "" ? "is not set" : `is ${JSON.stringify(text)}`;
    let message = ` ${state}, expected ${expects}`;
    if (value instanceof Refusal) message = `${EXPLAINED}${value.reason}`;
    else if (value !== undefined) return value;
    context.issues.push({ code: "custom", message, input: text });
    return z.NEVER;
  }).register(KINDS, { expects, form });
}

const EXPLAINED = ": ";

/** The parts of the kind that users see. */
export function kindMeta(kind: Kind<unknown>): KindMeta {
  return KINDS.get(kind) ?? { expects: "a text", form: "scalar" };
}

/** The value of a text; undefined when the kind refuses it. */
export function valueOf<T>(kind: Kind<T>, text: string): T | undefined {
  return kind.safeParse(text).data;
}

/** The reason of the {@linkcode Refusal} of a text; undefined where there was none. */
export function refusalOf(kind: Kind<unknown>, text: string): string | undefined {
  const message = kind.safeParse(text).error?.issues[0]?.message;
  return message?.startsWith(EXPLAINED) ? message.slice(EXPLAINED.length) : undefined;
}

/** Bounds of a number, both included. */
export interface NumberBounds {
  /** @default {0} */
  readonly min?: number;
  readonly max: number;
  /** Whether only whole numbers are valid. @default {false} */
  readonly whole?: boolean;
}

/** Bounds of a duration, both included, ms. */
export interface DurationBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/** A decimal number within bounds. */
export function numberKind({ min = 0, max, whole = false }: NumberBounds): Kind<number> {
  const pattern = whole ? /^-?\d+$/ : /^-?(\d+(\.\d*)?|\.\d+)$/;
  return kindOf(`a ${whole ? "whole " : ""}number from ${min} to ${max}`, (text) => {
    const value = Number(text);
    return pattern.test(text) && value >= min && value <= max ? value : undefined;
  });
}

/** A CPU quantity such as `500m` or `2`, in millicores. */
export const cpuKind: Kind<number> = kindOf(
  "a CPU quantity, for instance 500m or 2",
  countableCPU,
);

/** A duration such as `250ms`, `1.5s`, `2m` or `1h`, in milliseconds. */
export function durationKind({ minMs, maxMs }: DurationBounds): Kind<number> {
  const [min, max] = [formatDuration(minMs), formatDuration(maxMs)];
  return kindOf(`a duration from ${min} to ${max}, for instance 250ms or 2s`, (text) => {
    const value = parseDuration(text);
    return value !== undefined && value >= minMs && value <= maxMs ? value : undefined;
  });
}

/** One of `terms`. */
export function choiceKind<const Choice extends string>(terms: readonly Choice[]): Kind<Choice> {
  const expects = terms.length === 1 ? `${terms[0]}` : `one of ${terms.join(", ")}`;
  return kindOf(expects, (text) => terms.find((term) => term === text));
}

const SWITCH: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["on", true],
  ["false", false],
  ["off", false],
]);

/** `true`, `on`, `false` or `off`. */
export const switchKind: Kind<boolean> = kindOf(
  "true, on, false or off",
  (text) => SWITCH.get(text),
);

/** A switch that is accepted for its name, and can only be on. */
export function alwaysOnKind(expects: string): Kind<boolean> {
  return kindOf(expects, (text) => SWITCH.get(text) === true ? true : undefined);
}

/** A text that matches the pattern; without one, any but the empty text. */
export function textKind(expects: string, pattern = /^./s): Kind<string> {
  return kindOf(expects, (text) => pattern.test(text) ? text : undefined);
}

/** Terms separated by commas, in the file also a list; none when the text is empty. */
export function termsKind(expects: string, pattern: RegExp): Kind<readonly string[]> {
  return kindOf(expects, (text) => {
    const terms = text.split(",").map((term) => term.trim()).filter((term) => term !== "");
    return terms.every((term) => pattern.test(term)) ? terms : undefined;
  });
}

/** Names of namespaces (RFC 1123, as Kubernetes has them). */
export const namespacesKind: Kind<readonly string[]> = termsKind(
  "names of namespaces, separated by commas",
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
);

/** A value that may be left out: null when the text is empty. */
export function optionalKind<T>(kind: Kind<T>): Kind<T | null> {
  return z.string().transform((text, context): T | null => {
    if (text === "") return null;
    const { data, error } = kind.safeParse(text);
    if (error === undefined) return data as T;
    for (const { message } of error.issues) {
      context.issues.push({ code: "custom", message, input: text });
    }
    return z.NEVER;
  }).register(KINDS, kindMeta(kind));
}

/** `host:port` or `:port` of an address to listen on; port 0 takes a free one. `8080` is `:8080`. */
export const listenKind: Kind<string> = kindOf(
  "an address to listen on, for instance :8080 or 127.0.0.1:8080",
  (text) => {
    const address = /^[1-9]\d{0,4}$/.test(text) ? `:${text}` : text;
    const [, host, port] = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]*):(\d{1,5})$/i.exec(address) ?? [];
    return host !== undefined && Number(port) <= 65_535 ? address : undefined;
  },
);

/** An address in its parts. */
export interface ListenAddress {
  /** `0.0.0.0` where none was given. */
  readonly hostname: string;
  readonly port: number;
}

/** The parts of `host:port` or `:port`. Throws a `SyntaxError` that names any other text. */
export function parseAddress(address: string): ListenAddress {
  const [, host, digits] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined || Number(digits) > 65_535) {
    throw new SyntaxError(
      `Cannot listen on "${address}": it is not an address, expected for instance :8080`,
    );
  }
  return { hostname: host.replace(/^\[(.*)\]$/, "$1") || "0.0.0.0", port: Number(digits) };
}

/** The address as `parseAddress()` reads it. */
export function formatAddress({ hostname, port }: ListenAddress): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

const IP_ADDRESS = z.union([z.ipv4(), z.ipv6()]);

/** An IPv4 or IPv6 address. */
export const addressKind: Kind<string> = kindOf(
  "an IP address",
  (text) => IP_ADDRESS.safeParse(text).data,
);
