/**
 * Gives CommonJS packages a `require` for Node's built-in modules where they are part of a bundle.
 *
 * `deno bundle` and `deno compile --bundle` with `--minify` put `createRequire()` there themselves, but
 * find the place by the name of a variable that minifying has chosen: with another name the program
 * ends at its start with "Dynamic require of … is not supported". The code they leave there looks for a
 * global `require` first. A program imports this before all else.
 *
 * @module
 */
import { createRequire } from "node:module";

Object.assign(globalThis, { require: createRequire(import.meta.url) });
