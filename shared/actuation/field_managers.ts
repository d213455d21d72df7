/**
 * The names under which this product patches limits. Which of them is on record tells whose value a
 * limit is, also to a program that remembers nothing.
 *
 * @module
 */

/** Manager of the limits that the market has set. */
export const MARKET_MANAGER = "mbcas";

/** Manager of limits that are the user's own value, set by this product: when it brought them back. */
export const RESTORE_MANAGER = "mbcas-restore";
