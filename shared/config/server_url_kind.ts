/**
 * The address of a server that is asked over HTTP.
 *
 * @module
 */
import type { SettingKind } from "./setting.ts";

/**
 * `http://host:port` or `https://…`, with a path where the server stands behind one; the value has no
 * slash at its end. A login in it is refused: settings are printed.
 */
export const serverURLKind: SettingKind<string> = {
  expects: "the address of a server, for instance http://prometheus.monitoring:9090",
  parse(text) {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
    if (url.search !== "" || url.hash !== "" || hasLogin(url)) return undefined;
    return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  },
  explain(text) {
    const url = URL.parse(text);
    return url !== null && hasLogin(url)
      ? "the address has a user or password in it, which every log would show"
      : undefined;
  },
};

function hasLogin({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}
