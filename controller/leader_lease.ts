/**
 * The Lease over which the controllers agree.
 *
 * @module
 */

/** Its name; the Role names it too. */
export const LEADER_LEASE = "mbcas-controller";
