/**
 * How to log in to a server: names of files, never what stands in them.
 *
 * @module
 */
import { quotedText } from "../quoted_text.ts";
import type { SettingKind } from "./setting.ts";

/** Where a login stands. Files are read again while the program runs: a Secret may change. */
export interface LoginFiles {
  /** A bearer token. */
  readonly tokenFile?: string;
  /** Basic authentication. */
  readonly user?: { readonly name: string; readonly passwordFile: string };
  /** Certificates of the authorities that may have signed the server's, PEM; absent: the usual ones. */
  readonly caFile?: string;
}

const NAMES = ["tokenFile", "user", "passwordFile", "caFile"] as const;
const EXPECTS =
  "tokenFile=FILE, or user=NAME passwordFile=FILE; and caFile=FILE where the server's certificate " +
  "is signed by an authority of its own";

/** Terms such as `user=reader passwordFile=/etc/mbcas/prometheus/password`; none: no login. */
export const loginFilesKind: SettingKind<LoginFiles> = {
  expects: EXPECTS,
  parse(text) {
    const read = readLoginFiles(text);
    return "fault" in read ? undefined : read;
  },
  explain(text) {
    const read = readLoginFiles(text);
    return "fault" in read ? read.fault : undefined;
  },
};

/**
 * The login, or what is wrong with the terms: a clause. Unknown terms are not shown: they may be
 * secret.
 */
export function readLoginFiles(text: string): LoginFiles | { readonly fault: string } {
  const found = new Map<string, string>();
  for (const term of text.split(/\s+/).filter((one) => one !== "")) {
    const equals = term.indexOf("=");
    const name = term.slice(0, Math.max(0, equals));
    if (!NAMES.some((one) => one === name)) {
      // What has no name, or another one, may be the secret itself.
      return { fault: `the login has a term that begins with none of ${NAMES.join("=, ")}=` };
    }
    if (found.has(name)) return { fault: `the login has ${name} twice` };
    const value = term.slice(equals + 1);
    if (value === "") return { fault: `${name} of the login is empty` };
    if (name !== "user" && !value.startsWith("/")) {
      return { fault: `${name} of the login is no absolute path of a file` };
    }
    if (name === "user" && value.includes(":")) {
      return {
        fault: `user of the login is ${quotedText(value)}, expected a name without a colon`,
      };
    }
    found.set(name, value);
  }
  const [tokenFile, name, passwordFile, caFile] = NAMES.map((term) => found.get(term));
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
