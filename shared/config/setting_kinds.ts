/**
 * The kinds of values that settings have. Each reads the text of a flag, a variable or a scalar of
 * the file.
 *
 * @module
 */
import { formatDuration, parseDuration } from "../duration.ts";
import { countableCPU } from "../quantity.ts";
import type { SettingKind } from "./setting.ts";

/** Bounds of a number, both included. */
export interface NumberBounds {
  /**
   * Least value.
   *
   * @default {0}
   */
  readonly least?: number;
  /** Greatest value. */
  readonly most: number;
  /**
   * True for whole numbers only.
   *
   * @default {false}
   */
  readonly whole?: boolean;
}

/** Bounds of a duration, both included, ms. */
export interface DurationBounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** A decimal number within bounds. */
export function numberKind({ least = 0, most, whole = false }: NumberBounds): SettingKind<number> {
  return {
    expects: `a ${whole ? "whole " : ""}number from ${least} to ${most}`,
    parse(text) {
      const pattern = whole ? /^-?\d+$/ : /^-?(\d+(\.\d*)?|\.\d+)$/;
      const value = Number(text);
      return pattern.test(text) && value >= least && value <= most ? value : undefined;
    },
  };
}

/** A CPU quantity such as `500m` or `2`, in millicores. */
export const cpuKind: SettingKind<number> = {
  expects: "a CPU quantity, for instance 500m or 2",
  parse: countableCPU,
};

/** A duration such as `250ms`, `1.5s`, `2m` or `1h`, in milliseconds. */
export function durationKind({ leastMs, mostMs }: DurationBounds): SettingKind<number> {
  return {
    expects: `a duration from ${formatDuration(leastMs)} to ${
      formatDuration(mostMs)
    }, for instance 250ms or 2s`,
    parse(text) {
      const value = parseDuration(text);
      return value !== undefined && value >= leastMs && value <= mostMs ? value : undefined;
    },
  };
}

/** One of these words. */
export function choiceKind<const Word extends string>(words: readonly Word[]): SettingKind<Word> {
  return {
    expects: words.length === 1 ? `${words[0]}` : `one of ${words.join(", ")}`,
    parse: (text) => words.find((word) => word === text),
  };
}

const SWITCH: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  false: false,
  off: false,
};

/** `true`, `on`, `false` or `off`. */
export const switchKind: SettingKind<boolean> = {
  expects: "true, on, false or off",
  parse: (text) => Object.hasOwn(SWITCH, text) ? SWITCH[text] : undefined,
};

/** Any text but the empty one. */
export function textKind(expects: string): SettingKind<string> {
  return { expects, parse: (text) => text === "" ? undefined : text };
}

/** Words separated by commas, in the file also a list; none when the text is empty. */
export function wordsKind(expects: string, pattern: RegExp): SettingKind<readonly string[]> {
  return {
    expects,
    parse(text) {
      const words = text.split(",").map((word) => word.trim()).filter((word) => word !== "");
      return words.every((word) => pattern.test(word)) ? words : undefined;
    },
  };
}

/** A value that may be left out: null when the text is empty. */
export function optionalKind<T>(kind: SettingKind<T>): SettingKind<T | null> {
  return { ...kind, parse: (text) => text === "" ? null : kind.parse(text) };
}

/** `host:port` or `:port` of an address to listen on; port 0 takes a free one. `8080` is `:8080`. */
export const listenKind: SettingKind<string> = {
  expects: "an address to listen on, for instance :8080 or 127.0.0.1:8080",
  parse(text) {
    if (/^[1-9]\d{0,4}$/.test(text)) return listenKind.parse(`:${text}`);
    const [, host, port] = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]*):(\d{1,5})$/i.exec(text) ?? [];
    return host !== undefined && Number(port) <= 65_535 ? text : undefined;
  },
};

/** An IPv4 or IPv6 address. */
export const addressKind: SettingKind<string> = {
  expects: "an IP address",
  parse(text) {
    const isFour = /^\d{1,3}(\.\d{1,3}){3}$/.test(text) &&
      text.split(".").every((part) => Number(part) <= 255);
    const isSix = text.includes(":") && URL.canParse(`http://[${text}]/`);
    return isFour || isSix ? text : undefined;
  },
};
