/**
 * The actuator as a library, `@coallocator/coallocator/resize`: from CPU limits that a pod should have
 * to the `pods/resize` patch that sets them, or the reason against it. No I/O.
 *
 * `docs/library.md` has an example.
 *
 * @module
 */
export { decide, type Decision, MANUAL_CHAIN } from "../../shared/resize/chain.ts";
export { type LimitChange, resizePatch } from "../../shared/resize/patch.ts";
export type { Pod } from "../../shared/api/pod.ts";
export { parsePod } from "./kinds/pods.ts";
