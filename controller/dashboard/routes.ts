/**
 * The whole site: each view as a page, as JSON below `/api`, and as a stream of its updates below `/live`.
 *
 * @module
 */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { csrf } from "hono/csrf";
import { HTTPException } from "hono/http-exception";
import { secureHeaders } from "hono/secure-headers";
import { streamSSE } from "hono/streaming";
import charts from "uplot/dist/uPlot.iife.min.js" with { type: "text" };
import chartStyle from "uplot/dist/uPlot.min.css" with { type: "text" };
import { ApiError } from "../../shared/api/api_error.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type { Access, Viewer } from "./access.ts";
import type { Collector } from "./collector.ts";
import { document, loginPage, messagePage, type Page } from "./pages/layout.ts";
import type { Html } from "./pages/parts.ts";
import { VIEWS } from "./site.ts";
import live from "./client/live.js" with { type: "text" };
import style from "./client/style.css" with { type: "text" };
import type { DashboardState } from "./state.ts";

/** The parts of the site. */
export interface DashboardParts {
  /** The installation's. */
  readonly namespace: string;
  readonly access: Access;
  readonly state: DashboardState;
  readonly collector: Pick<Collector, "onRound">;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends streams when it is aborted. */
  readonly signal: AbortSignal;
}

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** The pages' files, embedded in the program, by the last part of the path: content type and text. */
const ASSETS: Readonly<Record<string, readonly [type: string, text: string]>> = {
  "uplot.js": [SCRIPT, charts],
  "uplot.css": [STYLE, chartStyle],
  "live.js": [SCRIPT, live],
  "style.css": [STYLE, style],
};

const COOKIE = "coallocator-token";

/** Streams of updates that are open at the same time, of all users and of one. */
const MOST_STREAMS = 100;
const MOST_OF_A_USER = 20;

/** Between the updates of two streams, ms, so that the controller does other work in between. */
const APART_MS = 50;

/** Browsers drop cookies of more than 4096 characters with name and attributes. */
const MOST_TOKEN_LENGTH = 4000;

/** Longest body of a request: a login form with its token. */
const MOST_BODY_BYTES = 65_536;

/** The token of a request, and the access of its user. */
export interface Login {
  readonly viewer: Viewer;
  readonly token: string;
  readonly cookie: boolean;
}

/** Values that the handlers share. */
export type Variables = { Variables: { login: Login } };

/** The site as a handler of requests. */
export function dashboardRoutes(parts: DashboardParts): Hono<Variables> {
  const app = new Hono<Variables>();
  const streams: Streams = new Map();
  app.use(secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["data:"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    referrerPolicy: "no-referrer",
    xFrameOptions: "DENY",
    // The server speaks plain HTTP; a proxy before it may terminate TLS, and sets this header itself.
    strictTransportSecurity: false,
  }));
  app.use(csrf());
  app.use(bodyLimit({ maxSize: MOST_BODY_BYTES }));
  app.use(async (context, next) => {
    await next();
    context.header("cache-control", "no-store");
  });
  app.get("/assets/:name", (context) => {
    const name = context.req.param("name");
    const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
    if (asset === undefined) return context.notFound();
    const [type, text] = asset;
    return context.body(text, 200, { "content-type": type });
  });
  app.get(
    "/login",
    (context) => context.html(document(loginPage(parts.namespace), { path: "/login" })),
  );
  app.post("/login", (context) => logIn(context, parts));
  app.post("/logout", (context) => {
    deleteCookie(context, COOKIE, { path: "/" });
    return context.redirect("/login", 303);
  });
  app.use(async (context, next) => {
    context.set("login", await loginOf(context, parts));
    await next();
  });
  for (const { path, page, json } of VIEWS) {
    const request = (context: Context<Variables>) => ({
      viewer: context.get("login").viewer,
      nowMs: parts.clock.wall(),
      param: (name: string): string => context.req.param(name) ?? "",
      query: (name: string): string | undefined => context.req.query(name) || undefined,
    });
    app.get(
      path,
      async (context) =>
        context.html(documentOf(context, await page(parts.state, request(context)))),
    );
    app.get(
      path === "/" ? "/api/cluster" : `/api${path}`,
      async (context) => context.json(await json(parts.state, request(context))),
    );
    app.get(
      `/live${path}`,
      (context) =>
        streamUpdates(context, { ...parts, streams }, () => page(parts.state, request(context))),
    );
  }
  app.notFound(() => {
    throw new HTTPException(404, { message: "This page does not exist" });
  });
  app.onError((error, context) => {
    if (!(error instanceof HTTPException)) {
      parts.log.warn("The dashboard failed to answer", { error: String(error) });
    }
    return errorResponse(context, { error, namespace: parts.namespace });
  });
  return app;
}

