/**
 * The frame of all pages, and the pages without a view: the login, and refusals.
 *
 * @module
 */
import { html } from "hono/html";
import { VERSION } from "../../../shared/version.ts";
import type { Html } from "./parts.ts";

/** The content of a page. */
export interface Page {
  /** Title of the window. */
  readonly title: string;
  readonly content: Html;
}

const LINKS = [
  ["/", "Cluster"],
  ["/pods", "Pods"],
  ["/rightsizing", "Rightsizing"],
  ["/placement", "Placement"],
] as const;

/** The document around the content. */
export function document(
  { title, content }: Page,
  { path, user, cookie = false, live }: {
    /** Path of the page, which the navigation marks. */
    readonly path: string;
    /** Undefined before the login. */
    readonly user?: string | undefined;
    /** True where the browser holds the token, and can forget it. */
    readonly cookie?: boolean;
    /** Where its updates come from. */
    readonly live?: string | undefined;
  },
): Html {
  const section = path.startsWith("/nodes/") ? "/" : `/${path.split("/")[1] ?? ""}`;
  const links = LINKS.map(([href, name]) =>
    html`<li><a href="${href}"${
      section === href
        ? html`
          aria-current="page"
        `
        : ""
    }>${name}</a></li>`
  );
  return html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="/assets/uplot.css">
        <link rel="stylesheet" href="/assets/style.css">
        <title>${title} · CoAllocator</title>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
    <a class="brand" href="/">CoAllocator</a>
    ${user === undefined ? "" : html`
      <nav aria-label="Views">
        <ul>${links}</ul>
      </nav>
    `}
    ${user === undefined
      ? ""
      : html`<div class="user"><span title="${user}">${user}</span>${
        cookie ? html`<form method="post" action="/logout"><button>Log out</button></form>` : ""
      }</div>`}
        </header>
        <main id="content" tabindex="-1" ${live === undefined ? "" : html`
          data-live="${live}"
        `}>
    ${content}
        </main>
        <footer><span id="live"></span><br>Read only · CoAllocator ${VERSION}</footer>
        <script src="/assets/uplot.js" defer></script>
        <script src="/assets/live.js" type="module"></script>
      </body>
    </html>
  `;
}

/** Asks for a token; `namespace` is the installation's. */
export function loginPage(namespace: string, problem?: string): Page {
  return {
    title: "Log in",
    content: html`
      <h1>Log in with a token</h1>
      ${problem === undefined ? "" : html`
        <div class="notes" role="alert">
          <p>${problem}</p>
        </div>
      `}
      <p>The dashboard shows the namespaces in which the token's user may list pods.
      <code>kubectl coalloc dashboard</code> opens it without this step. Otherwise give the token of a ServiceAccount:</p>
      <p><code>kubectl create token mbcas-dashboard -n ${namespace}</code></p>
      <form class="token" method="post" action="/login">
        <label for="token">Token</label>
        <textarea id="token" name="token" required autocomplete="off" spellcheck="false"></textarea>
        <p><button>Log in</button></p>
      </form>
      <p
        class="caption">The browser keeps it in a cookie that scripts can't read, until the browser ends or you log out.</p>
    `,
  };
}

/** Says why there is nothing to see. */
export function messagePage(
  { title, message }: { readonly title: string; readonly message: string },
): Page {
  return {
    title,
    content: html`
      <h1>${title}</h1>
      <p class="lead">${message}</p>
    `,
  };
}
