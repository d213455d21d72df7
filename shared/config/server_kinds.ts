/**
 * Kinds of settings about servers that the programs send requests to: address, login, headers, and
 * matchers of PromQL.
 *
 * @module
 */
import { quotedText } from "../quoted_text.ts";
import { type Kind, kindOf, Refusal } from "./kinds.ts";
import { namedTableKind } from "./map_kinds.ts";

/**
 * `http://host:port` or `https://…`, with a path where the server stands behind one; the value has no
 * slash at its end. A login in it is refused: settings are printed.
 */
export const serverURLKind: Kind<string> = kindOf(
  "the address of a server, for instance http://prometheus.monitoring:9090",
  (text) => {
    const url = URL.parse(text);
    if (url === null) return undefined;
    if (hasLogin(url)) {
      return new Refusal("the address has a user or password in it, which every log would show");
    }
    if (!/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") return undefined;
    return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  },
);

function hasLogin({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}

/** Files of a login. They are read again while the program runs: a Secret may change. */
export interface LoginFiles {
  /** A bearer token. */
  readonly tokenFile?: string;
  /** Basic authentication. */
  readonly user?: { readonly name: string; readonly passwordFile: string };
  /** Certificates of the authorities that may have signed the server's, PEM; absent: the usual ones. */
  readonly caFile?: string;
}

const LOGIN_TERMS = ["tokenFile", "user", "passwordFile", "caFile"] as const;
/** Terms such as `user=reader passwordFile=/etc/mbcas/prometheus/password`; none: no login. */
export const loginFilesKind: Kind<LoginFiles> = kindOf(
  "tokenFile=FILE, or user=NAME passwordFile=FILE; and caFile=FILE if a private authority signed " +
    "the server's certificate",
  (text): LoginFiles | Refusal => {
    const read = readLoginFiles(text);
    return "fault" in read ? new Refusal(read.fault) : read;
  },
);

/** The login, or the fault of the terms: a clause. Unknown terms are not shown: they may be secret. */
export function readLoginFiles(text: string): LoginFiles | { readonly fault: string } {
  const found = new Map<string, string>();
  for (const term of text.split(/\s+/).filter((one) => one !== "")) {
    const equals = term.indexOf("=");
    const name = term.slice(0, Math.max(0, equals));
    if (!LOGIN_TERMS.some((one) => one === name)) {
      return { fault: `the login has a term that begins with none of ${LOGIN_TERMS.join("=, ")}=` };
    }
    if (found.has(name)) return { fault: `the login has ${name} twice` };
    const value = term.slice(equals + 1);
    if (value === "") return { fault: `${name} of the login is empty` };
    if (name !== "user" && !value.startsWith("/")) {
      return { fault: `${name} of the login is not an absolute path of a file` };
    }
    if (name === "user" && value.includes(":")) {
      return {
        fault: `user of the login is ${quotedText(value)}, expected a name without a colon`,
      };
    }
    found.set(name, value);
  }
  const [tokenFile, name, passwordFile, caFile] = LOGIN_TERMS.map((term) => found.get(term));
  if (tokenFile !== undefined && (name ?? passwordFile) !== undefined) {
    return { fault: "the login has both a token and a user, expected one of them" };
  }
  if ((name === undefined) !== (passwordFile === undefined)) {
    return { fault: "the login has one of user and passwordFile, expected both" };
  }
  return {
    ...(tokenFile === undefined ? {} : { tokenFile }),
    ...(name === undefined || passwordFile === undefined ? {} : { user: { name, passwordFile } }),
    ...(caFile === undefined ? {} : { caFile }),
  };
}

/** Values by the names of the headers. */
export type RequestHeaders = ReadonlyMap<string, string>;

const HEADER_NAMES = {
  pattern: /^[A-Za-z0-9][-A-Za-z0-9]{0,62}$/,
  expected: "expected one of at most 63 letters, digits and -",
} as const;
/** Visible characters, with spaces between them. */
const VALUE = /^[\x21-\x7e]([\x20-\x7e]{0,254}[\x21-\x7e])?$/;
/** Headers that each request or its connection has already. */
const RESERVED_HEADERS = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
/** Settings are printed, so none of them holds a secret. */
const SECRET = /auth|cookie|token|secret|password|passwd|credential|key/;

/** A map of names to values; without any, the map is empty. Faults never show a value. */
export const requestHeadersKind: Kind<RequestHeaders> = namedTableKind({
  expects: "a map of HTTP header names to values, none of them a secret",
  noun: "a header",
  names: HEADER_NAMES,
  read(value, name) {
    const header = name.toLowerCase();
    if (SECRET.test(header)) {
      return {
        fault: " looks like a secret, and settings are printed; a login sends Authorization alone",
      };
    }
    if (RESERVED_HEADERS.has(header)) {
      return { fault: " is a header that each request has already" };
    }
    return VALUE.test(value)
      ? { value }
      : { fault: " has a value that a header can't have, expected 1 to 256 visible characters" };
  },
});

/** One matcher, `cluster="prod"`. */
const MATCHER = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*")\s*(,|$)/y;
/** Labels that each query has matchers of already. */
const RESERVED_LABELS = ["namespace", "pod", "container", "__name__"];

/**
 * Matchers in the form of a selector, each formatted from its parsed parts, so that nothing else gets
 * into a query. None where there is no text.
 */
export const labelMatchersKind: Kind<readonly string[]> = kindOf(
  'label matchers as in PromQL, for instance cluster="prod",stage!~"dev|test", for labels other ' +
    `than ${RESERVED_LABELS.join(", ")}`,
  (text) => {
    const found: string[] = [];
    const pattern = new RegExp(MATCHER);
    for (let next = text === "" ? "" : ","; next === ",";) {
      const [, label = "", operator = "", quoted = "", separator = ""] = pattern.exec(text) ?? [];
      const value = stringOf(quoted);
      if (value === undefined || RESERVED_LABELS.includes(label)) return undefined;
      found.push(`${label}${operator}${JSON.stringify(value)}`);
      next = separator;
    }
    return found;
  },
);

/** Reads a string of Go with the escapes that JSON has, too. */
function stringOf(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted);
  } catch {
    return undefined;
  }
}
