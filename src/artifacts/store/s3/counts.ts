import { fail } from '../../failure.ts';
import { countNameOf, countNames, countOf, countText, type SubmissionCounts } from '../counts.ts';
import { shownS3Address } from './address.ts';
import type { S3Client } from './client.ts';

/** Returns the object of a count. Hidden, so that programs that read the place as a data set ignore it. */
const objectOf = (name: string): string => `.promptpress-${name}`;

/** Names of the objects that count submissions in a place. */
export const countObjects: ReadonlySet<string> = new Set(countNames.map(objectOf));

/** Returns the counts of submissions in a bucket, one object for each name. */
export function bucketCounts(client: S3Client): SubmissionCounts {
  const read = async (object: string): Promise<number> => {
    const { body, problem } = await client.ask({
      method: 'GET',
      name: object,
      doing: `read "${object}"`,
      accepts: ({ status, code }) => status === 404 && code !== 'NoSuchBucket',
    });
    if (problem !== undefined) return 0;
    return countOf(body.toString('latin1')) ?? damaged(client, object);
  };
  return {
    highest: async () => Math.max(...(await Promise.all([...countObjects].map((object) => read(object))))),
    raise: async (worker, value) => {
      const object = objectOf(countNameOf(worker));
      if ((await read(object)) >= value) return;
      const body = Buffer.from(countText(value));
      await client.ask({ method: 'PUT', name: object, body, doing: `write "${object}"` });
    },
  };
}

const damaged = ({ address }: S3Client, object: string): never =>
  fail({
    code: 's3.failed',
    class: 'stop',
    message: `${shownS3Address(address)}/${object} is damaged: it counts submissions, but contains no number. If the database is that of the last run, remove it.`,
  });
