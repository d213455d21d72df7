/**
 * Sets a global `require` for CommonJS packages in a bundle; a program imports this first.
 *
 * `deno bundle` and `deno compile --bundle` insert `createRequire()` themselves, but with `--minify` find
 * the place only under some names of a variable; otherwise the program ends at its start with "Dynamic
 * require of … is not supported". The bundled code looks for a global `require` first.
 *
 * @module
 */
import { createRequire } from "node:module";

Object.assign(globalThis, { require: createRequire(import.meta.url) });
