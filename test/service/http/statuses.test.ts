import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { statusFailure } from '../../../src/artifacts/download/link-failure.ts';
import { meaningOf, meanings } from '../../../src/service/failures/table.ts';
import { isPassingStatus } from '../../../src/service/http/statuses.ts';

const errors = Array.from({ length: 200 }, (_, at) => at + 400);

test('a status is passing if the server may answer differently later', () => {
  const passing = [408, 425, 429, 500, 502, 503, 504, 506, 508, 520, 529, 599];
  const lasting = [200, 302, 400, 401, 403, 404, 407, 413, 501, 505, 507];
  expect([...passing, ...lasting].filter(isPassingStatus)).toEqual(passing);
});

test('a status that passes at buckets, hooks and proxies is tried again at a gateway and for a file too', () => {
  const passing = errors.filter(isPassingStatus);
  const atGateway = passing.filter((status) => {
    const meant = meaningOf({ on: 'read', status, message: '', codes: [], submit: undefined });
    return meant !== undefined && ['retry', 'throttle', 'lost'].includes(meanings[meant].class);
  });
  const ofFiles = passing.filter((status) =>
    ['retry', 'throttle'].includes(
      statusFailure(new URL('https://cdn.example.com/a.png'), { status, headers: {}, words: undefined }, 0)
        .class,
    ),
  );
  expect(atGateway).toEqual(passing);
  expect(ofFiles).toEqual(passing);
});

test('the recipe for unattended runs lists the statuses after which a notification is sent again', async () => {
  const page = await readFile('pipelines/unattended.md', 'utf8');
  const client = errors.filter((status) => status < 500 && isPassingStatus(status)).join(', ');
  const lasting = errors.filter((status) => status >= 500 && !isPassingStatus(status));
  expect(page).toContain(`${client}, 5xx (but ${lasting.join(', ').replace(/, (\d+)$/, ' and $1')}) or none`);
});
