import type { RequestFacts } from '../../../src/service/failures/request-context.ts';
import { type Reply, readReplyBody } from '../../../src/service/http/reply.ts';
import { makeClean } from '../../../src/service/http/sanitize.ts';
import { dataMaskOf, secretMaskOf } from '../../../src/service/http/secrets.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { Broken, lawfulText } from './law.ts';

/** What all checks of answers of the image workflow begin with. */

/** Stands in some inputs, as a service repeats what it was sent. */
export const repeatedKey = 'sk-0123456789abcdef0123';
export const ids = ['1700000000000001', '14001929738841620', 'x'] as const;
/** What tasks of ours carry: the keys of two jobs. */
export const tags = ['0123456789abcdef0123456789abcdef', 'fedcba9876543210fedcba9876543210'] as const;

const mask = secretMaskOf([repeatedKey]);
export const facts: RequestFacts = {
  safe: true,
  label: 'GET /img/task/1/fetch',
  baseUrl: 'https://gateway.test',
  mask,
  dataMask: dataMaskOf([repeatedKey]),
  clean: makeClean(mask),
  now: () => 1_790_000_000_000,
};

export const replyOf = (status: number, bytes: Buffer): Reply => ({
  status,
  header: () => null,
  body: readReplyBody(bytes, 'application/json'),
});

const classes = ['stop', 'permanent', 'retry', 'throttle', 'unsent', 'lost'];
/** A message is read by a person, and stands in a row of the manifest. */
export const longestMessage = 10_000;
/** What is kept of a task lies in the state, and is written again at each change. */
export const longestTask = 1_000_000;

/** @throws Broken unless the failure has a known form, and can be shown */
export function lawfulFailure({ code, class: kind, message, retryAfterMs = 0 }: ServiceFailure): string {
  if (!/^(service|connection|response|request)\.[a-z-]+$/.test(code)) throw new Broken(`The code ${code}.`);
  if (!classes.includes(kind)) throw new Broken(`The class ${kind}.`);
  if (message === '' || message.length > longestMessage)
    throw new Broken(`${code} is said in ${message.length} characters.`);
  if (!Number.isFinite(retryAfterMs) || retryAfterMs < 0)
    throw new Broken(`It waits for ${retryAfterMs} ms.`);
  lawfulText(message, code);
  return code;
}
