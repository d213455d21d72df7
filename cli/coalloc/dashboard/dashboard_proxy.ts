/**
 * A local server in front of the dashboard: it adds the user's token, which the browser never has, and
 * answers one browser only.
 *
 * @module
 */
import type { DashboardAccess } from "../ports.ts";

/** What the proxy leads to. */
export interface ProxyParts {
  /** `host:port` of the dashboard. */
  readonly target: string;
  readonly token: DashboardAccess["token"];
  /** Opens the session of the first request that has it. */
  readonly key: string;
}

const COOKIE = "coallocator-session";

const OTHER_BROWSER =
  "This browser has not opened the printed address first, or it was opened by another browser: end " +
  "kubectl coalloc dashboard, and run it again\n";

/** The proxy as a handler of requests. */
export function dashboardProxy(
  { target, token, key }: ProxyParts,
): { fetch(request: Request): Promise<Response> } {
  const session = crypto.randomUUID();
  let isOpened = false;
  return {
    async fetch(request) {
      const { hostname, pathname, search, searchParams } = new URL(request.url);
      // A page of another host that resolves to this one.
      if (hostname !== "127.0.0.1") return new Response("Unknown host\n", { status: 403 });
      if (!isOpened && searchParams.get("key") === key) {
        isOpened = true;
        return opened(session);
      }
      const cookies = request.headers.get("cookie")?.split("; ") ?? [];
      if (!cookies.includes(`${COOKIE}=${session}`)) {
        return new Response(OTHER_BROWSER, { status: 403 });
      }
      if (request.method !== "GET") return new Response("Read only\n", { status: 405 });
      try {
        return await fetch(`http://${target}${pathname}${search}`, {
          redirect: "manual",
          headers: { authorization: `Bearer ${await token()}`, "accept-encoding": "identity" },
        });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return new Response(`Cannot reach the dashboard: ${reason}\n`, { status: 502 });
      }
    },
  };
}

/** Of the same site, so that the browser sends its cookie, whatever program opened this page. */
function opened(session: string): Response {
  return new Response('<!doctype html><meta http-equiv="refresh" content="0;url=/">', {
    headers: {
      "content-type": "text/html",
      "referrer-policy": "no-referrer",
      "set-cookie": `${COOKIE}=${session}; Path=/; HttpOnly; SameSite=Strict`,
    },
  });
}
