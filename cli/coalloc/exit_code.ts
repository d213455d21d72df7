/**
 * Exit codes beyond 0 (done), 1 (not all of it could be done) and 2 (the command line was wrong). A
 * shell gives 128 and the signal's number to a program that a signal has ended (POSIX.1-2024, XCU
 * 2.8.2); these stand for the same.
 *
 * @module
 */

/** The user has ended the command: SIGINT is 2. */
export const INTERRUPTED = 130;

/** The output is no longer read: SIGPIPE is 13. */
export const NO_READER = 141;
