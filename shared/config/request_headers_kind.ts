/**
 * Headers that go with every request to a server, for instance the name of a tenant.
 *
 * @module
 */
import { namedTableKind } from "./named_table_kind.ts";
import type { SettingKind } from "./setting.ts";

/** Values by the headers' names. */
export type RequestHeaders = ReadonlyMap<string, string>;

const NAMES = {
  pattern: /^[A-Za-z0-9][-A-Za-z0-9]{0,62}$/,
  expected: "expected one of at most 63 letters, digits and -",
} as const;
/** Spaces within are none of the ends. */
const VALUE = /^[\x21-\x7e]([\x20-\x7e]{0,254}[\x21-\x7e])?$/;
/** The request's own, or the connection's. */
const OWN = new Set([
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

/** A map of names to values; without any, the map is empty. What a header says is never shown. */
export const requestHeadersKind: SettingKind<RequestHeaders> = namedTableKind({
  expects: "a map of names of HTTP headers to what they say, none of which is a secret",
  of: "a header",
  names: NAMES,
  read(value, name) {
    const header = name.toLowerCase();
    if (SECRET.test(header)) {
      return { fault: " looks like a secret, which has its place in the file of a login" };
    }
    if (OWN.has(header)) return { fault: " is a header that each request has already" };
    return VALUE.test(value)
      ? { value: value }
      : { fault: " says nothing that a header can, expected 1 to 256 visible characters" };
  },
});
