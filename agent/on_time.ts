/**
 * When something that a loop does now and then is due.
 *
 * @module
 */

/** Ticks of a loop come a little early or late; this share of the time between two is still on time. */
export const ON_TIME = 0.9;
