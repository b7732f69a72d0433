import type { Job } from './job.ts';

/**
 * A button's customId is read from its task before the click, for an outdated one does not work (service.md 7.4), and how soon
 * it is outdated nobody says. A reading ages while its job waits for its turn; one that is too old then is made again, by the
 * job at the front of the line alone: were each to read again as it gets there, all those behind it would be read in vain.
 */

/**
 * How old a reading may be when the click's turn comes, in ms. Well above a round trip of two requests, even a slow one, so that
 * what was just read is used; below the 15 s after which gateways look at their tasks anew (protocol.md 1.1).
 */
export const freshMs = 10_000;

/** True for a click whose button has to be read, again or at all, before it is pressed. By the machine's clock, which may be set back. */
export const isOutdated = ({ record, fresh, want }: Job, now: number): boolean =>
  want.kind === 'submit' &&
  record.request.kind === 'click' &&
  (fresh === undefined || Math.abs(now - fresh.readAt) > freshMs);

/** True while the button is being read again, its turn to be pressed having come. */
export const isReadingAgain = ({ record, fresh, want }: Job): boolean =>
  fresh !== undefined &&
  record.status === 'pending' &&
  record.modal === undefined &&
  (want.kind === 'answer' || (want.kind === 'fetch' && want.why === 'parent'));

/** A button that was read again because its turn had come has that turn still, so that it is pressed while the reading is fresh. */
export const hasItsTurn = ({ want, fresh }: Job): boolean => want.kind === 'submit' && fresh?.again === true;
