import { offered } from '../plan/button-match.ts';
import type { JobError, JobRecord } from '../plan/job.ts';
import { promptOf } from '../plan/request/text.ts';
import type { JobContext } from './job.ts';

/**
 * Why a click that ended well is no result: it was to answer a modal, and none opened, so that its image was made without what the
 * pipeline says. A gateway drops `enableRemix`, an account answers by itself, or the button asks nothing (protocol.md 3). A prompt
 * that is the one above was used all the same.
 */
export function modalNotOpened(
  record: JobRecord,
  { promptAbove }: Pick<JobContext, 'promptAbove'>,
): JobError | undefined {
  const { request, pressed, modal } = record;
  if (request.kind !== 'click' || modal !== undefined) return undefined;
  const { remix } = request.fields;
  const prompt = promptOf(request.fields)?.trim() ?? '';
  const isOther = prompt !== '' && prompt !== promptAbove(record)?.trim();
  const unused = [...(isOther ? ['prompt'] : []), ...(request.mask === undefined ? [] : ['mask'])];
  if (unused.length === 0) return undefined;
  const what = unused.map((name) => `\`${name}\``).join(' and ');
  const button = pressed === undefined ? 'The button' : `The button ${offered([pressed])}`;
  const ways = [
    ...(remix === true ? [] : ['write `remix: true` beside it, if it can be remixed']),
    'press a button that asks',
    `take the ${unused.join(' and the ')} away`,
  ];
  const why = remix === true ? ' although it was remixed: the service or its account does not ask' : '';
  return {
    code: 'modal.not-opened',
    message: `${button} opened no dialog${why}. So its ${what} was not used, and the image was made without. Either ${ways.join(', or ')}.`,
  };
}
