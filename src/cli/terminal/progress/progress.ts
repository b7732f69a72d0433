import type { Io } from '../../../app/output/io.ts';
import { ProgressModel } from '../../../app/progress/model.ts';
import type { ProgressShow, ProgressSource, ShowProgress } from '../../../app/progress/show.ts';
import { counted, span } from '../../../report/text/amounts.ts';
import { laneWords, paceWords } from '../../../report/text/pace-words.ts';
import { sentence, shownLine } from '../../../report/text/printable.ts';
import type { RunEvent, RunListener } from '../../../run/events.ts';
import { Screen } from './screen.ts';
import { Intervals, progressSentence } from './sentence.ts';
import { paintWith, progressLines } from './view.ts';

const redrawMs = 200;
const sentenceMs = 1000;
/** Shortest time in ms between two messages about a refused route. */
const pauseMs = 60_000;

/** Shows the progress of a run as a live view on a terminal, else as a line from time to time. */
export const showProgress: ShowProgress = (io, run, options, source) => {
  const model = source ?? new ProgressModel(run, io.now());
  const { terminal } = io;
  if (terminal === undefined || options.quiet) return inSentences(io, model, options.quiet);

  const screen = new Screen(
    (frame) => terminal.draw(frame),
    (text) => io.err(text),
  );
  const paint = paintWith(io.colors);
  const draw = (): void => {
    const now = io.now();
    const { unicode } = terminal;
    const options = { columns: terminal.columns(), rows: terminal.rows(), unicode, paint };
    screen.draw(progressLines(model.progress(now), now, options));
  };
  draw();
  const stop = io.every(redrawMs, draw);
  const say = (text: string): void => screen.print(`${text}\n`);
  return {
    listener: listenerOf(io, model, say),
    say,
    end: () => {
      stop();
      draw();
      screen.release();
    },
  };
};

function inSentences(io: Io, model: ProgressSource, quiet: boolean): ProgressShow {
  const say = (text: string): void => io.err(`${text}\n`);
  const intervals = new Intervals(io.now());
  const sayWhenDue = (): void => {
    const now = io.now();
    // Updated each second, so that its averages are as steady as in the live view.
    const progress = model.progress(now);
    if (intervals.isDue(now)) say(progressSentence(progress, now));
  };
  const stop = quiet ? () => {} : io.every(sentenceMs, sayWhenDue);
  return { listener: listenerOf(io, model, say), say, end: stop };
}

/** Returns a listener that updates the model and prints important events. */
function listenerOf(io: Io, model: ProgressSource, say: (text: string) => void): RunListener {
  const lineFor = announcer(io);
  return (event) => {
    model.take(event, io.now());
    const line = lineFor(event);
    if (line !== undefined) say(line);
  };
}

/** Returns a function that finds the message for an important event. */
function announcer(io: Io): (event: RunEvent) => string | undefined {
  const spokenAt = new Map<string, number>();
  return (event) => {
    if (event.type !== 'route:pause') return lineFor(event);
    const what = laneWords(event);
    const now = io.now();
    if (now - (spokenAt.get(what) ?? Number.NEGATIVE_INFINITY) < pauseMs) return undefined;
    spokenAt.set(what, now);
    return begun(
      `${what} are refused, asked again in ${span(Math.max(1000, event.untilMs - now))}: ${sentence(event.reason)}`,
    );
  };
}

/** Capitalises the first letter. */
const begun = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

function lineFor(event: RunEvent): string | undefined {
  if (event.type === 'run:stopping' && event.end.kind === 'interrupted') {
    const left = event.tasks + event.requests;
    return left === 0
      ? 'Stopping.'
      : `Stopping: waiting for ${counted(left, 'task')} that the service is working on; no new ones are started. Press Ctrl-C again to leave at once: nothing is lost, the next run continues them.`;
  }
  if (event.type === 'run:stopping' && 'message' in event.end) {
    const left = event.tasks === 0 ? '' : ` ${counted(event.tasks, 'task')} still in flight.`;
    return `Stopping: ${sentence(event.end.message)}${left}`;
  }
  if (event.type === 'run:waiting') {
    return `Waiting for ${span(event.sinceMs)}: ${shownLine(event.reason)}`;
  }
  if (event.type === 'route:pace') return `${begun(paceWords(event))}.`;
  if (event.type === 'run:notice') return shownLine(event.message);
  return undefined;
}
