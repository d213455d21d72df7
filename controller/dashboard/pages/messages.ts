/**
 * The login, and pages that say why there is none.
 *
 * @module
 */
import { html } from "hono/html";
import type { Page } from "./layout.ts";

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
