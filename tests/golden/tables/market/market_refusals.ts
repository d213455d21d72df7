/**
 * Refusals of a resize by API servers 1.33 to 1.36, by policy engines and by a quota.
 *
 * @module
 */
import type { RawRefusal } from "./market_input.ts";

const forbidden = 'pods "web" is forbidden: ';

/** Each reason of a refusal at least once. */
export const MARKET_REFUSALS: readonly RawRefusal[] = [
  { code: 400, message: 'admission webhook "policy.example.com" denied the request: no' },
  { code: 422, message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no" },
  { code: 403, message: `${forbidden}exceeded quota: q, requested: limits.cpu=100m` },
  { code: 403, message: `${forbidden}maximum cpu usage per Container is 1, but limit is 2` },
  { code: 403, message: `${forbidden}node didn't have enough capacity`, causes: ["NodeCapacity"] },
  { code: 422, message: "pods with pod-level resources cannot be resized" },
  { code: 422, message: "static pods cannot be resized" },
  { code: 422, message: "windows pods cannot be resized", causes: ["UnsupportedPlatform"] },
  { code: 422, message: "pods with node allocatable resource claims cannot be resized" },
  { code: 422, message: "Pod running on node without support for resize" },
  { code: 422, message: "Pod QOS Class may not change as a result of resizing" },
  { code: 404, message: 'pods "web" not found' },
  { code: 409, message: "the object has been modified" },
  { code: 429, message: "too many requests" },
  { code: 500, message: "failed calling webhook" },
  { code: 503, message: "the server is not available" },
  { code: 422, message: "something else" },
];
