/**
 * The log of a program: one JSON object a line, or text for people.
 *
 * LogTape's formatters format the records; its process-wide configuration is not used, so that two
 * logs can exist in one process.
 *
 * @module
 */
import { getJsonLinesFormatter, getTextFormatter, type LogRecord } from "@logtape/logtape";
import type { Clock } from "../shared/clock.ts";
import { LOG_LEVELS, type LogFormat, type LogLevel } from "../shared/config/schema.ts";
import type { Log, LogFields } from "../shared/log.ts";
import { plainLine } from "../shared/quoted_text.ts";

/** Destination and level of a log. */
export interface JSONLogOptions {
  /** Writes one line, its end included. */
  readonly write: (line: string) => void;
  readonly clock: Pick<Clock, "wall">;
  /** The program's name, the field `logger`. */
  readonly program: string;
  /** The least level that is written. @default {"info"} */
  readonly level?: LogLevel;
  /** `text` for a person at a terminal. @default {"json"} */
  readonly format?: LogFormat;
}

const jsonLine = getJsonLinesFormatter({ properties: "flatten", message: "rendered" });

const frame = getTextFormatter({
  timestamp: "time",
  format: ({ timestamp, level, message }) => `${timestamp} ${level} ${message}`,
});

/** Text with the fields behind the message, as `key=value`, on one line. */
function textLine(record: LogRecord): string {
  const fields = Object.entries(record.properties).map(([key, value]) => `${key}=${value}`);
  const message = [plainLine([record.rawMessage, ...fields].join(" "))];
  return frame({ ...record, message, rawMessage: message.join("") });
}

/** A log that writes lines. Fields that are undefined are left out. */
export function createJSONLog(options: JSONLogOptions): Log {
  const { write, clock, program, level: minLevel = "info", format = "json" } = options;
  const line = format === "json" ? jsonLine : textLine;
  const category = [program];

  function at(level: LogLevel): (message: string, fields?: LogFields) => void {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(minLevel)) return () => {};
    const levelName = level === "warn" ? "warning" : level;
    return (message, fields = {}) => {
      const properties = Object.fromEntries(
        Object.entries(fields).filter(([, value]) => value !== undefined),
      );
      write(line({
        category,
        level: levelName,
        message: [message],
        rawMessage: message,
        timestamp: clock.wall(),
        properties,
      }));
    };
  }

  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
