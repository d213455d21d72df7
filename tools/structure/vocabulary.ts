/**
 * Words that only this project's authors would understand, or that treat pods and values as persons.
 *
 * @module
 */

/** Word by word: a pattern for lower-case text, and what to write instead. */
const VOCABULARY: readonly { readonly word: string; readonly instead: string }[] = [
  { word: "(?:un)?told|tells?|telling", instead: "published, reported, passed to" },
  { word: "hears?|(?:un)?heard", instead: "receives" },
  { word: "wish(?:es|ed)?", instead: "spec, request" },
  { word: "nobody|somebody|whoever|whom|who|whose", instead: "the noun" },
  { word: "news|tales?", instead: "events, report" },
  { word: "words?", instead: "message, reason" },
  { word: "surroundings", instead: "input" },
  { word: "seats?|seating", instead: "participant" },
  { word: "calm|restless", instead: "idle, near its limit" },
  { word: "strays?|strangers?", instead: "orphaned, unmanaged" },
  { word: "vain", instead: "ineffective" },
  { word: "laws?", instead: "algorithm" },
  { word: "gather(?:s|ed)?", instead: "snapshot" },
  { word: "held back|holds? back", instead: "throttled (time), blocked (a change)" },
  {
    word: "own limits?|the user's own (?:limit|value|request)s?",
    instead: "original limits, values",
  },
  { word: "keeps? house", instead: "garbage-collects" },
  { word: "busy server", instead: "API back-off" },
  { word: "won places", instead: "watched namespaces" },
  { word: "standing", instead: "in force, status" },
  { word: "(?<!changed )hands", instead: "appliers, passes, returns" },
  { word: "stands? over", instead: "takes precedence over" },
];

const PATTERNS = VOCABULARY.map(({ word, instead }) => ({
  pattern: new RegExp(`\\b(?:${word.replaceAll(" ", "\\s+")})\\b`, "g"),
  instead,
}));

/** Names that others have chosen, by the beginning of the paths where they occur. */
const FOREIGN: readonly (readonly [path: string, word: RegExp])[] = [
  ["tools/structure/", /^/],
  // The command line of zsh.
  ["cli/coalloc/completion/", /^words$/],
  ["tests/release/", /^words$/],
  // Members of stored rows.
  ["tests/golden/tables/placement/", /^(vain|wished)$/],
];

/** A private word in a text. */
export interface PrivateWord {
  readonly word: string;
  /** From 1. */
  readonly line: number;
  readonly instead: string;
}

/** The private words of the source or document at this path; identifiers are read word by word. */
export function privateWords(path: string, text: string): readonly PrivateWord[] {
  const foreign = FOREIGN.filter(([folder]) => path.startsWith(folder));
  const plain = text.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();
  return PATTERNS.flatMap(({ pattern, instead }) =>
    [...plain.matchAll(pattern)].map(({ 0: word, index }) => ({
      word: word.replaceAll(/\s+/g, " "),
      line: plain.slice(0, index).split("\n").length,
      instead,
    }))
  ).filter(({ word }) => !foreign.some(([, pattern]) => pattern.test(word)))
    .sort((a, b) => a.line - b.line);
}
