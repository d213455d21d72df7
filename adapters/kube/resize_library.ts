/**
 * The actuator as a library, `@coallocator/coallocator/resize`: from CPU limits that a pod should have
 * to the `pods/resize` patches that set them, or the reason against it. No I/O.
 *
 * `docs/library.md` has an example.
 *
 * @module
 */
export { decide, MANUAL_CHAIN } from "../../shared/resize/chain.ts";
export { patchParts, resizePatch } from "../../shared/resize/patch.ts";
export { refusalKind, refusalReason } from "../../shared/resize/refusal.ts";
export { parsePod } from "./kinds/pods.ts";