function documentOf(context: Context<Variables>, page: Page): Html {
  const { path, url } = context.req;
  const { viewer, cookie } = context.get("login");
  const live = `/live${path}${new URL(url).search}`;
  return document(page, { path, user: viewer.name, cookie, live });
}

/** The login by the bearer token of the header, or by the cookie. */
async function loginOf(context: Context, { access }: DashboardParts): Promise<Login> {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(context.req.header("authorization") ?? "") ?? [];
  const token = bearer ?? getCookie(context, COOKIE);
  const viewer = token === undefined ? undefined : await access.viewerOf(token);
  if (token === undefined || viewer === undefined) {
    const message = token === undefined
      ? "Give a token"
      : "The API server does not accept the token: it may have expired";
    throw new HTTPException(401, { message });
  }
  return { viewer, token, cookie: bearer === undefined };
}

async function logIn(
  context: Context,
  { access, namespace }: DashboardParts,
): Promise<Response> {
  const { token } = await context.req.parseBody();
  const text = typeof token === "string" ? token.trim() : "";
  const again = (reason: string): Response | Promise<Response> =>
    context.html(document(loginPage(namespace, reason), { path: "/login" }), 401);
  if (text.length > MOST_TOKEN_LENGTH) {
    return await again(
      `A cookie cannot hold this token: it has ${text.length} characters; use kubectl coalloc dashboard.`,
    );
  }
  const viewer = /^\S+$/.test(text) ? await access.viewerOf(text) : undefined;
  if (viewer === undefined) return await again("The API server does not accept this token.");
  setCookie(context, COOKIE, text, {
    path: "/",
    httpOnly: true,
    sameSite: "Strict",
    secure: context.req.header("x-forwarded-proto")?.startsWith("https") ?? false,
  });
  return context.redirect("/", 303);
}

/** Streams the page's content after each round of the collector, as long as the token is accepted. */
function streamUpdates(
  context: Context<Variables>,
  { access, clock, collector, signal, streams }: DashboardParts & { readonly streams: Streams },
  page: () => Promise<Page>,
): Response {
  // hono answers HEAD as GET without reading the body: the stream would never end.
  if (context.req.method !== "GET") throw new HTTPException(405, { message: "Use GET" });
  const { token, viewer: { name } } = context.get("login");
  const ofUser = [...streams.values()].filter((one) => one === name).length;
  if (streams.size >= MOST_STREAMS || ofUser >= MOST_OF_A_USER) {
    throw new HTTPException(503, { message: "Too many pages are open" });
  }
  return streamSSE(context, async (stream) => {
    streams.set(stream, name);
    const ended = Promise.withResolvers<void>();
    const end = (): void => ended.resolve();
    let sending = false;
    async function send(): Promise<void> {
      // The client has not received the last update: it connects again when it can.
      if (sending) return stream.abort();
      sending = true;
      try {
        await clock.sleep([...streams.keys()].indexOf(stream) * APART_MS, signal);
        if (!streams.has(stream)) return;
        if (await access.viewerOf(token) === undefined) {
          await stream.writeSSE({ event: "end", data: "The token has expired: log in again" });
          return end();
        }
        const { content } = await page();
        await stream.writeSSE({ event: "page", data: JSON.stringify(String(await content)) });
      } catch (error) {
        if (!(error instanceof HTTPException)) return end();
        await stream.writeSSE({ event: "end", data: error.message });
        end();
      } finally {
        sending = false;
      }
    }
    const unsubscribe = collector.onRound(() => void send());
    stream.onAbort(end);
    signal.addEventListener("abort", end, { once: true });
    try {
      await ended.promise;
    } finally {
      streams.delete(stream);
      unsubscribe();
      signal.removeEventListener("abort", end);
    }
  });
}

/** The users of the open streams. */
type Streams = Map<unknown, string>;

const TITLES: Readonly<Record<number, string>> = {
  403: "You may not see this",
  404: "Page not found",
  503: "Not now",
};

/** An error as JSON below `/api` and `/live`, and as a page elsewhere; without an accepted token, the login. */
async function errorResponse(
  context: Context,
  { error, namespace }: { readonly error: Error } & Pick<DashboardParts, "namespace">,
): Promise<Response> {
  const known = error instanceof HTTPException
    ? error
    : error instanceof ApiError
    ? new HTTPException(502, { message: "Cannot answer: the API server can't be asked" })
    : new HTTPException(500, { message: "Cannot answer: the controller's log says why" });
  const { status, message } = known;
  if (status === 401) context.header("www-authenticate", "Bearer");
  const { path } = context.req;
  if (/^\/(api|live)(\/|$)/.test(path)) return context.json({ error: message }, status);
  const page = status === 401
    ? loginPage(namespace, message === "Give a token" ? undefined : message)
    : messagePage({ title: TITLES[status] ?? "Cannot show this page", message });
  const login = (context as Context<Variables>).get("login");
  return await context.html(document(page, { path, user: login?.viewer.name }), status);
}
