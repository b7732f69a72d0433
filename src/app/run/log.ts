import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { pino } from 'pino';
import { paceWords } from '../../report/text/pace-words.ts';
import type { RunEvent, RunListener } from '../../run/events.ts';
import type { InlineImage, TextCallRequest, TextService } from '../../service/text-service.ts';
import { checkFile, ownFile, refuseSecondName } from '../../state/files/plain-path.ts';
import type { LogLevel } from '../flags.ts';
import type { Io } from '../output/io.ts';
import { plainJson } from '../output/json-line.ts';
import type { Redactor } from '../output/redact.ts';

/** The log of a run. */
export interface RunLog {
  readonly listener: RunListener;
  /** Writes one line beyond the run's own events. */
  info(facts: Readonly<Record<string, unknown>>, message: string): void;
  warn(facts: Readonly<Record<string, unknown>>, message: string): void;
  debug(facts: Readonly<Record<string, unknown>>, message: string): void;
  /** Logs the content of requests and responses; undefined except at level `trace`. */
  readonly trace?: (facts: Readonly<Record<string, unknown>>, message: string) => void;
  close(): void;
}

const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | ownFile;

/**
 * Opens a run's log for appending: NDJSON, readable by its owner only, secrets masked, control characters escaped.
 *
 * `info` has what a person would want to know afterwards; each change of each job and each text call is `debug`, each other request
 * `trace`, so that the log of a million jobs stays small. The texts of a call and of its reply appear only at `trace`, and are cut. Lines
 * are written at once, so that the last ones before a crash are kept.
 *
 * @throws StateError if the file is a link, not a regular file, or has a second name; the error of the file system
 * @param onError called once when the log can no longer be written; the run continues
 */
export function openRunLog(
  file: string,
  level: LogLevel,
  redactor: Redactor,
  io: Pick<Io, 'now' | 'machine'>,
  onError: (error: Error) => void,
): RunLog {
  checkFile(file, { inPlace: true });
  const descriptor = openSync(file, appending, 0o600);
  refuseSecondName(file, descriptor);
  let open = true;
  const write = (line: string): void => {
    if (!open) return;
    try {
      writeSync(descriptor, plainJson(redactor.apply(line)));
    } catch (error) {
      close();
      onError(error as Error);
    }
  };
  const close = (): void => {
    if (!open) return;
    open = false;
    closeSync(descriptor);
  };
  const log = pino(
    {
      level,
      base: { pid: io.machine.pid },
      timestamp: () => `,"time":"${new Date(io.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  return {
    listener: (event) => {
      const eventLevel = levelOf(event);
      if (!log.isLevelEnabled(eventLevel)) return;
      const { type, ...facts } = readable(event);
      log[eventLevel](facts, type);
    },
    info: (facts, message) => log.info(facts, message),
    warn: (facts, message) => log.warn(facts, message),
    debug: (facts, message) => log.debug(facts, message),
    ...(level === 'trace' ? { trace: (facts, message) => log.trace(facts, message) } : {}),
    close,
  };
}

type EventLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

function levelOf(event: RunEvent): EventLevel {
  switch (event.type) {
    case 'run:start':
    case 'route:pace':
    case 'run:memory':
      return 'info';
    case 'cell:open':
    case 'cell:close':
    case 'cell:left':
    case 'slice:end':
    case 'slot:status':
      return 'debug';
    case 'job:status':
      if (event.accepted) return 'info';
      return event.to === 'failed' || event.to === 'in-doubt' ? 'warn' : 'debug';
    case 'grid:cut':
      return event.error === undefined ? 'debug' : 'warn';
    case 'request:end':
      return event.route === 'text' ? 'debug' : 'trace';
    case 'route:pause':
    case 'job:retry':
    case 'run:waiting':
    case 'run:notice':
      return 'warn';
    case 'run:stopping':
    case 'run:end':
      return event.end.kind === 'complete' || event.end.kind === 'interrupted' ? 'info' : 'error';
  }
}

/** Returns an event with its times as ISO text. */
function readable(event: RunEvent): { readonly type: string } & Readonly<Record<string, unknown>> {
  if (event.type === 'route:pause') {
    const { untilMs, ...rest } = event;
    return { ...rest, until: new Date(untilMs).toISOString() };
  }
  if (event.type === 'route:pace') return { ...event, words: paceWords(event) };
  if (event.type === 'run:start') return { type: event.type };
  return { ...event };
}

/** Largest number of characters of a request or response in the log. */
const longest = 2000;

/** Wraps a text service so that it logs the request and the reply of each call; images by their size alone. */
export function tracedText(
  service: TextService,
  trace: (facts: Readonly<Record<string, unknown>>, message: string) => void,
  mask: (text: string) => string,
): TextService {
  // Masked before it is cut: half a secret would not be found.
  const shown = (value: unknown): string => {
    const text = mask(JSON.stringify(value));
    return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text;
  };
  return {
    ask: async (request, signal) => {
      trace({ request: shown(withoutData(request)) }, 'text:ask');
      const result = await service.ask(request, signal);
      if (result.ok) {
        const { candidates, blockReason, usage, model, requestId } = result.value;
        const shownText = candidates.map(({ text, finishReason, functionCalls, images }) => ({
          text,
          finishReason,
          functionCalls,
          images: images.map(sizeOnly),
        }));
        trace({ answer: shown(shownText), blockReason, usage, model, requestId }, 'text:answer');
      } else {
        const { code, message, status, requestId } = result.error;
        trace({ code, message, status, requestId }, 'text:refusal');
      }
      return result;
    },
    models: (signal) => service.models(signal),
    close: () => service.close(),
  };
}

const withoutData = ({ images, earlier, ...request }: TextCallRequest): unknown => ({
  ...request,
  images: images.map(sizeOnly),
  earlier: earlier.map((turn) => ({ ...turn, images: turn.images.map(sizeOnly) })),
});

/** Three bytes are four characters in base64. */
const sizeOnly = ({ mimeType, data }: InlineImage): string =>
  `${mimeType}, ${Math.floor((data.length * 3) / 4)} bytes`;
