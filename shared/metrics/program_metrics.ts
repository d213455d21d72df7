/**
 * Metrics of both programs: the process, and its requests to API servers.
 *
 * @module
 */
import { counter, gauge, histogram } from "./metric.ts";

/** Metrics of both programs. */
export const PROGRAM_METRICS = {
  buildInfo: gauge("coallocator_build_info", {
    help: "Always 1, with the program's name and version, and the version of Deno.",
    labels: ["program", "version", "deno"],
  }),
  apiRequests: counter("mbcas_api_requests_total", {
    help: "Requests to the API server by verb, resource and HTTP status; code is error without a " +
      "response.",
    labels: ["verb", "resource", "code"],
  }),
  apiDurations: histogram("mbcas_api_request_duration_seconds", {
    help: "Time from a request to the API server to the start of its response, without watches.",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    labels: ["verb"],
  }),
  cpu: counter("process_cpu_seconds_total", { help: "CPU time of the program, user and system." }),
  memory: gauge("process_resident_memory_bytes", { help: "Resident memory of the program." }),
  startTime: gauge("process_start_time_seconds", {
    help: "Unix time at which the program started.",
  }),
};
